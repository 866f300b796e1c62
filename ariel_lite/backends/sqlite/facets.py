"""Counts over the entries that a tree matches: by field value, by month; and their rows by time, or by time of change.

What is counted stands in memory as columns, so that counting takes milliseconds also where a tree matches most entries.
New entries are added to the columns; after any other change they are read anew.
"""

from __future__ import annotations

import json
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import apsw
import numpy as np
from numpy.typing import NDArray

from ariel_lite.backends.sqlite.search import Known, Searcher
from ariel_lite.backends.sqlite.stamps import View, generation, view
from ariel_lite.backends.values import Order
from ariel_lite.query.days import from_storage, month_starts, to_storage
from ariel_lite.query.nodes import BoundNode, Everything

REMEMBERED_TREES = 8
"""Row sets that are kept: a page asks for several counts over each."""

NO_MONTH = -1

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class FieldColumn:
    """The rows of each value of a field: those of value i are rows[starts[i]:starts[i + 1]]. True of `view`."""

    view: View
    values: tuple[str, ...]
    starts: Rows
    rows: Rows


@dataclass(frozen=True)
class MonthColumn:
    """The month (12 x year + month - 1) of each row, by row number. True of `view`."""

    view: View
    months: NDArray[np.int32]


class Facets:
    """Counts by field and month. Shared by threads.

    Args:
        known: what searches of the logbook remember.
    """

    def __init__(self, known: Known) -> None:
        self._known = known
        self._reading = threading.Lock()
        self._fields: dict[str, FieldColumn] = {}
        self._months: dict[str, MonthColumn] = {}
        self._swapping = threading.Lock()
        self._trees: OrderedDict[tuple[int, BoundNode], Rows] = OrderedDict()

    def field_counts(
        self, connection: apsw.Connection, name: str, tree: BoundNode | None, limit: int
    ) -> list[tuple[str, int]]:
        """(value, entries) of a field, most first, then by name."""
        rows = self._rows(connection, tree or Everything())
        column = self._field(connection, name)
        if not len(rows) or not len(column.rows):
            return []
        is_wanted = np.zeros(max(int(rows[-1]), int(column.rows.max())) + 1, dtype=np.int32)
        is_wanted[rows] = 1
        counts = np.add.reduceat(is_wanted[column.rows], column.starts)
        found = [(column.values[at], int(counts[at])) for at in np.flatnonzero(counts).tolist()]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]

    def month_counts(self, connection: apsw.Connection, tree: BoundNode, zone: str) -> list[tuple[str, int]]:
        """(YYYY-MM in the zone, entries), in time order."""
        rows = self._rows(connection, tree)
        found = self._month_column(connection, zone).months[rows]
        numbers, counts = np.unique(found[found != NO_MONTH], return_counts=True)
        return [
            (f"{number // 12:04d}-{number % 12 + 1:02d}", count)
            for number, count in zip(numbers.tolist(), counts.tolist(), strict=True)
        ]

    def _rows(self, connection: apsw.Connection, tree: BoundNode) -> Rows:
        key = (generation(connection), tree)
        with self._swapping:
            known = self._trees.get(key)
        if known is None:
            known = Searcher(connection, self._known).rows(tree)
            with self._swapping:
                self._trees[key] = known
                while len(self._trees) > REMEMBERED_TREES:
                    self._trees.popitem(last=False)
        return known

    def _field(self, connection: apsw.Connection, name: str) -> FieldColumn:
        with self._reading:
            now, known = view(connection), self._fields.get(name)
            if known is None or known.view.edited != now.edited:
                known = _read_field(connection, name, now, {})
            elif known.view.last_row < now.last_row:
                known = _read_field(connection, name, now, _parts(known), after=known.view.last_row)
            self._fields[name] = known
            return known

    def _month_column(self, connection: apsw.Connection, zone: str) -> MonthColumn:
        with self._reading:
            now, known = view(connection), self._months.get(zone)
            if known is None or known.view.edited != now.edited:
                known = _read_months(connection, zone, now, np.empty(0, dtype=np.int32))
            elif known.view.last_row < now.last_row:
                known = _read_months(connection, zone, now, known.months, after=known.view.last_row)
            self._months[zone] = known
            return known


