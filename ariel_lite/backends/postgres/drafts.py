"""Entries that are being written, and files that wait for the entry they will belong to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ariel_lite.backends.drafting import draft_json, names_in
from ariel_lite.backends.postgres.connection import Connection
from ariel_lite.backends.postgres.migrations import has_table
from ariel_lite.backends.postgres.store import PostgresStore
from ariel_lite.backends.values import Draft, StoredAttachment
from ariel_lite.embeddings.base import clean_text

COLUMNS = "draft_id, content, created_at, updated_at"
STAGED = "attachment_id, filename, mime_type, size_bytes, staged_at, data"


class Drafts(PostgresStore):
    """The methods of `backends.base.DraftStore`. A database of an older schema, opened for reading, has no drafts."""

    def save_draft(self, draft_id: str, content: Mapping[str, Any]) -> Draft:
        """Keep a draft; the same id again replaces its content."""
        now = datetime.now(UTC)
        sql = (
            f"INSERT INTO ariel_lite_drafts ({COLUMNS}) VALUES (%s, %s, %s, %s) ON CONFLICT (draft_id) DO UPDATE SET"
            f" content = excluded.content, updated_at = excluded.updated_at RETURNING {COLUMNS}"
        )
        with self._connections.writing(entries=False) as db:
            return _draft(db.execute(sql, (clean_text(draft_id), draft_json(content), now, now)).fetchall()[0])

    def get_draft(self, draft_id: str) -> Draft | None:
        """The draft of an id."""
        sql = f"SELECT {COLUMNS} FROM ariel_lite_drafts WHERE draft_id = %s"
        with self._connections.reading() as db:
            row = db.execute(sql, (clean_text(draft_id),)).fetchone() if _is_ready(db) else None
        return _draft(row) if row else None

    def drafts(self, limit: int = 100) -> list[Draft]:
        """The drafts changed last, newest first."""
        sql = f"SELECT {COLUMNS} FROM ariel_lite_drafts ORDER BY updated_at DESC, draft_id LIMIT %s"
        with self._connections.reading() as db:
            return [_draft(row) for row in db.execute(sql, (limit,))] if _is_ready(db) else []

    def delete_draft(self, draft_id: str) -> bool:
        """Forget a draft; False when there is none."""
        with self._connections.writing(entries=False) as db:
            done = db.execute("DELETE FROM ariel_lite_drafts WHERE draft_id = %s", (clean_text(draft_id),))
            return done.rowcount > 0

    def stage_file(self, attachment_id: str, filename: str, mime_type: str, data: bytes) -> StoredAttachment:
        """Keep a file that has no entry yet (its `entry_id` is ""); the same id again replaces it."""
        now = datetime.now(UTC)
        sql = (
            f"INSERT INTO ariel_lite_staged_files ({STAGED}) VALUES (%s, %s, %s, %s, %s, %s)"
            " ON CONFLICT (attachment_id) DO UPDATE SET filename = excluded.filename, mime_type = excluded.mime_type,"
            " size_bytes = excluded.size_bytes, staged_at = excluded.staged_at, data = excluded.data"
        )
        values = (clean_text(attachment_id), clean_text(filename), clean_text(mime_type), len(data), now, data)
        with self._connections.writing(entries=False) as db:
            db.execute(sql, values)
        return StoredAttachment(attachment_id, "", filename, mime_type, len(data), now)

    def staged_file(self, attachment_id: str) -> StoredAttachment | None:
        """A waiting file with its data."""
        sql = f"SELECT {STAGED} FROM ariel_lite_staged_files WHERE attachment_id = %s"
        with self._connections.reading() as db:
            if not _is_ready(db):
                return None
            with db.cursor(binary=True) as cursor:
                row = cursor.execute(sql, (clean_text(attachment_id),)).fetchone()
        if row is None:
            return None
        return StoredAttachment(row[0], "", row[1], row[2], int(row[3]), row[4].astimezone(UTC), bytes(row[5]))

    def unstage_files(self, attachment_ids: Sequence[str]) -> int:
        """Forget waiting files; the number forgotten."""
        ids = [clean_text(attachment_id) for attachment_id in attachment_ids]
        with self._connections.writing(entries=False) as db:
            return db.execute("DELETE FROM ariel_lite_staged_files WHERE attachment_id = ANY(%s)", (ids,)).rowcount

    def forget_staged(self, before: datetime) -> int:
        """Forget waiting files that were staged before a moment and that no draft names; the number forgotten."""
        sql = "SELECT attachment_id FROM ariel_lite_staged_files WHERE staged_at < %s"
        with self._connections.writing(entries=False) as db:
            waiting = {attachment_id for (attachment_id,) in db.execute(sql, (before,))}
            if waiting:
                waiting -= names_in(content for (content,) in db.execute("SELECT content FROM ariel_lite_drafts"))
            return self.unstage_files(sorted(waiting))


def _is_ready(connection: Connection) -> bool:
    return has_table(connection, "ariel_lite_drafts")


def _draft(row: tuple[Any, ...]) -> Draft:
    return Draft(row[0], json.loads(row[1]), row[2].astimezone(UTC), row[3].astimezone(UTC))
