"""What enhancers did to which entry, and the semantic processor's store.

ARIEL's column `enhancement_status` says it; `enhancement_state` repeats it in a form that counts quickly.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import apsw

from ariel_lite.backends.claiming import CLAIM_LIFETIME
from ariel_lite.backends.encoding import digest
from ariel_lite.backends.merging import all_enriched
from ariel_lite.backends.sqlite.connection import integer
from ariel_lite.backends.sqlite.entries import read_entries, read_rows
from ariel_lite.backends.sqlite.marks import note
from ariel_lite.backends.sqlite.store import SQLiteStore
from ariel_lite.backends.statuses import (
    COMPLETE,
    FAILED,
    PENDING,
    Marking,
    check_status,
    counted,
    noted_statuses,
    pending_status,
)
from ariel_lite.backends.values import Enrichment, PendingText
from ariel_lite.query.days import to_storage
from ariel_lite.records import EnhancedLogbookEntry

NOTED = "EXISTS (SELECT 1 FROM enhancement_state WHERE module = ?1 AND status IN ({0}) AND row_id = e.row_id)"
DONE, GIVEN_UP = NOTED.format("'complete'"), NOTED.format("'failed'")
SETTLED = NOTED.format("'complete', 'failed'")
WHICH = {None: f"NOT {DONE}", PENDING: f"NOT {SETTLED}", COMPLETE: DONE, FAILED: GIVEN_UP}
UNCLAIMED = (
    f"SELECT e.row_id, e.entry_id FROM enhanced_entries AS e WHERE e.row_id > ?2 AND NOT {SETTLED} AND NOT EXISTS"
    " (SELECT 1 FROM enhancement_claims AS c WHERE c.module = ?1 AND c.row_id = e.row_id) ORDER BY e.row_id LIMIT ?3"
)


class EnhancementNotes(SQLiteStore, Marking):
    """The other methods of `backends.base.EnhancementLog`."""

    def mark_pending(self, module: str, status: str | None = None) -> int:
        """Let entries wait for a module again: all, or those of one status; the number changed."""
        wanted = noted_statuses(status)
        sql = "SELECT row_id FROM enhancement_state WHERE module = ? AND status IN (SELECT value FROM json_each(?))"
        with self._connections.writing() as db:
            rows = [row for (row,) in db.execute(sql, (module, json.dumps(wanted)))]
            note(db, module, dict.fromkeys(rows, pending_status()))
            return len(rows)

    def incomplete(self, module: str, status: str | None = None, limit: int = 100) -> list[EnhancedLogbookEntry]:
        """Entries that a module is not done with (or of one status), oldest first."""
        check_status(status)
        sql = (
            f"SELECT e.row_id FROM enhanced_entries AS e WHERE {WHICH[status]} ORDER BY e.timestamp, e.entry_id"
            " LIMIT ?2"
        )
        with self._connections.reading() as db:
            rows = [row for (row,) in db.execute(sql, (module, limit))]
            return [entry for _, entry in read_rows(db, rows)]

    def enhancement_counts(self, module: str) -> dict[str, int]:
        """{"complete", "failed", "pending"}: entries by the status of a module."""
        sql = "SELECT count(*) FROM enhancement_state WHERE module = ? AND status = ?"
        with self._connections.reading() as db:
            entries = integer(db, "SELECT count(*) FROM enhanced_entries")
            complete, failed = (integer(db, sql, (module, status)) for status in (COMPLETE, FAILED))
        return counted(entries, complete, failed)

    def claim_unenhanced(self, module: str, worker: str, limit: int) -> list[PendingText]:
        """Take up to `limit` pending entries; no other worker gets them while this one lives."""
        now = datetime.now(UTC)
        with self._connections.writing() as db:
            oldest = to_storage(now - CLAIM_LIFETIME)
            db.execute("DELETE FROM enhancement_claims WHERE claimed_at < ?", (oldest,))
            picked = self._places.next_of(
                worker, module, limit, lambda after, most: dict(db.execute(UNCLAIMED, (module, after or 0, most)))
            )
            db.executemany(
                "INSERT INTO enhancement_claims VALUES (?, ?, ?, ?)",
                [(module, row, worker, to_storage(now)) for row in picked],
            )
            return [
                PendingText(row, entry["entry_id"], digest(entry["raw_text"]), entry["raw_text"])
                for row, entry in read_rows(db, picked)
            ]

    def store_enrichments(self, module: str, enrichments: Sequence[Enrichment]) -> int:
        """Set summary and keywords, index them, and mark the module complete: one transaction."""
        found = {enrichment.entry_id: enrichment for enrichment in enrichments}
        now = datetime.now(UTC)
        with self._writing() as session:
            db = session.connection
            stored = read_entries(db, list(found))
            made = all_enriched((entry for _, entry in stored), module, found, now)
            session.rewrite(made)
            _unclaim(db, module, [row for row, _ in stored])
        return len(made)

    def _mark(self, module: str, statuses: Mapping[str, Mapping[str, str]]) -> int:
        sql = "SELECT entry_id, row_id FROM json_each(?) CROSS JOIN enhanced_entries ON entry_id = value"
        with self._connections.writing() as db:
            rows = dict(db.execute(sql, (json.dumps(list(statuses)),)))
            note(db, module, {row: statuses[entry_id] for entry_id, row in rows.items()})
            _unclaim(db, module, list(rows.values()))
            return len(rows)


def _unclaim(connection: apsw.Connection, module: str, rows: Sequence[int]) -> None:
    connection.executemany(
        "DELETE FROM enhancement_claims WHERE module = ? AND row_id = ?", [(module, row) for row in rows]
    )
