"""A Phoebus Olog on loopback: real HTTP, with the answers of the service's new and old versions."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.parser import BytesParser
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from loopback import Handler, listening


@dataclass
class OlogBook:
    """What the service holds, and how it behaves.

    Attributes:
        logs: log entries by id.
        files: path below the base -> bytes.
        most: as many logs as an answer holds.
        is_old: no `/logs/search`, no pages, newest first; the list bare.
        ignores_zone: times are taken for local ones, so many hours east of UTC.
        takes_forms_only: new entries come as multipart.
        login: (user, password) that writing needs.
        asked: paths with queries, in order.
        arriving: logs that appear after the next answer.
    """

    logs: dict[int, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    most: int = 1000
    is_old: bool = False
    ignores_zone: int | None = None
    takes_forms_only: bool = False
    login: tuple[str, str] = ("jane", "secret")
    asked: list[str] = field(default_factory=list)
    arriving: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def put(self, number: int, at: datetime, text: str = "RF trip", **more: Any) -> None:
        """Add or edit a log."""
        self.logs[number] = log(number, at, text, **more)

    def found(self, query: dict[str, str]) -> tuple[list[dict[str, Any]], int]:
        """An answer's logs, and how many there are in all."""
        shift = timedelta(hours=0 if self.ignores_zone is None else self.ignores_zone)
        start, end = (
            (datetime.strptime(query[name], "%Y-%m-%d %H:%M:%S.%f").replace(tzinfo=UTC) - shift).timestamp() * 1000
            for name in ("start", "end")
        )
        inside = [one for one in self.logs.values() if start <= one["createdDate"] <= end]
        newest_first = self.is_old or query.get("sort") not in ("up", "asc")
        inside.sort(key=lambda one: (one["createdDate"], one["id"]), reverse=newest_first)
        first = 0 if self.is_old else int(query.get("from", "0"))
        size = int(query.get("limit" if self.is_old else "size", "100"))
        return inside[first : first + min(size, self.most)], len(inside)


def log(number: int, at: datetime, text: str = "RF trip", **more: Any) -> dict[str, Any]:
    """A log entry as the service gives it."""
    return {
        "id": number,
        "owner": "jane",
        "source": text,
        "description": text,
        "title": f"title {number}",
        "level": "Info",
        "state": "Active",
        "createdDate": int(at.timestamp() * 1000),
        "modifyDate": None,
        "events": None,
        "logbooks": [{"name": "Operations", "owner": "olog", "state": "Active"}],
        "tags": [],
        "properties": [],
        "attachments": [],
        **more,
    }


class _Handler(Handler):
    book: OlogBook

    def do_GET(self) -> None:
        book = self.book
        book.asked.append(self.path)
        path = unquote(urlsplit(self.path).path.removeprefix("/Olog"))
        query = {key: value[0] for key, value in parse_qs(urlsplit(self.path).query).items()}
        if path in book.files:
            self.answer(200, "application/octet-stream", book.files[path])
        elif path == "/logs/search" and not book.is_old:
            logs, total = book.found(query)
            self._json(200, {"hitCount": total, "logs": logs})
            for new in book.arriving:
                book.logs[new["id"]] = new
            book.arriving = []
        elif path == "/logs":
            self._json(200, book.found(query)[0])
        else:
            self._json(404, {"status": 404, "error": "Not Found"})

    def do_PUT(self) -> None:
        book = self.book
        body = self.rfile.read(int(self.headers["Content-Length"]))
        wanted = base64.b64encode(":".join(book.login).encode()).decode()
        if self.headers.get("Authorization") != f"Basic {wanted}":
            self._json(401, {"status": 401, "error": "Unauthorized"})
            return
        path = self.path.removeprefix("/Olog")
        if path == "/logs" and book.takes_forms_only:
            self._json(405, {"status": 405, "error": "Method Not Allowed"})
            return
        if path == "/logs/multipart":
            head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
            (part,) = BytesParser().parsebytes(head + body).get_payload()  # type: ignore[misc]
            body = part.get_payload(decode=True)  # type: ignore[union-attr]
        new = json.loads(body)
        if any(logbook["name"] != "Operations" for logbook in new["logbooks"]):
            self._json(400, {"status": 400, "error": "One or more invalid logbook name(s)"})
            return
        number = max(book.logs, default=0) + 1
        book.logs[number] = log(number, datetime(2026, 3, 10, tzinfo=UTC)) | new | {"id": number}
        self._json(200, book.logs[number])

    def _json(self, status: int, value: Any) -> None:
        self.answer(status, "application/json", json.dumps(value).encode())


@contextmanager
def serving(book: OlogBook) -> Iterator[OlogBook]:
    """The service while it runs; `book.url` is its base address."""
    with listening(_Handler, book) as address:
        book.url = f"{address}/Olog"
        yield book
