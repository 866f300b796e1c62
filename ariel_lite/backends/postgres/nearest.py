"""The nearest vectors. A window counts for its entry; the best one decides.

Up to EXACT_VECTORS vectors, and whenever the filters leave no more rows than that, all of them are compared. Above, an
hnsw index gives the candidates, in strict order and for as long as the filters need; when it finds too few, all are
compared after all. Candidates are scored again here from their stored float32 numbers, as the SQLite backend does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ariel_lite.backends.postgres.arrays import Rows, nothing
from ariel_lite.backends.postgres.connection import Connection, integer
from ariel_lite.backends.postgres.migrations import MIGRATION_LOCK
from ariel_lite.backends.postgres.vectors import WIDEST_INDEXED, model_id, vector_text
from ariel_lite.backends.values import VectorModel
from ariel_lite.embeddings.base import model_table, normalised, windows_table

EXACT_VECTORS = 20_000
LEAST_RESCORED = 100
RESCORED_FACTOR = 4
SIMILARITY_DIGITS = 6
LEAST_EFFORT, MOST_EFFORT = 100, 1_000
"""hnsw.ef_search: how many neighbours the index keeps in view; its largest value."""
HEADER_BYTES = 4

PREPARE = (
    "SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.max_scan_tuples', '2147483647',"
    " true), set_config('hnsw.ef_search', %s, true), set_config('enable_seqscan', 'off', true),"
    " set_config('enable_sort', 'off', true), set_config('enable_hashjoin', 'off', true),"
    " set_config('enable_mergejoin', 'off', true), set_config('enable_material', 'off', true)"
)
"""Neighbours one by one, each looked up in the state: no other plan can stop early."""

Nearest = tuple[Rows, NDArray[np.float64]]


def search(
    connection: Connection, model: VectorModel, query: NDArray[np.float32], k: int, allowed: Rows | None
) -> Nearest:
    """(rows, similarities) of the k nearest entries, best first; see `backends.base.VectorStore.nearest`."""
    number = model_id(connection, model)
    if number is None or k <= 0 or (allowed is not None and not len(allowed)):
        return nothing(), np.array([], dtype=np.float64)
    unit = normalised(query.reshape(1, -1))[0]
    reach = max(RESCORED_FACTOR * k, LEAST_RESCORED)
    candidates = _indexed(connection, model, number, unit, reach, allowed)
    if candidates is None:
        candidates = _compared(connection, model, number, unit, reach, allowed)
    return _best(*_scored(connection, model, number, unit, candidates), k)


def seal(connection: Connection, model: VectorModel) -> None:
    """Make the hnsw indexes of a model that has many vectors, inside a write transaction of the caller."""
    number = model_id(connection, model)
    if number is None or model.dimension > WIDEST_INDEXED:
        return
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
    for table, sql in (
        (
            model_table(model.name),
            "SELECT count(*) FROM ariel_lite_embedding_state WHERE model_id = %s AND windows > 0",
        ),
        (
            windows_table(model.name),
            "SELECT sum(windows) FROM ariel_lite_embedding_state WHERE model_id = %s AND windows > 1",
        ),
    ):
        if integer(connection, sql, (number,)) > EXACT_VECTORS and not _has_index(connection, table):
            connection.execute("SET LOCAL maintenance_work_mem = '512MB'")
            connection.execute(f"CREATE INDEX ON {table} USING hnsw (embedding vector_cosine_ops)")
    connection.execute("ANALYZE ariel_lite_embedding_state")


def _indexed(
    connection: Connection,
    model: VectorModel,
    number: int,
    query: NDArray[np.float32],
    reach: int,
    allowed: Rows | None,
) -> Rows | None:
    """Candidates by the hnsw index, or None when comparing all is better or needed."""
    if allowed is not None and len(allowed) <= EXACT_VECTORS:
        return None
    if not _has_index(connection, model_table(model.name)) or not _scans_iteratively(connection):
        return None
    connection.execute(PREPARE, (str(min(max(2 * reach, LEAST_EFFORT), MOST_EFFORT)),))
    found = [
        _ordered(connection, _whole(model), "=", number, query, reach, allowed),
        _ordered(connection, _windows(model), ">", number, query, reach, allowed),
    ]
    rows = np.unique(np.concatenate(found))
    if len(rows) >= reach:
        return rows
    total = integer(
        connection, "SELECT count(*) FROM ariel_lite_embedding_state WHERE model_id = %s AND windows > 0", (number,)
    )
    return None if len(rows) < min(reach, total if allowed is None else min(total, len(allowed))) else rows


def _ordered(
    connection: Connection,
    table: str,
    windows: str,
    number: int,
    query: NDArray[np.float32],
    reach: int,
    allowed: Rows | None,
) -> Rows:
    limit, parameters = _only(allowed)
    sql = (
        f"SELECT v.row_id FROM {table} WHERE v.windows {windows} 1{limit} ORDER BY t.embedding <=> %s::vector LIMIT %s"
    )
    found = connection.execute(sql, (number, *parameters, vector_text(query), reach))
    return np.array([row for (row,) in found], dtype=np.int64)


def _compared(
    connection: Connection,
    model: VectorModel,
    number: int,
    query: NDArray[np.float32],
    reach: int,
    allowed: Rows | None,
) -> Rows:
    """Candidates by comparing all vectors that the filters allow."""
    limit, parameters = _only(allowed)
    parts = [
        f"SELECT v.row_id, t.embedding <=> %s::vector AS distance FROM {table} WHERE v.windows {windows} 1{limit}"
        for table, windows in ((_whole(model), "="), (_windows(model), ">"))
    ]
    text = vector_text(query)
    sql = f"SELECT row_id FROM ({' UNION ALL '.join(parts)}) AS found GROUP BY row_id ORDER BY min(distance) LIMIT %s"
    both = (text, number, *parameters, text, number, *parameters, reach)
    return np.array([row for (row,) in connection.execute(sql, both)], dtype=np.int64)


def _whole(model: VectorModel) -> str:
    return (
        f"{model_table(model.name)} AS t JOIN ariel_lite_embedding_state AS v"
        " ON v.model_id = %s AND v.entry_id = t.entry_id"
    )


def _windows(model: VectorModel) -> str:
    return (
        f"{windows_table(model.name)} AS t JOIN ariel_lite_embedding_state AS v"
        " ON v.model_id = %s AND v.row_id = t.row_id"
    )


def _only(allowed: Rows | None) -> tuple[str, tuple[Any, ...]]:
    return ("", ()) if allowed is None else (" AND v.row_id = ANY(%s)", (allowed,))


def _scored(
    connection: Connection, model: VectorModel, number: int, query: NDArray[np.float32], rows: Rows
) -> tuple[Rows, NDArray[np.float64]]:
    """(rows, similarities) of every vector of the rows."""
    parts = [
        f"SELECT v.row_id, vector_send(t.embedding) FROM {table} WHERE v.windows {windows} 1 AND v.row_id = ANY(%s)"
        for table, windows in ((_whole(model), "="), (_windows(model), ">"))
    ]
    with connection.cursor(binary=True) as cursor:
        found = cursor.execute(" UNION ALL ".join(parts), (number, rows, number, rows)).fetchall()
    numbers = b"".join(bytes(sent)[HEADER_BYTES:] for _, sent in found)
    vectors = np.frombuffer(numbers, dtype=">f4").astype(np.float32).reshape(len(found), model.dimension)
    return np.array([row for row, _ in found], dtype=np.int64), _rounded((vectors @ query).astype(np.float64))


def _rounded(similarities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Similarities as they are compared: equal ones stay equal whatever the order of summation."""
    return np.round(similarities, SIMILARITY_DIGITS)


def _best(rows: Rows, similarities: NDArray[np.float64], k: int) -> Nearest:
    """The k best entries; ties with the last one are kept, so that a caller can break them by time."""
    order = np.argsort(-similarities, kind="stable")
    _, first = np.unique(rows[order], return_index=True)
    best = order[np.sort(first)]
    values = similarities[best]
    if len(best) > k:
        keep = values >= values[k - 1]
        best, values = best[keep], values[keep]
    return rows[best], values


def _scans_iteratively(connection: Connection) -> bool:
    """True when pgvector goes on searching until the filters are satisfied (0.8 and newer)."""
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    return row is not None and tuple(map(int, row[0].split(".")[:2])) >= (0, 8)


def _has_index(connection: Connection, table: str) -> bool:
    sql = (
        "SELECT count(*) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam"
        " WHERE indrelid = to_regclass(%s) AND amname = 'hnsw' AND indisvalid"
    )
    return bool(integer(connection, sql, (table,)))
