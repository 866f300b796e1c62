"""A logbook of a PSI ELOG server: read with `mode=Raw` (else entry by entry), and written to as its own clients do.

The server takes days in its own zone, so spans are asked for with a day to spare on either side. Attachments are
fetched from the logbook's address. A login goes along as the cookies `unm` and `upwd`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from urllib.parse import quote, unquote_plus

import httpx

from ariel_lite.errors import ConfigurationError, IngestionError
from ariel_lite.ingestion.base import AdapterOptions, IncomingEntry, NewEntry, Reject, SourceFailure, SourceRecord
from ariel_lite.ingestion.elog_posting import created_id, form_parts, page_charset, page_error
from ariel_lite.ingestion.elog_records import (
    MARK,
    Attributes,
    ElogRecord,
    Logbook,
    elog_fields,
    elog_records,
    file_name,
    shown_name,
    source_system_name,
)
from ariel_lite.ingestion.entry_building import EntryBuilder, texts
from ariel_lite.ingestion.file_reading import is_within
from ariel_lite.ingestion.http_answers import Fault, HttpAnswer, SourceRequestError
from ariel_lite.ingestion.http_source import HttpSource
from ariel_lite.ingestion.server_reading import ServerReader, Sleep, attach_remote, epoch, unsure
from ariel_lite.ingestion.settings import flag_setting, text_setting
from ariel_lite.ingestion.sha256_crypt import sha256_crypt
from ariel_lite.ingestion.time_windows import Window

FIRST_YEAR = 2001
OLDER_IN_A_ROW = 25
"""Entries are read newest first by number where the server gives no raw list; so many older ones end that."""


@dataclass(frozen=True)
class Login:
    """Who asks; the password as it is."""

    user: str
    password: str

    @property
    def fields(self) -> dict[str, str]:
        """What the server knows a user by."""
        return {"unm": self.user, "upwd": sha256_crypt(self.password)}

    @property
    def headers(self) -> dict[str, str]:
        """The same as cookies."""
        return {"Cookie": "; ".join(f"{name}={quote(value, safe='./')}" for name, value in self.fields.items())}


class ElogServer(ServerReader):
    """Reads and writes one logbook.

    Args:
        options: `source` is the logbook's address, such as https://host/elog/demo/.
        attributes: which attributes hold author, title, tags and categories.
        sleep: waits between repeats.

    Raises:
        ConfigurationError: the address names no logbook.
    """

    def __init__(self, options: AdapterOptions, attributes: Attributes, *, sleep: Sleep = asyncio.sleep) -> None:
        super().__init__(options, source_system_name, first=epoch(FIRST_YEAR), sleep=sleep)
        self._attributes = attributes
        self._base = _logbook_address(options.source)
        path_name = unquote_plus(self._base.rstrip("/").rpartition("/")[2])
        name = text_setting(options.config.settings, "logbook") or path_name
        self._logbook = Logbook(name, name)
        self._exp = path_name
        self._with_files = flag_setting(options.config.settings, "attachments", default=True)
        self._builder = EntryBuilder(options, source_system_name, None)
        self._has_raw = True

    async def fetch_entries(
        self, since: datetime | None = None, until: datetime | None = None, limit: int | None = None
    ) -> AsyncIterator[SourceRecord]:
        """The logbook's records; see `FacilityAdapter.fetch_entries`."""
        async with HttpSource(self._config, sleep=self._sleep) as server:
            self._has_raw = await self._gives_raw(server)
        if self._has_raw:
            async for record in super().fetch_entries(since, until, limit):
                yield record
        else:
            async for record in self._by_number(since, until, limit):
                yield record

    async def ask(self, server: HttpSource, window: Window) -> list[SourceRecord]:
        """A window's records, and those of a day before and two after it."""
        spare = timedelta(days=1)
        first = datetime.fromtimestamp(max(window.start, 86_400), UTC) - spare
        last = datetime.fromtimestamp(window.end, UTC) + 2 * spare
        bounds = {
            "ya": first.year,
            "ma": first.month,
            "da": first.day,
            "yb": last.year,
            "mb": last.month,
            "db": last.day,
        }
        answer = await server.get(
            self._base,
            params={"mode": "Raw", "reverse": "0", **{name: str(value) for name, value in bounds.items()}},
            headers=self._headers,
        )
        return [self._record(record, window.label) for record in elog_records([_raw_text(answer)])]

    async def create_entry(self, request: NewEntry) -> str:
        """Create an entry in the logbook; its id here, `<logbook>/<number>`.

        Raises:
            ConfigurationError: writing is not enabled.
            IngestionError: the server did not take it, wants a login, or did not say its number.
        """
        self.check_writable()
        if request.logbook and request.logbook.casefold() not in (self._logbook.name.casefold(), self._exp.casefold()):
            raise IngestionError(
                f"this source is the logbook {self._logbook.name}, not {request.logbook}",
                hint=f"publish it to {self._logbook.name}, or configure the other logbook's address",
            )
        login = self._login(request)
        target = _without_login(self._config.write.write_url or self._base)
        async with HttpSource(self._config, sleep=self._sleep) as server:
            charset = await self._charset(server, target, login)
            fields = {"cmd": "Submit", "exp": self._exp, **(login.fields if login else {})}
            parts = form_parts(request, fields, self._attributes, self._config.settings, charset)
            try:
                answer = await server.send("POST", target, files=parts, headers=login.headers if login else {})
            except SourceRequestError as fault:
                if fault.was_sent and fault.is_passing:
                    raise unsure(fault) from fault
                raise
        return self._logbook.entry_id(created_id(answer))

    @cached_property
    def _headers(self) -> dict[str, str]:
        """The login of every request and file; a password takes milliseconds to be made a cookie."""
        login = self._login(None)
        return login.headers if login else {}

    def _login(self, request: NewEntry | None) -> Login | None:
        """The author's, else the configured one, else the address's."""
        write, address = self._config.write, httpx.URL(self._options.source)
        candidates = (
            (request.auth_user, request.auth_password) if request else (None, None),
            (write.auth_user, write.auth_password),
            (address.username, address.password),
        )
        return next((Login(user, password) for user, password in candidates if user and password), None)

    async def _charset(self, server: HttpSource, target: str, login: Login | None) -> str:
        """How the server reads forms: as it writes pages."""
        configured = text_setting(self._config.settings, "charset")
        if configured:
            return configured
        return page_charset(
            await server.get(target, params={"mode": "summary", "npp": "1"}, headers=login.headers if login else {})
        )

    async def _gives_raw(self, server: HttpSource) -> bool:
        """True when the server gives raw lists; old ones answer with a page.

        Raises:
            IngestionError: it cannot be read at all.
        """
        answer = await server.get(self._base, params={"mode": "Raw", "last": "1"}, headers=self._headers)
        if not answer.is_html:
            return True
        said = page_error(answer)
        if said is not None:
            raise IngestionError(f"{answer.url} says: {said}", hint="check source_url and the login")
        return False

    def _record(self, record: ElogRecord, place: str) -> SourceRecord:
        locator = f"{self._logbook.name}/{record.message_id}" if record.message_id else place
        if record.fault:
            known = self._logbook.entry_id(record.message_id) if record.message_id else None
            return Reject(locator, record.fault, record.raw, known)
        fields = elog_fields(record, self._logbook, self._attributes)
        names = texts([item["url"] for item in fields.attachments], None)
        fields.attachments = [{"url": self._address(name), "filename": shown_name(name)} for name in names]
        built = self._builder.build(fields, locator, record.raw, record.cleaned)
        if isinstance(built, IncomingEntry) and names and self._with_files:
            attach_remote(
                built, [(shown_name(name), [self._address(name)]) for name in names], self._config, self._headers
            )
        return built

    def _address(self, name: str) -> str:
        return self._base + quote(file_name(name), safe="")

    async def _by_number(
        self, since: datetime | None, until: datetime | None, limit: int | None
    ) -> AsyncIterator[SourceRecord]:
        """The entries one by one, newest number first."""
        self.facts.complete, self.facts.skipped, failed, older, given = False, 0, False, 0, 0
        async with HttpSource(self._config, sleep=self._sleep) as server:
            for number in await self._numbers(server):
                try:
                    record = await self._download(server, number)
                except SourceRequestError as fault:
                    failed = True
                    yield SourceFailure(f"{self._logbook.name}/{number}", fault.message)
                    if fault.kind is Fault.UNREACHABLE:
                        return
                    continue
                moment = record.entry["timestamp"] if isinstance(record, IncomingEntry) else None
                older = older + 1 if moment and since and moment < since else 0
                if older > OLDER_IN_A_ROW or (limit is not None and given >= limit):
                    return
                if moment and not is_within(moment, since, until):
                    self.facts.skipped += 1
                    continue
                given += moment is not None
                yield record
        self.facts.complete = not failed

    async def _numbers(self, server: HttpSource) -> list[int]:
        """The numbers of all entries, from the links of the list, newest first."""
        answer = await server.get(
            f"{self._base}page", params={"mode": "summary", "reverse": "1"}, headers=self._headers
        )
        name = re.escape(self._base.rstrip("/").rpartition("/")[2])
        found = re.findall(rf'href="(?:[^"?]*/)?{name}/([0-9]+)"', answer.text, re.IGNORECASE)
        return sorted({int(number) for number in found}, reverse=True)

    async def _download(self, server: HttpSource, number: int) -> SourceRecord:
        answer = await server.get(f"{self._base}{number}", params={"cmd": "download"}, headers=self._headers)
        records = list(elog_records([_raw_text(answer)]))
        if len(records) != 1:
            raise SourceRequestError(f"{answer.url} sent {len(records)} entries instead of one", Fault.UNREADABLE)
        return self._record(records[0], answer.url)


def _raw_text(answer: HttpAnswer) -> str:
    """The raw records of an answer. Raises SourceRequestError for a page, or anything else that is none."""
    if answer.is_html:
        said = page_error(answer)
        why = "" if said is None else f": {said}"
        raise SourceRequestError(f"{answer.url} sends a page instead of entries{why}", Fault.HTML)
    text = answer.text.lstrip("\r\n")
    if text.strip() and not text.startswith(MARK):
        raise SourceRequestError(f"{answer.url} sends no ELOG entries", Fault.UNREADABLE, hint="is this an ELOG?")
    return text


def _logbook_address(source: str) -> str:
    """The address of a logbook with "/" at its end, without login and query. Raises ConfigurationError."""
    try:
        address = httpx.URL(source)
    except httpx.InvalidURL as fault:
        raise ConfigurationError(f"the ELOG's address is no URL: {fault}", hint="check source_url") from fault
    if not address.path.strip("/"):
        raise ConfigurationError(
            "the ELOG's address names no logbook", hint="add it, such as https://host/elog/operations/"
        )
    return _without_login(source)


def _without_login(source: str) -> str:
    address = httpx.URL(source).copy_with(userinfo=b"", query=None, fragment=None)
    return str(address).rstrip("/") + "/"
