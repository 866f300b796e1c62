"""What adapters of servers share: entries window by window, each once, and attached files by their address."""

from __future__ import annotations

import asyncio
import tempfile
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import cast

from ariel_lite.attachments import MAX_ATTACHMENT_BYTES, attachment_id, safe_filename, stored_url
from ariel_lite.config import IngestionConfig
from ariel_lite.errors import ConfigurationError, IngestionError
from ariel_lite.ingestion.base import (
    AdapterOptions,
    AttachmentFile,
    IncomingEntry,
    NewEntry,
    Reject,
    SourceFacts,
    SourceRecord,
)
from ariel_lite.ingestion.file_reading import is_within
from ariel_lite.ingestion.http_answers import HttpAnswer, SourceRequestError
from ariel_lite.ingestion.http_source import HttpSource, usable_proxy
from ariel_lite.ingestion.time_windows import Window, WindowReader, whole_seconds, windows
from ariel_lite.records import Attachment

DAY_SECONDS = 86_400
NEVER_CUT = 1_000_000_000
"""`ask` itself says when an answer is cut off; nothing is to be concluded from the number of records."""

KEPT_IN_MEMORY = 100_000
Sleep = Callable[[float], Awaitable[None]]


class ServerReader(ABC):
    """An adapter of a server that is asked for spans of time.

    Args:
        options: the source and how to read it.
        name: the source system's name.
        first: epoch seconds of the first window's end at the earliest; older entries come with that window.
        max_records: as many records as an answer holds at most; None when that is not known.
        sleep: waits between repeats.

    Raises:
        ConfigurationError: the proxy cannot be used.
    """

    requires_write_auth = False
    ahead = timedelta(days=366)
    """How far into the future a reading asks, for entries whose clock was wrong."""

    def __init__(
        self,
        options: AdapterOptions,
        name: str,
        *,
        first: int,
        max_records: int | None = NEVER_CUT,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.source_system_name = name
        self.facts = SourceFacts()
        self._options = options
        self._config = options.config
        self._first = first
        self._max_records = max_records
        self._sleep = sleep
        usable_proxy(options.config)

    @property
    def supports_write(self) -> bool:
        """True when `ingestion.write` is enabled."""
        return self._config.write.enabled

    @abstractmethod
    async def ask(self, server: HttpSource, window: Window) -> list[SourceRecord]:
        """The records of a window; more than those, never less.

        Raises:
            SourceRequestError: it cannot be read; of the kind TOO_LARGE when halves of the window should be tried.
        """

    @abstractmethod
    async def create_entry(self, request: NewEntry) -> str:
        """See `FacilityAdapter.create_entry`."""

    async def fetch_entries(
        self, since: datetime | None = None, until: datetime | None = None, limit: int | None = None
    ) -> AsyncIterator[SourceRecord]:
        """The server's records, oldest window first; see `FacilityAdapter.fetch_entries`."""
        self.facts.complete, failed, left = False, False, limit
        async with HttpSource(self._config, sleep=self._sleep) as server:
            reader = WindowReader(lambda window: self.ask(server, window), self._max_records)
            once = Once()
            async for piece in reader.read(self._windows(since, until)):
                if not isinstance(piece, Sequence):
                    failed = True
                    yield piece
                    continue
                for record in once.only_new(piece):
                    if isinstance(record, IncomingEntry):
                        if not is_within(record.entry["timestamp"], since, until):
                            continue
                        if left is not None:
                            if left <= 0:
                                return
                            left -= 1
                    yield record
        self.facts.complete = not failed

    async def count_entries(self) -> int | None:
        """None: only reading everything would tell."""
        return None

    def check_writable(self) -> None:
        """Raise ConfigurationError when writing is not enabled."""
        if not self.supports_write:
            raise ConfigurationError(
                f"writing to {self.source_system_name} is not enabled", hint="set ingestion.write.enabled to true"
            )

    def credentials(self, request: NewEntry, name: str) -> tuple[str, str]:
        """(user, password) of the author, else the configured ones; `name` is the server, for people.

        Raises:
            ConfigurationError: there are none.
        """
        write = self._config.write
        user, password = request.auth_user or write.auth_user, request.auth_password or write.auth_password
        if not user or not password:
            raise ConfigurationError(
                f"{name} wants a user and a password",
                hint="give them with the entry, or set ingestion.write.auth_user and auth_password",
            )
        return user, password

    def _windows(self, since: datetime | None, until: datetime | None) -> list[Window]:
        """Windows of `chunk_days`; without `until` the last one reaches into the future, where next to nothing is."""
        start = max(whole_seconds(since) - 1, 0) if since else 0
        now = max(whole_seconds(self._options.clock()), start + 1)
        end = max(whole_seconds(until), start) + 1 if until else now
        found = list(windows(start, end, self._first, self._config.chunk_days * DAY_SECONDS))
        ahead = now + int(self.ahead.total_seconds())
        return found if until else [*found[:-1], Window(found[-1].start, ahead, is_last=True)]


class Once:
    """Lets a record through that was not there before, or says something else than before."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def only_new(self, records: Sequence[SourceRecord]) -> Iterator[SourceRecord]:
        """The records that are news."""
        for record in records:
            if isinstance(record, IncomingEntry):
                key, content = record.entry["entry_id"], hash(repr(record.entry))
            else:
                key, content = record.raw if isinstance(record, Reject) else repr(record), 0
            if self._known.get(key) != content:
                self._known[key] = content
                yield record


class RemoteContent:
    """The bytes at an address, fetched when they are first wanted. Calling it raises OSError when it cannot."""

    def __init__(self, config: IngestionConfig, addresses: Sequence[str], headers: Mapping[str, str]) -> None:
        self._config = config
        self._addresses = addresses
        self._headers = headers
        self._kept: tempfile.SpooledTemporaryFile[bytes] | None = None

    def __call__(self) -> bytes:
        """The bytes; must not be called from a thread that runs an event loop."""
        if self._kept is None:
            data = asyncio.run(self._fetched())
            # Not a context manager: it lives as long as this object.
            self._kept = tempfile.SpooledTemporaryFile(KEPT_IN_MEMORY)  # noqa: SIM115
            self._kept.write(data)
        self._kept.seek(0)
        return self._kept.read()

    async def _fetched(self) -> bytes:
        async with HttpSource(self._config, max_bytes=MAX_ATTACHMENT_BYTES) as server:
            for last, address in enumerate(self._addresses, 1 - len(self._addresses)):
                try:
                    answer = await server.get(address, headers=self._headers)
                except SourceRequestError as fault:
                    if last == 0:
                        raise OSError(fault.message) from fault
                else:
                    return answer.body
        raise OSError("it has no address")


def attach_remote(
    incoming: IncomingEntry,
    names: Sequence[tuple[str, Sequence[str]]],
    config: IngestionConfig,
    headers: Mapping[str, str],
) -> None:
    """Give an entry files of the server, to be fetched when the logbook has not got them yet.

    Args:
        incoming: the entry; its attachments become these.
        names: each file's name and the addresses to try; the first one names its content.
        config: how to ask.
        headers: what to send along, such as a login.
    """
    entry = incoming.entry
    owner = f"{entry['source_system']}/{entry['entry_id']}"
    listed: list[Attachment] = []
    files: list[AttachmentFile] = []
    for written, addresses in names:
        name = safe_filename(written)
        identifier = attachment_id(owner, name, addresses[0].encode("utf-8"))
        files.append(AttachmentFile(identifier, name, "", RemoteContent(config, addresses, headers), addresses[0]))
        listed.append(cast(Attachment, {"url": stored_url(identifier), "filename": name}))
    entry["attachments"], incoming.files = listed, tuple(files)


def unsure(fault: SourceRequestError) -> IngestionError:
    """What to say when a request to create may have arrived and its answer did not."""
    return IngestionError(
        f"{fault.message}; the entry may have been created all the same", hint="look before you send it again"
    )


def unnamed(answer: HttpAnswer, what: str = "id") -> IngestionError:
    """What to say when an answer does not tell the new entry's id."""
    return IngestionError(
        f"{answer.url} did not say the {what} of the new entry",
        hint="look whether it was created before you send it again",
    )


def epoch(year: int) -> int:
    """The first second of a year, UTC."""
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp())