def linking_to(connection: apsw.Connection, entry_ids: Sequence[str]) -> list[str]:
    """Ids of the entries whose metadata.linked_to names one of these, by time."""
    sql = (
        "SELECT DISTINCT timestamp, entry_id FROM field_values JOIN entry_fields USING (value_id)"
        " JOIN enhanced_entries USING (row_id), json_each(metadata, '$.linked_to') AS link"
        " WHERE field = 'has' AND field_values.value = 'link'"
        " AND CAST(link.value AS TEXT) IN (SELECT value FROM json_each(?)) ORDER BY timestamp, entry_id"
    )
    return [entry_id for _, entry_id in connection.execute(sql, (json.dumps(list(entry_ids)),))]


def rows_by_time(connection: apsw.Connection, tree: BoundNode, order: Order) -> list[int]:
    """Row numbers of what a tree matches, by time."""
    direction = "DESC" if order == "newest" else "ASC"
    if isinstance(tree, Everything):
        sql = f"SELECT row_id FROM enhanced_entries ORDER BY timestamp {direction}, entry_id"
        return [row for (row,) in connection.execute(sql)]
    rows = json.dumps(Searcher(connection).rows(tree).tolist())
    sql = (
        "SELECT row_id FROM enhanced_entries WHERE row_id IN (SELECT value FROM json_each(?))"
        f" ORDER BY timestamp {direction}, entry_id"
    )
    return [row for (row,) in connection.execute(sql, (rows,))]


def rows_by_change(connection: apsw.Connection, tree: BoundNode, since: datetime | None) -> list[int]:
    """Row numbers of what a tree matches and that changed at `since` or later, by (time of change, id)."""
    inside = "1"
    parameters = [to_storage(since) if since else ""]
    if not isinstance(tree, Everything):
        inside = "row_id IN (SELECT value FROM json_each(?))"
        parameters.append(json.dumps(Searcher(connection).rows(tree).tolist()))
    sql = f"SELECT row_id FROM enhanced_entries WHERE updated_at >= ? AND {inside} ORDER BY updated_at, entry_id"
    return [row for (row,) in connection.execute(sql, parameters)]


def _read_field(
    connection: apsw.Connection, name: str, now: View, parts: dict[str, list[Rows]], after: int = 0
) -> FieldColumn:
    """A field's column: `parts` are the rows of each value up to the row `after`."""
    sql = (
        "SELECT value, group_concat(row_id) FROM field_values JOIN entry_fields USING (value_id)"
        " WHERE field = ? AND row_id > ? GROUP BY value_id"
    )
    for value, listed in connection.execute(sql, (name, after)):
        parts.setdefault(value, []).append(np.fromstring(listed, dtype=np.int64, sep=","))
    every = [rows for part in parts.values() for rows in part]
    sizes = [sum(len(rows) for rows in part) for part in parts.values()]
    starts = np.cumsum([0, *sizes], dtype=np.int64)[:-1]
    return FieldColumn(now, tuple(parts), starts, np.concatenate(every) if every else np.empty(0, dtype=np.int64))


def _parts(column: FieldColumn) -> dict[str, list[Rows]]:
    pieces = np.split(column.rows, column.starts[1:])
    return {value: [rows] for value, rows in zip(column.values, pieces, strict=False)}


def _read_months(
    connection: apsw.Connection, zone: str, now: View, known: NDArray[np.int32], after: int = 0
) -> MonthColumn:
    """The month of each row: `known` are those up to the row `after`."""
    months = np.full(now.last_row + 1, NO_MONTH, dtype=np.int32)
    months[: len(known)] = known
    # Of all rows the times are in an index; of the last few they are nearer in the table.
    row = "row_id" if after else "+row_id"
    stamps: list[tuple[Any, ...]] = connection.execute(
        f"SELECT row_id, timestamp FROM enhanced_entries WHERE {row} > ? AND row_id <= ?", (after, now.last_row)
    ).fetchall()
    if stamps:
        edges = [from_storage(edge(stamp for _, stamp in stamps)) for edge in (min, max)]
        names, moments = month_starts(edges[0], edges[1], ZoneInfo(zone))
        starts = [to_storage(moment) for moment in moments]
        first = _month_number(names[0])
        for number, stamp in stamps:
            months[number] = first + bisect_right(starts, stamp) - 1
    return MonthColumn(now, months)


def _month_number(name: str) -> int:
    return 12 * int(name[:4]) + int(name[5:]) - 1
