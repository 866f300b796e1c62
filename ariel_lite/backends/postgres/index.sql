-- ariel-lite's own tables. Nothing in them refers to ARIEL's tables, so that ARIEL's stay as they are.

-- One row an indexed entry: what was indexed, so that a change by another hand is noticed. `row_id` numbers entries.
-- Summary and keywords stand here only where ARIEL's table has no such columns.
CREATE TABLE ariel_lite_entry_state (
    row_id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    entry_id TEXT NOT NULL UNIQUE,
    content_hash BYTEA NOT NULL,
    text_hash BYTEA NOT NULL,
    fingerprint BIGINT NOT NULL,
    updated_at TIMESTAMPTZ,
    is_cut BOOLEAN NOT NULL,
    summary TEXT,
    keywords TEXT[]
);
CREATE INDEX ariel_lite_entry_state_cut ON ariel_lite_entry_state (row_id) WHERE is_cut;

-- The full-text index. Long vectors lie uncompressed beside the rows, so that the rows stay small and fast to visit.
CREATE TABLE ariel_lite_lexemes (
    row_id BIGINT PRIMARY KEY,
    entry_id TEXT NOT NULL,
    at TIMESTAMPTZ NOT NULL,
    length INTEGER NOT NULL,
    limit_kind SMALLINT NOT NULL,
    frequencies JSONB,
    lexemes TSVECTOR NOT NULL
);
ALTER TABLE ariel_lite_lexemes ALTER COLUMN lexemes SET STORAGE EXTERNAL;
CREATE INDEX ariel_lite_lexemes_gin ON ariel_lite_lexemes USING gin (lexemes) WITH (gin_pending_list_limit = 1024);
CREATE INDEX ariel_lite_lexemes_at ON ariel_lite_lexemes (at);
CREATE INDEX ariel_lite_lexemes_entry ON ariel_lite_lexemes (entry_id);
CREATE INDEX ariel_lite_lexemes_limited ON ariel_lite_lexemes (limit_kind) WHERE limit_kind > 0;

-- Filterable values: author, source, logbook, tag, category, has.
CREATE TABLE ariel_lite_field_values (
    value_id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    field TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    folded TEXT COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX ariel_lite_field_values_key ON ariel_lite_field_values (field, md5(value));
CREATE TABLE ariel_lite_entry_fields (
    value_id BIGINT NOT NULL,
    row_id BIGINT NOT NULL,
    PRIMARY KEY (value_id, row_id)
);
CREATE INDEX ariel_lite_entry_fields_row ON ariel_lite_entry_fields (row_id);

-- The distinct written words of all entries, with the number of entries that hold each, for the fuzzy fallback.
CREATE TABLE ariel_lite_vocabulary (
    term TEXT COLLATE "C" PRIMARY KEY,
    entries INTEGER NOT NULL
) WITH (fillfactor = 70);

-- One row: counts of what is indexed, and stamps (random numbers, so that none ever comes again) that change with the
-- logbook, with the set of its words, and with its vectors.
CREATE TABLE ariel_lite_totals (
    only_row BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (only_row),
    generation BIGINT NOT NULL DEFAULT 0,
    vocabulary BIGINT NOT NULL DEFAULT 0,
    vectors BIGINT NOT NULL DEFAULT 0,
    entries BIGINT NOT NULL DEFAULT 0,
    positions BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 20);
INSERT INTO ariel_lite_totals DEFAULT VALUES;

-- Vectors: a model's own tables (text_embeddings_<model>, text_windows_<model>) are made with its first vector.
CREATE TABLE ariel_lite_embedding_models (
    model_id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    is_ours BOOLEAN NOT NULL,
    UNIQUE (name, fingerprint)
);

-- One row an entry with a vector: what text it stands for, in how many windows (0: blank text, no vector).
CREATE TABLE ariel_lite_embedding_state (
    model_id INTEGER NOT NULL,
    row_id BIGINT NOT NULL,
    entry_id TEXT NOT NULL,
    text_hash BYTEA NOT NULL,
    windows INTEGER NOT NULL,
    PRIMARY KEY (model_id, row_id)
);
CREATE INDEX ariel_lite_embedding_state_entry ON ariel_lite_embedding_state (model_id, entry_id);
CREATE INDEX ariel_lite_embedding_state_windows ON ariel_lite_embedding_state (model_id, row_id) WHERE windows > 1;

CREATE TABLE ariel_lite_embedding_claims (
    model_id INTEGER NOT NULL,
    row_id BIGINT NOT NULL,
    worker TEXT NOT NULL,
    claimed_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (model_id, row_id)
);
