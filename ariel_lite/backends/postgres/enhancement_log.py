"""What enhancers did to which entry, and the semantic processor's store.

ARIEL's column `enhancement_status` alone says it, so that what ARIEL's own workers did counts too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ariel_lite.backends.claiming import CLAIM_LIFETIME
from ariel_lite.backends.encoding import digest
from ariel_lite.backends.made_vectors import UNKNOWN_ROW
from ariel_lite.backends.merging import all_enriched
from ariel_lite.backends.postgres.columns import read_entries
from ariel_lite.backends.postgres.connection import Connection
from ariel_lite.backends.postgres.marks import note
from ariel_lite.backends.postgres.store import PostgresStore
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
from ariel_lite.embeddings.base import clean_text
from ariel_lite.records import EnhancedLogbookEntry

NOTED = "coalesce(e.enhancement_status -> %s::text ->> 'status', 'pending')"
WHICH = {
    None: f"{NOTED} <> 'complete'",
    PENDING: f"{NOTED} NOT IN ('complete', 'failed')",
    COMPLETE: f"{NOTED} = 'complete'",
    FAILED: f"{NOTED} = 'failed'",
}
UNCLAIMED = (
    f"SELECT e.entry_id, e.raw_text FROM enhanced_entries AS e WHERE {{after}} AND {WHICH[PENDING]} AND NOT EXISTS"
    " (SELECT 1 FROM ariel_lite_enhancement_claims AS c WHERE c.module = %s AND c.entry_id = e.entry_id)"
    " ORDER BY e.entry_id LIMIT %s FOR NO KEY UPDATE OF e SKIP LOCKED"
)
CLAIM = (
    "INSERT INTO ariel_lite_enhancement_claims (module, entry_id, worker) SELECT %s, entry_id, %s"
    " FROM unnest(%s::text[]) AS w (entry_id) ON CONFLICT DO NOTHING RETURNING entry_id"
)


class EnhancementNotes(PostgresStore, Marking):
    """The other methods of `backends.base.EnhancementLog`."""

    def mark_pending(self, module: str, status: str | None = None) -> int:
        """Let entries wait for a module again: all, or those of one status; the number changed."""
        wanted = noted_statuses(status)
        sql = f"SELECT e.entry_id FROM enhanced_entries AS e WHERE {NOTED} = ANY(%s)"
        with self._connections.writing(entries=False) as db:
            ids = [entry_id for (entry_id,) in db.execute(sql, (module, wanted))]
            return note(db, module, dict.fromkeys(ids, pending_status()))

    def incomplete(self, module: str, status: str | None = None, limit: int = 100) -> list[EnhancedLogbookEntry]:
        """Entries that a module is not done with (or of one status), oldest first."""
        check_status(status)
        sql = (
            f"SELECT e.entry_id FROM enhanced_entries AS e WHERE {WHICH[status]}"
            ' ORDER BY e.timestamp, e.entry_id COLLATE "C" LIMIT %s'
        )
        with self._connections.reading() as db:
            ids = [entry_id for (entry_id,) in db.execute(sql, (module, limit))]
            return [entry for _, entry in read_entries(db, self._layout, ids)]

    def enhancement_counts(self, module: str) -> dict[str, int]:
        """{"complete", "failed", "pending"}: entries by the status of a module."""
        sql = f"SELECT {NOTED}, count(*) FROM enhanced_entries AS e GROUP BY 1"
        with self._connections.reading() as db:
            found = {status: int(entries) for status, entries in db.execute(sql, (module,))}
        return counted(sum(found.values()), found.get(COMPLETE, 0), found.get(FAILED, 0))

    def claim_unenhanced(self, module: str, worker: str, limit: int) -> list[PendingText]:
        """Take up to `limit` pending entries; no other worker gets them while this one lives."""
        with self._connections.writing(entries=False) as db:
            db.execute("DELETE FROM ariel_lite_enhancement_claims WHERE claimed_at < now() - %s", (CLAIM_LIFETIME,))
            while texts := self._places.next_of(
                worker, module, limit, lambda after, most: _pick(db, module, after, most)
            ):
                taken = {entry_id for (entry_id,) in db.execute(CLAIM, (module, worker, list(texts)))}
                if taken:
                    return _pending(db, {key: text for key, text in texts.items() if key in taken})
        return []

    def store_enrichments(self, module: str, enrichments: Sequence[Enrichment]) -> int:
        """Set summary and keywords, index them, and mark the module complete: one transaction."""
        found = {clean_text(enrichment.entry_id): enrichment for enrichment in enrichments}
        now = datetime.now(UTC)
        with self._writing() as session:
            db = session.connection
            # What is read is written back whole, so nobody else may change it in between.
            lock = "SELECT FROM enhanced_entries WHERE entry_id = ANY(%s) ORDER BY entry_id FOR NO KEY UPDATE"
            db.execute(lock, (list(found),))
            stored = [entry for _, entry in read_entries(db, self._layout, list(found))]
            made = all_enriched(stored, module, found, now)
            session.rewrite(made)
            _unclaim(db, module, list(found))
        return len(made)

    def _mark(self, module: str, statuses: Mapping[str, Mapping[str, str]]) -> int:
        with self._connections.writing(entries=False) as db:
            stored = {clean_text(entry_id): status for entry_id, status in statuses.items()}
            _unclaim(db, module, list(stored))
            return note(db, module, stored)


def _pick(connection: Connection, module: str, after: str | None, limit: int) -> dict[str, str]:
    place: tuple[Any, ...] = () if after is None else (after,)
    sql = UNCLAIMED.format(after="TRUE" if after is None else "e.entry_id > %s")
    return dict(connection.execute(sql, (*place, module, module, limit)).fetchall())


def _pending(connection: Connection, texts: Mapping[str, str | None]) -> list[PendingText]:
    sql = "SELECT entry_id, row_id FROM ariel_lite_entry_state WHERE entry_id = ANY(%s)"
    rows = dict(connection.execute(sql, (list(texts),)).fetchall())
    return [
        PendingText(rows.get(entry_id, UNKNOWN_ROW), entry_id, digest(text or ""), text or "")
        for entry_id, text in texts.items()
    ]


def _unclaim(connection: Connection, module: str, entry_ids: Sequence[str]) -> None:
    connection.execute(
        "DELETE FROM ariel_lite_enhancement_claims WHERE module = %s AND entry_id = ANY(%s)", (module, list(entry_ids))
    )
