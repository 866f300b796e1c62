"""The nearest vectors: a resident matrix of all vectors of a model, scanned whole or over the rows that filters allow.

Up to 20,000 vectors the matrix is float32 and the scan exact. Above, it is the derived int8 copy (each vector scaled
to its largest number, which leaves cosines as they are), and the best candidates are scored again with the stored
float32 vectors. A window counts for its entry; the best one decides.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import apsw
import numpy as np
import simsimd
from numpy.typing import NDArray

from ariel_lite.backends.base import VectorModel
from ariel_lite.backends.sqlite import vectors as stored
from ariel_lite.backends.sqlite.connection import integer
from ariel_lite.embeddings.base import normalised

EXACT_VECTORS = 20_000
LEAST_RESCORED = 100
RESCORED_FACTOR = 4
INT8_LARGEST = 127
SIMILARITY_DIGITS = 6

Numbers = NDArray[np.float32] | NDArray[np.int8]


@dataclass(frozen=True)
class _Chunk:
    stamp: int
    rows: NDArray[np.int64]
    vectors: NDArray[np.int8]


@dataclass(frozen=True)
class _Matrix:
    """All vectors of a model: `rows` ascending, one line a vector; float32 (exact) or int8."""

    stamp: int
    rows: NDArray[np.int64]
    vectors: Numbers


class NearestVectors:
    """Matrices by model, kept until the vectors change; shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._matrices: dict[int, _Matrix] = {}
        self._chunks: dict[tuple[int, int], _Chunk] = {}

    def forget(self) -> None:
        """Start from what the file says."""
        with self._lock:
            self._matrices.clear()
            self._chunks.clear()

    def search(
        self,
        connection: apsw.Connection,
        model: VectorModel,
        query: NDArray[np.float32],
        k: int,
        allowed: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """(rows, similarities) of the k nearest entries, best first; see `backends.base.VectorStore.nearest`."""
        number = stored.model_id(connection, model)
        nothing = np.array([], dtype=np.int64), np.array([], dtype=np.float64)
        if number is None or k <= 0:
            return nothing
        matrix = self._matrix(connection, number, model)
        places = None if allowed is None else _places(matrix.rows, allowed)
        if not len(matrix.rows) or (places is not None and not len(places)):
            return nothing
        unit = normalised(query.reshape(1, -1))
        similarities = _similarities(matrix, unit, places)
        rows = matrix.rows if places is None else matrix.rows[places]
        if matrix.vectors.dtype == np.float32:
            return _best_entries(rows, similarities, k)
        reach = max(RESCORED_FACTOR * k, LEAST_RESCORED)
        candidates, _ = _best_entries(rows, similarities, reach, spare=reach)
        return _best_entries(*_rescored(connection, model, number, unit, candidates), k)

    def _matrix(self, connection: apsw.Connection, number: int, model: VectorModel) -> _Matrix:
        stamp = integer(connection, "SELECT value FROM settings WHERE key = 'vectors'")
        with self._lock:
            known = self._matrices.get(number)
            if known is None or known.stamp != stamp:
                known = self._load(connection, number, model, stamp)
                self._matrices[number] = known
        return known

    def _load(self, connection: apsw.Connection, number: int, model: VectorModel, stamp: int) -> _Matrix:
        if _vectors(connection, number) <= EXACT_VECTORS:
            units = connection.execute(
                "SELECT row_id, windows FROM embedding_state WHERE model_id = ? AND windows > 0 ORDER BY row_id",
                (number,),
            )
            pairs = [(int(row), int(windows)) for row, windows in units]
            return _Matrix(stamp, *stored.read_vectors(connection, model.name, pairs, model.dimension))
        chunks = [self._chunk(connection, number, model, chunk, at) for chunk, at in _stamps(connection, number)]
        return _Matrix(
            stamp, np.concatenate([chunk.rows for chunk in chunks]), np.concatenate([chunk.vectors for chunk in chunks])
        )

    def _chunk(self, connection: apsw.Connection, number: int, model: VectorModel, chunk: int, stamp: int) -> _Chunk:
        known = self._chunks.get((number, chunk))
        if known is None or known.stamp != stamp:
            known = _read_chunk(connection, number, model, chunk, stamp)
            self._chunks[number, chunk] = known
        return known


def seal(connection: apsw.Connection, model: VectorModel) -> None:
    """Write the derived copy of every chunk that is out of date, inside a write transaction of the caller."""
    number = stored.model_id(connection, model)
    if number is None:
        return
    sql = "SELECT chunk, stamp FROM vector_chunks WHERE model_id = ? AND vectors IS NULL"
    if _vectors(connection, number) <= EXACT_VECTORS:
        return
    for chunk, stamp in list(connection.execute(sql, (number,))):
        made = _make_chunk(connection, number, model, int(chunk), int(stamp))
        connection.execute(
            "UPDATE vector_chunks SET units = ?, vectors = ? WHERE model_id = ? AND chunk = ?",
            (made.rows.tobytes(), made.vectors.tobytes(), number, chunk),
        )


def quantised(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Each vector scaled so that its largest number is 127, rounded: (n, dimension) float32 -> int8."""
    if not len(vectors):
        return vectors.astype(np.int8)
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    return np.rint(vectors * (INT8_LARGEST / np.where(largest > 0, largest, 1))).astype(np.int8)


def _vectors(connection: apsw.Connection, number: int) -> int:
    return integer(connection, "SELECT sum(windows) FROM embedding_state WHERE model_id = ? AND windows > 0", (number,))


def _stamps(connection: apsw.Connection, number: int) -> list[tuple[int, int]]:
    sql = "SELECT chunk, stamp FROM vector_chunks WHERE model_id = ? ORDER BY chunk"
    return [(int(chunk), int(stamp)) for chunk, stamp in connection.execute(sql, (number,))]


def _read_chunk(connection: apsw.Connection, number: int, model: VectorModel, chunk: int, stamp: int) -> _Chunk:
    sql = "SELECT units, vectors FROM vector_chunks WHERE model_id = ? AND chunk = ? AND vectors IS NOT NULL"
    kept = connection.execute(sql, (number, chunk)).fetchone()
    if kept is None:
        return _make_chunk(connection, number, model, chunk, stamp)
    rows = np.frombuffer(kept[0], dtype=np.int64)
    vectors = np.frombuffer(kept[1], dtype=np.int8).reshape(len(rows), model.dimension)
    return _Chunk(stamp, rows, vectors)


def _make_chunk(connection: apsw.Connection, number: int, model: VectorModel, chunk: int, stamp: int) -> _Chunk:
    units = stored.units_of(connection, number, chunk)
    rows, vectors = stored.read_vectors(connection, model.name, units, model.dimension)
    return _Chunk(stamp, rows, quantised(vectors))


def _places(rows: NDArray[np.int64], allowed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Indices into `rows` (ascending, a row may stand several times) of the allowed rows (ascending)."""
    if not len(allowed):
        return np.array([], dtype=np.int64)
    at = np.minimum(np.searchsorted(allowed, rows), len(allowed) - 1)
    return np.flatnonzero(allowed[at] == rows)


def _similarities(matrix: _Matrix, query: NDArray[np.float32], places: NDArray[np.int64] | None) -> NDArray[np.float64]:
    vectors = matrix.vectors if places is None else _slice(matrix.vectors, places)
    if vectors.dtype == np.float32:
        return _rounded(vectors @ query[0])
    distances = np.asarray(simsimd.cdist(quantised(query), vectors, metric="cosine"))
    return np.asarray(1.0 - distances.reshape(-1), dtype=np.float64)


def _slice(
    vectors: NDArray[np.float32] | NDArray[np.int8], places: NDArray[np.int64]
) -> NDArray[np.float32] | NDArray[np.int8]:
    first, last = int(places[0]), int(places[-1])
    if last - first + 1 == len(places):
        return vectors[first : last + 1]
    return vectors[places]


def _best_entries(
    rows: NDArray[np.int64], similarities: NDArray[np.float64], k: int, spare: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The k best entries; ties with the last one are kept, so that a caller can break them by time."""
    reach = k + spare
    while True:
        order = _top(similarities, reach)
        entries, first = np.unique(rows[order], return_index=True)
        if len(entries) >= k or len(order) == len(rows):
            break
        reach *= 4
    by_place = np.argsort(first, kind="stable")
    best = order[first[by_place]]
    values = np.round(similarities[best], SIMILARITY_DIGITS)
    if len(best) > k:
        keep = values >= values[k - 1]
        best, values = best[keep], values[keep]
    return rows[best], values


def _top(similarities: NDArray[np.float64], reach: int) -> NDArray[np.int64]:
    """Indices of the best, best first, together with everything that ties with the last of them."""
    if reach >= len(similarities):
        return np.argsort(-similarities, kind="stable")
    part = np.argpartition(-similarities, reach)[: reach + 1]
    worst = similarities[part].min()
    tied = np.flatnonzero(similarities >= worst)
    return tied[np.argsort(-similarities[tied], kind="stable")]


def _rescored(
    connection: apsw.Connection, model: VectorModel, number: int, query: NDArray[np.float32], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    sql = "SELECT windows FROM embedding_state WHERE model_id = ? AND row_id = ?"
    units = [(int(row), integer(connection, sql, (number, int(row)))) for row in rows]
    found, vectors = stored.read_vectors(connection, model.name, units, model.dimension)
    return found, _rounded(vectors @ query[0])


def _rounded(similarities: NDArray[np.float32]) -> NDArray[np.float64]:
    """Similarities as they are compared: equal ones stay equal whatever the order of summation."""
    return np.asarray(np.round(similarities.astype(np.float64), SIMILARITY_DIGITS), dtype=np.float64)
