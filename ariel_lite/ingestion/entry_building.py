"""From the fields that an adapter finds in a record to an entry, by the same rules for every source."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from ariel_lite.errors import InvalidRequestError
from ariel_lite.ingestion.attachment_files import read_attachments
from ariel_lite.ingestion.base import AdapterOptions, IncomingEntry, Locator, Reject
from ariel_lite.ingestion.html_text import html_to_text
from ariel_lite.query.source_times import parse_source_time
from ariel_lite.records import EnhancedLogbookEntry


@dataclass(slots=True)
class SourceFields:
    """What an adapter found in a record; values are as the source wrote them, of any type.

    Attributes:
        entry_id: text or a whole number; None makes an id from the content.
        time: what `parse_source_time` reads.
        author: a text, a number, an object with names, or a list of those.
        title, body: texts or numbers, None where absent.
        is_html: True when the source declares the body to be HTML.
        whole_text: the finished raw_text (then title and body are not used).
        attachments: a list, a text, or None when the record does not speak of them.
        source_system: the record's own, which wins over the adapter's.
        metadata: everything else.
        words: summary and keywords of a logbook that was exported before.
    """

    entry_id: Any
    time: Any
    author: Any = None
    title: Any = None
    body: Any = None
    is_html: bool = False
    whole_text: Any = None
    attachments: Any = None
    source_system: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)
    words: dict[str, Any] | None = None


class Unfit(Exception):
    """A record that cannot be an entry; the text says why."""


class EntryBuilder:
    """Makes entries of one source."""

    def __init__(self, options: AdapterOptions, source_system_name: str, folder: Path | None) -> None:
        self._zone = options.zone
        self._date_format = options.date_format
        self._source_system = source_system_name
        self._folder = folder

    def build(self, fields: SourceFields, locator: Locator, raw: str, cleaned: bool) -> IncomingEntry | Reject:
        """The entry of a record, or why there is none. `raw` is kept with a rejected record."""
        try:
            return self._entry(fields, locator, cleaned)
        except Unfit as fault:
            return Reject(locator, str(fault), raw, id_text(fields.entry_id))

    def _entry(self, fields: SourceFields, locator: Locator, cleaned: bool) -> IncomingEntry:
        moment = self._time(fields.time)
        metadata = fields.metadata
        author = author_text(fields.author, metadata)
        text = _raw_text(fields, metadata)
        source = own_source(fields.source_system, self._source_system)
        entry: dict[str, Any] = {
            "entry_id": id_text(fields.entry_id) or content_id(source, fields.time, author, text),
            "source_system": source,
            "timestamp": moment,
            "author": author,
            "raw_text": text,
            "metadata": metadata,
        }
        if fields.words:
            entry.update(fields.words)
        incoming = IncomingEntry(cast(EnhancedLogbookEntry, entry), locator, (), (), cleaned)
        if fields.attachments is not None:
            self._attach(incoming, fields.attachments)
        return incoming

    def _time(self, value: Any) -> datetime:
        try:
            return parse_source_time(value, zone=self._zone, date_format=self._date_format)
        except InvalidRequestError as fault:
            raise Unfit(f"{fault.message}; {fault.hint}" if fault.hint else fault.message) from fault

    def _attach(self, incoming: IncomingEntry, listed: Any) -> None:
        if not isinstance(listed, list):
            if listed == "":
                return
            listed = [listed]
        entry = incoming.entry
        if not listed:
            entry["attachments"] = []
            return
        owner = f"{entry['source_system']}/{entry['entry_id']}"
        entry["attachments"], incoming.files, incoming.notes = read_attachments(listed, self._folder, owner)


def content_id(source_system: str, written_time: Any, author: str, text: str) -> str:
    """`auto-<16 hex>` for a record without an id: the same content has the same id in every run."""
    content = json.dumps([source_system, written_time, author, text], default=str)
    return f"auto-{hashlib.sha256(content.encode('ascii')).hexdigest()[:16]}"


def id_text(value: Any) -> str | None:
    """An id as text: "42" for 42 and for 42.0; None where there is none."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return str(int(value)) if value == int(value) else str(value)


def own_source(written: Any, name: str) -> str:
    """A record's own source system, else the adapter's."""
    return written.strip() if isinstance(written, str) and written.strip() else name


def texts(value: Any, separator: str | None = ",") -> list[str]:
    """The texts of a list, of a text with separators, or of named objects (`name`, `title`); blanks are dropped."""
    if value is None:
        return []
    if isinstance(value, str):
        value = value.split(separator) if separator else [value]
    elif not isinstance(value, list | tuple):
        value = [value]
    found = [item.strip() if type(item) is str else _named(item) for item in value]
    return [text for text in dict.fromkeys(found) if text]


def one_or_list(values: list[str]) -> str | list[str] | None:
    """The only value itself, several as a list, None for none."""
    return (values[0] if len(values) == 1 else values) if values else None


def add_known(metadata: dict[str, Any], pairs: Iterable[tuple[str, Any]]) -> None:
    """Put the values that say something (not None, not empty) into an entry's metadata."""
    for key, value in pairs:
        if value is not None and value != "" and value != []:
            metadata[key] = value


def unknown_fields(record: dict[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """What a record says beyond what its adapter reads, where it says something: the start of an entry's metadata."""
    metadata: dict[str, Any] = {}
    add_known(metadata, ((key, value) for key, value in record.items() if key not in known))
    return metadata


def linked(value: Any, nothing: tuple[str, ...] = ()) -> str | list[str] | None:
    """The ids that an entry answers; blanks and the source's words for "none" are dropped."""
    return one_or_list([text for text in texts(value, None) if text not in nothing])


def author_text(value: Any, metadata: dict[str, Any]) -> str:
    """The author's name. Of an object the whole is kept in `metadata["author"]`."""
    if isinstance(value, str):
        return value.strip()
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, dict):
        metadata.setdefault("author", value)
        return _person(value)
    if isinstance(value, list):
        names = [_person(item) if isinstance(item, dict) else author_text(item, {}) for item in value]
        return ", ".join(name for name in names if name)
    return str(value)


def _person(value: dict[str, Any]) -> str:
    lowered = {key.lower().replace("_", ""): item for key, item in value.items() if isinstance(item, str)}
    full = " ".join(lowered.get(key, "").strip() for key in ("firstname", "lastname")).strip()
    for name in (full, *(lowered.get(key, "").strip() for key in ("name", "fullname", "displayname", "username"))):
        if name:
            return name
    return ""


def _named(item: Any) -> str:
    if isinstance(item, dict):
        item = next((item[key] for key in ("name", "title", "id") if item.get(key) not in (None, "")), "")
    return str(item).strip() if isinstance(item, str | int | float) and not isinstance(item, bool) else ""


def _raw_text(fields: SourceFields, metadata: dict[str, Any]) -> str:
    """Title, blank line, body. A title goes to the metadata, and so does the source of an HTML body."""
    if fields.whole_text is not None:
        return _plain_text(fields.whole_text, "text")
    title = _plain_text(fields.title, "title").strip()
    body = _plain_text(fields.body, "text")
    if fields.is_html and body:
        metadata["html_original"] = body
        body = html_to_text(body)
    if not title:
        return body
    metadata["title"] = title
    return f"{title}\n\n{body}" if body else title


def _plain_text(value: Any, name: str) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise Unfit(f"its {name} is no text")
