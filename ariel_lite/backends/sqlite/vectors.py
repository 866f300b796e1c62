"""Vectors in the file: sqlite-vec tables by model, which entry has which, and who is making more.

`text_embeddings_<model>` holds one vector an entry, `text_windows_<model>` those of entries that are longer than the
model's input; both are cosine `vec0` tables that SQL can reach. `embedding_state` decides what counts: a vector is
current when its model's fingerprint and its text are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

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
from ariel_lite.backends.sqlite.connection import integer
from ariel_lite.backends.sqlite.entries import read_rows
from ariel_lite.backends.sqlite.marks import note
from ariel_lite.backends.statuses import complete_status, failed_status, pending_status
from ariel_lite.backends.values import EntryVectors, PendingText, VectorCounts, VectorModel
from ariel_lite.embeddings.base import model_table, normalised, windows_table
from ariel_lite.errors import EmbeddingGenerationError
from ariel_lite.query.days import to_storage
from ariel_lite.records import EmbeddingTableInfo, own_text

CHUNK_ROWS = 1024
WINDOW_BITS = 20
PICK = (
    "SELECT e.row_id, e.text_hash FROM entry_state AS e WHERE e.row_id > ?3 AND NOT EXISTS (SELECT 1 FROM"
    " embedding_state AS v WHERE v.model_id = ?1 AND v.row_id = e.row_id AND v.text_hash = e.text_hash) AND NOT EXISTS"
    " (SELECT 1 FROM embedding_claims AS c WHERE c.model_id = ?1 AND c.row_id = e.row_id)"
    " ORDER BY e.row_id LIMIT ?2"
)


def model_id(connection: apsw.Connection, model: VectorModel) -> int | None:
    """The number of a model with exactly this fingerprint, or None when it has no vectors here."""
    sql = "SELECT model_id FROM embedding_models WHERE name = ? AND fingerprint = ? AND dimension = ?"
    return integer(connection, sql, (model.name, model.fingerprint, model.dimension)) or None


def ensure_model(connection: apsw.Connection, model: VectorModel) -> int:
    """The number of a model, its tables made when absent.

    Raises:
        EmbeddingGenerationError: its tables hold vectors of another dimension.
    """
    known = model_id(connection, model)
    if known is not None:
        return known
    for (name,) in list(connection.execute("SELECT DISTINCT name FROM embedding_models")):
        if name != model.name and model_table(str(name)) == model_table(model.name):
            raise EmbeddingGenerationError(
                f"the models {name} and {model.name} would share the table {model_table(model.name)}",
                hint="name one of them differently",
            )
    dimension = table_dimension(connection, model.name)
    check_dimension(model_table(model.name), model, dimension)
    if dimension is None:
        _create_tables(connection, model)
    connection.execute(
        "INSERT INTO embedding_models (name, dimension, fingerprint) VALUES (?, ?, ?)",
        (model.name, model.dimension, model.fingerprint),
    )
    return int(connection.last_insert_rowid())


def table_dimension(connection: apsw.Connection, name: str) -> int | None:
    """The dimension of a model's stored vectors, or None when it has no table."""
    return integer(connection, "SELECT dimension FROM embedding_models WHERE name = ? LIMIT 1", (name,)) or None


def tables(connection: apsw.Connection) -> list[EmbeddingTableInfo]:
    """Every model's table with its number of vectors; the latest made counts as active."""
    sql = (
        "SELECT name, dimension, max(embedding_models.model_id), count(row_id) FROM embedding_models"
        " LEFT JOIN embedding_state ON embedding_state.model_id = embedding_models.model_id AND windows > 0"
        " GROUP BY name, dimension ORDER BY 3"
    )
    found = list(connection.execute(sql))
    return [
        EmbeddingTableInfo(model_table(str(name)), int(entries), int(dimension), place == len(found) - 1)
        for place, (name, dimension, _, entries) in enumerate(found)
    ]


def has_vectors(connection: apsw.Connection) -> bool:
    """True when at least one entry has a vector."""
    return bool(connection.execute("SELECT 1 FROM embedding_state WHERE windows > 0 LIMIT 1").get)


def has_models(connection: apsw.Connection) -> bool:
    """True when some model has tables here."""
    return bool(connection.execute("SELECT 1 FROM embedding_models LIMIT 1").get)


