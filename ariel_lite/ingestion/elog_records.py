"""Records of the PSI ELOG in its raw form, out of log files and out of a server's `mode=Raw` and `cmd=download`.

$@MID@$: 42
Date: Wed, 01 Jan 2020 12:00:00 +0100
Reply to: 43,44
In reply to: 40
Author: Jane Doe
Attachment: 200101_120000_plot.png,200101_120000_scan.txt
Encoding: plain
========================================
text
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ariel_lite.ingestion.elcode import elcode_to_text
from ariel_lite.ingestion.entry_building import SourceFields, add_known, one_or_list, texts
from ariel_lite.ingestion.html_text import is_html
from ariel_lite.ingestion.text_cleaning import clean_text
from ariel_lite.ingestion.text_lines import lines_of

source_system_name = "ELOG"

MARK = "$@MID@$:"
MAX_RECORD_CHARACTERS = 64_000_000

_SEPARATOR = re.compile(r"={40}=*\s*")
_MESSAGE_ID = re.compile(r"[0-9]{1,12}")
_C_TIME = re.compile(
    r"(?:mon|tue|wed|thu|fri|sat|sun),? +([a-z]{3}) +([0-9]{1,2}) +([0-9]{2}:[0-9]{2}:[0-9]{2}) +([0-9]{4})",
    re.IGNORECASE,
)
_STAMP = re.compile(r"[0-9]{6}_[0-9]{6}_(?=.)")
_STAMP_FOLDER = re.compile(r"([0-9]{6}_[0-9]{6})/(?=.)")
_OPTIONS = re.compile(r"\s*\|\s*")
_TAG_OPTIONS = re.compile(r"\s*[|,;]\s*")
_RAW_KEPT = 100_000

_RESERVED = frozenset(("date", "reply to", "in reply to", "attachment", "encoding", "locked by", "text"))


@dataclass(slots=True)
class ElogRecord:
    """A record as it is written: header names as there, `line` where it starts, `raw` for the rejects file.

    `fault` says why it is none, "" for a good one. `cleaned` is True when control characters were replaced.
    """

    message_id: str
    line: int
    headers: dict[str, str]
    body: str
    raw: str
    fault: str = ""
    cleaned: bool = False


class Attributes(NamedTuple):
    """Names of a logbook's attributes (in lower case) by what they hold; the first that an entry fills counts."""

    title: tuple[str, ...] = ("subject", "title", "betreff", "titel", "sujet")
    author: tuple[str, ...] = ("author", "autor", "auteur", "operator")
    tags: tuple[str, ...] = ("tags", "tag", "keywords", "keyword")
    categories: tuple[str, ...] = ("category", "categories", "kategorie")


class Logbook(NamedTuple):
    """A logbook of the ELOG: `name` for people, `key` for ids (its path where two have the same name)."""

    name: str
    key: str

    def entry_id(self, message_id: str) -> str:
        """`<logbook>/<number>`: numbers are unique in a logbook only, and this is how the ELOG's addresses end."""
        return f"{self.key}/{message_id}" if self.key else message_id


def elog_records(chunks: Iterable[str]) -> Iterator[ElogRecord]:
    """The records of a text, those that are none with their fault. Text before the first is one, unless it is blank."""
    held: list[str] = []
    start, size = 1, 0
    for number, line in enumerate(lines_of(chunks), 1):
        if line.startswith(MARK) and held:
            yield from _record(held, start, size)
            held, size = [], 0
        if not held:
            start = number
        size += len(line)
        if size <= MAX_RECORD_CHARACTERS:
            held.append(line)
    if held:
        yield from _record(held, start, size)


def _record(lines: Sequence[str], start: int, size: int) -> Iterator[ElogRecord]:
    raw = "".join(lines)
    if not raw.strip():
        return
    text, cleaned = clean_text(raw)
    kept = raw if len(raw) <= _RAW_KEPT else f"{raw[:_RAW_KEPT]}…"
    message_id, headers, body, fault = _parsed(text)
    if size > MAX_RECORD_CHARACTERS:
        fault = f"it is longer than {MAX_RECORD_CHARACTERS:,} characters"
    yield ElogRecord(message_id, start, headers, body, kept, fault, cleaned)


