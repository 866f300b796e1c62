"""Writing a module's status into `enhancement_status`, ARIEL's column."""

from __future__ import annotations

from collections.abc import Mapping

from ariel_lite.backends.encoding import cleaned, to_json
from ariel_lite.backends.postgres.connection import Connection

MARK = (
    "WITH old AS (SELECT e.entry_id, s.row_id, s.updated_at IS NOT DISTINCT FROM e.updated_at AS is_known"
    " FROM enhanced_entries AS e LEFT JOIN ariel_lite_entry_state AS s ON s.entry_id = e.entry_id"
    " WHERE e.entry_id = ANY(%(ids)s) ORDER BY e.entry_id FOR NO KEY UPDATE OF e),"
    " marked AS (UPDATE enhanced_entries AS e SET enhancement_status ="
    " coalesce(e.enhancement_status, '{}') || jsonb_build_object(%(module)s::text, w.status::jsonb)"
    " FROM old JOIN unnest(%(ids)s::text[], %(statuses)s::text[]) AS w (entry_id, status) ON w.entry_id = old.entry_id"
    " WHERE e.entry_id = old.entry_id RETURNING e.entry_id, e.updated_at, old.row_id, old.is_known),"
    " known AS (UPDATE ariel_lite_entry_state AS s SET updated_at = marked.updated_at FROM marked"
    " WHERE s.row_id = marked.row_id AND marked.is_known AND s.updated_at IS DISTINCT FROM marked.updated_at)"
    " SELECT count(*) FROM marked"
)
"""A trigger's new time of change is noted, so that a mark is not taken for another program's edit."""


def note(connection: Connection, module: str, statuses: Mapping[str, Mapping[str, str]]) -> int:
    """Set a module's status of entries by id; the number of them that exist."""
    if not statuses:
        return 0
    texts = [to_json(cleaned(dict(status))) for status in statuses.values()]
    row = connection.execute(MARK, {"ids": list(statuses), "module": module, "statuses": texts}).fetchone()
    return int(row[0]) if row else 0
