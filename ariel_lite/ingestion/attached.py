"""Files of entries on their way into the logbook: loaded when they are new, with their type and their text.

What is stored already is neither loaded nor read again: an attachment's id names its content, so what the stored entry
says of it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ariel_lite.attachments import mime_type, stored_url
from ariel_lite.backends.base import Backend
from ariel_lite.ingestion.attachment_text import add_texts
from ariel_lite.ingestion.base import AttachmentFile, IncomingEntry
from ariel_lite.records import Attachment, EnhancedLogbookEntry


def other_name(entry: EnhancedLogbookEntry) -> str:
    """The id that an entry is stored by when another source system owns its own."""
    return f"{entry['source_system']}:{entry['entry_id']}"


def settle_files(backend: Backend, items: Sequence[IncomingEntry], *, load: bool = True) -> None:
    """Give the entries' attachments their types and texts. Files that cannot be loaded become references, with a note.

    Args:
        backend: knows what is stored already.
        items: entries of one batch.
        load: False (a dry run) uses only what is stored.
    """
    with_files = [item for item in items if item.files]
    if not with_files:
        return
    stored = _stored_attachments(backend, [item.entry for item in with_files])
    for item in with_files:
        _settle(item, stored.get(item.entry["entry_id"], ()), load=load)


def _stored_attachments(backend: Backend, entries: Sequence[EnhancedLogbookEntry]) -> dict[str, Sequence[Attachment]]:
    """By entry id: the attachments as the logbook has them, for entries that it has from the same source."""
    names = [name for entry in entries for name in (entry["entry_id"], other_name(entry))]
    found = {entry["entry_id"]: entry for entry in backend.get_entries(names)}
    stored: dict[str, Sequence[Attachment]] = {}
    for entry in entries:
        for name in (entry["entry_id"], other_name(entry)):
            known = found.get(name)
            if known is not None and known["source_system"] == entry["source_system"]:
                stored[entry["entry_id"]] = known["attachments"]
    return stored


def _settle(item: IncomingEntry, known: Sequence[Attachment], *, load: bool) -> None:
    by_url = {attachment["url"]: attachment for attachment in known}
    kept: list[AttachmentFile] = []
    notes: list[str] = []
    lost: dict[str, AttachmentFile] = {}
    for file in item.files:
        url = stored_url(file.attachment_id)
        problem = _identified(file, by_url.get(url), load=load)
        if problem:
            notes.append(f"attachment {file.filename}: {problem}")
            lost[url] = file
        else:
            kept.append(file)
    item.files = tuple(kept)
    item.entry["attachments"] = _described(
        item.entry["attachments"], {stored_url(f.attachment_id): f for f in kept}, lost
    )
    added = add_texts(item.entry, kept, known, load=load)
    item.entry = added.entry
    item.notes += (*notes, *added.notes)


def _identified(file: AttachmentFile, known: Attachment | None, *, load: bool) -> str:
    """Find a file's type, by loading it where nothing else tells; why it cannot be loaded, or ""."""
    if file.mime_type:
        return ""
    if known is not None and known.get("type"):
        file.mime_type = str(known["type"])
        return ""
    if not load:
        file.mime_type = mime_type(file.filename, b"")
        return ""
    try:
        file.mime_type = mime_type(file.filename, file.load())
    except OSError as fault:
        return f"cannot be loaded ({fault.strerror or fault})"
    return ""


def _described(
    attachments: Sequence[Attachment], files: Mapping[str, AttachmentFile], lost: Mapping[str, AttachmentFile]
) -> list[Attachment]:
    """The attachments with the types of their files; those that could not be loaded lead to the source."""
    described: list[Attachment] = []
    for attachment in attachments:
        url = attachment["url"]
        if url in lost:
            attachment = cast(Attachment, {**attachment, "url": lost[url].address})
        elif url in files:
            attachment = cast(Attachment, {**attachment, "type": files[url].mime_type})
        described.append(attachment)
    return described
