"""A table in a text file (CSV, TSV): a header row, one row an entry.

Which column holds what is set in `ingestion.settings`, else known by usual names; all other columns are metadata:

    columns         {timestamp: Date, author: Who, title: Subject, text: [Comment, Action],
                    tags: {column: Labels, separator: ";"}}; further fields: entry_id, raw_text (title and text in one),
                    logbook, categories, level, linked_to, attachments, source_system
    delimiter       what separates cells (default: found out)
    header          the column names of a file that has no header row
    format          html when the texts are HTML
    source_system   whose entries these are, where no column says it (default: CSV)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ariel_lite.errors import IngestionError
from ariel_lite.ingestion.base import AdapterOptions, Reject, SourceFailure, SourceRecord
from ariel_lite.ingestion.csv_columns import LISTS, USUAL_SEPARATORS, ColumnMap, column_map
from ariel_lite.ingestion.csv_rows import Row, Table
from ariel_lite.ingestion.entry_building import SourceFields, add_known, id_text, one_or_list
from ariel_lite.ingestion.file_reading import TextFileReader
from ariel_lite.ingestion.html_text import is_html
from ariel_lite.ingestion.http_source import is_web_address
from ariel_lite.ingestion.settings import known_settings, names_setting, text_setting
from ariel_lite.ingestion.text_cleaning import clean_text, clean_value, nests_too_deep

source_system_name = "CSV"

_SETTINGS = ("columns", "delimiter", "header", "format", "source_system")
_RAW_KEPT = 100_000


class CsvFile(TextFileReader):
    """Reads a table from a file, or standard input for "-".

    Raises:
        IngestionError: there is no such file, it is a folder, or it may not be read.
        ConfigurationError: an unknown setting, or one of the wrong kind.
    """

    def __init__(self, options: AdapterOptions) -> None:
        settings = options.config.settings
        known_settings(settings, _SETTINGS)
        self._own_name = text_setting(settings, "source_system")
        self._settings = settings
        self._header = names_setting(settings, "header")
        self._delimiter = text_delimiter(settings.get("delimiter"))
        self._is_html = is_html(text_setting(settings, "format"))
        super().__init__(options, source_system_name)

    def records(self) -> Iterator[SourceRecord]:
        """The table's rows.

        Raises:
            ConfigurationError, IngestionError: the columns cannot be told; see `csv_columns.column_map`.
        """
        table = Table(self._text.chunks(), self._delimiter)
        rows = iter(table)
        header = self._header or _names(next(rows, None), self._text.failure)
        columns = column_map(header, self._settings)
        if columns.guessed:
            self.facts.notes.append(columns.described(header))
        for row in rows:
            yield self._entry(row, header, columns)
        if self._text.failure:
            yield SourceFailure("the rest of the file", self._text.failure)

    def _entry(self, row: Row, header: Sequence[str], columns: ColumnMap) -> SourceRecord:
        raw = row.raw if len(row.raw) <= _RAW_KEPT else f"{row.raw[:_RAW_KEPT]}…"
        cells, extra = row.cells[: len(header)], row.cells[len(header) :]
        fault = row.fault
        if not fault and (len(cells) < _needed(header) or any(cell.strip() for cell in extra)):
            fault = f"it has {len(row.cells)} columns where the header has {len(header)}"
        if fault:
            return Reject(row.line, fault, raw)
        cleaned = [clean_text(cell) for cell in (*cells, *[""] * (len(header) - len(cells)))]
        fields = self._fields([text.strip() for text, _ in cleaned], header, columns)
        if not (fields.title or fields.body or fields.whole_text):
            return Reject(row.line, "it has no text", raw, id_text(fields.entry_id))
        return self._builder.build(fields, row.line, raw, any(changed for _, changed in cleaned))

    def _fields(self, cells: Sequence[str], header: Sequence[str], columns: ColumnMap) -> SourceFields:
        def cell(name: str, between: str = " ") -> str:
            return between.join(text for number in columns.of.get(name, ()) if (text := cells[number]))

        metadata: dict[str, Any] = {}
        used = columns.used()
        add_known(metadata, ((name, cells[number]) for number, name in enumerate(header) if number not in used))
        _spread(metadata)
        lists = {name: _values(cell(name, "\n"), columns.separators.get(name)) for name in LISTS}
        add_known(metadata, (("tags", lists["tags"]), ("categories", lists["categories"]), ("level", cell("level"))))
        add_known(
            metadata, (("logbook", one_or_list(lists["logbook"])), ("linked_to", one_or_list(lists["linked_to"])))
        )
        whole = cell("raw_text")
        if whole:
            add_known(metadata, (("title", cell("title")),))
        return SourceFields(
            entry_id=cell("entry_id") or None,
            time=cell("timestamp"),
            author=cell("author"),
            title=cell("title"),
            body=cell("text", "\n\n"),
            is_html=self._is_html,
            whole_text=whole or None,
            attachments=lists["attachments"] if "attachments" in columns.of else None,
            source_system=cell("source_system") or self._own_name,
            metadata=metadata,
        )


def create_adapter(options: AdapterOptions) -> CsvFile:
    """The adapter of a file.

    Raises:
        IngestionError: it cannot be read.
        ConfigurationError: an unknown setting, or one of the wrong kind.
    """
    if is_web_address(options.source):
        raise IngestionError("a table is read from a file, not from the web", hint="download it first")
    return CsvFile(options)


def text_delimiter(value: Any) -> str | None:
    """One character, or its name; None where it is not set. Raises ConfigurationError."""
    written = text_setting({"delimiter": value if value != "\t" else "tab"}, "delimiter")
    if written is None:
        return None
    found = {"tab": "\t", "comma": ",", "semicolon": ";", "bar": "|"}.get(written.lower(), written)
    if len(found) != 1 or found in '"\r\n':
        raise IngestionError(f"the delimiter {written!r} is not one character", hint="such as ; or tab")
    return found


def _names(row: Row | None, failure: str) -> list[str]:
    """Column names out of a header row: blank ones are numbered, repeated ones too.

    Raises:
        IngestionError: there is no such row that can be read.
    """
    if row is None or row.fault:
        reason = row.fault if row else failure or "it is empty"
        raise IngestionError(f"the table has no header row: {reason}", hint="name columns in ingestion.settings.header")
    names: list[str] = []
    for number, cell in enumerate(row.cells, 1):
        name = clean_text(cell)[0].strip() or _unnamed(number)
        names.append(name if name not in names else f"{name} ({number})")
    return names


def _needed(header: Sequence[str]) -> int:
    """How many columns a row must have: blank ones at the header's end are often left out."""
    needed = len(header)
    while needed and header[needed - 1] == _unnamed(needed):
        needed -= 1
    return needed


def _unnamed(number: int) -> str:
    return f"column {number}"


def _values(text: str, separator: str | None) -> list[str]:
    parts = text.split(separator) if separator else USUAL_SEPARATORS.split(text)
    return [part for part in dict.fromkeys(part.strip() for part in parts) if part]


def _spread(metadata: dict[str, Any]) -> None:
    """A column `metadata` with a JSON object, as ariel-lite's own export writes it, becomes what it says."""
    written = metadata.get("metadata")
    if not isinstance(written, str) or not written.startswith("{"):
        return
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        return
    if isinstance(value, dict) and not nests_too_deep(value):
        del metadata["metadata"]
        metadata |= clean_value(value)[0]