def counts(connection: apsw.Connection, model: VectorModel) -> VectorCounts:
    """Entries by the state of their vector."""
    number = model_id(connection, model) or 0
    matching = (
        "SELECT count(*) FROM embedding_state AS v JOIN entry_state AS e"
        " ON e.row_id = v.row_id AND e.text_hash = v.text_hash WHERE v.model_id = ? AND"
    )
    current = integer(connection, f"{matching} windows > 0", (number,))
    blank = integer(connection, f"{matching} windows = 0", (number,))
    stale = integer(
        connection,
        "SELECT count(DISTINCT row_id) FROM embedding_state WHERE model_id IN"
        " (SELECT model_id FROM embedding_models WHERE name = ? AND model_id <> ?)",
        (model.name, number),
    )
    entries = integer(connection, "SELECT count(*) FROM entry_state")
    failed = integer(connection, f"{matching} windows < 0", (number,))
    return VectorCounts(current, max(entries - current - blank - failed - stale, 0), stale, blank, failed)


def stamps(connection: apsw.Connection) -> tuple[Any, ...]:
    """Values that no logbook had before when its entries or its vectors change."""
    sql = "SELECT value FROM settings WHERE key IN ('generation', 'vectors') ORDER BY key"
    return tuple(value for (value,) in connection.execute(sql))


def claim(
    connection: apsw.Connection, model: VectorModel, worker: str, limit: int, places: ClaimPlaces
) -> list[PendingText]:
    """Take entries without a current vector; claims of dead workers are taken over."""
    number = ensure_model(connection, model)
    now = datetime.now(UTC)
    connection.execute("DELETE FROM embedding_claims WHERE claimed_at < ?", (to_storage(now - CLAIM_LIFETIME),))
    hashes: dict[int, bytes] = places.next_of(
        worker, number, limit, lambda after, most: dict(connection.execute(PICK, (number, most, after or 0)))
    )
    connection.executemany(
        "INSERT INTO embedding_claims VALUES (?, ?, ?, ?)", [(number, row, worker, to_storage(now)) for row in hashes]
    )
    return [
        PendingText(row, entry["entry_id"], hashes[row], own_text(entry))
        for row, entry in read_rows(connection, hashes)
    ]


def release(connection: apsw.Connection, worker: str) -> None:
    """Give back what a worker took."""
    connection.execute("DELETE FROM embedding_claims WHERE worker = ?", (worker,))


def store(connection: apsw.Connection, model: VectorModel, given: Sequence[EntryVectors]) -> int:
    """Keep vectors whose text is still the entry's; the number kept."""
    number = ensure_model(connection, model)
    for vectors in given:
        check_vectors(vectors, model)
    made = placed(given, _rows_of(connection, unknown_ids(given)))
    texts = dict(
        connection.execute(
            "SELECT row_id, text_hash FROM entry_state WHERE row_id IN (SELECT value FROM json_each(?))",
            (json.dumps([vectors.pending.row for vectors in made]),),
        )
    )
    kept = [vectors for vectors in made if texts.get(vectors.pending.row) == vectors.pending.text_hash]
    _remove(connection, model.name, [vectors.pending.row for vectors in kept])
    now = datetime.now(UTC)
    for vectors in kept:
        _insert(connection, model, vectors, to_storage(now))
    connection.executemany(
        "INSERT INTO embedding_state VALUES (?, ?, ?, ?)",
        [(number, vectors.pending.row, vectors.pending.text_hash, windows_count(vectors)) for vectors in kept],
    )
    connection.executemany(
        "DELETE FROM embedding_claims WHERE model_id = ? AND row_id = ?",
        [(number, vectors.pending.row) for vectors in made],
    )
    note(connection, EMBEDDING, {vectors.pending.row: _status(vectors, now) for vectors in kept})
    touch_chunks(connection, number, (vectors.pending.row for vectors in kept))
    return len(kept)


