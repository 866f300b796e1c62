"""The nearest vectors: a resident matrix of all vectors of a model, scanned whole or over the rows that filters allow.

Up to 20,000 vectors the matrix is float32 and the scan exact. Above, it is the derived int8 copy (each vector scaled
to its largest number, which leaves cosines as they are), and those that rounding may have kept from the best are
scored again with the stored float32 vectors. A window counts for its entry; the best one decides.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass

import apsw
import numpy as np
import simsimd
from numpy.typing import NDArray

from ariel_lite.backends.sqlite import vectors as stored
from ariel_lite.backends.sqlite.connection import integer
from ariel_lite.backends.values import VectorModel
from ariel_lite.embeddings.base import normalised

EXACT_VECTORS = 20_000
LEAST_RESCORED = 100
RESCORED_FACTOR = 4
INT8_LARGEST = 127
SIMILARITY_DIGITS = 6
ROUNDING_ERROR = 12**-0.5
"""The standard deviation of what rounding to whole numbers adds to each number of a vector."""

SURE_DEVIATIONS = 6.0
STRETCH = 32

Numbers = NDArray[np.float32] | NDArray[np.int8]


@dataclass(frozen=True)
class _Chunk:
    stamp: int
    rows: NDArray[np.int64]
    vectors: NDArray[np.int8]
    lengths: NDArray[np.float32]


@dataclass(frozen=True)
class _Matrix:
    """All vectors of a model: `rows` ascending, one line a vector; float32 (exact, of length 1) or int8."""

    stamp: int
    rows: NDArray[np.int64]
    vectors: Numbers
    lengths: NDArray[np.float32]


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
        candidates, values = _best_entries(rows, similarities, reach, spare=reach)
        doubt = SURE_DEVIATIONS * ROUNDING_ERROR * (1 / matrix.lengths.min() + 1 / _lengths(quantised(unit))[0])
        candidates = candidates[values >= values[:k][-1] - doubt]
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
            rows, vectors = stored.read_vectors(connection, model.name, pairs, model.dimension)
            return _Matrix(stamp, rows, vectors, np.ones(len(rows), dtype=np.float32))
        chunks = [self._chunk(connection, number, model, chunk, at) for chunk, at in _stamps(connection, number)]
        return _Matrix(
            stamp,
            np.concatenate([chunk.rows for chunk in chunks]),
            np.concatenate([chunk.vectors for chunk in chunks]),
            np.concatenate([chunk.lengths for chunk in chunks]),
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
    return _Chunk(stamp, rows, vectors, _lengths(vectors))


def _make_chunk(connection: apsw.Connection, number: int, model: VectorModel, chunk: int, stamp: int) -> _Chunk:
    units = stored.units_of(connection, number, chunk)
    rows, vectors = stored.read_vectors(connection, model.name, units, model.dimension)
    small = quantised(vectors)
    return _Chunk(stamp, rows, small, _lengths(small))


def _lengths(vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    """The length of each vector, never 0: (n, dimension) int8 -> (n,)."""
    squares = np.asarray(simsimd.dot(vectors, vectors)).reshape(-1) if len(vectors) else np.array([])
    return np.asarray(np.sqrt(np.maximum(squares, 1)), dtype=np.float32)


def _places(rows: NDArray[np.int64], allowed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Indices into `rows` (ascending, a row may stand several times) of the allowed rows (ascending)."""
    first = np.searchsorted(rows, allowed, side="left")
    counts = np.searchsorted(rows, allowed, side="right") - first
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.asarray(np.repeat(first, counts) + within, dtype=np.int64)


def _similarities(matrix: _Matrix, query: NDArray[np.float32], places: NDArray[np.int64] | None) -> NDArray[np.float64]:
    if places is None:
        return _compared(matrix.vectors, matrix.lengths, query)
    if len(places) > len(matrix.rows) // 2:
        return _compared(matrix.vectors, matrix.lengths, query)[places]
    first, last = int(places[0]), int(places[-1]) + 1
    chosen = slice(first, last) if last - first == len(places) else places
    return _compared(matrix.vectors[chosen], matrix.lengths[chosen], query)


def _compared(vectors: Numbers, lengths: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float64]:
    """The cosine of each vector and a query of length 1; of int8 vectors nearly."""
    if vectors.dtype == np.float32:
        return _rounded(vectors @ query[0])
    small = quantised(query)
    products = np.asarray(simsimd.cdist(small, vectors, metric="dot")).reshape(-1)
    similarities: NDArray[np.float64] = products / (lengths * _lengths(small)[0])
    return similarities


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
    tied = np.flatnonzero(similarities >= _floor(similarities, reach + 1))
    best = tied[np.argsort(-similarities[tied], kind="stable")]
    return np.asarray(best[similarities[best] >= similarities[best[reach]]], dtype=np.int64)


def _floor(similarities: NDArray[np.float64], count: int) -> float:
    """A value that at least `count` similarities reach, and not many more.

    It is the count-th largest of the best of stretches, which are many fewer than the similarities."""
    stretches = len(similarities) // STRETCH
    if stretches < 2 * count:
        return float(np.partition(similarities, len(similarities) - count)[-count])
    best = similarities[: stretches * STRETCH].reshape(STRETCH, stretches).max(axis=0)
    return float(np.partition(best, stretches - count)[-count])


def _rescored(
    connection: apsw.Connection, model: VectorModel, number: int, query: NDArray[np.float32], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    sql = (
        "SELECT row_id, windows FROM embedding_state WHERE model_id = ?"
        " AND row_id IN (SELECT value FROM json_each(?)) AND windows > 0 ORDER BY row_id"
    )
    units = list(connection.execute(sql, (number, json.dumps(rows.tolist()))))
    found, vectors = stored.read_vectors(connection, model.name, units, model.dimension)
    return found, _rounded(vectors @ query[0])


def _rounded(similarities: NDArray[np.float32]) -> NDArray[np.float64]:
    """Similarities as they are compared: equal ones stay equal whatever the order of summation."""
    return np.asarray(np.round(similarities.astype(np.float64), SIMILARITY_DIGITS), dtype=np.float64)
