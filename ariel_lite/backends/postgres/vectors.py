"""Vectors on the server: pgvector tables by model, which entry has which, and who is making more.

`text_embeddings_<model>` is ARIEL's table, one vector an entry; `text_windows_<model>` is ours and holds those of
entries that are longer than the model's input. `ariel_lite_embedding_state` decides what counts: a vector is current
when its model's fingerprint and its text are.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import errors

from ariel_lite.backends.claiming import CLAIM_LIFETIME, ClaimPlaces
from ariel_lite.backends.made_vectors import (
    UNKNOWN_ROW,
    check_dimension,
    check_vectors,
    placed,
    unknown_ids,
    windows_count,
)
from ariel_lite.backends.merging import EMBEDDING
from ariel_lite.backends.postgres.arrays import Rows
from ariel_lite.backends.postgres.columns import Layout, read_rows
from ariel_lite.backends.postgres.connection import NEW_STAMP, Connection, integer
from ariel_lite.backends.postgres.marks import note
from ariel_lite.backends.postgres.migrations import MIGRATION_LOCK, has_table
from ariel_lite.backends.statuses import complete_status, failed_status, pending_status
from ariel_lite.backends.values import EntryVectors, PendingText, VectorCounts, VectorModel
from ariel_lite.embeddings.base import clean_text, model_table, normalised, windows_table
from ariel_lite.errors import DatabaseQueryError, EmbeddingGenerationError
from ariel_lite.records import EmbeddingTableInfo, own_text

LONGEST_NAME = 63
"""PostgreSQL cuts the names of tables here."""
WIDEST_INDEXED = 2_000
"""pgvector's limit for an hnsw index; wider vectors are compared one by one."""

DIMENSION = "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = 'embedding'"
STORE_VECTORS = (
    "INSERT INTO {table} (entry_id, embedding) SELECT id, made::vector"
    " FROM unnest(%s::text[], %s::text[]) AS w (id, made)"
    " ON CONFLICT (entry_id) DO UPDATE SET embedding = excluded.embedding, created_at = now()"
)
STORE_WINDOWS = (
    "INSERT INTO {table} (row_id, place, entry_id, embedding) SELECT row_id, place, id, made::vector"
    " FROM unnest(%s::bigint[], %s::integer[], %s::text[], %s::text[]) AS w (row_id, place, id, made)"
)
PICK = (
    "SELECT s.row_id, s.text_hash FROM ariel_lite_entry_state AS s WHERE NOT EXISTS"
    " (SELECT 1 FROM ariel_lite_embedding_state AS v WHERE v.model_id = %s AND v.row_id = s.row_id"
    " AND v.text_hash = s.text_hash) AND s.row_id > %s AND NOT EXISTS (SELECT 1 FROM ariel_lite_embedding_claims AS c"
    " WHERE c.model_id = %s AND c.row_id = s.row_id) ORDER BY s.row_id LIMIT %s FOR NO KEY UPDATE OF s SKIP LOCKED"
)
CLAIM = (
    "INSERT INTO ariel_lite_embedding_claims (model_id, row_id, worker) SELECT %s, row_id, %s"
    " FROM unnest(%s::bigint[]) AS w (row_id) ON CONFLICT DO NOTHING RETURNING row_id"
)
LOCK_ENTRIES = (
    "SELECT s.row_id, s.text_hash FROM ariel_lite_entry_state AS s"
    " JOIN enhanced_entries AS e ON e.entry_id = s.entry_id WHERE s.row_id = ANY(%s) ORDER BY s.row_id FOR UPDATE OF e"
)
WITHOUT = (
    "SELECT entry_id FROM ariel_lite_embedding_state WHERE model_id = ANY(%s) EXCEPT"
    " SELECT entry_id FROM ariel_lite_embedding_state WHERE model_id <> ALL(%s)"
)
"""Entries that have vectors of no other models."""

NEW_VECTORS = f"UPDATE ariel_lite_totals SET vectors = {NEW_STAMP}"


