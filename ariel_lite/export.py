"""Entries as files for other programs and people: JSON Lines, CSV, Markdown. Everything is streamed.

jsonl      one entry a line, as `ingest --adapter generic_json` reads it back unchanged
csv        one row an entry, with a header row
markdown   one section an entry, the text in a fence
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

from ariel_lite.present import local_time
from ariel_lite.records import EnhancedLogbookEntry, entry_title, field_values

CSV_COLUMNS = (
    "entry_id",
    "timestamp",
    "source_system",
    "author",
    "title",
    "raw_text",
    "logbook",
    "tags",
    "attachments",
    "metadata",
)
LINE_BREAKS = re.compile(r"\s+")
FENCE = re.compile(r"`{3,}")

Writer = Callable[[Iterable[EnhancedLogbookEntry], ZoneInfo], Iterator[str]]


def jsonl_record(entry: EnhancedLogbookEntry, zone: ZoneInfo) -> dict[str, Any]:
    """The JSON object of an entry: what a reader needs to store the same entry again."""
    words = {key: entry[key] for key in ("summary", "keywords") if entry.get(key)}
    return {
        "entry_id": entry["entry_id"],
        "timestamp": local_time(entry["timestamp"], zone),
        "source_system": entry["source_system"],
        "author": entry["author"],
        "raw_text": entry["raw_text"],
        "attachments": entry["attachments"],
        "metadata": entry["metadata"],
        **words,
    }


def jsonl_lines(entries: Iterable[EnhancedLogbookEntry], zone: ZoneInfo) -> Iterator[str]:
    """JSON Lines."""
    for entry in entries:
        yield json.dumps(jsonl_record(entry, zone), ensure_ascii=False, allow_nan=False) + "\n"


def csv_lines(entries: Iterable[EnhancedLogbookEntry], zone: ZoneInfo) -> Iterator[str]:
    """CSV as RFC 4180 has it, with LF line ends; several values of one cell stand on lines of their own."""
    yield _csv_row(CSV_COLUMNS)
    for entry in entries:
        fields = field_values(entry)
        yield _csv_row(
            (
                entry["entry_id"],
                local_time(entry["timestamp"], zone),
                entry["source_system"],
                entry["author"],
                entry_title(entry),
                entry["raw_text"],
                "\n".join(dict.fromkeys(fields["logbook"])),
                "\n".join(dict.fromkeys(fields["tag"])),
                "\n".join(attachment.get("filename") or attachment["url"] for attachment in entry["attachments"]),
                json.dumps(entry["metadata"], ensure_ascii=False, allow_nan=False) if entry["metadata"] else "",
            )
        )


def markdown_lines(entries: Iterable[EnhancedLogbookEntry], zone: ZoneInfo) -> Iterator[str]:
    """A section an entry."""
    for entry in entries:
        facts = [local_time(entry["timestamp"], zone), entry["author"], entry["source_system"]]
        tags = ", ".join(dict.fromkeys(field_values(entry)["tag"]))
        yield f"## {_escaped(entry_title(entry) or entry['entry_id'])}\n\n"
        yield " · ".join(_escaped(fact) for fact in [entry["entry_id"], *facts, tags] if fact) + "\n\n"
        fence = "`" * max([2, *(len(run) for run in FENCE.findall(entry["raw_text"]))]) + "`"
        yield f"{fence}text\n{entry['raw_text'].rstrip()}\n{fence}\n\n"
        for attachment in entry["attachments"]:
            yield f"- attachment: {_escaped(attachment.get('filename') or attachment['url'])}\n"
        if entry["attachments"]:
            yield "\n"


FORMATS: Mapping[str, Writer] = MappingProxyType({"jsonl": jsonl_lines, "csv": csv_lines, "markdown": markdown_lines})
"""The formats by name."""


def _csv_row(values: Iterable[str]) -> str:
    row = io.StringIO()
    csv.writer(row, lineterminator="\n").writerow(values)
    return row.getvalue()


def _escaped(text: str) -> str:
    """A text on one line whose characters are not Markdown."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", LINE_BREAKS.sub(" ", text).strip())
