-- Entries that are being written, and files that wait for the entry they will belong to.

CREATE TABLE drafts (
    draft_id TEXT PRIMARY KEY,
    content TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
CREATE INDEX drafts_updated ON drafts (updated_at);

CREATE TABLE staged_files (
    attachment_id TEXT PRIMARY KEY,
    filename TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    staged_at TEXT NOT NULL,
    data BLOB NOT NULL
);
