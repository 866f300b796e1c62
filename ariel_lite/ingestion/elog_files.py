"""Raw log files of the PSI ELOG: one file, or a tree of folders with one logbook each.

logbooks/demo/200101a.log        logbook "demo"; attachments lie beside the log files
logbooks/shift/2021/210301a.log  folders of a year or month belong to the logbook above them
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ariel_lite.errors import IngestionError
from ariel_lite.ingestion.base import AdapterOptions, IncomingEntry, Reject, SourceFacts, SourceFailure, SourceRecord
from ariel_lite.ingestion.elog_records import (
    Attributes,
    ElogRecord,
    Logbook,
    elog_fields,
    elog_records,
    file_name,
    source_system_name,
)
from ariel_lite.ingestion.entry_building import EntryBuilder
from ariel_lite.ingestion.file_reading import FileReader, folder_of
from ariel_lite.ingestion.text_stream import STANDARD_INPUT, SourceText

_LOG_FILE = re.compile(r"[0-9]{6}[a-z]?\.log(?:\.gz)?", re.IGNORECASE)
_PERIOD = re.compile(r"[0-9]{2,8}(?:[-_][0-9]{2})*")


class LogFile(NamedTuple):
    """A log file of a logbook; `place` is how it is named to people."""

    path: str
    logbook: Logbook
    place: str


class ElogFiles(FileReader):
    """Reads a log file, a tree of them, or one from standard input ("-").

    Args:
        options: the source and how to read times.
        attributes: which attributes hold author, title, tags and categories.
        logbook: the logbook's name where the folder does not tell, None to take the folder's.

    Raises:
        IngestionError: the source cannot be read, or is a folder without log files.
    """

    def __init__(self, options: AdapterOptions, attributes: Attributes, logbook: str | None = None) -> None:
        super().__init__(source_system_name)
        self._options = options
        self._attributes = attributes
        self._files = _log_files(options.source, logbook)
        sizes = [SourceText(file.path, SourceFacts()).bytes_total for file in self._files]
        self.bytes_total = None if None in sizes else sum(size or 0 for size in sizes)
        self.bytes_read = 0
        self._failed = False

    def records(self) -> Iterator[SourceRecord]:
        """The records of all files, by logbook and file name."""
        self.bytes_read, self._failed = 0, False
        latin: list[str] = []
        for file in self._files:
            facts = SourceFacts()
            yield from self._of_file(file, facts)
            self.facts.repaired_bytes += facts.repaired_bytes
            self.facts.encoding = self.facts.encoding or facts.encoding
            if facts.repaired_bytes:
                latin.append(file.place)
        if latin and len(self._files) > 1:
            shown = ", ".join(latin[:5]) + (" …" if len(latin) > 5 else "")
            self.facts.notes.append(f"{len(latin)} of {len(self._files)} files are not all UTF-8: {shown}")

    def is_whole(self) -> bool:
        """True when every file could be read to its end."""
        return not self._failed

    def _of_file(self, file: LogFile, facts: SourceFacts) -> Iterator[SourceRecord]:
        builder = EntryBuilder(self._options, source_system_name, folder_of(file.path))
        before = self.bytes_read
        try:
            text = SourceText(file.path, facts)
            for record in elog_records(text.chunks()):
                self.bytes_read = before + text.bytes_read
                yield self._entry(record, file, builder)
        except IngestionError as fault:
            self._failed = True
            yield SourceFailure(file.place, fault.message)
            return
        self.bytes_read = before + text.bytes_read
        if text.failure:
            self._failed = True
            yield SourceFailure(f"the rest of {file.place}", text.failure)

    def _entry(self, record: ElogRecord, file: LogFile, builder: EntryBuilder) -> IncomingEntry | Reject:
        locator = f"{file.place} line {record.line}" if len(self._files) > 1 else record.line
        if record.fault:
            known = file.logbook.entry_id(record.message_id) if record.message_id else None
            return Reject(locator, record.fault, record.raw, known)
        fields = elog_fields(record, file.logbook, self._attributes)
        fields.attachments = [{**listed, "url": file_name(listed["url"])} for listed in fields.attachments]
        return builder.build(fields, locator, record.raw, record.cleaned)


def _log_files(source: str, name: str | None) -> list[LogFile]:
    if source == STANDARD_INPUT:
        return [LogFile(source, Logbook(name or "", name or ""), "line")]
    root = Path(source)
    if not root.is_dir():
        own = name if name is not None else _logbook_folder(root.absolute().parent).name
        return [LogFile(source, Logbook(own, own), root.name)]
    paths = _found(root)
    if not paths:
        raise IngestionError(
            f"no ELOG files (such as 200101a.log) are in {source}", hint="name the folder that holds the logbooks"
        )
    folders = {path: _logbook_folder(path.absolute().parent) for path in paths}
    logbooks = _logbooks(root.absolute(), sorted(set(folders.values())), name)
    return [LogFile(str(path), logbooks[folders[path]], path.relative_to(root).as_posix()) for path in paths]


def _found(root: Path) -> list[Path]:
    """Log files below a folder, by path; links to folders are not followed."""
    return sorted(
        Path(folder) / name for folder, _, names in os.walk(root) for name in names if _LOG_FILE.fullmatch(name)
    )


def _logbook_folder(folder: Path) -> Path:
    """The folder that stands for the logbook: folders of years and months are parts of it."""
    while _PERIOD.fullmatch(folder.name) and folder.parent != folder and folder.parent.name:
        folder = folder.parent
    return folder


def _logbooks(root: Path, folders: Sequence[Path], name: str | None) -> dict[Path, Logbook]:
    """The logbooks of folders; two folders of the same name are told apart by their paths below the root."""
    if name is not None and len(folders) == 1:
        return {folders[0]: Logbook(name, name)}
    same = Counter(folder.name for folder in folders)
    return {folder: Logbook(folder.name, _key(root, folder, alone=same[folder.name] == 1)) for folder in folders}


def _key(root: Path, folder: Path, *, alone: bool) -> str:
    if alone or not folder.is_relative_to(root) or folder == root:
        return folder.name
    return folder.relative_to(root).as_posix()
