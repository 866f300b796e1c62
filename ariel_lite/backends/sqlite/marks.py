"""Writing a module's status into `enhancement_status`, ARIEL's column."""

from __future__ import annotations

from collections.abc import Mapping

import apsw

from ariel_lite.backends.encoding import cleaned, to_json

MARK = (
    "UPDATE enhanced_entries SET enhancement_status = json_patch(json_patch("
    "CASE WHEN json_valid(enhancement_status) THEN enhancement_status ELSE '{}' END, ?1), ?2) WHERE row_id = ?3"
)
"""A module's old status is taken out first, so that nothing of it stays."""


def note(connection: apsw.Connection, module: str, statuses: Mapping[int, Mapping[str, str]]) -> None:
    """Set a module's status of entries by row number."""
    gone = to_json({module: None})
    connection.executemany(
        MARK, [(gone, to_json({module: cleaned(dict(status))}), row) for row, status in statuses.items()]
    )