def model_id(connection: Connection, model: VectorModel) -> int | None:
    """The number of a model with exactly this fingerprint, or None when it has no vectors here."""
    sql = "SELECT model_id FROM ariel_lite_embedding_models WHERE name = %s AND fingerprint = %s AND dimension = %s"
    return integer(connection, sql, (model.name, model.fingerprint, model.dimension)) or None


def ensure_model(connection: Connection, model: VectorModel) -> int:
    """The number of a model, its tables made when absent.

    Raises:
        EmbeddingGenerationError: its table holds vectors of another dimension, or is another model's.
        DatabaseQueryError: pgvector is not installed on the server.
    """
    known = model_id(connection, model)
    if known is not None:
        return known
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
    known = model_id(connection, model)
    if known is not None:
        return known
    _check_name(connection, model.name)
    dimension = table_dimension(connection, model.name)
    check_dimension(model_table(model.name), model, dimension)
    is_ours = _create_tables(connection, model, exists=dimension is not None)
    return integer(
        connection,
        "INSERT INTO ariel_lite_embedding_models (name, dimension, fingerprint, is_ours) VALUES (%s, %s, %s, %s)"
        " RETURNING model_id",
        (model.name, model.dimension, model.fingerprint, is_ours),
    )


def table_dimension(connection: Connection, name: str) -> int | None:
    """The dimension of a model's table, whoever made it, or None when it has none."""
    return integer(connection, DIMENSION, (model_table(name),)) or None


def tables(connection: Connection) -> list[EmbeddingTableInfo]:
    """Every model's table with its number of vectors: ARIEL's own first; the latest of ours counts as active."""
    sql = (
        "SELECT m.name, m.dimension, max(m.model_id), count(v.row_id) FROM ariel_lite_embedding_models AS m"
        " LEFT JOIN ariel_lite_embedding_state AS v ON v.model_id = m.model_id AND v.windows > 0"
        " GROUP BY m.name, m.dimension ORDER BY 3"
    )
    ours = [
        (model_table(name), int(dimension), int(entries)) for name, dimension, _, entries in connection.execute(sql)
    ]
    known = {table for table, _, _ in ours}
    others = [EmbeddingTableInfo(*found, False) for found in _tables_of_others(connection, known)]
    return others + [
        EmbeddingTableInfo(table, entries, dimension, place == len(ours) - 1)
        for place, (table, dimension, entries) in enumerate(ours)
    ]


def has_vectors(connection: Connection) -> bool:
    """True when at least one entry has a vector that we can compare."""
    return bool(integer(connection, "SELECT 1 FROM ariel_lite_embedding_state WHERE windows > 0 LIMIT 1"))


def counts(connection: Connection, model: VectorModel) -> VectorCounts:
    """Entries by the state of their vector."""
    number = model_id(connection, model) or 0
    matching = (
        "SELECT count(*) FILTER (WHERE v.windows > 0), count(*) FILTER (WHERE v.windows = 0),"
        " count(*) FILTER (WHERE v.windows < 0)"
        " FROM ariel_lite_embedding_state AS v JOIN ariel_lite_entry_state AS s"
        " ON s.row_id = v.row_id AND s.text_hash = v.text_hash WHERE v.model_id = %s"
    )
    current, blank, failed = map(int, connection.execute(matching, (number,)).fetchone() or (0, 0, 0))
    stale = integer(
        connection,
        "SELECT count(DISTINCT row_id) FROM ariel_lite_embedding_state WHERE model_id IN"
        " (SELECT model_id FROM ariel_lite_embedding_models WHERE name = %s AND model_id <> %s)",
        (model.name, number),
    )
    entries = integer(connection, "SELECT count(*) FROM ariel_lite_entry_state")
    return VectorCounts(current, max(entries - current - blank - failed - stale, 0), stale, blank, failed)


def stamps(connection: Connection) -> tuple[Any, ...]:
    """Values that no logbook had before when its entries or its vectors change."""
    return connection.execute("SELECT generation, vectors FROM ariel_lite_totals").fetchone() or ()


