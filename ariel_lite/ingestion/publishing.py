"""Publishing: an entry that was written here is created at the source, and is the source's entry from then on.

Afterwards the entry is stored under the source's name and the id that the source gave it, so that the next ingestion
finds it there and does not make a second one. Where the source fails, the entry stays as it was.

Before anything is sent, the entry itself notes that it is being sent (`metadata.publishing`). When the note is still
there at the next attempt, the outcome of the last one is not known (the power went, the answer was lost, the source
said it had failed), and the source is asked first: an entry of the same text there that no other entry here stands for
is taken for this one, and nothing is sent. That is as much as can be promised. A source that changes texts or shows a
new entry only after a while cannot be asked in this way, and may get an entry twice when an answer is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from ariel_lite.backends.base import Backend
from ariel_lite.config import ARIELConfig
from ariel_lite.errors import (
    ARIELException,
    ConfigurationError,
    EntryNotFoundError,
    IngestionError,
    InvalidRequestError,
)
from ariel_lite.ingestion.authoring import LOCAL_SOURCES
from ariel_lite.ingestion.base import AdapterOptions, FacilityAdapter, IncomingEntry, NewEntry, SourceFailure
from ariel_lite.records import EnhancedLogbookEntry, entry_title
from ariel_lite.registry import ADAPTERS, Registry

Result = TypeVar("Result")

NOTE = "publishing"
"""The key of an entry's metadata that says it is being sent: {to, since, last, error}."""

ORIGIN = "published_from"
"""The key of a published entry's metadata that keeps its id from before."""

AT_WORK = timedelta(seconds=120)
"""For so long after it began, an attempt without an outcome is taken for one that is still going on."""

CLOCK_SLACK = timedelta(days=1)
"""How far a source's clock may be from ours when it is asked for an entry."""


@dataclass(frozen=True)
class PublishInfo:
    """Whether entries can be published.

    Attributes:
        writable: True when an adapter takes new entries.
        adapter: the adapter's name, None when none is configured.
        source_system: the source's name, None when it is not known.
        requires_auth: True when the author must give a user and a password with each entry.
        reason: why not, in one line; "" when writable.
    """

    writable: bool
    adapter: str | None
    source_system: str | None
    requires_auth: bool
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        return asdict(self)


@dataclass(frozen=True)
class Publication:
    """An entry as it is after publishing: the id and source it is stored under now, and where it came from.

    `found` is True when an earlier attempt had arrived and nothing was sent this time.
    """

    entry_id: str
    source_system: str
    published_from: str
    found: bool = False
    sync_status: str = "synced"

    @property
    def message(self) -> str:
        """What happened, for people."""
        how = "an earlier attempt had arrived, nothing was sent again" if self.found else "published"
        return f"{self.published_from}: {how}; it is {self.entry_id} of {self.source_system} now"

    def to_dict(self) -> dict[str, Any]:
        """ARIEL's JSON shape."""
        return {
            "entry_id": self.entry_id,
            "source_system": self.source_system,
            "sync_status": self.sync_status,
            "message": self.message,
            "published_from": self.published_from,
        }


def publish_info(config: ARIELConfig, registry: Registry) -> PublishInfo:
    """Whether and where entries can be published; never raises."""
    name = config.ingestion.adapter or None
    try:
        adapter = writable_adapter(config, registry)
    except ARIELException as fault:
        return PublishInfo(False, name, None, False, f"{fault.message}; {fault.hint}" if fault.hint else fault.message)
    return PublishInfo(True, name, adapter.source_system_name, _asks_author(config, adapter), "")


def writable_adapter(config: ARIELConfig, registry: Registry) -> FacilityAdapter:
    """The configured adapter, if it takes new entries.

    Raises:
        ConfigurationError: publishing is not configured, or the adapter only reads.
        AdapterNotFoundError, IngestionError: the adapter cannot be made.
    """
    settings = config.ingestion
    if not settings.adapter:
        raise ConfigurationError("no source to publish to is configured", hint="set ingestion.adapter and source_url")
    if not settings.write.enabled:
        raise ConfigurationError("publishing is switched off", hint="set ingestion.write.enabled to true")
    source = settings.source_url or settings.write.write_url or ""
    options = AdapterOptions(source, config.zone, config=settings)
    adapter: FacilityAdapter = registry.load(ADAPTERS, settings.adapter).create_adapter(options)
    if not adapter.supports_write:
        raise ConfigurationError(
            f"the adapter {settings.adapter} only reads {adapter.source_system_name}",
            hint="configure an adapter that can write, with ingestion.write.write_url where it needs one",
        )
    return adapter


