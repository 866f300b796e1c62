"""A real HTTP server on the loopback that plays a language model's endpoint."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

Reply = tuple[int, dict[str, str], bytes]


@dataclass
class ChatServer:
    """A running server.

    Attributes:
        url: its address.
        reply: what it answers to a request's JSON: status, headers, body.
        requests: path, headers and JSON of what it was asked.
        trickle_seconds: the pause after each byte of a body; 0 sends it at once.
        gone: set when the server is to stop; a reply that waits waits for this.
    """

    url: str = ""
    reply: Callable[[dict[str, Any]], Reply] = lambda body: (500, {}, b"")
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    trickle_seconds: float = 0.0
    gone: Event = field(default_factory=Event)

    def says(self, text: str) -> None:
        """Answer every request with this text, in the form of the path asked."""
        self.reply = lambda body: completion(text, ollama="options" in body)

    def never(self) -> None:
        """Answer no request as long as the test runs."""

        def wait(body: dict[str, Any]) -> Reply:
            self.gone.wait(60)
            return 500, {}, b""

        self.reply = wait


def as_json(status: int, content: Any, **headers: str) -> Reply:
    """A reply with a JSON body."""
    return status, {"Content-Type": "application/json", **headers}, json.dumps(content).encode()


def completion(text: Any, *, ollama: bool) -> Reply:
    """The reply of a model that says a text."""
    message = {"role": "assistant", "content": text}
    return as_json(200, {"message": message, "done": True} if ollama else {"choices": [{"message": message}]})


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """A running server on a free port of 127.0.0.1."""
    state = ChatServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append((self.path, dict(self.headers), body))
            status, headers, content = state.reply(body)
            try:
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.send_body(content)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def send_body(self, content: bytes) -> None:
            if not state.trickle_seconds:
                self.wfile.write(content)
                return
            for place in range(len(content)):
                self.wfile.write(content[place : place + 1])
                self.wfile.flush()
                time.sleep(state.trickle_seconds)

        def log_message(self, *arguments: object) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    yield state
    state.gone.set()
    server.shutdown()
    thread.join()
    server.server_close()
