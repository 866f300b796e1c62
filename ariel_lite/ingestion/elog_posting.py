"""What an ELOG server takes for a new entry: a multipart form in the server's own charset; and what it answers."""

from __future__ import annotations

import codecs
import re
import time
from collections.abc import Mapping
from typing import Any

from ariel_lite.errors import IngestionError
from ariel_lite.ingestion.base import NewEntry
from ariel_lite.ingestion.elog_records import Attributes
from ariel_lite.ingestion.http_answers import HttpAnswer
from ariel_lite.ingestion.server_reading import unnamed
from ariel_lite.ingestion.settings import names_setting

DEFAULT_CHARSET = "iso-8859-1"
FormPart = tuple[str, tuple[None, bytes]]

_ERROR = re.compile(r'class="?errormsg"?[^>]*>(.*?)</t[dh]>', re.IGNORECASE | re.DOTALL)
_CHARSET = re.compile(r"charset=[\"']?([\w.:-]+)", re.IGNORECASE)
_NOT_IN_NAMES = re.compile(r"[^0-9a-zA-Z]")
_NOT_SENT = frozenset(("text", "date", "encoding", "reply_to", "in_reply_to", "locked_by", "attachment", "cmd", "exp"))


def form_parts(
    request: NewEntry,
    fields: Mapping[str, str],
    attributes: Attributes,
    settings: Mapping[str, Any],
    charset: str,
) -> list[FormPart]:
    """The parts of the form. Characters that the charset has not are written as browsers do (&#937;).

    Args:
        request: the entry.
        fields: what the server needs beside it (command, logbook, login).
        attributes: how the logbook calls title, author and tags.
        settings: `ingestion.settings`: the names that are set there win.
        charset: how the server reads forms.
    """
    titled = {
        _name(settings, "title", attributes.title): request.subject,
        _name(settings, "author", attributes.author): request.author,
        _name(settings, "tags", attributes.tags): " | ".join(request.tags),
        "Shift": request.shift or "",
    }
    extra = {key: value for key, value in request.metadata.items() if isinstance(value, str) and value}
    values = {**_fixed(settings), **extra, **{name: value for name, value in titled.items() if value}}
    form = {_NOT_IN_NAMES.sub("_", name): value for name, value in values.items()}
    form = {name: value for name, value in form.items() if name.lower() not in _NOT_SENT}
    whole = {**form, **fields, "When": str(int(time.time())), "Encoding": "plain", "Text": request.details}
    return [(name, (None, _encoded(value, charset))) for name, value in whole.items()]


def page_charset(answer: HttpAnswer) -> str:
    """The charset of a server's pages: of the header, else of the page, else ISO-8859-1."""
    for text in (answer.headers.get("content-type", ""), answer.body[:4096].decode("latin-1")):
        found = _CHARSET.search(text)
        if found:
            return found[1]
    return DEFAULT_CHARSET


def page_error(answer: HttpAnswer) -> str | None:
    """What an error page says; None for any other answer."""
    error = _ERROR.search(answer.text) if answer.is_html else None
    return " ".join(re.sub(r"<[^>]*>", " ", error[1]).split())[:200] if error else None


def created_id(answer: HttpAnswer) -> str:
    """The number of the entry that was made.

    Raises:
        IngestionError: the server refused it and says why, wants a login, or did not say the number.
    """
    location = answer.headers.get("location", "")
    if "fail" in location.partition("?")[2]:
        raise IngestionError(
            f"{answer.url} does not accept the user or the password", hint="check auth_user, auth_password"
        )
    number = location.partition("?")[0].rstrip("/").rpartition("/")[2]
    if answer.is_redirect and number.isdecimal():
        return number
    said = page_error(answer)
    if said is not None:
        raise IngestionError(
            f"the ELOG did not take the entry: {said}",
            hint="attributes that it requires can be set in ingestion.settings.attributes",
        )
    raise unnamed(answer, "number")


def _name(settings: Mapping[str, Any], home: str, usual: tuple[str, ...]) -> str:
    configured = names_setting(settings, home)
    return configured[0] if configured else {"title": "Subject", "author": "Author"}.get(home, usual[0].capitalize())


def _fixed(settings: Mapping[str, Any]) -> dict[str, str]:
    given = settings.get("attributes")
    return {str(name): str(value) for name, value in given.items()} if isinstance(given, dict) else {}


def _encoded(text: str, charset: str) -> bytes:
    try:
        codec = codecs.lookup(charset).name
    except LookupError:
        codec = DEFAULT_CHARSET
    # Browsers, and so the ELOG, mean Windows-1252 by ISO-8859-1.
    codec = "cp1252" if codec == "iso8859-1" else codec
    return text.replace("\n", "\r\n").encode(codec, "xmlcharrefreplace")