def claim(
    connection: Connection, layout: Layout, model: VectorModel, worker: str, limit: int, places: ClaimPlaces
) -> list[PendingText]:
    """Take entries without a current vector; claims of dead workers are taken over."""
    number = ensure_model(connection, model)
    connection.execute("DELETE FROM ariel_lite_embedding_claims WHERE claimed_at < now() - %s", (CLAIM_LIFETIME,))
    while picked := places.next_of(
        worker, number, limit, lambda after, most: _pick(connection, number, after or 0, most)
    ):
        rows = np.array(list(picked), dtype=np.int64)
        taken = np.array([row for (row,) in connection.execute(CLAIM, (number, worker, rows))], dtype=np.int64)
        if len(taken):
            return [
                PendingText(row, entry["entry_id"], picked[row], own_text(entry))
                for row, entry in read_rows(connection, layout, taken)
            ]
    return []


def _pick(connection: Connection, number: int, after: int, limit: int) -> dict[int, bytes]:
    found = connection.execute(PICK, (number, after, number, limit))
    return {int(row): bytes(text_hash) for row, text_hash in found}


def release(connection: Connection, worker: str) -> None:
    """Give back what a worker took."""
    connection.execute("DELETE FROM ariel_lite_embedding_claims WHERE worker = %s", (worker,))


def store(connection: Connection, model: VectorModel, given: Sequence[EntryVectors]) -> int:
    """Keep vectors whose text is still the entry's; the number kept."""
    number = ensure_model(connection, model)
    for made in given:
        check_vectors(made, model)
    vectors = placed(given, _rows_of(connection, unknown_ids(given)))
    asked = np.array([made.pending.row for made in vectors], dtype=np.int64)
    texts = {int(row): bytes(text) for row, text in connection.execute(LOCK_ENTRIES, (asked,))}
    kept = [made for made in vectors if texts.get(made.pending.row) == made.pending.text_hash]
    rows = np.array([made.pending.row for made in kept], dtype=np.int64)
    _remove(connection, model.name, rows)
    whole = [(m.pending.entry_id, vector_text(_unit(m.vector)[0])) for m in kept if m.vector is not None]
    connection.execute(STORE_VECTORS.format(table=model_table(model.name)), _columns(whole, 2))
    windows = [
        (made.pending.row, place, made.pending.entry_id, vector_text(window))
        for made in kept
        if made.windows is not None and len(made.windows) > 1
        for place, window in enumerate(_unit(made.windows))
    ]
    connection.execute(STORE_WINDOWS.format(table=windows_table(model.name)), _columns(windows, 4))
    connection.execute(
        "INSERT INTO ariel_lite_embedding_state (model_id, row_id, entry_id, text_hash, windows)"
        " SELECT %s, * FROM unnest(%s::bigint[], %s::text[], %s::bytea[], %s::integer[])",
        (number, rows, *_columns([(m.pending.entry_id, m.pending.text_hash, windows_count(m)) for m in kept], 3)),
    )
    connection.execute(
        "DELETE FROM ariel_lite_embedding_claims WHERE model_id = %s AND row_id = ANY(%s)", (number, asked)
    )
    now = datetime.now(UTC)
    note(connection, EMBEDDING, {made.pending.entry_id: _status(made, now) for made in kept})
    connection.execute(NEW_VECTORS)
    return len(kept)


