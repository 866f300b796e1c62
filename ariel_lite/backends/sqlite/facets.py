"""Counts over the entries that a tree matches: by field value, by month; their rows by time, or by time of change."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

import apsw

from ariel_lite.backends.base import Order
from ariel_lite.backends.sqlite.search import Searcher
from ariel_lite.query.days import from_storage, to_storage
from ariel_lite.query.nodes import BoundNode, Everything


def field_counts(connection: apsw.Connection, name: str, tree: BoundNode | None, limit: int) -> list[tuple[str, int]]:
    """(value, entries) of a field, most first, then by name."""
    inside = "1"
    parameters: tuple[str | int, ...] = (name,)
    if tree is not None and not isinstance(tree, Everything):
        inside = "entry_fields.row_id IN (SELECT value FROM json_each(?))"
        parameters = (name, json.dumps(Searcher(connection).rows(tree).tolist()))
    sql = (
        "SELECT value, count(*) AS entries FROM field_values JOIN entry_fields USING (value_id)"
        f" WHERE field = ? AND {inside} GROUP BY value_id ORDER BY entries DESC, value LIMIT ?"
    )
    return list(connection.execute(sql, (*parameters, limit)))


def month_counts(connection: apsw.Connection, tree: BoundNode, zone: str) -> list[tuple[str, int]]:
    """(YYYY-MM in the zone, entries), in time order."""
    rows = json.dumps(Searcher(connection).rows(tree).tolist())
    sql = (
        "SELECT substr(timestamp, 1, 13), min(timestamp), count(*) FROM enhanced_entries"
        " WHERE row_id IN (SELECT value FROM json_each(?)) GROUP BY 1"
    )
    local = ZoneInfo(zone)
    counts: Counter[str] = Counter()
    for _, stamp, entries in connection.execute(sql, (rows,)):
        counts[from_storage(stamp).astimezone(local).strftime("%Y-%m")] += entries
    return sorted(counts.items())


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