def _parsed(text: str) -> tuple[str, dict[str, str], str, str]:
    """(message id, headers, body, fault) of a record's text."""
    lines = text.split("\n")
    if not lines[0].startswith(MARK):
        return "", {}, "", f"this text stands before the first {MARK}"
    message_id = lines[0].removeprefix(MARK).strip()
    if not _MESSAGE_ID.fullmatch(message_id):
        return "", {}, "", f"{message_id[:40]!r} is no message number"
    headers: dict[str, str] = {}
    for number, line in enumerate(lines[1:], 1):
        if _SEPARATOR.fullmatch(line):
            return message_id, headers, "\n".join(lines[number + 1 :]).strip("\n").rstrip(), ""
        name, colon, value = line.partition(":")
        if colon and name.strip():
            headers[name.strip()] = value.strip()
    return message_id, headers, "", "it is cut off: no line of 40 = ends its headers"


def elog_fields(record: ElogRecord, logbook: Logbook, attributes: Attributes) -> SourceFields:
    """What a record says, as an entry's fields; its attachments are names of files of the logbook."""
    by_name = {name.lower(): value for name, value in record.headers.items()}
    homes = {field: _first(by_name, names) for field, names in attributes._asdict().items()}
    encoding = by_name.get("encoding", "plain")
    used = _RESERVED.union(homes.values())
    metadata: dict[str, Any] = {}
    known = (
        ("logbook", logbook.name),
        ("tags", _options(by_name.get(homes["tags"], ""), _TAG_OPTIONS)),
        ("categories", _options(by_name.get(homes["categories"], ""), _OPTIONS)),
        ("linked_to", one_or_list(_linked(by_name.get("in reply to", ""), logbook))),
        ("reply_to", _linked(by_name.get("reply to", ""), logbook)),
        ("encoding", "" if encoding.lower() in ("plain", "") else encoding),
    )
    add_known(metadata, ((name, value) for name, value in record.headers.items() if name.lower() not in used))
    add_known(metadata, known)
    return SourceFields(
        entry_id=logbook.entry_id(record.message_id),
        time=written_time(by_name.get("date", "")),
        author=", ".join(_options(by_name.get(homes["author"], ""), _OPTIONS)),
        title=by_name.get(homes["title"], ""),
        body=elcode_to_text(record.body) if encoding.lower() == "elcode" else record.body,
        is_html=is_html(encoding),
        attachments=[{"url": name, "filename": shown_name(name)} for name in texts(by_name.get("attachment", ""))],
        metadata=metadata,
    )


def written_time(value: str) -> str:
    """A Date header in a form that is read for certain: old servers wrote it as the C library does (ctime)."""
    old = _C_TIME.fullmatch(value.strip())
    return f"{old[2]} {old[1]} {old[4]} {old[3]}" if old else value


def shown_name(name: str) -> str:
    """An attachment's name without the time that the ELOG puts in front of it."""
    return _STAMP.sub("", _STAMP_FOLDER.sub(r"\1_", name), count=1)


def file_name(name: str) -> str:
    """An attachment's name as the file is called on disk; addresses write the time as a folder."""
    return _STAMP_FOLDER.sub(r"\1_", name, count=1)


def _first(by_name: dict[str, str], names: Sequence[str]) -> str:
    return next((name for name in names if by_name.get(name)), "")


def _options(value: str, separator: re.Pattern[str]) -> list[str]:
    """The values of an attribute that may hold several."""
    return [item for item in dict.fromkeys(separator.split(value.strip())) if item]


def _linked(value: str, logbook: Logbook) -> list[str]:
    """The entry ids of message numbers of the same logbook."""
    return [logbook.entry_id(number) for number in texts(value) if _MESSAGE_ID.fullmatch(number) and int(number) > 0]
