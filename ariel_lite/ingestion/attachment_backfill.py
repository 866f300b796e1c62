"""Texts of files that were stored before texts were read, or by another program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ariel_lite.attachments import stored_id
from ariel_lite.backends.base import AttachmentStore, Backend
from ariel_lite.backends.values import Progress, StoredAttachment, batched
from ariel_lite.ingestion.attachment_text import add_texts, can_hold_text
from ariel_lite.ingestion.base import AttachmentFile
from ariel_lite.query.nodes import FieldLeaf
from ariel_lite.records import EnhancedLogbookEntry

AT_ONCE = 50
NOTES_KEPT = 100


@dataclass
class TextsRead:
    """What a run did: entries that got texts, and remarks on files (at most NOTES_KEPT)."""

    entries: int = 0
    notes: list[str] = field(default_factory=list)


def read_missing_texts(backend: Backend, progress: Progress = lambda done: None) -> TextsRead:
    """Read the text of every stored file that was not looked at yet; safe to interrupt and to repeat.

    Raises:
        DatabaseConnectionError, DatabaseQueryError: the logbook cannot be written; what was done before stays.
    """
    report = TextsRead()
    for part in batched(_waiting(backend), AT_ONCE):
        for entry in backend.get_entries(part):
            _complete(backend, entry, report)
        progress(len(part))
    return report


def _waiting(backend: Backend) -> list[str]:
    """Ids of entries with a stored file whose text was not read; its type may still say that there is none."""
    tree = FieldLeaf("has", "attachment", text="attachment")
    return [entry["entry_id"] for entry in backend.iterate_entries(tree) if any(_unread(entry))]


def _unread(entry: EnhancedLogbookEntry) -> Iterator[bool]:
    for attachment in entry["attachments"]:
        kind = attachment.get("type") or ""
        yield "text" not in attachment and stored_id(attachment["url"]) is not None and not kind.startswith("image/")


def _complete(backend: Backend, entry: EnhancedLogbookEntry, report: TextsRead) -> None:
    files = [_file(backend, stored) for stored in backend.attachments_of(entry["entry_id"])]
    added = add_texts(entry, [file for file in files if can_hold_text(file.mime_type)])
    if added.entry["attachments"] == entry["attachments"]:
        return
    with backend.transaction():
        now = backend.get_entries([entry["entry_id"]])
        if not now or now[0]["attachments"] != entry["attachments"]:
            return
        backend.upsert([{**now[0], "attachments": added.entry["attachments"]}])
    report.entries += 1
    report.notes += [f"{entry['entry_id']}: {note}" for note in added.notes][: NOTES_KEPT - len(report.notes)]


def _file(store: AttachmentStore, stored: StoredAttachment) -> AttachmentFile:
    def load() -> bytes:
        found = store.get_attachment(stored.attachment_id)
        if found is None or found.data is None:
            raise OSError("its data is gone")
        return found.data

    return AttachmentFile(stored.attachment_id, stored.filename, stored.mime_type, load)