def stored(connection: apsw.Connection, model: VectorModel, entry_ids: Sequence[str]) -> list[EntryVectors]:
    """The current vectors of these entries that have one, in the order of the ids."""
    sql = (
        "SELECT entry_id, e.row_id, e.text_hash, v.windows FROM json_each(?1) AS wanted CROSS JOIN enhanced_entries"
        " ON entry_id = wanted.value JOIN entry_state AS e USING (row_id) JOIN embedding_state AS v"
        " ON v.model_id = ?2 AND v.row_id = e.row_id AND v.text_hash = e.text_hash AND v.windows > 0"
        " ORDER BY wanted.key"
    )
    found: list[Any] = connection.execute(sql, (json.dumps(list(entry_ids)), model_id(connection, model))).fetchall()
    made: list[EntryVectors] = []
    for entry_id, row, text_hash, windows in found:
        whole = read_vectors(connection, model.name, [(row, 1)], model.dimension)[1]
        parts = whole if windows == 1 else read_vectors(connection, model.name, [(row, windows)], model.dimension)[1]
        if len(whole) and len(parts) == windows:
            made.append(EntryVectors(PendingText(UNKNOWN_ROW, entry_id, text_hash, ""), whole[0], parts))
    return made


def _rows_of(connection: apsw.Connection, entry_ids: Sequence[str]) -> dict[str, int]:
    sql = "SELECT entry_id, row_id FROM json_each(?) CROSS JOIN enhanced_entries ON entry_id = value"
    return dict(connection.execute(sql, (json.dumps(list(entry_ids)),)))


def forget_failed(connection: apsw.Connection, model: VectorModel) -> None:
    """Let entries whose embedding failed wait again."""
    number = model_id(connection, model)
    connection.execute("DELETE FROM embedding_state WHERE model_id = ? AND windows < 0", (number,))


def _status(made: EntryVectors, now: datetime) -> dict[str, str]:
    return failed_status(now, made.error) if made.error else complete_status(now)


def _insert(connection: apsw.Connection, model: VectorModel, vectors: EntryVectors, now: str) -> None:
    """An entry's vectors, of length 1. What an interrupted life without sqlite-vec may have left goes first."""
    if vectors.vector is None or vectors.windows is None:
        return
    row, entry_id = vectors.pending.row, vectors.pending.entry_id
    table = model_table(model.name)
    connection.execute(f"DELETE FROM {table} WHERE id = ?", (row,))
    whole = normalised(np.atleast_2d(vectors.vector))[0].tobytes()
    connection.execute(
        f"INSERT INTO {table} (id, embedding, entry_id, created_at) VALUES (?, ?, ?, ?)", (row, whole, entry_id, now)
    )
    if len(vectors.windows) < 2:
        return
    table = windows_table(model.name)
    for place, window in enumerate(normalised(vectors.windows)):
        key = window_id(row, place)
        connection.execute(f"DELETE FROM {table} WHERE id = ?", (key,))
        connection.execute(
            f"INSERT INTO {table} (id, embedding, entry_id) VALUES (?, ?, ?)", (key, window.tobytes(), entry_id)
        )


def forget_rows(connection: apsw.Connection, rows: Sequence[int]) -> None:
    """Drop every model's vectors of rows whose text changed or that are gone."""
    for (name,) in list(connection.execute("SELECT DISTINCT name FROM embedding_models")):
        _remove(connection, str(name), rows)


def forget_state(connection: apsw.Connection, rows: Sequence[int]) -> None:
    """The same where sqlite-vec cannot be loaded: the vectors stay behind, but count for nothing any more."""
    for number in [int(found) for (found,) in list(connection.execute("SELECT model_id FROM embedding_models"))]:
        connection.executemany(
            "DELETE FROM embedding_state WHERE model_id = ? AND row_id = ?", [(number, row) for row in rows]
        )
        touch_chunks(connection, number, rows)


def drop(connection: apsw.Connection, name: str) -> int:
    """Forget all vectors of a model; the number of entries that had one."""
    if table_dimension(connection, name) is None:
        return 0
    numbers = "SELECT model_id FROM embedding_models WHERE name = ?"
    sql = f"SELECT count(*) FROM embedding_state WHERE windows > 0 AND model_id IN ({numbers})"
    had = integer(connection, sql, (name,))
    left: list[tuple[Any, ...]] = connection.execute(
        f"SELECT row_id FROM embedding_state WHERE model_id IN ({numbers}) EXCEPT"
        f" SELECT row_id FROM embedding_state WHERE model_id NOT IN ({numbers})",
        (name, name),
    ).fetchall()
    note(connection, EMBEDDING, {int(row): pending_status() for (row,) in left})
    for table in ("embedding_state", "embedding_claims", "vector_chunks"):
        connection.execute(f"DELETE FROM {table} WHERE model_id IN ({numbers})", (name,))
    connection.execute("DELETE FROM embedding_models WHERE name = ?", (name,))
    connection.execute(f"DROP TABLE {model_table(name)}")
    connection.execute(f"DROP TABLE {windows_table(name)}")
    connection.execute("UPDATE settings SET value = random() WHERE key = 'vectors'")
    return had


