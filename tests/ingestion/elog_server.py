"""A PSI ELOG server on loopback: real HTTP, with the answers and headers that elogd gives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from email.message import Message
from email.parser import BytesParser
from urllib.parse import parse_qs, unquote, urlsplit

from loopback import Handler, listening

LOGIN = b"<html><body><form name=form1><input type=password name=upassword></form></body></html>"
SEPARATOR = "=" * 40


@dataclass
class ElogBook:
    """A logbook of the server, and how it behaves.

    Attributes:
        entries: number -> (headers, text).
        files: name -> bytes.
        charset: of the pages, and so of forms.
        has_raw: False answers `mode=Raw` with a page, as old servers do.
        cookie: what the Cookie header must be, "" lets everyone in.
        refusal: the error page's words for a new entry.
        fails_login: the answer to a new entry is a redirect to `?fail=1`.
        asked: paths with queries, in order.
        posted: the parts of each form: name -> bytes.
    """

    entries: dict[int, tuple[dict[str, str], str]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    charset: str = "iso-8859-1"
    has_raw: bool = True
    cookie: str = ""
    refusal: str = ""
    fails_login: bool = False
    asked: list[str] = field(default_factory=list)
    posted: list[dict[str, bytes]] = field(default_factory=list)
    url: str = ""

    def put(self, number: int, when: str, text: str = "RF trip", **headers: str) -> None:
        """Add or edit an entry."""
        self.entries[number] = (
            {"Date": when, "Author": "A. Smith", "Subject": text, "Attachment": "", **headers},
            text,
        )

    def raw(self, number: int, end: str = "\r\n") -> str:
        """An entry as the server writes it."""
        headers, text = self.entries[number]
        lines = [f"$@MID@$: {number}", *(f"{name}: {value}" for name, value in headers.items()), SEPARATOR, text, ""]
        return end.join(lines)

    def between(self, first: date, last: date) -> list[int]:
        """Numbers of the entries of some days, the last one included."""
        days = {number: _day(headers["Date"]) for number, (headers, _) in self.entries.items()}
        return sorted(number for number, day in days.items() if first <= day <= last)


def _day(written: str) -> date:
    return datetime.strptime(written, "%a, %d %b %Y %H:%M:%S %z").date()


class _Handler(Handler):
    book: ElogBook

    def do_GET(self) -> None:
        self.book.asked.append(self.path)
        path, query = (
            urlsplit(self.path).path,
            {key: value[0] for key, value in parse_qs(urlsplit(self.path).query).items()},
        )
        name = unquote(path.removeprefix("/elog/demo/"))
        if self.book.cookie and self.headers.get("Cookie", "") != self.book.cookie:
            self._page(LOGIN)
        elif name in self.book.files:
            self.answer(200, "application/octet-stream", self.book.files[name])
        elif query.get("mode") == "Raw" and self.book.has_raw:
            numbers = self._asked_for(query) if "ya" in query else []
            self.answer(200, "text/plain", "".join(map(self.book.raw, numbers)).encode(self.book.charset, "replace"))
        elif query.get("cmd") == "download" and name.isdecimal() and int(name) in self.book.entries:
            self.answer(200, "text/plain", self.book.raw(int(name), "\n").encode(self.book.charset, "replace"))
        elif name in ("", "page"):
            links = "".join(f'<tr><td class="list1"><a href="../demo/{n}">{n}</a></td></tr>' for n in self.book.entries)
            self._page(f"<html><body><table>{links}</table></body></html>".encode())
        else:
            self.answer(404, "text/html", b"<html><title>404 Not Found</title></html>")

    def _asked_for(self, query: dict[str, str]) -> list[int]:
        first, last = (date(*(int(query[part + end]) for part in "ymd")) for end in "ab")
        return self.book.between(first, last)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        message = BytesParser().parsebytes(f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode() + body)
        self.book.posted.append({_part_name(part): part.get_payload(decode=True) for part in message.get_payload()})  # type: ignore[union-attr, arg-type, misc]
        if self.book.refusal:
            self._page(f'<html><table><tr><td class="errormsg">{self.book.refusal}</td></tr></table></html>'.encode())
            return
        number = max(self.book.entries, default=0) + 1
        place = "?fail=1" if self.book.fails_login else f"{number}"
        self.answer(302, "text/html", b"<html>redir</html>", {"Location": f"{self.book.url}{place}"})

    def _page(self, body: bytes) -> None:
        self.answer(200, f"text/html;charset={self.book.charset}", body)


def _part_name(part: Message) -> str:
    return str(part.get_param("name", header="Content-Disposition"))


@contextmanager
def serving(book: ElogBook) -> Iterator[ElogBook]:
    """The server while it runs; `book.url` is the logbook's address."""
    with listening(_Handler, book) as address:
        book.url = f"{address}/elog/demo/"
        yield book
