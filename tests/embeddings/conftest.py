"""The real model, and a real HTTP server that plays Ollama and an OpenAI-compatible endpoint on the loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from ariel_lite.config import DEFAULT_MODEL, ARIELConfig
from ariel_lite.embeddings.onnx import OnnxProvider, create_provider

Answer = tuple[int, dict[str, str], bytes]


@pytest.fixture(scope="session")
def provider() -> OnnxProvider:
    """The model that comes along, loaded once for all tests."""
    return create_provider(ARIELConfig(), DEFAULT_MODEL)


@dataclass
class ModelServer:
    """A server whose answers a test sets. `answer` gets the request's JSON and returns status, headers, body."""

    url: str = ""
    answer: Callable[[dict[str, Any]], Answer] = lambda body: (500, {}, b"")
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A running server on a free port of 127.0.0.1."""
    state = ModelServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append((self.path, dict(self.headers), body))
            status, headers, content = state.answer(body)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()
