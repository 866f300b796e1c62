-- Entries that are being written, and files that wait for the entry they will belong to.

CREATE TABLE ariel_lite_drafts (
    draft_id TEXT COLLATE "C" PRIMARY KEY,
    content TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX ariel_lite_drafts_updated ON ariel_lite_drafts (updated_at);

CREATE TABLE ariel_lite_staged_files (
    attachment_id TEXT COLLATE "C" PRIMARY KEY,
    filename TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    staged_at TIMESTAMPTZ NOT NULL,
    data BYTEA NOT NULL
);

-- Who is enhancing which entry. What is done stands in ARIEL's own column `enhancement_status`.
CREATE TABLE ariel_lite_enhancement_claims (
    module TEXT NOT NULL,
    entry_id TEXT NOT NULL,
    worker TEXT NOT NULL,
    claimed_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (module, entry_id)
);
