"""A Phoebus Olog server: read with `GET {base}/logs/search`, or `GET {base}/logs` of older ones; new entries by PUT.

A span of time with more entries than one answer holds is asked for in halves, and a full second page by page, so that
entries that arrive meanwhile move nothing. The server knows no search by time of edit: an edit is found when the
entry's own time is inside the span that is read.
"""

from __future__ import annotations

import asyncio
import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import httpx

from ariel_lite.errors import ConfigurationError, IngestionError
from ariel_lite.ingestion.base import AdapterOptions, IncomingEntry, NewEntry, Reject, SourceRecord
from ariel_lite.ingestion.entry_building import EntryBuilder, id_text
from ariel_lite.ingestion.http_answers import Fault, HttpAnswer, SourceRequestError, read_json
from ariel_lite.ingestion.http_source import HttpSource
from ariel_lite.ingestion.olog_records import attached, read_record, source_system_name
from ariel_lite.ingestion.server_reading import ServerReader, Sleep, attach_remote, epoch, unnamed, unsure
from ariel_lite.ingestion.settings import flag_setting, number_setting, text_setting
from ariel_lite.ingestion.text_cleaning import clean_text, clean_value, nests_too_deep
from ariel_lite.ingestion.time_windows import Window

FIRST_YEAR = 2010
PAGE = 500
"""Entries of an answer; servers give 1,000 at most unless they are configured otherwise."""

MOST_PAGES = 20
ZONES = timedelta(hours=15)
"""How far a server's local time may be from UTC; old ones take every time for local."""

LEVEL = "Info"


class OlogServer(ServerReader):
    """Reads and writes a server.

    Args:
        options: `source` is the service's address, such as https://host:8181/Olog.
        sleep: waits between repeats.
    """

    requires_write_auth = True

    def __init__(self, options: AdapterOptions, *, sleep: Sleep = asyncio.sleep) -> None:
        page = number_setting(options.config.settings, "max_records", default=PAGE)
        super().__init__(options, source_system_name, first=epoch(FIRST_YEAR), sleep=sleep)
        self._page = page
        self._base = _base_address(options.source)
        self._headers = _basic_login(options.source)
        self._with_files = flag_setting(options.config.settings, "attachments", default=True)
        self._builder = EntryBuilder(options, source_system_name, None)
        self._has_search = True

    async def ask(self, server: HttpSource, window: Window) -> list[SourceRecord]:
        """The records of a window."""
        records, total = await self._page_of(server, window, 0)
        if window.seconds == 1:
            records = await self._paged(server, window, records)
        elif total > len(records) or len(records) >= self._page:
            raise SourceRequestError(f"{self._base} holds back entries of {window.label}", Fault.TOO_LARGE)
        return [self._record(record, f"{window.label}, record {index + 1}") for index, record in enumerate(records)]

    async def create_entry(self, request: NewEntry) -> str:
        """Create an entry; its id at the server.

        Raises:
            ConfigurationError: writing is not enabled, or there are no credentials, or no logbook is named.
            IngestionError: the server did not take it, or did not say its id.
        """
        self.check_writable()
        write = self._config.write
        login = self.credentials(request, "the Olog")
        entry = self._new_log(request)
        base = _base_address(write.write_url) if write.write_url else self._base
        async with HttpSource(self._config, sleep=self._sleep) as server:
            try:
                answer = await _put(server, base, entry, login)
            except SourceRequestError as fault:
                if fault.was_sent and fault.is_passing:
                    raise unsure(fault) from fault
                if fault.kind is Fault.REFUSED:
                    hint = "do the logbook and the tags exist at the Olog?"
                    raise IngestionError(f"the Olog did not take the entry: {fault.message}", hint=hint) from fault
                raise
        return _created_id(answer)

    def _windows(self, since: datetime | None, until: datetime | None) -> list[Window]:
        return super()._windows(since - ZONES if since else None, until + ZONES if until else None)

    async def _paged(self, server: HttpSource, window: Window, first: list[Any]) -> list[Any]:
        """All records of one second, page by page while the pages bring new ones."""
        records, ids = list(first), {_id(record) for record in first}
        page = first
        for number in range(1, MOST_PAGES):
            if len(page) < self._page:
                return records
            page, _ = await self._page_of(server, window, number * self._page)
            new = [record for record in page if _id(record) not in ids]
            if not new:
                break
            records += new
            ids.update(_id(record) for record in new)
        if len(page) < self._page:
            return records
        raise SourceRequestError(f"{self._base} does not give all entries of one second", Fault.TOO_LARGE)

    async def _page_of(self, server: HttpSource, window: Window, start: int) -> tuple[list[Any], int]:
        """(records, how many there are in all as far as the server says)."""
        params = {
            "start": _written(window.start),
            "end": _written(window.end),
            "tz": "UTC",
            "from": str(start),
            "size": str(self._page),
            "limit": str(self._page),
            "sort": "up",
        }
        value = await self._found(server, params)
        records = value if isinstance(value, list) else value.get("logs")
        if not isinstance(records, list):
            raise SourceRequestError(f"{self._base} sent no list of logs", Fault.UNREADABLE, hint="is this an Olog?")
        total = value.get("hitCount") if isinstance(value, dict) else None
        return records, total if isinstance(total, int) else 0

    async def _found(self, server: HttpSource, params: dict[str, str]) -> Any:
        if self._has_search:
            try:
                return await server.get_json(f"{self._base}/logs/search", params=params, headers=self._headers)
            except SourceRequestError as fault:
                # A server without that address takes "search" for an entry's id.
                if fault.kind is not Fault.REFUSED:
                    raise
                self._has_search = False
        return await server.get_json(f"{self._base}/logs", params=params, headers=self._headers, expected=list)

    def _record(self, value: Any, locator: str) -> SourceRecord:
        raw = json.dumps(value, ensure_ascii=False)
        if not isinstance(value, dict) or nests_too_deep(value):
            return Reject(locator, "a record must be an object that does not nest too deeply", raw)
        record, cleaned = clean_value(value)
        fields = read_record(record)
        if isinstance(fields, str):
            return Reject(locator, fields, raw, id_text(record.get("id")))
        files = [(name, self._addresses(record, name, identifier)) for name, identifier in attached(record)]
        fields.attachments = [{"url": addresses[0], "filename": name} for name, addresses in files]
        built = self._builder.build(fields, locator, raw, cleaned)
        if isinstance(built, IncomingEntry) and files and self._with_files:
            attach_remote(built, files, self._config, self._headers)
        return built

    def _addresses(self, record: dict[str, Any], name: str, identifier: str) -> list[str]:
        """Where a file may be, the newest way first."""
        by_entry = (
            f"{self._base}/logs/attachments/{quote(id_text(record.get('id')) or '', safe='')}/{quote(name, safe='')}"
        )
        return [f"{self._base}/attachment/{quote(identifier, safe='')}", by_entry] if identifier else [by_entry]

    def _new_log(self, request: NewEntry) -> dict[str, Any]:
        logbook = request.logbook or text_setting(self._config.settings, "logbook")
        if not logbook:
            raise ConfigurationError(
                "the Olog wants a logbook for a new entry", hint="name one, or set ingestion.settings.logbook"
            )
        level = request.metadata.get("level")
        return {
            "owner": clean_text(request.author)[0],
            "title": clean_text(request.subject)[0],
            "description": clean_text(request.details)[0],
            "level": level if isinstance(level, str) and level.strip() else LEVEL,
            "logbooks": [{"name": logbook}],
            "tags": [{"name": tag} for tag in request.tags],
        }


