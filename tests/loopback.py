"""What the logbook servers of the tests share: real HTTP on loopback, on a port of its own, until the end of a block."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any

NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class LoopbackServer(ThreadingHTTPServer):
    """A server; `stopped` is set when it ends, for requests that are never answered."""

    def __init__(self, handler: type[Handler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.stopped = threading.Event()


class Handler(BaseHTTPRequestHandler):
    """Answers requests; a server's own has what it serves as `book`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: LoopbackServer

    def answer(self, status: int, kind: str, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> None:
        """A whole answer."""
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@contextmanager
def listening(handler: type[Handler], book: Any) -> Iterator[str]:
    """A server of a book until the end of the block; its address, without a path."""
    server = LoopbackServer(type("Handler", (handler,), {"book": book}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