def window_id(row: int, place: int) -> int:
    """The key of an entry's n-th window."""
    return (row << WINDOW_BITS) | place


def units_of(connection: apsw.Connection, number: int, chunk: int) -> list[tuple[int, int]]:
    """(row, windows) of the entries of a chunk that have a vector, ascending."""
    sql = (
        "SELECT row_id, windows FROM embedding_state WHERE model_id = ? AND row_id >= ? AND row_id < ? AND windows > 0"
    )
    return [
        (int(r), int(w)) for r, w in connection.execute(sql, (number, chunk * CHUNK_ROWS, (chunk + 1) * CHUNK_ROWS))
    ]


def read_vectors(
    connection: apsw.Connection, name: str, units: Iterable[tuple[int, int]], dimension: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """(rows, vectors) of entries: the entry's own vector, or each of its windows'."""
    whole, parts = model_table(name), windows_table(name)
    wanted = [
        (row, parts if windows > 1 else whole, window_id(row, place) if windows > 1 else row)
        for row, windows in units
        for place in range(windows)
    ]
    found = {
        table: _blobs(connection, table, [key for _, of, key in wanted if of == table]) for table in (whole, parts)
    }
    kept = [(row, blob) for row, table, key in wanted if (blob := found[table].get(key)) is not None]
    vectors = np.frombuffer(b"".join(blob for _, blob in kept), dtype=np.float32).reshape(len(kept), dimension)
    return np.array([row for row, _ in kept], dtype=np.int64), vectors


def _blobs(connection: apsw.Connection, table: str, keys: Sequence[int]) -> dict[int, bytes]:
    """The stored vectors of these keys that have one."""
    sql = f"SELECT value, embedding FROM json_each(?) CROSS JOIN {table} AS kept ON kept.id = value"
    return dict(connection.execute(sql, (json.dumps(keys),))) if keys else {}


def touch_chunks(connection: apsw.Connection, number: int, rows: Iterable[int]) -> None:
    """Mark the derived copies of rows' chunks as out of date."""
    sql = "UPDATE settings SET value = random() WHERE key = 'vectors' RETURNING value"
    stamp = connection.execute(sql).get
    chunks = sorted({row // CHUNK_ROWS for row in rows})
    connection.executemany(
        "INSERT OR REPLACE INTO vector_chunks VALUES (?, ?, ?, NULL, NULL)",
        [(number, chunk, stamp) for chunk in chunks],
    )


def _create_tables(connection: apsw.Connection, model: VectorModel) -> None:
    column = f"embedding float[{model.dimension}] distance_metric=cosine"
    connection.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {model_table(model.name)} USING"
        f" vec0(id INTEGER PRIMARY KEY, {column}, +entry_id TEXT, +created_at TEXT)"
    )
    connection.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {windows_table(model.name)} USING"
        f" vec0(id INTEGER PRIMARY KEY, {column}, +entry_id TEXT)"
    )


def _remove(connection: apsw.Connection, name: str, rows: Sequence[int]) -> None:
    numbers = [
        int(number) for (number,) in connection.execute("SELECT model_id FROM embedding_models WHERE name = ?", (name,))
    ]
    for number in numbers:
        had: list[int] = []
        for row in rows:
            windows = connection.execute(
                "DELETE FROM embedding_state WHERE model_id = ? AND row_id = ? RETURNING windows", (number, row)
            ).get
            if windows is not None and int(windows) > 0:
                had.append(row)
                connection.execute(f"DELETE FROM {model_table(name)} WHERE id = ?", (row,))
                for place in range(int(windows) if int(windows) > 1 else 0):
                    connection.execute(f"DELETE FROM {windows_table(name)} WHERE id = ?", (window_id(row, place),))
        if had:
            touch_chunks(connection, number, had)
