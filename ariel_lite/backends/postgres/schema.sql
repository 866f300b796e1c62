-- ARIEL's tables (names and columns as ARIEL's). Each is made only where it is absent, and never altered.

CREATE TABLE IF NOT EXISTS enhanced_entries (
    entry_id TEXT PRIMARY KEY,
    source_system TEXT NOT NULL,
    timestamp TIMESTAMPTZ NOT NULL,
    author TEXT NOT NULL DEFAULT '',
    raw_text TEXT NOT NULL,
    attachments JSONB NOT NULL DEFAULT '[]',
    metadata JSONB NOT NULL DEFAULT '{}',
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    enhancement_status JSONB NOT NULL DEFAULT '{}',
    summary TEXT,
    keywords TEXT[]
);

CREATE TABLE IF NOT EXISTS ingestion_runs (
    id SERIAL PRIMARY KEY,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    completed_at TIMESTAMPTZ,
    source_system TEXT NOT NULL,
    entries_added INTEGER NOT NULL DEFAULT 0,
    entries_updated INTEGER NOT NULL DEFAULT 0,
    entries_failed INTEGER NOT NULL DEFAULT 0,
    status TEXT NOT NULL DEFAULT 'running',
    error_message TEXT,
    metadata JSONB NOT NULL DEFAULT '{}'
);

CREATE TABLE IF NOT EXISTS attachment_files (
    attachment_id TEXT PRIMARY KEY,
    entry_id TEXT NOT NULL REFERENCES enhanced_entries (entry_id) ON DELETE CASCADE,
    filename TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    data BYTEA NOT NULL,
    size_bytes BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS ariel_migrations (
    name TEXT PRIMARY KEY,
    applied_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    checksum TEXT NOT NULL
);
