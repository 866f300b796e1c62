"""Row numbers travel as arrays in binary form: many of them cost little, and numpy reads them as they come."""

from __future__ import annotations

from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format

INT4, INT8 = 23, 20
INT4_ARRAY, INT8_ARRAY = 1007, 1016
HEADER_BYTES = 20
ELEMENTS = {
    INT4: np.dtype([("size", ">i4"), ("value", ">i4")]),
    INT8: np.dtype([("size", ">i4"), ("value", ">i8")]),
}

Rows = NDArray[np.int64]


class RowsDumper(Dumper):
    """A numpy array of whole numbers as bigint[]."""

    format = Format.BINARY
    oid = INT8_ARRAY

    def dump(self, obj: Any) -> Buffer:
        """The array's bytes; see PostgreSQL's array_send."""
        if not len(obj):
            return np.array([0, 0, INT8], dtype=">i4").tobytes()
        elements = np.empty(len(obj), dtype=ELEMENTS[INT8])
        elements["size"] = 8
        elements["value"] = obj
        return np.array([1, 0, INT8, len(obj), 1], dtype=">i4").tobytes() + elements.tobytes()


class RowsLoader(Loader):
    """bigint[] and integer[] as numpy arrays."""

    format = Format.BINARY

    def load(self, data: Buffer) -> Rows:
        """The numbers of an array without NULLs, int64."""
        if len(data) <= HEADER_BYTES:
            return nothing()
        element = int(np.frombuffer(data, dtype=">i4", count=3)[2])
        values = np.frombuffer(data, dtype=ELEMENTS[element], offset=HEADER_BYTES)["value"]
        return values.astype(np.int64)


def register(connection: psycopg.Connection[Any]) -> None:
    """Teach a connection to send and to read arrays of row numbers."""
    connection.adapters.register_dumper(np.ndarray, RowsDumper)
    connection.adapters.register_loader(INT4_ARRAY, RowsLoader)
    connection.adapters.register_loader(INT8_ARRAY, RowsLoader)


def nothing() -> Rows:
    """No rows."""
    return np.array([], dtype=np.int64)


def read_arrays(connection: psycopg.Connection[Any], sql: str, parameters: tuple[Any, ...]) -> list[Rows]:
    """The columns of a statement's one row, each an array (NULL: an empty one)."""
    with connection.cursor(binary=True) as cursor:
        row = cursor.execute(sql, parameters).fetchone()
    return [nothing() if column is None else column for column in row or ()]


def places(rows: Rows, wanted: Rows) -> NDArray[np.intp]:
    """Indices into `rows` (ascending, distinct) of those `wanted` numbers that are in it."""
    if not len(rows) or not len(wanted):
        return np.array([], dtype=np.intp)
    at = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    found: NDArray[np.intp] = at[rows[at] == wanted]
    return found