def publish_entry(
    backend: Backend,
    config: ARIELConfig,
    registry: Registry,
    entry_id: str,
    *,
    logbook: str | None = None,
    auth_user: str | None = None,
    auth_password: str | None = None,
) -> Publication:
    """Create an entry that was written here at the source. Must not be called from a thread that runs an event loop.

    Args:
        backend: the logbook.
        config: its settings; `ingestion` says where to.
        registry: the adapters.
        entry_id: the entry; its source system is one of `authoring.LOCAL_SOURCES`.
        logbook: which logbook at the source; the entry's own when None.
        auth_user, auth_password: who writes, for a source that asks; else the configured ones.

    Raises:
        ConfigurationError: see `writable_adapter`.
        EntryNotFoundError: there is no such entry.
        InvalidRequestError: it was not written here, it has files (which no source takes from here), or the source
            wants a user and a password.
        IngestionError: the source failed; the entry stays here as it was. Or another attempt is going on.
    """
    adapter = writable_adapter(config, registry)
    user = auth_user or config.ingestion.write.auth_user
    password = auth_password or config.ingestion.write.auth_password
    if adapter.requires_write_auth and not (user and password):
        raise InvalidRequestError(
            f"{adapter.source_system_name} wants to know who writes", hint="give auth_user and auth_password"
        )
    attempt = _begin(backend, adapter, entry_id, datetime.now(UTC))
    request = _request(attempt.entry, logbook, user, password)
    found = _arrived(backend, adapter, attempt, request)
    remote_id = found if found is not None else _sent(backend, adapter, attempt, request)
    stored_id = _adopt(backend, adapter, attempt.entry, remote_id)
    return Publication(stored_id, adapter.source_system_name, entry_id, found=found is not None)


@dataclass(frozen=True)
class _Attempt:
    """An entry as it was before; `since` is when the first attempt began, None when this is the first."""

    entry: EnhancedLogbookEntry
    since: datetime | None


def _asks_author(config: ARIELConfig, adapter: FacilityAdapter) -> bool:
    write = config.ingestion.write
    return adapter.requires_write_auth and not (write.auth_user and write.auth_password)


def _begin(backend: Backend, adapter: FacilityAdapter, entry_id: str, now: datetime) -> _Attempt:
    """Note in the entry that it is being sent; only one caller at a time gets through."""
    with backend.transaction():
        entry = _local_entry(backend, entry_id)
        note = entry["metadata"].get(NOTE)
        known: dict[str, Any] = note if isinstance(note, dict) else {}
        if "error" not in known and "last" in known and now - datetime.fromisoformat(known["last"]) < AT_WORK:
            raise IngestionError(f"{entry_id} is being published by another program", hint="look again in two minutes")
        since = known.get("since")
        plain = _without_note(entry)
        fresh = {"to": adapter.source_system_name, "since": since or now.isoformat(), "last": now.isoformat()}
        backend.upsert([_with_note(plain, fresh)])
    return _Attempt(plain, datetime.fromisoformat(since) if since else None)


def _local_entry(backend: Backend, entry_id: str) -> EnhancedLogbookEntry:
    found = backend.get_entries([entry_id])
    if not found:
        raise EntryNotFoundError(
            f"there is no entry {entry_id!r}", hint="an entry that was published has the id that its source gave it"
        )
    if found[0]["source_system"] not in LOCAL_SOURCES:
        raise InvalidRequestError(
            f"{entry_id} is an entry of {found[0]['source_system']} already",
            hint="only entries that were written here are published",
        )
    if found[0]["attachments"]:
        raise InvalidRequestError(
            f"{entry_id} has {len(found[0]['attachments'])} attachments, which no source takes from here",
            hint="attach them at the source, and publish an entry without them",
        )
    return found[0]


def _request(entry: EnhancedLogbookEntry, logbook: str | None, user: str | None, password: str | None) -> NewEntry:
    metadata = dict(entry["metadata"])
    title = metadata.get("title")
    is_split = isinstance(title, str) and entry["raw_text"].startswith(title)
    details = entry["raw_text"].removeprefix(str(title)).strip() if is_split else entry["raw_text"]
    own_logbook, shift, tags = metadata.get("logbook"), metadata.get("shift"), metadata.get("tags")
    return NewEntry(
        subject=entry_title(entry),
        details=details or entry["raw_text"],
        author=entry["author"],
        logbook=logbook or (own_logbook if isinstance(own_logbook, str) else None),
        shift=shift if isinstance(shift, str) else None,
        tags=tuple(str(tag) for tag in tags) if isinstance(tags, list) else (),
        metadata={key: value for key, value in metadata.items() if key not in ("title", "logbook", "shift", "tags")},
        auth_user=user,
        auth_password=password,
    )


