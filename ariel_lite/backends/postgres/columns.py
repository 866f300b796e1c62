"""Records as PostgreSQL keeps them: where their parts stand, what is read back, by what others' edits are noticed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from ariel_lite.backends.postgres.arrays import Rows
from ariel_lite.backends.postgres.connection import Connection
from ariel_lite.embeddings.base import clean_text
from ariel_lite.records import EnhancedLogbookEntry

WORDS = "CASE WHEN {0} IS NULL THEN NULL ELSE ARRAY(SELECT jsonb_array_elements_text({0}::jsonb)) END"
"""keywords travel as JSON text: arrays of arrays of different lengths do not exist in PostgreSQL."""


@dataclass(frozen=True)
class Layout:
    """Where an entry's parts stand: summary and keywords in ARIEL's table, or in our state where ARIEL's has none."""

    has_own_words: bool

    @property
    def columns(self) -> str:
        """The columns of an entry, of `e` (enhanced_entries) and `s` (our state)."""
        words = "e" if self.has_own_words else "s"
        return (
            "e.entry_id, e.source_system, e.timestamp, e.author, e.raw_text, e.attachments, e.metadata, e.created_at,"
            f" e.updated_at, e.enhancement_status, {words}.summary, {words}.keywords"
        )

    @property
    def fingerprint(self) -> str:
        """An expression over `e` that differs when another program changed what we index; computed by the server."""
        parts = ["e.source_system", "extract(epoch FROM e.timestamp)::text", "e.author", "e.raw_text"]
        parts += ["e.attachments::text", "e.metadata::text"]
        if self.has_own_words:
            parts += ["e.summary", "array_to_string(e.keywords, chr(31), chr(29))"]
        joined = ", ".join(f"coalesce({part}, '')" for part in parts)
        return f"hashtextextended(concat_ws(chr(30), {joined}), 0)"


def read_entries(
    connection: Connection, layout: Layout, entry_ids: Sequence[str]
) -> list[tuple[int | None, EnhancedLogbookEntry]]:
    """(row number, None when it is not indexed; entry) of the ids that exist, in the order of the ids."""
    sql = (
        f"SELECT s.row_id, {layout.columns} FROM unnest(%s::text[]) WITH ORDINALITY AS wanted (entry_id, place)"
        " JOIN enhanced_entries AS e ON e.entry_id = wanted.entry_id"
        " LEFT JOIN ariel_lite_entry_state AS s ON s.entry_id = e.entry_id ORDER BY wanted.place"
    )
    return [_entry(row) for row in connection.execute(sql, ([clean_text(entry_id) for entry_id in entry_ids],))]


def read_rows(connection: Connection, layout: Layout, rows: Rows) -> Iterator[tuple[int, EnhancedLogbookEntry]]:
    """(row number, entry) of row numbers that exist, in ascending order."""
    sql = (
        f"SELECT s.row_id, {layout.columns} FROM ariel_lite_entry_state AS s"
        " JOIN enhanced_entries AS e ON e.entry_id = s.entry_id WHERE s.row_id = ANY(%s) ORDER BY s.row_id"
    )
    for row in connection.execute(sql, (rows,)):
        number, entry = _entry(row)
        yield cast(int, number), entry


def _entry(row: tuple[Any, ...]) -> tuple[int | None, EnhancedLogbookEntry]:
    """Columns that ARIEL's writers may leave NULL get their empty values."""
    entry: EnhancedLogbookEntry = {
        "entry_id": row[1],
        "source_system": row[2] or "",
        "timestamp": _utc(row[3]),
        "author": row[4] or "",
        "raw_text": row[5] or "",
        "attachments": row[6] or [],
        "metadata": row[7] or {},
        "created_at": _utc(row[8] or row[3]),
        "updated_at": _utc(row[9] or row[8] or row[3]),
        "enhancement_status": row[10] or {},
        "summary": row[11],
        "keywords": row[12] or [],
    }
    return row[0], entry


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)
