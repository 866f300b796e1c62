"""Serving clients over HTTP, at /mcp.

A browser on the same machine runs pages of any web site, which can send requests to this server. So a Host that is not
ours (DNS rebinding) and an Origin that is not ours are refused; other machines are let in with a token only.
"""

from __future__ import annotations

import hmac
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ariel_lite.errors import ConfigurationError
from ariel_lite.listening import bound_socket, host_name, is_address, is_loopback
from ariel_lite.mcp_server.ending import on_signal
from ariel_lite.mcp_server.server import LogbookServer

PATH = "/mcp"
SECONDS_TO_END = 2


@dataclass(frozen=True)
class Door:
    """Who is let in.

    Attributes:
        host: the address that is listened on.
        port: 0 takes a free one.
        token: what clients show as `Authorization: Bearer`; "" for none.
        names: further names that this server is reached by.
    """

    host: str
    port: int
    token: str = ""
    names: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse to be open to other machines without a token.

        Raises:
            ConfigurationError: it would be.
        """
        if not self.token and not is_loopback(self.host):
            raise ConfigurationError(
                f"on {self.host} other machines could read the logbook",
                hint="set a token (ARIEL_LITE_MCP_TOKEN or mcp.token), or listen on 127.0.0.1",
            )


class Guard:
    """Answers requests that must not go any further."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door
        self._names = frozenset(host_name(name) for name in (door.host, *door.names))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        refusal = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> JSONResponse | None:
        host = host_name(headers.get("host", ""))
        # An attacker's name can be made to lead here, but a browser then says that name; an address is the address.
        if not (is_address(host) or host == "localhost" or host in self._names):
            return _refused(403, "foreign_host", "this server is not reached under this name", "see mcp.allowed_hosts")
        origin = headers.get("origin")
        if origin is not None and not self._is_our_origin(origin, host):
            return _refused(403, "foreign_origin", "requests from web pages of other sites are refused", "")
        if self._door.token and not self._shows_token(headers.get("authorization", "")):
            return _refused(401, "unauthorized", "this server asks for a token", "send 'Authorization: Bearer TOKEN'")
        return None

    def _is_our_origin(self, origin: str, host: str) -> bool:
        parts = urlsplit(origin)
        name = host_name(parts.netloc)
        is_web = parts.scheme in ("http", "https") and bool(name)
        return is_web and (is_loopback(name) or name in self._names or (name == host and is_address(host)))

    def _shows_token(self, authorization: str) -> bool:
        scheme, _, shown = authorization.partition(" ")
        # Headers are decoded as Latin-1; the bytes are what the client sent.
        is_same = hmac.compare_digest(shown.strip().encode("latin-1", "replace"), self._door.token.encode("utf-8"))
        return scheme.lower() == "bearer" and is_same


def serve_http(logbook_server: LogbookServer, door: Door, announce: Callable[[str], None]) -> None:
    """Serve until a signal comes.

    Args:
        logbook_server: the tools.
        door: where, and who is let in.
        announce: told the address once it is known.

    Raises:
        ConfigurationError: the address cannot be listened on, or would be open to other machines without a token.
    """
    door.check()
    listening = bound_socket(door.host, door.port)
    address = listening.getsockname()
    shown = f"[{address[0]}]" if ":" in address[0] else address[0]
    announce(f"http://{shown}:{address[1]}{PATH}")
    app = logbook_server.server.streamable_http_app(
        streamable_http_path=PATH,
        host=door.host,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # Guard does it
    )
    settings = uvicorn.Config(
        Guard(app, door),
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=SECONDS_TO_END,
    )
    with listening:
        anyio.run(_served, settings, [listening])


class _Server(uvicorn.Server):
    """uvicorn, without its way with signals: it repeats them when it has ended, and the process dies of them."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave them to `on_signal`."""
        yield

    def end(self) -> None:
        """Answer what is under way, then end."""
        self.should_exit = True


async def _served(settings: uvicorn.Config, sockets: list[socket.socket]) -> None:
    server = _Server(settings)
    async with anyio.create_task_group() as group:
        group.start_soon(on_signal, server.end)
        await server.serve(sockets=sockets)
        group.cancel_scope.cancel()


def _refused(status: int, code: str, message: str, hint: str) -> JSONResponse:
    error = {"code": code, "message": message, "hint": hint, "position": None}
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"error": error}, status_code=status, headers=headers)
