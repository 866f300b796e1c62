"""The ALS electronic logbook: a file of its records (JSON Lines or a list), or its server.

id, timestamp (epoch seconds, a string), author, subject, details, category (comma list), tag ("0" = none),
linkedto ("0" = none), level, attachments [{url}]

The server is asked with `op=retrieve&start=…&end=…` (epoch seconds) and answers with a list of such records. It says
nothing of edits: an edit or a late entry is found when its time is inside the span that is read. New entries are sent
to `ingestion.write.write_url` as XML.

Settings of `ingestion.settings` for the server: `max_records` (as many as it gives at most, when it cuts answers off),
`attachment_url_prefix` (where relative attachments start; the server's root otherwise).
"""

from __future__ import annotations

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import httpx

from ariel_lite.errors import ConfigurationError
from ariel_lite.ingestion.base import AdapterOptions, NewEntry, Reject, SourceRecord
from ariel_lite.ingestion.entry_building import (
    EntryBuilder,
    SourceFields,
    add_known,
    id_text,
    linked,
    texts,
    unknown_fields,
)
from ariel_lite.ingestion.http_answers import HttpAnswer, SourceRequestError, shown_url
from ariel_lite.ingestion.http_source import HttpSource, is_web_address
from ariel_lite.ingestion.json_files import JsonFileAdapter
from ariel_lite.ingestion.server_reading import ServerReader, Sleep, unnamed, unsure
from ariel_lite.ingestion.settings import known_settings, number_setting, text_setting
from ariel_lite.ingestion.text_cleaning import clean_text, clean_value, nests_too_deep
from ariel_lite.ingestion.time_windows import Window

source_system_name = "ALS eLog"

FIRST_ENTRIES = int(datetime(2003, 1, 1, tzinfo=UTC).timestamp())
"""When the logbook began; whatever is older comes with the first window."""

SETTINGS = ("max_records", "attachment_url_prefix")
LEVEL = "Info"
MAX_REPLY_BYTES = 1_000_000

_KNOWN = frozenset((
    "id", "timestamp", "author", "subject", "details", "category", "tag", "linkedto", "level", "attachments",
    "source_system",
))  # fmt: skip
_PLAIN_ID = re.compile(r"[\w.:-]{1,64}")


def read_record(record: dict[str, Any]) -> SourceFields | str:
    """The fields of an ALS record, or why it is none."""
    if "subject" not in record and "details" not in record:
        return "it has neither subject nor details; is this the right adapter?"
    metadata = unknown_fields(record, _KNOWN)
    known = (
        ("categories", texts(record.get("category"))),
        ("tags", [tag for tag in texts(record.get("tag")) if tag != "0"]),
        ("linked_to", linked(record.get("linkedto"), nothing=("0",))),
        ("level", record.get("level")),
    )
    add_known(metadata, known)
    return SourceFields(
        entry_id=record.get("id"),
        time=record.get("timestamp"),
        author=record.get("author"),
        title=record.get("subject"),
        body=record.get("details"),
        attachments=record.get("attachments"),
        source_system=record.get("source_system"),
        metadata=metadata,
    )


