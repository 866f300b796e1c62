"""The application on a real socket, in a thread of this process or as the command."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

import ariel_lite

CHECKOUT = Path(ariel_lite.__file__).resolve().parent.parent


@contextmanager
def listening(app: ASGIApp) -> Iterator[int]:
    """Serves an application as long as it is entered; the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(timeout=20)


@contextmanager
def command(location: str, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`ariel-lite web` on any free port, as long as it is entered; (address, process)."""
    arguments = [sys.executable, "-m", "ariel_lite", "--db", location, "web", "--port", "0", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(arguments, text=True, cwd=CHECKOUT, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.terminate()