def stored(connection: Connection, model: VectorModel, entry_ids: Sequence[str]) -> list[EntryVectors]:
    """The current vectors of these entries that have one, in the order of the ids."""
    number = model_id(connection, model)
    if number is None:
        return []
    windows = f"SELECT array_agg(w.embedding::real[] ORDER BY w.place) FROM {windows_table(model.name)} AS w"
    sql = (
        f"SELECT s.entry_id, s.text_hash, v.windows, t.embedding::real[], ({windows} WHERE w.row_id = s.row_id)"
        " FROM unnest(%s::text[]) WITH ORDINALITY AS wanted (entry_id, place)"
        " JOIN ariel_lite_entry_state AS s ON s.entry_id = wanted.entry_id JOIN ariel_lite_embedding_state AS v"
        " ON v.model_id = %s AND v.row_id = s.row_id AND v.text_hash = s.text_hash AND v.windows > 0"
        f" JOIN {model_table(model.name)} AS t ON t.entry_id = s.entry_id ORDER BY wanted.place"
    )
    made: list[EntryVectors] = []
    for entry_id, text_hash, count, whole, parts in connection.execute(sql, (list(map(clean_text, entry_ids)), number)):
        vector = np.array(whole, dtype=np.float32)
        cut = np.array(parts, dtype=np.float32) if count > 1 else vector[np.newaxis]
        if len(cut) == count:
            made.append(EntryVectors(PendingText(UNKNOWN_ROW, entry_id, bytes(text_hash), ""), vector, cut))
    return made


def _rows_of(connection: Connection, entry_ids: Sequence[str]) -> dict[str, int]:
    sql = "SELECT entry_id, row_id FROM ariel_lite_entry_state WHERE entry_id = ANY(%s)"
    return dict(connection.execute(sql, (list(map(clean_text, entry_ids)),)).fetchall()) if entry_ids else {}


def forget_failed(connection: Connection, model: VectorModel) -> None:
    """Let entries whose embedding failed wait again."""
    number = model_id(connection, model)
    connection.execute("DELETE FROM ariel_lite_embedding_state WHERE model_id = %s AND windows < 0", (number,))
    connection.execute(NEW_VECTORS)


def forget_rows(connection: Connection, rows: Rows) -> None:
    """Drop every model's vectors of rows whose text changed or that are gone."""
    if len(rows):
        for (name,) in connection.execute("SELECT DISTINCT name FROM ariel_lite_embedding_models").fetchall():
            _remove(connection, name, rows)


def forget_outdated(connection: Connection, entry_ids: Sequence[str]) -> None:
    """Drop the vectors of entries whose own text is not what the vectors stand for."""
    sql = (
        "SELECT s.row_id, s.entry_id FROM ariel_lite_embedding_state AS v JOIN ariel_lite_entry_state AS s"
        " ON s.row_id = v.row_id WHERE s.entry_id = ANY(%s) AND s.text_hash <> v.text_hash"
    )
    outdated = dict(connection.execute(sql, (list(entry_ids),)).fetchall())
    forget_rows(connection, np.array(sorted(outdated), dtype=np.int64))
    note(connection, EMBEDDING, dict.fromkeys(outdated.values(), pending_status()))


def drop(connection: Connection, name: str) -> int:
    """Forget all vectors of a model that we made; the number of entries that had one. ARIEL's own table stays."""
    models = connection.execute(
        "SELECT model_id, is_ours FROM ariel_lite_embedding_models WHERE name = %s", (name,)
    ).fetchall()
    if not models:
        return 0
    numbers = [number for number, _ in models]
    counted = "SELECT count(*) FROM ariel_lite_embedding_state WHERE windows > 0 AND model_id = ANY(%s)"
    had = integer(connection, counted, (numbers,))
    left = [entry_id for (entry_id,) in connection.execute(WITHOUT, (numbers, numbers))]
    note(connection, EMBEDDING, dict.fromkeys(left, pending_status()))
    if any(is_ours for _, is_ours in models):
        connection.execute(f"DROP TABLE IF EXISTS {model_table(name)}")
    else:
        connection.execute(
            f"DELETE FROM {model_table(name)} WHERE entry_id IN"
            " (SELECT entry_id FROM ariel_lite_embedding_state WHERE model_id = ANY(%s))",
            (numbers,),
        )
    connection.execute(f"DROP TABLE IF EXISTS {windows_table(name)}")
    for table in ("embedding_state", "embedding_claims", "embedding_models"):
        connection.execute(f"DELETE FROM ariel_lite_{table} WHERE model_id = ANY(%s)", (numbers,))
    connection.execute(NEW_VECTORS)
    return had


