"""What every request passes before it is looked at: host, origin, token, size; and the headers every answer carries.

The page answers on a person's own machine, where any web site that is open in the same browser can send requests. So a
Host that is not ours (DNS rebinding) and an Origin that is not ours are refused, and nothing allows other origins.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ariel_lite.attachments import MAX_ATTACHMENT_BYTES
from ariel_lite.listening import host_name, is_address
from ariel_lite.web.limits import FILES_BODY_BYTES, MAX_BODY_BYTES, MEGABYTE, body_limit
from ariel_lite.web.replies import refused

LOOPBACK = ("localhost", "127.0.0.1", "::1")
EVERY_ADDRESS = ("0.0.0.0", "::")
COOKIE = "ariel_token"
GUARDED = ("/api/", "/docs", "/openapi.json")
"""What asks for the token. The page itself holds nothing of the logbook: it asks for the token where one is missing,
and a link from another site works, to which a browser adds no cookie.
"""

BODY_SECONDS = 60.0
"""How long a client may keep quiet within a body."""

TOO_SLOW = "the request did not arrive in time"
TOO_LARGE = "the request is too large"
TOO_LARGE_HINT = (
    f"{MAX_BODY_BYTES // MEGABYTE} MB are taken, with files {FILES_BODY_BYTES // MEGABYTE} MB;"
    f" a file may have {MAX_ATTACHMENT_BYTES // MEGABYTE} MB"
)

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    ("Content-Security-Policy", CONTENT_SECURITY_POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"),
    ("Cache-Control", "no-store"),
)

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Policy:
    """Who may ask: under which host names, and with which token ("" for none).

    Args:
        host: the address that the server is bound to.
        allowed_hosts: further names that it is reached by.
        token: what clients have to show.
    """

    host: str = "127.0.0.1"
    allowed_hosts: tuple[str, ...] = ()
    token: str = ""

    def is_our_host(self, header: str) -> bool:
        """True when a Host header names this server."""
        name = host_name(header)
        if name in (*LOOPBACK, self.host.lower(), *self._named()):
            return True
        # An address cannot be rebound as a name can.
        return self.host in EVERY_ADDRESS and is_address(name)

    def is_our_origin(self, origin: str, host: str, scheme: str) -> bool:
        """True when a page of this origin came from this server, or from a name that the configuration allows."""
        parts = urlsplit(origin)
        is_same = parts.scheme == scheme and _with_port(parts.netloc, scheme) == _with_port(host, scheme)
        return is_same or (parts.scheme in ("http", "https") and host_name(parts.netloc) in self._named())

    def admits(self, shown: str) -> bool:
        """True when a client shows the token; compared in constant time."""
        return hmac.compare_digest(shown.encode("utf-8", "replace"), self.token.encode("utf-8", "replace"))

    @property
    def cookie(self) -> str:
        """What a browser shows instead of the token: made from it, so that the token itself is kept nowhere."""
        return hashlib.sha256(b"ariel-lite cookie " + self.token.encode("utf-8", "replace")).hexdigest()

    def _named(self) -> Sequence[str]:
        return tuple(host_name(name) for name in self.allowed_hosts)


class Guard:
    """The outermost part of the application."""

    def __init__(self, app: ASGIApp, policy: Policy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_head = scope["method"] == "HEAD"
        answer = _Answer(send, is_head=is_head)
        inner = {**scope, "method": "GET"} if is_head else scope
        refusal = self._refusal(HTTPConnection(scope), inner["method"])
        await (refusal or self._bounded)(inner, receive, answer)

    async def _bounded(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        try:
            await self._app(scope, _Body(receive, body_limit(scope["path"])), answer)
        except Exception:  # noqa: BLE001 - the one boundary: whatever happens, an envelope and no traceback
            _LOG.exception("%s %s failed", scope["method"], scope["path"])
            if not answer.has_begun:
                reply = refused(500, "internal_error", "the server failed; it has written why to its log")
                await reply(scope, receive, answer)

    def _refusal(self, request: HTTPConnection, method: str) -> Response | None:
        headers = request.headers
        if not self._policy.is_our_host(headers.get("host", "")):
            hint = "a name of this server goes into web.allowed_hosts"
            return refused(403, "foreign_host", "this server is not reached under this name", hint)
        if _is_foreign(self._policy, headers, request.scope["scheme"], request.scope["path"], method):
            return refused(403, "foreign_origin", "requests from other web sites are refused")
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > body_limit(request.scope["path"]):
            return too_large()
        return self._unadmitted(request) if self._policy.token else None

    def _unadmitted(self, request: HTTPConnection) -> Response | None:
        """What a client without the token gets; the token in the page's address is turned into a cookie."""
        path = request.scope["path"]
        given = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        shown = dict(given).get("token")
        if path == "/" and shown is not None and self._policy.admits(shown):
            rest = urlencode([(name, value) for name, value in given if name != "token"])
            reply = RedirectResponse(f"/?{rest}" if rest else "/", status_code=303)
            is_secure = request.scope["scheme"] == "https"
            reply.set_cookie(COOKIE, self._policy.cookie, httponly=True, samesite="strict", secure=is_secure)
            return reply
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        is_shown = scheme.lower() == "bearer" and self._policy.admits(bearer.strip())
        has_cookie = hmac.compare_digest(request.cookies.get(COOKIE, "").encode("utf-8"), self._policy.cookie.encode())
        if is_shown or has_cookie or not path.startswith(GUARDED):
            return None
        hint = "send 'Authorization: Bearer TOKEN', or open /?token=TOKEN in the browser"
        return refused(
            401, "unauthorized", "this server asks for a token", hint, headers={"WWW-Authenticate": "Bearer"}
        )


class _Body:
    """A request's body, counted and timed as it comes in: reading it raises HTTPException (413, 408)."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._left = limit
        self._is_whole = False

    async def __call__(self) -> Message:
        if self._is_whole:
            return await self._receive()
        with anyio.move_on_after(BODY_SECONDS):
            message = await self._receive()
            self._is_whole = not message.get("more_body", False)
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise HTTPException(413, TOO_LARGE)
            return message
        raise HTTPException(408, TOO_SLOW)


class _Answer:
    """Sends an answer with the headers of every answer; to HEAD without its body."""

    def __init__(self, send: Send, *, is_head: bool) -> None:
        self._send = send
        self._is_head = is_head
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS:
                headers.setdefault(name, value)
        elif self._is_head and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self._send(message)


def too_large() -> Response:
    """What a request gets whose body is past its limit."""
    return refused(413, "too_large", TOO_LARGE, TOO_LARGE_HINT, headers={"Connection": "close"})


def _is_foreign(policy: Policy, headers: Headers, scheme: str, path: str, method: str) -> bool:
    origin = headers.get("origin")
    if origin is not None:
        return not policy.is_our_origin(origin, headers.get("host", ""), scheme)
    if headers.get("sec-fetch-site") != "cross-site":
        return False
    # A link on another site may open the page or a file, but not read or change anything behind its back.
    return not (method == "GET" and headers.get("sec-fetch-mode") == "navigate")


def _with_port(netloc: str, scheme: str) -> tuple[str, str]:
    """(name, port) of a network location; the scheme's own port where it names none."""
    name = host_name(netloc)
    rest = netloc.rpartition("]")[2] if netloc.startswith("[") else netloc
    port = rest.partition(":")[2]
    return name, port or ("443" if scheme == "https" else "80")
