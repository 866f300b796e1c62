-- ARIEL's tables (names and columns as ARIEL's), then ariel-lite's own beside them.

CREATE TABLE enhanced_entries (
    row_id INTEGER PRIMARY KEY AUTOINCREMENT,
    entry_id TEXT NOT NULL UNIQUE,
    source_system TEXT NOT NULL,
    timestamp TEXT NOT NULL,
    author TEXT NOT NULL DEFAULT '',
    raw_text TEXT NOT NULL,
    attachments TEXT NOT NULL DEFAULT '[]',
    metadata TEXT NOT NULL DEFAULT '{}',
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    enhancement_status TEXT NOT NULL DEFAULT '{}',
    summary TEXT,
    keywords TEXT
);
CREATE INDEX enhanced_entries_timestamp ON enhanced_entries (timestamp);

CREATE TABLE ingestion_runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    started_at TEXT NOT NULL,
    completed_at TEXT,
    source_system TEXT NOT NULL,
    entries_added INTEGER NOT NULL DEFAULT 0,
    entries_updated INTEGER NOT NULL DEFAULT 0,
    entries_failed INTEGER NOT NULL DEFAULT 0,
    status TEXT NOT NULL DEFAULT 'running',
    error_message TEXT,
    metadata TEXT NOT NULL DEFAULT '{}'
);

CREATE TABLE attachment_blobs (sha256 TEXT PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE attachment_files (
    attachment_id TEXT PRIMARY KEY,
    entry_id TEXT NOT NULL REFERENCES enhanced_entries (entry_id) ON DELETE CASCADE,
    filename TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    sha256 TEXT NOT NULL REFERENCES attachment_blobs (sha256),
    size_bytes INTEGER NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX attachment_files_entry ON attachment_files (entry_id);

CREATE TABLE ariel_migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL, checksum TEXT NOT NULL);

-- One row an indexed entry: what was indexed, so that a change by another hand is noticed.
CREATE TABLE entry_state (
    row_id INTEGER PRIMARY KEY,
    content_hash BLOB NOT NULL,
    text_hash BLOB NOT NULL,
    cut INTEGER NOT NULL DEFAULT 0
);

-- Filterable values: author, source, logbook, tag, category, has.
CREATE TABLE field_values (
    value_id INTEGER PRIMARY KEY,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    folded TEXT NOT NULL,
    UNIQUE (field, value)
);
CREATE TABLE entry_fields (value_id INTEGER NOT NULL, row_id INTEGER NOT NULL, PRIMARY KEY (value_id, row_id)) WITHOUT ROWID;

-- The distinct written words of all entries, for the fuzzy fallback.
CREATE TABLE vocabulary (term TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE settings (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;

CREATE VIRTUAL TABLE entry_index USING fts5(lexemes, content='', contentless_delete=1, tokenize='ariel_lite');
