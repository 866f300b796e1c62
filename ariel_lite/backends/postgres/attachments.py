"""Files of entries, in ARIEL's `attachment_files`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ariel_lite.backends.postgres.connection import Connection
from ariel_lite.backends.values import StoredAttachment
from ariel_lite.embeddings.base import clean_text
from ariel_lite.records import EnhancedLogbookEntry

DESCRIPTION = "attachment_id, entry_id, filename, mime_type, size_bytes, created_at"


def store(
    connection: Connection, entry_id: str, attachment_id: str, filename: str, mime_type: str, data: bytes
) -> StoredAttachment:
    """Keep a file; the same id again replaces it."""
    now = datetime.now(UTC)
    connection.execute(
        "INSERT INTO attachment_files (attachment_id, entry_id, filename, mime_type, data, size_bytes, created_at)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (attachment_id) DO UPDATE SET entry_id = excluded.entry_id,"
        " filename = excluded.filename, mime_type = excluded.mime_type, data = excluded.data,"
        " size_bytes = excluded.size_bytes",
        (attachment_id, entry_id, clean_text(filename), clean_text(mime_type), data, len(data), now),
    )
    return StoredAttachment(attachment_id, entry_id, filename, mime_type, len(data), now)


def read(connection: Connection, attachment_id: str) -> StoredAttachment | None:
    """A file with its data."""
    sql = f"SELECT {DESCRIPTION}, data FROM attachment_files WHERE attachment_id = %s"
    with connection.cursor(binary=True) as cursor:
        row = cursor.execute(sql, (clean_text(attachment_id),)).fetchone()
    return _described(row, bytes(row[6])) if row else None


def of_entry(connection: Connection, entry_id: str) -> list[StoredAttachment]:
    """The files of an entry, without data, by name."""
    sql = (
        f"SELECT {DESCRIPTION} FROM attachment_files WHERE entry_id = %s"
        ' ORDER BY filename COLLATE "C", attachment_id COLLATE "C"'
    )
    return [_described(row, None) for row in connection.execute(sql, (clean_text(entry_id),))]


def forget_unlisted(connection: Connection, entry: EnhancedLogbookEntry) -> None:
    """Drop the files of an entry that its list of attachments does not name any more."""
    listed = [attachment["url"].rpartition("/")[2] for attachment in entry["attachments"]]
    connection.execute(
        "DELETE FROM attachment_files WHERE entry_id = %s AND NOT (attachment_id = ANY(%s))",
        (entry["entry_id"], listed),
    )


def _described(row: tuple[Any, ...], data: bytes | None) -> StoredAttachment:
    return StoredAttachment(row[0], row[1], row[2], row[3], int(row[4]), row[5].astimezone(UTC), data)
