"""What a server answered: its text, its JSON, and in plain words why it is not what was asked for.

Servers of logbooks answer a session that ran out with a login page and status 200. Taken for an empty answer it would
hide entries for ever, so whatever is not the JSON that was asked for is a SourceRequestError that says what came.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

import httpx

from ariel_lite.errors import IngestionError
from ariel_lite.ingestion.json_values import Malformed, ValueDecoder
from ariel_lite.ingestion.text_stream import repair_utf8

REPEATED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})

_LOGIN_PAGE = re.compile(rb"type\s*=\s*[\"']?password|<title>[^<]*(?:log[ -]?in|sign[ -]?in)", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)


class Fault(StrEnum):
    """What kind of failure a request met."""

    UNREACHABLE = "unreachable"
    BUSY = "busy"
    DENIED = "denied"
    REFUSED = "refused"
    HTML = "html"
    EMPTY = "empty"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"


class SourceRequestError(IngestionError):
    """A request that brought nothing usable.

    Attributes:
        kind: what happened.
        is_passing: True when the same request may succeed later.
        asked_pause: seconds that the server asked to be left alone.
        was_sent: False when the request certainly never reached the server.
    """

    def __init__(
        self,
        message: str,
        kind: Fault,
        *,
        hint: str = "",
        is_passing: bool = False,
        asked_pause: float = 0.0,
        was_sent: bool = True,
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind
        self.is_passing = is_passing
        self.asked_pause = asked_pause
        self.was_sent = was_sent


@dataclass(frozen=True)
class HttpAnswer:
    """What a server answered: `url` without credentials, header names in lower case, the whole body."""

    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    @property
    def text(self) -> str:
        """The body as text, see `decoded`."""
        return decoded(self.body, self.headers.get("content-type", ""))

    @property
    def is_redirect(self) -> bool:
        """True when it sends the caller elsewhere, to `headers["location"]`."""
        return 300 <= self.status < 400 and bool(self.headers.get("location"))

    @property
    def is_html(self) -> bool:
        """True for a page. The body decides: some servers send JSON as text/html, and pages as JSON."""
        return self.body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


def shown_url(url: str) -> str:
    """An address as it may be shown: without credentials and without what is asked for."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return "the address"
    return str(parsed.copy_with(userinfo=b"", query=None, fragment=None))


def decoded(body: bytes, content_type: str = "") -> str:
    """Text in UTF-8 if it is, else in the declared encoding, else in UTF-8 with stray bytes read as Windows-1252."""
    declared = re.search(r"charset=[\"']?([\w.:-]+)", content_type, re.IGNORECASE)
    for name in ("utf-8-sig", declared.group(1) if declared else ""):
        try:
            return body.decode(codecs.lookup(name).name)
        except (LookupError, UnicodeDecodeError):
            continue
    return repair_utf8(body)[0].decode("utf-8").removeprefix("\ufeff")


def read_json(answer: HttpAnswer, expected: type[Any] | None = None) -> Any:
    """The JSON of an answer.

    Raises:
        SourceRequestError: a page, nothing, cut off, something behind the value, or not the kind `expected`.
    """
    if answer.is_html:
        raise _page(answer)
    text = answer.text.strip()
    if not text:
        raise SourceRequestError(f"{answer.url} sent an empty answer", Fault.EMPTY, hint="try again later")
    try:
        value, end = ValueDecoder().at(text, 0, ended=True)
    except Malformed as fault:
        raise _unreadable(answer, f"sent no valid JSON: {fault.reason}") from fault
    if text[end:].strip():
        raise _unreadable(answer, "sent something behind the JSON")
    if expected is not None and not isinstance(value, expected):
        raise SourceRequestError(
            f"{answer.url} sent JSON that is {_named(value)} where {_named(expected())} is expected{_said(value)}",
            Fault.UNREADABLE,
            hint="is this the right address for the adapter?",
        )
    return value


def checked(answer: HttpAnswer) -> HttpAnswer:
    """The answer, unless its status or a login page says that it is none."""
    status, said = answer.status, f"{answer.url} answers {answer.status}"
    if status < 400:
        if answer.is_html and _LOGIN_PAGE.search(answer.body[:100_000]):
            raise SourceRequestError(
                f"{answer.url} sends a login page", Fault.DENIED, hint="log in, or put credentials in the address"
            )
        return answer
    if status in REPEATED_STATUSES:
        asked = answer.headers.get("retry-after", "")
        raise SourceRequestError(
            f"{said}{_title(answer)}", Fault.BUSY, hint="try again later", is_passing=True, asked_pause=_seconds(asked)
        )
    if status in (401, 403, 407):
        raise SourceRequestError(f"{said}: it wants other credentials", Fault.DENIED, hint="check user and password")
    raise SourceRequestError(f"{said}{_title(answer)}", Fault.REFUSED, hint="check the address")


def _seconds(asked: str) -> float:
    """What a Retry-After header asks for: seconds, or a date; 0 when it is neither."""
    if asked.strip().isdecimal():
        return float(asked)
    try:
        until = parsedate_to_datetime(asked)
    except (TypeError, ValueError):
        return 0.0
    return max((until - datetime.now(until.tzinfo)).total_seconds(), 0.0)


def _page(answer: HttpAnswer) -> SourceRequestError:
    return SourceRequestError(
        f"{answer.url} sends a page instead of entries{_title(answer)}",
        Fault.HTML,
        hint="open the address in a browser",
    )


def _unreadable(answer: HttpAnswer, what: str) -> SourceRequestError:
    """An answer that was probably cut off on its way, so that asking again may help."""
    return SourceRequestError(f"{answer.url} {what}", Fault.UNREADABLE, hint="try again later", is_passing=True)


def _title(answer: HttpAnswer) -> str:
    """The title of a page, in brackets."""
    found = _TITLE.search(answer.text[:20_000]) if answer.is_html else None
    title = one_line(found.group(1)) if found else ""
    return f" ({title})" if title else ""


def _said(value: Any) -> str:
    """A server's own words about a failure, where it sent an object with some."""
    words = (
        next((value[key] for key in ("error", "message", "detail") if value.get(key)), "")
        if isinstance(value, dict)
        else ""
    )
    return f" ({one_line(words)})" if isinstance(words, str) and words else ""


def _named(value: Any) -> str:
    return {list: "a list", dict: "an object", str: "a text", type(None): "null"}.get(type(value), "a number")


def one_line(text: str) -> str:
    """The first 200 characters of a text, without line ends."""
    return " ".join(text.split())[:200]
