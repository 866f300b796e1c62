"""The adapter of a JSON or JSON Lines file; what its records mean is told by a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ariel_lite.ingestion.base import AdapterOptions, Reject, Removal, SourceFailure, SourceRecord
from ariel_lite.ingestion.entry_building import SourceFields, id_text, own_source
from ariel_lite.ingestion.file_reading import TextFileReader
from ariel_lite.ingestion.json_stream import LIST_KEYS, RecordStream, StreamFailure
from ariel_lite.ingestion.json_values import BadRecord, JsonRecord

RecordReader = Callable[[dict[str, Any]], SourceFields | str | None]
"""The fields of a record; the reason why it is none of this source's; None for a record marked as deleted."""


class JsonFileAdapter(TextFileReader):
    """Reads a file, or standard input for "-".

    Args:
        options: the source and how to read times.
        source_system_name: whose records these are.
        read_record: what a record means.
        list_keys: the keys of a wrapper under which the list of records may stand.

    Raises:
        IngestionError: there is no such file, it is a folder, or it may not be read.
    """

    def __init__(
        self,
        options: AdapterOptions,
        source_system_name: str,
        read_record: RecordReader,
        list_keys: tuple[str, ...] = LIST_KEYS,
    ) -> None:
        super().__init__(options, source_system_name)
        self._read_record = read_record
        self._list_keys = list_keys

    def records(self) -> Iterator[SourceRecord]:
        """The file's records in its order."""
        read_record, build = self._read_record, self._builder.build
        for item in RecordStream(self._text.chunks(), self._list_keys):
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