def vector_text(vector: NDArray[np.float32]) -> str:
    """A vector as pgvector reads it; every float32 comes back as it was."""
    return "[" + ",".join(map(repr, vector.tolist())) + "]"


def _check_name(connection: Connection, name: str) -> None:
    """Refuse a model whose tables would be another one's."""
    for (other,) in connection.execute("SELECT DISTINCT name FROM ariel_lite_embedding_models").fetchall():
        if other != name and model_table(other)[:LONGEST_NAME] == model_table(name)[:LONGEST_NAME]:
            raise EmbeddingGenerationError(
                f"the models {other} and {name} would share the table {model_table(name)[:LONGEST_NAME]}",
                hint="name one of them differently",
            )


def _create_tables(connection: Connection, model: VectorModel, *, exists: bool) -> bool:
    """Make what is missing of a model's tables; True when the table of entries' vectors is ours."""
    name = model_table(model.name)
    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except (errors.FeatureNotSupported, errors.InsufficientPrivilege, errors.UndefinedFile) as fault:
        raise DatabaseQueryError(
            "the server has no pgvector", hint="let its administrator run: CREATE EXTENSION vector"
        ) from fault
    if not exists:
        connection.execute(
            f"CREATE TABLE {name} (id SERIAL PRIMARY KEY, entry_id TEXT NOT NULL UNIQUE"
            f" REFERENCES enhanced_entries (entry_id) ON DELETE CASCADE, embedding vector({model.dimension}) NOT NULL,"
            " created_at TIMESTAMPTZ NOT NULL DEFAULT now())"
        )
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {windows_table(model.name)} (row_id BIGINT NOT NULL, place INTEGER NOT NULL,"
        f" entry_id TEXT NOT NULL, embedding vector({model.dimension}) NOT NULL, PRIMARY KEY (row_id, place))"
    )
    sql = "SELECT 1 FROM ariel_lite_embedding_models WHERE name = %s AND is_ours"
    return not exists or bool(integer(connection, sql, (model.name,)))


def _tables_of_others(connection: Connection, known: set[str]) -> list[tuple[str, int, int | None]]:
    """(table, entries, dimension) of tables of vectors that ARIEL made."""
    sql = (
        "SELECT relname, atttypmod FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid"
        " WHERE relname LIKE 'text\\_embeddings\\_%' AND relkind IN ('r', 'p') AND attname = 'embedding'"
        " AND pg_table_is_visible(pg_class.oid) ORDER BY relname"
    )
    found = [(name, dimension) for name, dimension in connection.execute(sql.encode()) if name not in known]
    return [
        (name, integer(connection, f'SELECT count(*) FROM "{name}"'), dimension if dimension > 0 else None)
        for name, dimension in found
        if '"' not in name and has_table(connection, f'"{name}"')
    ]


def _columns(rows: Sequence[tuple[Any, ...]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors of length 1, (n, dimension); of one vector too."""
    return normalised(np.atleast_2d(vectors))


def _status(made: EntryVectors, now: datetime) -> dict[str, str]:
    return failed_status(now, made.error) if made.error else complete_status(now)


def _remove(connection: Connection, name: str, rows: Rows) -> None:
    numbers = [
        number
        for (number,) in connection.execute("SELECT model_id FROM ariel_lite_embedding_models WHERE name = %s", (name,))
    ]
    connection.execute(
        f"DELETE FROM {model_table(name)} WHERE entry_id IN (SELECT entry_id FROM ariel_lite_embedding_state"
        " WHERE model_id = ANY(%s) AND row_id = ANY(%s))",
        (numbers, rows),
    )
    connection.execute(f"DELETE FROM {windows_table(name)} WHERE row_id = ANY(%s)", (rows,))
    connection.execute(
        "DELETE FROM ariel_lite_embedding_state WHERE model_id = ANY(%s) AND row_id = ANY(%s)", (numbers, rows)
    )
