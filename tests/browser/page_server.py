"""The real server over a real file, as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import ariel_lite

CHECKOUT = Path(ariel_lite.__file__).resolve().parent.parent
OURS = ("ARIEL_LITE_", "NO_COLOR", "COLUMNS")
STOP_SECONDS = 20


class PageServer:
    """`ariel-lite web` over a logbook; `url` is where it answers. Stopped, it can be started again on the same port.

    `packages` is a folder with further packages for it.
    """

    def __init__(self, logbook: Path, config: Path, *options: str, packages: Path | None = None) -> None:
        self._arguments = (sys.executable, "-m", "ariel_lite", "--db", str(logbook), "--config", str(config), "web")
        self._options = options
        self._packages = packages
        self._process: subprocess.Popen[str] | None = None
        self._port = 0
        self.url = ""
        self.start()

    def start(self) -> None:
        """Start, and wait until it answers."""
        command = [*self._arguments, "--port", str(self._port), *self._options]
        # What it writes to standard error goes to this process's, where pytest keeps it for a failing test.
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment(self._packages))
        assert self._process.stdout is not None
        address = self._process.stdout.readline().strip()
        assert address.startswith("http"), f"the server did not start: {address!r}"
        # With a token, the address that it prints goes on with it.
        parts = urlsplit(address)
        self.url = f"{parts.scheme}://{parts.netloc}"
        self._port = parts.port or 0

    def stop(self) -> None:
        """Stop, as Ctrl-C does."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGINT if os.name != "nt" else signal.SIGTERM)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """What the server answers to GET, or to POST with a body."""
        data = None if body is None else json.dumps(body).encode("utf-8")
        request = urllib.request.Request(self.url + path, data=data, headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)


def run_command(*arguments: str) -> None:
    """Run an `ariel-lite` command to its end."""
    subprocess.run(
        [sys.executable, "-m", "ariel_lite", *arguments], check=True, capture_output=True, env=_environment()
    )


def _environment(packages: Path | None = None) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
    path = os.pathsep.join(str(folder) for folder in (CHECKOUT, packages) if folder)
    return {**kept, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
