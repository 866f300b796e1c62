"""Entries that are written here: stored with all their files or not at all; and drafts, which are entries to be.

A draft's content is an `EntryContent` as JSON. Its files wait ("staged") until the entry exists that they belong to;
files that no draft names and that nobody used for a week are forgotten when the next one is staged.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ariel_lite.attachments import MAX_ATTACHMENT_BYTES, attachment_id, check_size, mime_type, safe_filename, stored_url
from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import Draft, StoredAttachment
from ariel_lite.errors import EntryNotFoundError, InvalidRequestError
from ariel_lite.ingestion.attachment_text import with_texts
from ariel_lite.ingestion.authoring import new_entry
from ariel_lite.ingestion.text_cleaning import clean_text, clean_value, nests_too_deep
from ariel_lite.records import Attachment, EnhancedLogbookEntry

STAGED_FOR = timedelta(days=7)
"""How long a file waits for its entry."""


class EntryContent(BaseModel):
    """What an author fills in. A draft's may be incomplete; an entry needs a subject or details.

    Control characters and half surrogates become blanks. `attachment_ids` are staged files.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    subject: str = ""
    details: str = ""
    author: str = ""
    logbook: str | None = None
    shift: str | None = None
    tags: list[str] = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)
    attachment_ids: list[str] = Field(default_factory=list)

    @field_validator("subject", "details", "author", "logbook", "shift", mode="after")
    @classmethod
    def _plain(cls, value: str | None) -> str | None:
        return clean_text(value)[0] if value is not None else None

    @field_validator("tags", "attachment_ids", mode="after")
    @classmethod
    def _listed(cls, value: list[str]) -> list[str]:
        return list(dict.fromkeys(text for item in value if (text := clean_text(item)[0].strip())))

    @field_validator("metadata", mode="after")
    @classmethod
    def _storable(cls, value: dict[str, Any]) -> dict[str, Any]:
        if nests_too_deep(value):
            raise ValueError("it nests too deep")
        cleaned: dict[str, Any] = clean_value(value)[0]
        return cleaned

    @classmethod
    def of(cls, values: Any) -> EntryContent:
        """Read a mapping.

        Raises:
            InvalidRequestError: an unknown field, or a value of the wrong kind.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as fault:
            first = fault.errors()[0]
            name = ".".join(str(part) for part in first["loc"]) or "the entry"
            hint = f"an entry has: {', '.join(cls.model_fields)}"
            raise InvalidRequestError(f"{name}: {first['msg'].lower()}", hint=hint) from fault


@dataclass(frozen=True)
class NewFile:
    """A file to go with an entry: a safe name, the type its bytes say, the bytes."""

    filename: str
    mime_type: str
    data: bytes


def new_file(filename: str, data: bytes) -> NewFile:
    """A file from its bytes; the name is made safe.

    Raises:
        InvalidRequestError: it is larger than an attachment may be.
    """
    check_size(filename, len(data))
    name = safe_filename(filename)
    return NewFile(name, mime_type(name, data), data)


def read_file(path: Path) -> NewFile:
    """A file of this machine.

    Raises:
        InvalidRequestError: it cannot be read, or is larger than an attachment may be.
    """
    try:
        check_size(path.name, path.stat().st_size)
        with path.open("rb") as file:  # a device has no size, and may have no end
            return new_file(path.name, file.read(MAX_ATTACHMENT_BYTES + 1))
    except OSError as fault:
        raise InvalidRequestError(
            f"cannot read the attachment {path}: {fault.strerror}", hint="nothing was added; check the path"
        ) from fault


def store_entry(
    backend: Backend,
    content: EntryContent,
    *,
    source_system: str,
    files: Sequence[NewFile] = (),
    timestamp: datetime | None = None,
) -> EnhancedLogbookEntry:
    """Keep a new entry with its staged files and `files`, or nothing; the entry as it is stored.

    Args:
        backend: the logbook.
        content: what its author wrote.
        source_system: one of `authoring.LOCAL_SOURCES`.
        files: more files to keep with it.
        timestamp: when it happened, aware; now when None.

    Raises:
        InvalidRequestError: neither subject nor details, or a staged file that is not there (any more).
        DatabaseConnectionError, DatabaseQueryError: the logbook cannot be written.
    """
    written = _written(backend, content, source_system, files, timestamp)
    with backend.transaction():
        _keep(backend, written)
    return written.entry


def stage_file(backend: Backend, file: NewFile) -> StoredAttachment:
    """Keep a file until the entry exists that names its id in `attachment_ids`."""
    backend.forget_staged(datetime.now(UTC) - STAGED_FOR)
    return backend.stage_file(f"att-{secrets.token_hex(6)}", file.filename, file.mime_type, file.data)


def create_draft(backend: Backend, content: EntryContent, files: Sequence[NewFile] = ()) -> Draft:
    """Keep a new draft (`draft-<12 hex>`); `files` are staged for it.

    Raises:
        InvalidRequestError: it names a staged file that is not there.
    """
    with backend.transaction():
        staged = [stage_file(backend, file).attachment_id for file in files]
        whole = content.model_copy(update={"attachment_ids": [*content.attachment_ids, *staged]})
        return _saved(backend, f"draft-{secrets.token_hex(6)}", whole)


def update_draft(backend: Backend, draft_id: str, content: EntryContent) -> Draft:
    """Replace a draft's content; files that it no longer names are forgotten.

    Raises:
        EntryNotFoundError: there is no such draft.
        InvalidRequestError: it names a staged file that is not there.
    """
    with backend.transaction():
        before = draft_content(get_draft(backend, draft_id))
        saved = _saved(backend, draft_id, content)
        _forget_files(backend, set(before.attachment_ids) - set(content.attachment_ids))
        return saved


def get_draft(backend: Backend, draft_id: str) -> Draft:
    """The draft of an id.

    Raises:
        EntryNotFoundError: there is no such draft.
    """
    found = backend.get_draft(draft_id)
    if found is None:
        raise _no_draft(draft_id)
    return found


def draft_content(draft: Draft) -> EntryContent:
    """What a draft says; fields that are none of an entry's are left out."""
    return EntryContent.of({key: value for key, value in draft.content.items() if key in EntryContent.model_fields})


