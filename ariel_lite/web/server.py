"""Listening on an address, and running uvicorn on it."""

from __future__ import annotations

import gc
import signal
import socket
from collections.abc import Callable
from types import TracebackType
from urllib.parse import quote

import uvicorn

from ariel_lite.errors import ConfigurationError
from ariel_lite.listening import BACKLOG, bound_socket, is_loopback
from ariel_lite.service import ARIELSearchService
from ariel_lite.web.app import create_app

KEEP_ALIVE_SECONDS = 15
STOP_SECONDS = 3
"""How long running answers may take once the server is asked to stop."""

MOST_CONNECTIONS = 800


class Listener:
    """A bound socket; entering it binds, leaving it closes.

    Args:
        host: the address or name to listen on.
        port: the port, 0 for any free one.
        token: what clients have to show; "" asks for none, which only loopback addresses may do.

    Raises (on entering):
        ConfigurationError: the port is taken, the address is not this machine's, or it asks for a token.
    """

    def __init__(self, *, host: str, port: int, token: str) -> None:
        self._host = host
        self._port = port
        self._token = token
        self._socket: socket.socket | None = None

    def __enter__(self) -> Listener:
        if not self._token and not is_loopback(self._host):
            raise ConfigurationError(
                f"{self._host} can be reached by others, so it needs a token",
                hint="give --token TEXT (or web.token), or listen on 127.0.0.1",
            )
        self._socket = bound_socket(self._host, self._port)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._socket is not None:
            self._socket.close()

    @property
    def address(self) -> str:
        """Where a browser finds the page."""
        assert self._socket is not None
        shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self._host, self._host)
        shown = f"[{shown}]" if ":" in shown and not shown.startswith("[") else shown
        query = f"?token={quote(self._token, safe='')}" if self._token else ""
        return f"http://{shown}:{self._socket.getsockname()[1]}/{query}"

    def serve(self, service: ARIELSearchService, *, on_start: Callable[[], object] = lambda: None) -> None:
        """Answer until Ctrl-C or a signal to stop."""
        assert self._socket is not None
        app = create_app(service, host=self._host, token=self._token)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            backlog=BACKLOG,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        # What is there now stays: the collector need not look through it again and again.
        gc.freeze()
        on_start()
        # uvicorn raises the signal that stopped it once more, behind itself: here it has been obeyed.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            uvicorn.Server(config).run(sockets=[self._socket])
        except KeyboardInterrupt:
            return
        finally:
            signal.signal(signal.SIGTERM, before)
