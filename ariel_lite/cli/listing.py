"""Entries as people read them in a terminal: a header, the title, what matched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from ariel_lite.cli.layout import Line, Span, columns, match_spans, one_line, plain, safe, wrapped
from ariel_lite.cli.output import Output
from ariel_lite.records import entry_title

INDENT = "  "
PREVIEW_CHARACTERS = 200
APPROXIMATE = "approximate"


def short_time(moment: datetime, zone: ZoneInfo) -> str:
    """A moment in the facility's zone: `2024-01-03 08:40 -04:00`."""
    return _with_offset(moment.astimezone(zone), "%Y-%m-%d %H:%M")


def long_time(moment: datetime, zone: ZoneInfo) -> str:
    """A moment in the facility's zone, to the second: `2024-01-03 08:40:17 -04:00`."""
    return _with_offset(moment.astimezone(zone), "%Y-%m-%d %H:%M:%S")


def print_entry(output: Output, entry: Mapping[str, Any], zone: ZoneInfo) -> None:
    """Print one entry of a list: header, title, fragments (or the beginning of the text)."""
    output.line()
    _print_header(output, list(_header(entry, zone)))
    title, fragments = _title_and_fragments(entry, output)
    if title:
        output.lines(wrapped(title, output.width, indent=INDENT))
    for fragment in fragments:
        output.lines(wrapped(fragment, output.width, indent=INDENT * 2))


def print_source(output: Output, number: int, entry: Mapping[str, Any], zone: ZoneInfo) -> None:
    """Print a numbered source of an answer: id, time, author; and the title beneath."""
    mark = f"[{number}] "
    _print_header(output, [Span(mark, "bold"), *_header(entry, zone)])
    _print_title(output, entry, " " * len(mark))


def print_heading(output: Output, entry: Mapping[str, Any], zone: ZoneInfo) -> None:
    """Print an entry in short: header and title."""
    _print_header(output, list(_header(entry, zone)))
    _print_title(output, entry, INDENT)


def _print_header(output: Output, header: Line) -> None:
    if columns(plain(header)) <= output.width:
        output.line(*header)
    else:
        output.lines(wrapped(header, output.width, hanging=INDENT))


def _print_title(output: Output, entry: Mapping[str, Any], indent: str) -> None:
    title = one_line(entry_title(entry))  # type: ignore[arg-type]
    if title:
        output.lines(wrapped([Span(title)], output.width, indent=indent))


def _with_offset(local: datetime, form: str) -> str:
    offset = f"{local:%z}"
    return f"{local.strftime(form)} {offset[:3]}:{offset[3:5]}"


def _header(entry: Mapping[str, Any], zone: ZoneInfo) -> Iterator[Span]:
    yield Span(one_line(entry["entry_id"]), "id")
    parts = [short_time(entry["timestamp"], zone), one_line(entry["author"]), one_line(entry["source_system"])]
    yield Span("  " + " · ".join(part for part in parts if part))
    if entry.get("_match") == "fuzzy":
        yield Span(f"  ({APPROXIMATE})", "warning")


def _title_and_fragments(entry: Mapping[str, Any], output: Output) -> tuple[Line, list[Line]]:
    """The title, with its matches when a fragment begins with it, and what else there is to show."""
    title: Line = [Span(one_line(entry_title(entry)), "bold")]  # type: ignore[arg-type]
    fragments: list[Line] = []
    for spans in _fragments(entry):
        head, rest = _split_first_line(spans)
        if one_line(plain(head)) == plain(title) and plain(title):
            title = [span if span.style else Span(span.text, "bold") for span in head]
            spans = rest
        if plain(spans).strip():
            fragments.append([output.mark(span) for span in spans])
    return [output.mark(span) for span in title], fragments


def _fragments(entry: Mapping[str, Any]) -> Sequence[Line]:
    highlights = entry.get("_highlights")
    if highlights:
        return [match_spans(fragment) for fragment in highlights]
    return [[Span(_beginning(safe(entry["raw_text"].strip())), "dim")]]


def _beginning(text: str) -> str:
    """The first words of a text."""
    if len(text) <= PREVIEW_CHARACTERS:
        return text
    whole = re.match(rf".{{0,{PREVIEW_CHARACTERS - 1}}}(?=\s)", text, re.DOTALL)
    return f"{(whole[0] if whole and whole[0].strip() else text[:PREVIEW_CHARACTERS]).rstrip()}…"


def _split_first_line(spans: Line) -> tuple[Line, Line]:
    for index, span in enumerate(spans):
        if "\n" in span.text:
            before, _, after = span.text.partition("\n")
            return [*spans[:index], Span(before, span.style)], [Span(after, span.style), *spans[index + 1 :]]
    return spans, []
