"""Counts over the entries that a tree matches: by field value, by month; their ids by time, or by time of change."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from ariel_lite.backends.postgres.arrays import Rows
from ariel_lite.backends.postgres.compiler import INDEX, table_for
from ariel_lite.backends.postgres.connection import Connection, integer
from ariel_lite.backends.postgres.search import Searcher
from ariel_lite.backends.values import Order
from ariel_lite.query.days import month_starts
from ariel_lite.query.nodes import BoundNode, Everything

AMONG = "unnest(%s::bigint[]) AS wanted (row_id)"
REMEMBERED_TREES = 8


class Facets:
    """Counts by field and month. What the last trees matched is kept: a page asks for several counts over each."""

    def __init__(self) -> None:
        self._swapping = threading.Lock()
        self._trees: OrderedDict[tuple[int, BoundNode], Rows] = OrderedDict()

    def field_counts(
        self, connection: Connection, searcher: Searcher, name: str, tree: BoundNode | None, limit: int
    ) -> list[tuple[str, int]]:
        """(value, entries) of a field, most first, then by name."""
        among = ""
        parameters: tuple[Any, ...] = ()
        if tree is not None and not isinstance(tree, Everything):
            among = f" JOIN {AMONG} ON wanted.row_id = f.row_id"
            parameters = (self._rows(connection, searcher, tree),)
        sql = (
            "SELECT v.value, count(*) AS entries FROM ariel_lite_field_values AS v"
            f" JOIN ariel_lite_entry_fields AS f ON f.value_id = v.value_id{among}"
            " WHERE v.field = %s GROUP BY v.value_id ORDER BY entries DESC, v.value LIMIT %s"
        )
        found = connection.execute(sql, (*parameters, name, limit))
        return [(value, int(entries)) for value, entries in found]

    def month_counts(
        self, connection: Connection, searcher: Searcher, tree: BoundNode, zone: str
    ) -> list[tuple[str, int]]:
        """(YYYY-MM in the zone, entries), in time order; a month starts where the `date:` field says so."""
        table = table_for(tree)
        if table is INDEX:
            source = f"{INDEX.source} JOIN {AMONG} ON wanted.row_id = i.row_id"
            parameters: tuple[Any, ...] = (self._rows(connection, searcher, tree),)
        else:
            where = searcher.where(tree, table)
            source, parameters = f"{table.source} WHERE {where.sql}", where.parameters
        edges = connection.execute(f"SELECT min({table.time}), max({table.time}) FROM {source}", parameters).fetchone()
        if edges is None or edges[0] is None:
            return []
        months, starts = month_starts(edges[0], edges[1], ZoneInfo(zone))
        sql = (
            f"SELECT width_bucket({table.time}, %s::timestamptz[]) AS month_number, count(*) FROM {source}"
            " GROUP BY month_number ORDER BY month_number"
        )
        found = connection.execute(sql, (starts, *parameters))
        return [(months[max(at - 1, 0)], int(entries)) for at, entries in found]

    def _rows(self, connection: Connection, searcher: Searcher, tree: BoundNode) -> Rows:
        key = (integer(connection, "SELECT generation FROM ariel_lite_totals"), tree)
        with self._swapping:
            known = self._trees.get(key)
        if known is None:
            known = searcher.rows(tree)
            with self._swapping:
                self._trees[key] = known
                while len(self._trees) > REMEMBERED_TREES:
                    self._trees.popitem(last=False)
        return known


def linking_to(connection: Connection, entry_ids: Sequence[str]) -> list[str]:
    """Ids of the entries whose metadata.linked_to names one of these, by time."""
    sql = (
        "SELECT e.entry_id FROM ariel_lite_field_values AS v"
        " JOIN ariel_lite_entry_fields AS f ON f.value_id = v.value_id"
        " JOIN ariel_lite_lexemes AS i ON i.row_id = f.row_id JOIN enhanced_entries AS e ON e.entry_id = i.entry_id"
        " WHERE v.field = 'has' AND v.value = 'link'"
        " AND (e.metadata ->> 'linked_to' = ANY(%s) OR e.metadata -> 'linked_to' ?| %s)"
        ' ORDER BY e.timestamp, e.entry_id COLLATE "C"'
    )
    named = list(entry_ids)
    return [entry_id for (entry_id,) in connection.execute(sql, (named, named))]


def ids_by_time(connection: Connection, searcher: Searcher, tree: BoundNode, order: Order) -> list[str]:
    """Ids of what a tree matches, by time."""
    table = table_for(tree)
    where = searcher.where(tree, table)
    direction = "DESC" if order == "newest" else "ASC"
    sql = (
        f"SELECT {table.entry_id} FROM {table.source} WHERE {where.sql}"
        f' ORDER BY {table.time} {direction}, {table.entry_id} COLLATE "C"'
    )
    return [entry_id for (entry_id,) in connection.execute(sql, where.parameters)]


def ids_by_change(connection: Connection, searcher: Searcher, tree: BoundNode, since: datetime | None) -> list[str]:
    """Ids of what a tree matches and that changed at `since` or later, by (time of change, id)."""
    table = table_for(tree)
    where = searcher.where(tree, table)
    changed = "coalesce(c.updated_at, c.created_at, c.timestamp)"
    sql = (
        f"SELECT c.entry_id FROM enhanced_entries AS c WHERE c.entry_id IN (SELECT {table.entry_id}"
        f" FROM {table.source} WHERE {where.sql}) AND (%s::timestamptz IS NULL OR {changed} >= %s)"
        f' ORDER BY {changed}, c.entry_id COLLATE "C"'
    )
    return [entry_id for (entry_id,) in connection.execute(sql, (*where.parameters, since, since))]
