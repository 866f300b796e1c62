-- Vectors: a model's own tables (text_embeddings_<model>, text_windows_<model>) are made with its first vector.

CREATE TABLE embedding_models (
    model_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    UNIQUE (name, fingerprint)
);

-- One row an entry with a vector: what text it stands for, in how many windows (0: blank text, no vector).
CREATE TABLE embedding_state (
    model_id INTEGER NOT NULL,
    row_id INTEGER NOT NULL,
    text_hash BLOB NOT NULL,
    windows INTEGER NOT NULL,
    PRIMARY KEY (model_id, row_id)
) WITHOUT ROWID;

CREATE TABLE embedding_claims (
    model_id INTEGER NOT NULL,
    row_id INTEGER NOT NULL,
    worker TEXT NOT NULL,
    claimed_at TEXT NOT NULL,
    PRIMARY KEY (model_id, row_id)
) WITHOUT ROWID;

-- The derived copy that large logbooks scan: 1,024 row numbers a chunk; NULL data is made anew when needed.
CREATE TABLE vector_chunks (
    model_id INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    stamp INTEGER NOT NULL,
    units BLOB,
    vectors BLOB,
    PRIMARY KEY (model_id, chunk)
);
