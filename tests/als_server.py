"""An ALS logbook server on loopback: real HTTP, with every habit and fault that such servers have."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

from loopback import NO_HEADERS, Handler, listening

LOGIN = b'<html><head><title>Log in</title></head><body><form><input type="password" name="p"></form></body></html>'
NO_ENTRIES = b"<html><body>No entries found</body></html>"
STALL_SECONDS = 600.0
"""Longer than any test waits; the end of the server ends it."""

Record = dict[str, Any]


@dataclass
class Logbook:
    """What the server holds, and how it behaves.

    Attributes:
        records: by id.
        faults: what happens to the next requests, one each: login, redirect, elsewhere, moved, page, empty, nothing,
            object, cut, half, drop, stall, drip, a status such as 401 or 503, or "" for none.
        always: a fault of every request.
        around: a fault of every request whose span holds a moment, by that moment.
        most: as many records as an answer holds.
        newest_first: which ones an answer keeps, and in what order.
        excludes_start, includes_end: how bounds are read.
        page_when_empty: answer a page where there are no entries, as ALS does.
        repeats: every record stands twice in an answer.
        retry_after: the header of 429 and 503.
        grows: so many entries are written before every request.
        user: name and password that requests must bring, "" for none.
        requests: (start, end) of every request for entries.
        posted: bodies of new entries.
    """

    records: dict[str, Record] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    always: str = ""
    around: dict[int, str] = field(default_factory=dict)
    most: int | None = None
    newest_first: bool = False
    excludes_start: bool = False
    includes_end: bool = False
    page_when_empty: bool = False
    repeats: bool = False
    retry_after: str = ""
    grows: int = 0
    user: str = ""
    requests: list[tuple[int, int]] = field(default_factory=list)
    posted: list[ElementTree.Element] = field(default_factory=list)
    url: str = ""

    def put(self, entry_id: str, at: int, text: str = "RF trip", **more: Any) -> None:
        """Add or edit an entry."""
        self.records[entry_id] = {
            "id": entry_id,
            "timestamp": str(at),
            "author": "A. Smith",
            "subject": text,
            "details": f"{text}, in detail",
            "category": "RF",
            "tag": "0",
            "linkedto": "0",
            "level": "Info",
            "attachments": [],
            **more,
        }

    def between(self, start: int, end: int) -> list[Record]:
        """What an answer holds."""
        found = [
            record
            for record in self.records.values()
            if (start < int(record["timestamp"]) if self.excludes_start else start <= int(record["timestamp"]))
            and (int(record["timestamp"]) <= end if self.includes_end else int(record["timestamp"]) < end)
        ]
        found.sort(key=lambda record: int(record["timestamp"]), reverse=self.newest_first)
        found = found[: self.most]
        return found * 2 if self.repeats else found


class _Handler(Handler):
    book: Logbook

    def do_GET(self) -> None:
        book = self.book
        address = urlsplit(self.path)
        if address.path in ("/login", "/moved"):
            self._answer(200, LOGIN if address.path == "/login" else b"[]")
            return
        if book.user and self.headers.get("Authorization") != f"Basic {b64encode(book.user.encode()).decode()}":
            self._answer(401, LOGIN)
            return
        asked = {name: values[0] for name, values in parse_qs(address.query).items()}
        start, end = int(asked["start"]), int(asked["end"])
        assert asked["op"] == "retrieve"
        book.requests.append((start, end))
        for _ in range(book.grows):
            book.put(f"g{len(book.records)}", int(time.time()) - 1000 + len(book.records) % 900, "RF trip")
        fault = book.faults.pop(0) if book.faults else book.always
        fault = fault or next((fault for moment, fault in book.around.items() if start <= moment < end), "")
        found = book.between(start, end)
        body = json.dumps(found).encode()
        if not found and book.page_when_empty:
            body = NO_ENTRIES
        self._misbehave(fault, body) if fault else self._answer(200, body)

    def do_POST(self) -> None:
        book = self.book
        body = ElementTree.fromstring(self.rfile.read(int(self.headers["Content-Length"])))
        fault = book.faults.pop(0) if book.faults else book.always
        if fault:
            self._misbehave(fault, b"")
            return
        book.posted.append(body)
        made = str(90_000 + len(book.posted))
        subject, details = (body.findtext(f"entry/{name}") or "" for name in ("subject", "details"))
        book.put(made, int(time.time()), subject, details=details, author=body.findtext("author"))
        self._answer(200, f"<result><entry><id>{made}</id></entry></result>".encode())

    def _misbehave(self, fault: str, body: bytes) -> None:
        if fault.isdecimal():
            headers = {"Retry-After": self.book.retry_after} if self.book.retry_after else {}
            self._answer(int(fault), b"<title>Maintenance</title>", headers)
        elif fault in ("redirect", "elsewhere", "moved"):
            targets = {"redirect": "/login?next=olog", "elsewhere": "http://other.invalid/", "moved": "/moved"}
            self._answer(302, b"", {"Location": targets[fault]})
        elif fault in ("cut", "drop"):
            self._cut(body if fault == "cut" else b"")
        elif fault in ("stall", "drip"):
            self._slowly(dripping=fault == "drip")
        else:
            pages = {
                "login": LOGIN,
                "page": NO_ENTRIES,
                "empty": b"",
                "nothing": b"[]",
                "object": b'{"error": "no session"}',
            }
            self._answer(200, pages.get(fault, body[: len(body) // 2]))

    def _cut(self, body: bytes) -> None:
        """Announce all, send half, hang up."""
        if body:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body) + 10))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2])
        self.close_connection = True

    def _slowly(self, *, dripping: bool) -> None:
        if dripping:
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
        end = time.monotonic() + STALL_SECONDS
        self.close_connection = True
        while time.monotonic() < end and not self.server.stopped.is_set():
            if dripping:
                try:
                    self.wfile.write(b" ")
                except OSError:
                    return
            time.sleep(0.02)

    def _answer(self, status: int, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> None:
        # ALS calls everything text/html.
        self.answer(status, "text/html", body, headers)


@contextmanager
def als_server() -> Iterator[Logbook]:
    """A server that runs until the end of the block; its address is `url`."""
    book = Logbook()
    with listening(_Handler, book) as address:
        book.url = f"{address}/olog/rpc.php"
        yield book
