"""What the bench measures in processes of its own: peak memory, and a first search with all that it loads."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import ariel_lite
from ariel_lite.errors import ConfigurationError

if sys.platform != "win32":
    import resource

NOTHING = "pass"
SEARCH = """
import sys
from ariel_lite import open_logbook
with open_logbook(sys.argv[1], config={}) as book:
    found = book.search(sys.argv[2], mode="hybrid")
    print(len(found.entries), int(found.degraded))
"""
"""Arguments: a logbook and a query. Says how many entries were found, and 1 when the search was degraded."""

EMBED = """
import sys
from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.onnx import create_provider
from ariel_lite.evaluation.bench_process import peak_bytes
config = ARIELConfig()
with open(sys.argv[1], encoding="utf-8") as file:
    texts = file.read().split("\\0")
vectors = create_provider(config, config.embedding.model).embed(texts)
print(len(vectors), peak_bytes() or 0)
"""
"""Argument: a file of texts with a NUL between them. Says how many were embedded, and the peak memory in bytes."""

STATUS = Path("/proc/self/status")
PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.M)


@dataclass(frozen=True)
class Child:
    """A process that ended well: elapsed and processor seconds (0 on Windows), and the whole numbers it printed."""

    wall: float
    busy: float
    said: tuple[int, ...]


def run_child(program: str, *arguments: str) -> Child:
    """Run a program of this module with this Python, and this ariel_lite.

    Raises:
        ConfigurationError: it failed; the message has the last line of what it wrote.
    """
    paths = [str(Path(ariel_lite.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    busy, begin = _children_seconds(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, env=environment
    )
    wall, busy = time.perf_counter() - begin, _children_seconds() - busy
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise ConfigurationError(f"a process of the bench failed: {last}", hint="run 'ariel-lite doctor' and 'models'")
    return Child(wall, busy, tuple(map(int, done.stdout.split())))


def peak_bytes() -> int | None:
    """The most memory this process held at once, or None where that is not known.

    Linux's getrusage also counts what the parent held when it started this process; the kernel's status file does not.
    """
    if STATUS.exists():
        found = PEAK.search(STATUS.read_text(encoding="ascii", errors="replace"))
        if found:
            return int(found[1]) * 1024
    if sys.platform == "win32":
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _children_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system
