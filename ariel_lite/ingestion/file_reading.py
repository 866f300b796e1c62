"""What adapters of files share: records within bounds, and no new entries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from datetime import datetime

from ariel_lite.errors import IngestionError
from ariel_lite.ingestion.base import IncomingEntry, NewEntry, SourceFacts, SourceRecord


class FileReader(ABC):
    """An adapter of files: a copy of a logbook, not the logbook itself."""

    supports_write = False
    requires_write_auth = False

    def __init__(self, source_system_name: str) -> None:
        self.source_system_name = source_system_name
        self.facts = SourceFacts()

    @abstractmethod
    def records(self) -> Iterator[SourceRecord]:
        """Everything that the source holds, in its order."""

    @abstractmethod
    def is_whole(self) -> bool:
        """True when the last reading has seen all of the source."""

    def read(
        self, since: datetime | None = None, until: datetime | None = None, limit: int | None = None
    ) -> Iterator[SourceRecord]:
        """The source's records within bounds; see `FacilityAdapter.fetch_entries`."""
        self.facts.complete, self.facts.skipped, self.facts.repaired_bytes = False, 0, 0
        self.facts.notes.clear()
        bounded = since is not None or until is not None
        left = limit
        for record in self.records():
            if isinstance(record, IncomingEntry):
                if bounded and not is_within(record.entry["timestamp"], since, until):
                    self.facts.skipped += 1
                    continue
                if left is not None:
                    if left <= 0:
                        return
                    left -= 1
            yield record
        self.facts.complete = self.is_whole()

    async def fetch_entries(
        self, since: datetime | None = None, until: datetime | None = None, limit: int | None = None
    ) -> AsyncIterator[SourceRecord]:
        """What `read` gives."""
        for record in self.read(since, until, limit):
            yield record

    async def count_entries(self) -> int | None:
        """None: only reading all of it would tell."""
        return None

    async def create_entry(self, request: NewEntry) -> str:
        """Refused: a file is a copy of a logbook, not the logbook."""
        raise IngestionError(
            f"a {self.source_system_name} file takes no new entries", hint="configure an adapter that can write"
        )


def is_within(moment: datetime, since: datetime | None, until: datetime | None) -> bool:
    """True for a time in the range; its bounds belong to it."""
    return (since is None or moment >= since) and (until is None or moment <= until)
