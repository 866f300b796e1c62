"""Text for terminals: harmless characters, columns as a terminal counts them, wrapping that keeps styles."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import unescape
from itertools import groupby
from typing import Literal

Style = Literal["", "bold", "dim", "id", "match", "warning", "error"]

REPLACEMENT = "\ufffd"
UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
MATCH_TAG = re.compile(r"<(/?)b>")
TAB = "    "


@dataclass(frozen=True)
class Span:
    """A piece of a line and how it looks."""

    text: str
    style: Style = ""


Line = list[Span]


def safe(text: str) -> str:
    """A text without escape sequences, control and direction characters; line feeds stay, tabs become blanks.

    Nothing that an entry, a file name or a query holds can move the cursor, change colours or hide text.
    """
    plain = ESCAPE_SEQUENCE.sub(REPLACEMENT, text.replace("\r\n", "\n").replace("\t", TAB))
    return UNSAFE.sub(REPLACEMENT, plain)


def one_line(text: str) -> str:
    """A harmless text with every run of blanks and line feeds as one blank."""
    return " ".join(safe(text).split())


def columns(text: str) -> int:
    """How many columns a terminal gives a text."""
    if text.isascii():
        return len(text)
    return sum(_columns_of(character) for character in text)


def cut(text: str, width: int) -> str:
    """The text, shortened with an ellipsis where it is wider than `width` columns."""
    if columns(text) <= width:
        return text
    kept = ""
    for character in text:
        if columns(kept + character) > width - 1:
            break
        kept += character
    return f"{kept.rstrip()}…"


def padded(text: str, width: int) -> str:
    """The text, filled up with blanks to `width` columns."""
    return text + " " * max(width - columns(text), 0)


def match_spans(fragment: str) -> Line:
    """A highlighted fragment (HTML-escaped, matches in <b>) as spans; line feeds stay."""
    spans: Line = []
    style: Style = ""
    at = 0
    for tag in MATCH_TAG.finditer(fragment):
        spans.append(Span(safe(unescape(fragment[at : tag.start()])), style))
        style = "" if tag[1] else "match"
        at = tag.end()
    spans.append(Span(safe(unescape(fragment[at:])), style))
    return [span for span in spans if span.text]


def plain(line: Iterable[Span]) -> str:
    """The text of a line."""
    return "".join(span.text for span in line)


def wrapped(line: Iterable[Span], width: int, *, indent: str = "", hanging: str | None = None) -> Iterator[Line]:
    """A line broken at blanks into lines of at most `width` columns; a longer word is broken where it must be.

    Args:
        indent: what every line starts with.
        hanging: what every line but the first starts with, where that differs.
    """
    start = indent
    room = max(width - max(columns(indent), columns(hanging or "")), 8)
    current: Line = [Span(start)]
    used = columns(start)
    empty = True
    for word in _words(line):
        for part in _fitting(word, room):
            size = columns(plain(part))
            if not empty and used + 1 + size > width:
                yield current
                start = indent if hanging is None else hanging
                current, used, empty = [Span(start)], columns(start), True
            if not empty:
                current.append(Span(" ", _shared_style(current[-1], part[0])))
                used += 1
            current += part
            used += size
            empty = False
    if not empty:
        yield current


def paragraphs(text: str, width: int, *, indent: str = "") -> Iterator[Line]:
    """A whole text; only lines that are too long are wrapped, so that tables keep their columns."""
    for row in safe(text).splitlines():
        if not row.strip():
            yield [Span("")]
            continue
        if columns(indent + row) <= width:
            yield [Span(indent + row)]
            continue
        leading = row[: len(row) - len(row.lstrip())][: width // 2]
        yield from wrapped([Span(row)], width, indent=indent + leading)


def _shared_style(before: Span, after: Span) -> Style:
    return before.style if before.style == after.style else ""


def _words(line: Iterable[Span]) -> Iterator[Line]:
    """The words of a line; one that changes its style inside is several spans."""
    characters = ((character, span.style) for span in line for character in span.text)
    for blank, run in groupby(characters, key=lambda pair: pair[0].isspace()):
        if not blank:
            yield [
                Span("".join(character for character, _ in piece), style)
                for style, piece in groupby(run, key=lambda pair: pair[1])
            ]


def _fitting(word: Line, room: int) -> Iterator[Line]:
    """A word in parts that are at most `room` columns wide."""
    if columns(plain(word)) <= room:
        yield word
        return
    part: Line = []
    used = 0
    for span in word:
        for character in span.text:
            size = columns(character)
            if used + size > room:
                yield part
                part, used = [], 0
            part.append(Span(character, span.style))
            used += size
    if part:
        yield part


def _columns_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
