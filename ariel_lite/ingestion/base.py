"""What an adapter is: a reader of one facility's logbook, and the plain values it hands to the pipeline.

An adapter is one file of `ingestion/adapters`. It exports `source_system_name` and `create_adapter(options)`, which
returns a FacilityAdapter or raises IngestionError for a source that cannot be read. A source that is read without
waiting for a network also offers `read`, which the pipeline prefers; all others offer `fetch_entries` only.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol, runtime_checkable
from zoneinfo import ZoneInfo

from ariel_lite.config import IngestionConfig
from ariel_lite.records import EnhancedLogbookEntry

Locator = int | str
"""Where a record stands in its source: a line number, or a page of an API."""


@dataclass(slots=True)
class AttachmentFile:
    """A file to keep with an entry.

    Attributes:
        attachment_id: names the file's content, or the address at the source that always has this content.
        filename: a safe name.
        mime_type: "" for a file whose bytes have to be loaded to tell.
        load: reads its bytes when they are needed (OSError when it cannot).
        address: where it stands at a source on the web, "" for a file.
    """

    attachment_id: str
    filename: str
    mime_type: str
    load: Callable[[], bytes]
    address: str = ""


@dataclass(slots=True)
class IncomingEntry:
    """A record that became an entry.

    Attributes:
        entry: without `created_at` and `updated_at`; without `attachments` where the source says nothing of them.
        locator: where the record stands.
        files: files to store, named by the urls in the entry's `attachments`.
        notes: what a person should know, such as an attachment that is missing.
        cleaned: True when control characters or values that JSON does not know were replaced.
    """

    entry: EnhancedLogbookEntry
    locator: Locator
    files: tuple[AttachmentFile, ...] = ()
    notes: tuple[str, ...] = ()
    cleaned: bool = False


@dataclass(slots=True)
class Reject:
    """A record that cannot be an entry, why, and what it said. `entry_id` where it could be read."""

    locator: Locator
    reason: str
    raw: str
    entry_id: str | None = None


@dataclass(slots=True)
class Removal:
    """A record that the source marks as deleted."""

    locator: Locator
    entry_id: str
    source_system: str


@dataclass(slots=True)
class SourceFailure:
    """A part of the source that could not be read.

    Attributes:
        window: which part, for people.
        reason: why.
        since: the earliest entry time that may be missing; None when that is not known.
    """

    window: str
    reason: str
    since: datetime | None = None


SourceRecord = IncomingEntry | Reject | Removal | SourceFailure


@dataclass(slots=True)
class SourceFacts:
    """What a reading learned of its source, for the run's record.

    Attributes:
        encoding: how text was decoded, "" where the source says it itself.
        repaired_bytes: bytes that were no UTF-8 and were read as Windows-1252 (a superset of Latin-1).
        skipped: valid entries outside `since` and `until`.
        complete: True once a reading has gone to the end of the source; only then may it be mirrored.
        notes: what a person should know of how the source was read.
    """

    encoding: str = ""
    repaired_bytes: int = 0
    skipped: int = 0
    complete: bool = False
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class NewEntry:
    """An entry to create at the source."""

    subject: str
    details: str
    author: str
    logbook: str | None = None
    shift: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    auth_user: str | None = None
    auth_password: str | None = None


def utc_now() -> datetime:
    """The present, aware."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class AdapterOptions:
    """How a source is to be read.

    Attributes:
        source: a file, a folder, a URL, or "-" for standard input.
        zone: the zone of times that name none.
        date_format: a `strptime` form of the source's times.
        config: the `ingestion` settings.
        clock: the present, for sources that count times from today.
    """

    source: str
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    date_format: str | None = None
    config: IngestionConfig = field(default_factory=IngestionConfig)
    clock: Callable[[], datetime] = utc_now


@runtime_checkable
class FacilityAdapter(Protocol):
    """A reader of one source."""

    source_system_name: str
    supports_write: bool
    requires_write_auth: bool
    facts: SourceFacts

    def fetch_entries(
        self, since: datetime | None = None, until: datetime | None = None, limit: int | None = None
    ) -> AsyncIterator[SourceRecord]:
        """The source's records; both bounds are inclusive, `limit` counts entries.

        Raises:
            IngestionError: the source cannot be opened at all; a part that fails later is a `SourceFailure`.
        """

    async def count_entries(self) -> int | None:
        """How many entries the source holds, None when that is not known without reading it all."""

    async def create_entry(self, request: NewEntry) -> str:
        """Create an entry at the source; its id there. Raises IngestionError when the source takes none."""


@runtime_checkable
class SynchronousReader(Protocol):
    """An adapter whose source needs no waiting; `read` gives what `fetch_entries` gives."""

    def read(
        self, since: datetime | None = None, until: datetime | None = None, limit: int | None = None
    ) -> Iterator[SourceRecord]:
        """See `FacilityAdapter.fetch_entries`."""


@runtime_checkable
class MeasuredSource(Protocol):
    """An adapter that knows how far it has read."""

    @property
    def bytes_read(self) -> int:
        """Bytes consumed so far."""

    @property
    def bytes_total(self) -> int | None:
        """Bytes of the whole source, None for a pipe."""
