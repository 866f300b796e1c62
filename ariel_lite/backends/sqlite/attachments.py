"""Files of entries: equal contents are kept once, by their SHA-256."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import apsw

from ariel_lite.backends.values import StoredAttachment
from ariel_lite.query.days import from_storage, to_storage
from ariel_lite.records import EnhancedLogbookEntry

DESCRIPTION = "attachment_id, entry_id, filename, mime_type, size_bytes, created_at"


def store(
    connection: apsw.Connection, entry_id: str, attachment_id: str, filename: str, mime_type: str, data: bytes
) -> StoredAttachment:
    """Keep a file; the same id again replaces it."""
    digest = hashlib.sha256(data).hexdigest()
    now = datetime.now(UTC)
    connection.execute("INSERT OR IGNORE INTO attachment_blobs VALUES (?, ?)", (digest, data))
    connection.execute(
        "INSERT INTO attachment_files VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (attachment_id) DO UPDATE SET"
        " entry_id = excluded.entry_id, filename = excluded.filename, mime_type = excluded.mime_type,"
        " sha256 = excluded.sha256, size_bytes = excluded.size_bytes",
        (attachment_id, entry_id, filename, mime_type, digest, len(data), to_storage(now)),
    )
    return StoredAttachment(attachment_id, entry_id, filename, mime_type, len(data), now)


def read(connection: apsw.Connection, attachment_id: str) -> StoredAttachment | None:
    """A file with its data."""
    sql = (
        f"SELECT {DESCRIPTION}, data FROM attachment_files JOIN attachment_blobs USING (sha256) WHERE attachment_id = ?"
    )
    row = connection.execute(sql, (attachment_id,)).fetchone()
    return _described(row, bytes(row[6])) if row else None


def forget_unlisted(connection: apsw.Connection, entry: EnhancedLogbookEntry) -> None:
    """Drop the files of an entry that its list of attachments does not name any more."""
    listed = [attachment["url"].rpartition("/")[2] for attachment in entry["attachments"]]
    connection.execute(
        "DELETE FROM attachment_files WHERE entry_id = ? AND attachment_id NOT IN (SELECT value FROM json_each(?))",
        (entry["entry_id"], json.dumps(listed)),
    )
    drop_unused(connection)


def drop_unused(connection: apsw.Connection) -> None:
    """Drop contents that no file has any more."""
    connection.execute("DELETE FROM attachment_blobs WHERE sha256 NOT IN (SELECT sha256 FROM attachment_files)")


def of_entry(connection: apsw.Connection, entry_id: str) -> list[StoredAttachment]:
    """The files of an entry, without data, by name."""
    sql = f"SELECT {DESCRIPTION} FROM attachment_files WHERE entry_id = ? ORDER BY filename, attachment_id"
    return [_described(row, None) for row in connection.execute(sql, (entry_id,))]


def _described(row: tuple[Any, ...], data: bytes | None) -> StoredAttachment:
    return StoredAttachment(row[0], row[1], row[2], row[3], row[4], from_storage(row[5]), data)
