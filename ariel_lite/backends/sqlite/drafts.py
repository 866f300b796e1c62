"""Entries that are being written, and files that wait for the entry they will belong to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ariel_lite.backends.drafting import draft_json, names_in
from ariel_lite.backends.sqlite.store import SQLiteStore
from ariel_lite.backends.values import Draft, StoredAttachment
from ariel_lite.query.days import from_storage, to_storage

COLUMNS = "draft_id, content, created_at, updated_at"
STAGED = "attachment_id, filename, mime_type, size_bytes, staged_at, data"


class Drafts(SQLiteStore):
    """The methods of `backends.base.DraftStore`."""

    def save_draft(self, draft_id: str, content: Mapping[str, Any]) -> Draft:
        """Keep a draft; the same id again replaces its content."""
        now = to_storage(datetime.now(UTC))
        sql = (
            "INSERT INTO drafts VALUES (?, ?, ?, ?) ON CONFLICT (draft_id) DO UPDATE SET content = excluded.content,"
            f" updated_at = excluded.updated_at RETURNING {COLUMNS}"
        )
        with self._connections.writing() as db:
            return _draft(db.execute(sql, (draft_id, draft_json(content), now, now)).fetchall()[0])

    def get_draft(self, draft_id: str) -> Draft | None:
        """The draft of an id."""
        with self._connections.reading() as db:
            row = db.execute(f"SELECT {COLUMNS} FROM drafts WHERE draft_id = ?", (draft_id,)).fetchone()
        return _draft(row) if row else None

    def drafts(self, limit: int = 100) -> list[Draft]:
        """The drafts changed last, newest first."""
        sql = f"SELECT {COLUMNS} FROM drafts ORDER BY updated_at DESC, draft_id LIMIT ?"
        with self._connections.reading() as db:
            return [_draft(row) for row in db.execute(sql, (limit,))]

    def delete_draft(self, draft_id: str) -> bool:
        """Forget a draft; False when there is none."""
        with self._connections.writing() as db:
            db.execute("DELETE FROM drafts WHERE draft_id = ?", (draft_id,))
            return db.changes() > 0

    def stage_file(self, attachment_id: str, filename: str, mime_type: str, data: bytes) -> StoredAttachment:
        """Keep a file that has no entry yet (its `entry_id` is ""); the same id again replaces it."""
        now = datetime.now(UTC)
        values = (attachment_id, filename, mime_type, len(data), to_storage(now), data)
        with self._connections.writing() as db:
            db.execute(f"INSERT OR REPLACE INTO staged_files ({STAGED}) VALUES (?, ?, ?, ?, ?, ?)", values)
        return StoredAttachment(attachment_id, "", filename, mime_type, len(data), now)

    def staged_file(self, attachment_id: str) -> StoredAttachment | None:
        """A waiting file with its data."""
        with self._connections.reading() as db:
            row = db.execute(f"SELECT {STAGED} FROM staged_files WHERE attachment_id = ?", (attachment_id,)).fetchone()
        if row is None:
            return None
        return StoredAttachment(row[0], "", row[1], row[2], row[3], from_storage(row[4]), bytes(row[5]))

    def unstage_files(self, attachment_ids: Sequence[str]) -> int:
        """Forget waiting files; the number forgotten."""
        with self._connections.writing() as db:
            db.execute(
                "DELETE FROM staged_files WHERE attachment_id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(attachment_ids)),),
            )
            return db.changes()

    def forget_staged(self, before: datetime) -> int:
        """Forget waiting files that were staged before a moment and that no draft names; the number forgotten."""
        sql = "SELECT attachment_id FROM staged_files WHERE staged_at < ?"
        with self._connections.writing() as db:
            waiting = {attachment_id for (attachment_id,) in db.execute(sql, (to_storage(before),))}
            if waiting:
                waiting -= names_in(content for (content,) in db.execute("SELECT content FROM drafts"))
            return self.unstage_files(sorted(waiting))


def _draft(row: tuple[Any, ...]) -> Draft:
    return Draft(row[0], json.loads(row[1]), from_storage(row[2]), from_storage(row[3]))