class AlsServer(ServerReader):
    """Reads and writes the logbook at its server.

    Args:
        options: `source` is the address that answers `op=retrieve`.
        sleep: waits between repeats.

    Raises:
        ConfigurationError: a setting that cannot be.
    """

    requires_write_auth = True
    ahead = timedelta(days=3660)

    def __init__(self, options: AdapterOptions, *, sleep: Sleep = asyncio.sleep) -> None:
        settings = options.config.settings
        known_settings(settings, SETTINGS)
        most = number_setting(settings, "max_records", default=1) if "max_records" in settings else None
        super().__init__(options, source_system_name, first=FIRST_ENTRIES, max_records=most, sleep=sleep)
        self._builder = EntryBuilder(options, source_system_name, None)
        self._prefix = text_setting(settings, "attachment_url_prefix") or _root(options.source)

    @property
    def supports_write(self) -> bool:
        """True when `ingestion.write` is enabled and has an address."""
        return self._config.write.enabled and bool(self._config.write.write_url)

    async def create_entry(self, request: NewEntry) -> str:
        """Create an entry; its id at the server.

        Raises:
            ConfigurationError: writing is not enabled, or there are no credentials.
            IngestionError: the server did not take it, or did not say its id.
        """
        write = self._config.write
        if not self.supports_write:
            raise ConfigurationError(
                "writing to the ALS logbook is not enabled",
                hint="set ingestion.write.enabled and ingestion.write.write_url",
            )
        user, password = self.credentials(request, "the ALS logbook")
        async with HttpSource(self._config, sleep=self._sleep, max_bytes=MAX_REPLY_BYTES) as server:
            try:
                answer = await server.send(
                    "POST",
                    str(write.write_url),
                    content=entry_xml(request, user, password),
                    headers={"Content-Type": "application/xml"},
                )
            except SourceRequestError as fault:
                if fault.was_sent and fault.is_passing:
                    raise unsure(fault) from fault
                raise
        return created_id(answer)

    async def ask(self, server: HttpSource, window: Window) -> list[SourceRecord]:
        """A window's records, asked for from a second earlier: whether the server counts its start in is its secret."""
        bounds = {"op": "retrieve", "start": str(max(window.start - 1, 0)), "end": str(window.end)}
        values = await server.get_json(self._options.source, params=bounds, expected=list)
        return [self._record(value, f"{window.label}, record {index + 1}") for index, value in enumerate(values)]

    def _record(self, value: Any, locator: str) -> SourceRecord:
        raw = json.dumps(value, ensure_ascii=False)
        if not isinstance(value, dict) or nests_too_deep(value):
            return Reject(locator, "a record must be an object that does not nest too deeply", raw)
        record, cleaned = clean_value(value)
        if isinstance(record.get("attachments"), list):
            record["attachments"] = [self._absolute(item) for item in record["attachments"]]
        fields = read_record(record)
        if isinstance(fields, str):
            return Reject(locator, fields, raw, id_text(record.get("id")))
        return self._builder.build(fields, locator, raw, cleaned)

    def _absolute(self, item: Any) -> Any:
        """An attachment with its whole address; the server writes paths."""
        url = item.get("url") if isinstance(item, dict) else item
        if not isinstance(url, str) or not url.strip() or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", url.strip()):
            return item
        whole = f"{self._prefix.rstrip('/')}/{url.strip().lstrip('/')}"
        return {**item, "url": whole} if isinstance(item, dict) else whole


def entry_xml(request: NewEntry, user: str, password: str) -> bytes:
    """What the server takes for a new entry."""
    root = ElementTree.Element("root")
    entry_level = request.metadata.get("level")
    for name, text in (("author", user), ("password", password)):
        ElementTree.SubElement(root, name).text = text
    entry = ElementTree.SubElement(root, "entry")
    level = entry_level if isinstance(entry_level, str) and entry_level.strip() else LEVEL
    for name, text in (("subject", request.subject), ("details", request.details), ("level", level)):
        ElementTree.SubElement(entry, name).text = clean_text(text)[0]
    _listed(entry, "logbooks", "logbook", [request.logbook] if request.logbook else [])
    _listed(entry, "categories", "category", list(request.tags))
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def created_id(answer: HttpAnswer) -> str:
    """The id of the entry that the server made. Raises IngestionError when it does not say one."""
    text = answer.text.strip()
    if not answer.is_html and _PLAIN_ID.fullmatch(text):
        return text
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        root = ElementTree.Element("none")
    found = (root.findtext(".//id") or root.get("id") or "").strip() if root.tag.lower() != "html" else ""
    if not found:
        raise unnamed(answer)
    return found


def create_adapter(options: AdapterOptions) -> JsonFileAdapter | AlsServer:
    """The adapter of a file, or of an http(s) address. Raises IngestionError when it cannot be read."""
    if is_web_address(options.source):
        return AlsServer(options)
    return JsonFileAdapter(options, source_system_name, read_record)


def _root(address: str) -> str:
    """Where a server's paths start, without credentials."""
    return shown_url(str(httpx.URL(address).copy_with(path="/")))


def _listed(entry: ElementTree.Element, outer: str, inner: str, values: list[str]) -> None:
    if values:
        holder = ElementTree.SubElement(entry, outer)
        for value in values:
            ElementTree.SubElement(holder, inner).text = clean_text(value)[0]
