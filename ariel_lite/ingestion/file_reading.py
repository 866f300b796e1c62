"""What adapters of files share: records within bounds, how far a file is read, and no new entries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from pathlib import Path

from ariel_lite.errors import IngestionError
from ariel_lite.ingestion.base import AdapterOptions, IncomingEntry, NewEntry, SourceFacts, SourceRecord
from ariel_lite.ingestion.entry_building import EntryBuilder
from ariel_lite.ingestion.text_stream import STANDARD_INPUT, SourceText


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


class TextFileReader(FileReader):
    """An adapter of one text file, or of standard input for "-".

    Args:
        options: the source and how to read times.
        source_system_name: whose records these are.

    Raises:
        IngestionError: there is no such file, it is a folder, or it may not be read.
    """

    def __init__(self, options: AdapterOptions, source_system_name: str) -> None:
        super().__init__(source_system_name)
        self._text = SourceText(options.source, self.facts)
        self._builder = EntryBuilder(options, source_system_name, folder_of(options.source))

    @property
    def bytes_read(self) -> int:
        """Bytes consumed so far."""
        return self._text.bytes_read

    @property
    def bytes_total(self) -> int | None:
        """Bytes of the file, None for a pipe."""
        return self._text.bytes_total

    def is_whole(self) -> bool:
        """True when the file could be read to its end."""
        return not self._text.failure


def folder_of(source: str) -> Path | None:
    """The folder in which a file's attachments are looked for; None for standard input."""
    return None if source == STANDARD_INPUT else Path(source).absolute().parent


def is_within(moment: datetime, since: datetime | None, until: datetime | None) -> bool:
    """True for a time in the range; its bounds belong to it."""
    return (since is None or moment >= since) and (until is None or moment <= until)