def _arrived(backend: Backend, adapter: FacilityAdapter, attempt: _Attempt, request: NewEntry) -> str | None:
    """The id of an entry that an earlier attempt made at the source, if there is one."""
    if attempt.since is None:
        return None
    texts = (attempt.entry["raw_text"].split(), f"{request.subject} {request.details}".split())
    try:
        return _run(_same_text(backend, adapter, attempt, texts))
    except ARIELException as fault:
        _note_error(backend, attempt.entry, fault.message)
        raise IngestionError(
            f"it is not known whether {attempt.entry['entry_id']} arrived at {adapter.source_system_name} before, and"
            f" the source cannot be read: {fault.message}",
            hint="nothing was sent; try again when the source answers",
        ) from fault


async def _same_text(
    backend: Backend, adapter: FacilityAdapter, attempt: _Attempt, texts: tuple[list[str], ...]
) -> str | None:
    assert attempt.since is not None
    async for record in adapter.fetch_entries(since=attempt.since - CLOCK_SLACK):
        if isinstance(record, SourceFailure):
            raise IngestionError(f"{record.window}: {record.reason}")
        # ARIEL's own adapters give plain entries.
        candidate = record.entry if isinstance(record, IncomingEntry) else record
        if not isinstance(candidate, dict) or candidate["raw_text"].split() not in texts:
            continue
        if not _was_there_before(backend, adapter, candidate["entry_id"], attempt):
            return candidate["entry_id"]
    return None


def _was_there_before(backend: Backend, adapter: FacilityAdapter, remote_id: str, attempt: _Attempt) -> bool:
    """True when a source's entry is known here from before the first attempt, or as what another entry became."""
    assert attempt.since is not None
    return any(
        entry["created_at"] < attempt.since
        or entry["metadata"].get(ORIGIN, attempt.entry["entry_id"]) != attempt.entry["entry_id"]
        for entry in _held(backend, adapter.source_system_name, remote_id)
    )


def _sent(backend: Backend, adapter: FacilityAdapter, attempt: _Attempt, request: NewEntry) -> str:
    """Create the entry at the source; its id there. A refusal is noted in the entry, which stays."""
    entry_id = attempt.entry["entry_id"]
    try:
        return _run(adapter.create_entry(request))
    except ARIELException as fault:
        _note_error(backend, attempt.entry, fault.message)
        raise IngestionError(
            f"{adapter.source_system_name} did not take the entry: {fault.message}; it stays here as {entry_id}",
            hint=fault.hint or "publish it again later; the source is asked first whether it has arrived",
        ) from fault


def _adopt(backend: Backend, adapter: FacilityAdapter, entry: EnhancedLogbookEntry, remote_id: str) -> str:
    """Store the entry under the source's name and id, in one step with the end of the local one; the id it has now."""
    name = adapter.source_system_name
    try:
        with backend.transaction():
            held = _held(backend, name, remote_id)
            if held:  # an ingestion was faster: the source's own version is the better one
                stored_id = held[0]["entry_id"]
            else:
                metadata = {**entry["metadata"], ORIGIN: entry["entry_id"]}
                published: EnhancedLogbookEntry = {
                    **entry,
                    "entry_id": remote_id,
                    "source_system": name,
                    "metadata": metadata,
                }
                stored_id = backend.upsert([published]).renamed.get(remote_id, remote_id)
            backend.delete([entry["entry_id"]])
    except ARIELException as fault:
        raise IngestionError(
            f"the entry is {remote_id} of {name} now, but that could not be noted here: {fault.message}",
            hint=f"publish {entry['entry_id']} again in two minutes: the source is asked first",
        ) from fault
    return stored_id


def _held(backend: Backend, source_system: str, remote_id: str) -> list[EnhancedLogbookEntry]:
    """A source's entry as it is stored here: under its id, or with the source's name before it."""
    found = backend.get_entries([remote_id, f"{source_system}:{remote_id}"])
    return [entry for entry in found if entry["source_system"] == source_system]


def _note_error(backend: Backend, entry: EnhancedLogbookEntry, message: str) -> None:
    """Note why an attempt failed; the next one may begin at once."""
    with backend.transaction():
        found = backend.get_entries([entry["entry_id"]])
        note = found[0]["metadata"].get(NOTE) if found else None
        if isinstance(note, dict):
            backend.upsert([_with_note(_without_note(found[0]), {**note, "error": message[:500]})])


def _with_note(entry: EnhancedLogbookEntry, note: dict[str, Any]) -> EnhancedLogbookEntry:
    return {**entry, "metadata": {**entry["metadata"], NOTE: note}}


def _without_note(entry: EnhancedLogbookEntry) -> EnhancedLogbookEntry:
    return {**entry, "metadata": {key: value for key, value in entry["metadata"].items() if key != NOTE}}


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    with asyncio.Runner() as runner:
        return runner.run(work)
