"""The adapter of a JSON or JSON Lines file; what its records mean is told by a function."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from ariel_lite.errors import IngestionError
from ariel_lite.ingestion.base import (
    AdapterOptions,
    IncomingEntry,
    NewEntry,
    Reject,
    Removal,
    SourceFacts,
    SourceFailure,
    SourceRecord,
)
from ariel_lite.ingestion.entry_building import EntryBuilder, SourceFields, id_text, own_source
from ariel_lite.ingestion.json_stream import RecordStream, StreamFailure
from ariel_lite.ingestion.json_values import BadRecord, JsonRecord
from ariel_lite.ingestion.text_stream import STANDARD_INPUT, SourceText

RecordReader = Callable[[dict[str, Any]], SourceFields | str | None]
"""The fields of a record; the reason why it is none of this source's; None for a record marked as deleted."""


class JsonFileAdapter:
    """Reads a file, or standard input for "-".

    Raises:
        IngestionError: there is no such file, it is a folder, or it may not be read.
    """

    supports_write = False
    requires_write_auth = False

    def __init__(self, options: AdapterOptions, source_system_name: str, read_record: RecordReader) -> None:
        self.source_system_name = source_system_name
        self.facts = SourceFacts()
        self._read_record = read_record
        self._text = SourceText(options.source, self.facts)
        folder = None if options.source == STANDARD_INPUT else Path(options.source).absolute().parent
        self._builder = EntryBuilder(options, source_system_name, folder)

    @property
    def bytes_read(self) -> int:
        """Bytes consumed so far."""
        return self._text.bytes_read

    @property
    def bytes_total(self) -> int | None:
        """Bytes of the file, None for a pipe."""
        return self._text.bytes_total

    def read(
        self, since: datetime | None = None, until: datetime | None = None, limit: int | None = None
    ) -> Iterator[SourceRecord]:
        """The file's records in its order; see `FacilityAdapter.fetch_entries`."""
        self.facts.complete, self.facts.skipped, self.facts.repaired_bytes = False, 0, 0
        bounded = since is not None or until is not None
        left = limit
        for record in self._records():
            if isinstance(record, IncomingEntry):
                if bounded and not _within(record.entry["timestamp"], since, until):
                    self.facts.skipped += 1
                    continue
                if left is not None:
                    if left <= 0:
                        return
                    left -= 1
            yield record
        self.facts.complete = not self._text.failure

    async def fetch_entries(
        self, since: datetime | None = None, until: datetime | None = None, limit: int | None = None
    ) -> AsyncIterator[SourceRecord]:
        """What `read` gives."""
        for record in self.read(since, until, limit):
            yield record

    async def count_entries(self) -> int | None:
        """None: only reading the whole file would tell."""
        return None

    async def create_entry(self, request: NewEntry) -> str:
        """Refused: a file is a copy of a logbook, not the logbook."""
        raise IngestionError(
            f"a {self.source_system_name} file takes no new entries", hint="configure an adapter that can write"
        )

    def _records(self) -> Iterator[SourceRecord]:
        read_record, build = self._read_record, self._builder.build
        for item in RecordStream(self._text.chunks()):
            if type(item) is JsonRecord:
                fields = read_record(item.value)
                if type(fields) is SourceFields:
                    yield build(fields, item.line, item.raw, item.cleaned)
                else:
                    yield self._not_an_entry(item, fields)
            elif isinstance(item, BadRecord):
                yield Reject(item.line, item.reason, item.raw)
            elif isinstance(item, StreamFailure) and not self._text.failure:
                yield SourceFailure(f"from line {item.line} on", item.reason)
        if self._text.failure:
            yield SourceFailure("the rest of the file", self._text.failure)

    def _not_an_entry(self, item: JsonRecord, fields: object) -> Reject | Removal:
        """A record that is none of this source's, or that is marked as deleted."""
        record = item.value
        identifier = id_text(record.get("id", record.get("entry_id")))
        if fields is None and identifier:
            return Removal(item.line, identifier, own_source(record.get("source_system"), self.source_system_name))
        reason = fields if isinstance(fields, str) else "it is marked as deleted and has no id"
        return Reject(item.line, reason, item.raw, identifier)


def _within(moment: datetime, since: datetime | None, until: datetime | None) -> bool:
    return (since is None or moment >= since) and (until is None or moment <= until)