async def _put(server: HttpSource, base: str, entry: dict[str, Any], login: tuple[str, str]) -> HttpAnswer:
    """Send an entry; servers that take forms only are sent one."""
    try:
        return await server.send("PUT", f"{base}/logs", json=entry, auth=login)
    except SourceRequestError as fault:
        if fault.kind is not Fault.REFUSED or not any(status in fault.message for status in (" 404", " 405", " 415")):
            raise
    part = ("logEntry", ("logEntry.json", json.dumps(entry).encode("utf-8"), "application/json"))
    return await server.send("PUT", f"{base}/logs/multipart", files=[part], auth=login)


def _created_id(answer: HttpAnswer) -> str:
    record = read_json(answer, dict)
    identifier = id_text(record.get("id"))
    if not identifier:
        raise unnamed(answer)
    return identifier


def _base_address(source: str) -> str:
    """The service's address without login, query and what people copy along with it."""
    try:
        address = str(httpx.URL(source).copy_with(userinfo=b"", query=None, fragment=None)).rstrip("/")
    except httpx.InvalidURL as fault:
        raise ConfigurationError(f"the Olog's address is no URL: {fault}", hint="check source_url") from fault
    return address.removesuffix("/search").removesuffix("/logs")


def _basic_login(source: str) -> dict[str, str]:
    address = httpx.URL(source)
    if not address.userinfo:
        return {}
    pair = f"{address.username}:{address.password}".encode()
    return {"Authorization": f"Basic {base64.b64encode(pair).decode('ascii')}"}


def _written(second: int) -> str:
    """A moment as the server reads it, with the parameter `tz`."""
    return f"{datetime.fromtimestamp(second, UTC):%Y-%m-%d %H:%M:%S}.000"


def _id(record: Any) -> str:
    return str(record.get("id")) if isinstance(record, dict) else repr(record)
