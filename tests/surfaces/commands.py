"""Running the command line as a process of its own, as a person or a script does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import ariel_lite

PROGRAM = (sys.executable, "-m", "ariel_lite")
CHECKOUT = Path(ariel_lite.__file__).resolve().parent.parent
HASHING = "embedding: {provider: hashing, model: hashing}\n"
"""Settings that make vectors in no time."""

OURS = ("ARIEL_LITE_", "NO_COLOR", "COLUMNS", "PYTHONIOENCODING", "PYTHONUTF8", "LC_ALL", "EDITOR", "VISUAL")


def environment(**changes: str) -> dict[str, str]:
    """This process's environment without what changes the program's behaviour, and with `changes`."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
    return {**kept, "PYTHONPATH": str(CHECKOUT), **changes}


def run(
    *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end."""
    return subprocess.run(
        [*PROGRAM, *arguments],
        input=stdin,
        capture_output=True,
        env=dict(env or environment()),
        cwd=cwd,
        timeout=180,
        check=False,
    )


def start(*arguments: str, **settings: Any) -> subprocess.Popen[bytes]:
    """Start a command with pipes for what is not given."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment()}
    return subprocess.Popen([*PROGRAM, *arguments], **{**pipes, **settings})


def until(condition: Callable[[], object]) -> None:
    """Wait for something that must come."""
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "it did not come in two minutes"
        time.sleep(0.05)


def lines(text: bytes) -> list[str]:
    """Output as lines."""
    return text.decode("utf-8").splitlines()


def write_entries(path: Path, entries: Iterable[Mapping[str, Any]]) -> str:
    """A JSON Lines file of generic entries; its path as an argument."""
    with path.open("w", encoding="utf-8") as handle:
        for number, entry in enumerate(entries):
            time = f"2026-03-05T{10 + number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}Z"
            handle.write(json.dumps({"timestamp": time, "author": "", **entry}) + "\n")
    return str(path)


class Called(NamedTuple):
    """What a call of the command line gave."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output, which must be exactly one strict JSON document."""
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


Call = Callable[..., Called]