def delete_draft(backend: Backend, draft_id: str) -> None:
    """Forget a draft and the files that only it names.

    Raises:
        EntryNotFoundError: there is no such draft.
    """
    with backend.transaction():
        names = draft_content(get_draft(backend, draft_id)).attachment_ids
        backend.delete_draft(draft_id)
        _forget_files(backend, set(names))


def finish_draft(
    backend: Backend, draft_id: str, *, source_system: str, content: EntryContent | None = None
) -> EnhancedLogbookEntry:
    """Make a draft an entry: afterwards the entry is there and the draft is gone, or nothing has changed.

    Args:
        backend: the logbook.
        draft_id: the draft.
        source_system: one of `authoring.LOCAL_SOURCES`.
        content: what its author made of it in the end; the draft's own content when None.

    Raises:
        EntryNotFoundError: there is no such draft, or another call has made it an entry.
        InvalidRequestError: see `store_entry`.
    """
    kept = draft_content(get_draft(backend, draft_id))
    final = content or kept
    written = _written(backend, final, source_system)
    with backend.transaction():
        # The deletion decides between two calls at the same time: only one of them removes the draft.
        if not backend.delete_draft(draft_id):
            raise _no_draft(draft_id)
        _keep(backend, written)
        _forget_files(backend, set(kept.attachment_ids) - set(final.attachment_ids))
    return written.entry


@dataclass(frozen=True)
class _Written:
    """An entry that is ready to be kept, with its files; `staged` are the ids of those that were waiting."""

    entry: EnhancedLogbookEntry
    files: tuple[StoredAttachment, ...]
    staged: tuple[str, ...]


def _written(
    backend: Backend,
    content: EntryContent,
    source_system: str,
    files: Sequence[NewFile] = (),
    timestamp: datetime | None = None,
) -> _Written:
    """Everything that takes time is done here, before the transaction: reading files, and finding their texts."""
    entry = new_entry(
        content.subject,
        content.details,
        author=content.author,
        logbook=content.logbook,
        shift=content.shift,
        tags=content.tags,
        source_system=source_system,
        metadata=content.metadata,
        timestamp=timestamp,
    )
    staged = [_waiting(backend, identifier) for identifier in content.attachment_ids]
    kept = {file.attachment_id: file for file in (*staged, *(_owned(entry, file) for file in files))}
    entry["attachments"] = [_listed_file(file) for file in kept.values()]
    return _Written(with_texts(entry, kept.values()), tuple(kept.values()), tuple(content.attachment_ids))


def _keep(backend: Backend, written: _Written) -> None:
    """Store an entry with its files, inside a transaction."""
    backend.upsert([written.entry])
    for file in written.files:
        backend.store_attachment(
            written.entry["entry_id"], file.attachment_id, file.filename, file.mime_type, file.data or b""
        )
    if backend.unstage_files(written.staged) != len(written.staged):
        raise InvalidRequestError("a file of the entry went to another one meanwhile", hint="upload it again")


def _saved(backend: Backend, draft_id: str, content: EntryContent) -> Draft:
    for identifier in content.attachment_ids:
        _waiting(backend, identifier)
    return backend.save_draft(draft_id, content.model_dump())


def _waiting(backend: Backend, identifier: str) -> StoredAttachment:
    found = backend.staged_file(identifier)
    if found is None:
        raise InvalidRequestError(f"there is no file {identifier!r} waiting for an entry", hint="upload it again")
    return found


def _owned(entry: EnhancedLogbookEntry, file: NewFile) -> StoredAttachment:
    owner = f"{entry['source_system']}/{entry['entry_id']}"
    identifier = attachment_id(owner, file.filename, file.data)
    now = entry["created_at"]
    return StoredAttachment(
        identifier, entry["entry_id"], file.filename, file.mime_type, len(file.data), now, file.data
    )


def _listed_file(file: StoredAttachment) -> Attachment:
    return {"url": stored_url(file.attachment_id), "filename": file.filename, "type": file.mime_type}


def _forget_files(backend: Backend, identifiers: set[str]) -> None:
    """Forget staged files that no draft names any more."""
    if identifiers:
        named = {name for draft in backend.drafts(limit=10_000) for name in draft_content(draft).attachment_ids}
        backend.unstage_files(sorted(identifiers - named))


def _no_draft(draft_id: str) -> EntryNotFoundError:
    return EntryNotFoundError(
        f"there is no draft {draft_id!r}", hint="it may have become an entry, or have been deleted"
    )
