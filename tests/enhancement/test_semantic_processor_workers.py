"""Several processes add keywords to one logbook: each entry once, and what a dead one held is taken over."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from logbooks import entries
from postgres_server import drop_database, new_database

from ariel_lite.backends import claiming
from ariel_lite.backends.base import Backend
from ariel_lite.backends.sqlite import enhancement_log
from ariel_lite.compose import open_backend
from ariel_lite.config import ARIELConfig
from ariel_lite.enhancement.semantic_processor import BATCH, create_enhancer
from ariel_lite.registry import Registry

NAME = "semantic_processor"
TESTS = Path(__file__).parent.parent
COUNT = 6 * BATCH + 5

WORKER = """
import sys, time
from ariel_lite.compose import open_backend
from ariel_lite.config import ARIELConfig
from ariel_lite.enhancement.semantic_processor import create_enhancer
from ariel_lite.registry import Registry

def pause(done):
    print("enhanced", done, flush=True)
    time.sleep(float(sys.argv[2]))

backend = open_backend(sys.argv[1], ARIELConfig(), Registry())
if sys.argv[3] == "hold":
    print("holds", len(backend.claim_unenhanced("semantic_processor", "a dead worker", 128)), flush=True)
    time.sleep(600)
report = create_enhancer(ARIELConfig(), Registry()).run(backend, progress=pause)
print("done", report.done, flush=True)
backend.close()
"""


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A logbook with many entries."""
    url = new_database() if request.param == "postgres" else ""
    backend = open_backend(url or str(tmp_path / "logbook.db"), ARIELConfig(), Registry(), create=True)
    backend.upsert(entries(*[f"vacuum pump {number}" for number in range(COUNT)]))
    backend.close()
    yield url or str(tmp_path / "logbook.db")
    if url:
        drop_database(url)


def start(location: str, pause: float, what: str = "work") -> subprocess.Popen[str]:
    """A worker that waits `pause` seconds after a batch, or one that only claims and then sleeps ("hold")."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
    command = [sys.executable, "-c", WORKER, location, str(pause), what]
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE)


def reopened(location: str) -> Backend:
    return open_backend(location, ARIELConfig(), Registry())


def test_two_workers_share_the_work_and_do_nothing_twice(location: str) -> None:
    workers = [start(location, 0.05) for _ in range(2)]
    told = [worker.communicate(timeout=60)[0].split() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0]
    assert sum(int(words[-1]) for words in told) == COUNT
    backend = reopened(location)
    assert backend.enhancement_counts(NAME) == {"complete": COUNT, "failed": 0, "pending": 0}
    assert backend.check() == []
    backend.close()


def test_a_killed_worker_loses_nothing_that_it_stored(location: str) -> None:
    worker = start(location, 600)
    assert worker.stdout is not None
    assert worker.stdout.readline().split() == ["enhanced", str(BATCH)]
    worker.kill()
    worker.communicate(timeout=10)
    backend = reopened(location)
    assert backend.enhancement_counts(NAME)["complete"] == BATCH
    assert create_enhancer(ARIELConfig(), Registry()).run(backend).done == COUNT - BATCH
    assert backend.check() == []
    backend.close()


def test_what_a_killed_worker_held_is_taken_over_when_its_claim_is_old(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = start(location, 0, "hold")
    assert worker.stdout is not None
    assert worker.stdout.readline().split() == ["holds", str(BATCH)]
    worker.kill()
    worker.communicate(timeout=10)
    backend = reopened(location)
    enhancer = create_enhancer(ARIELConfig(), Registry())
    assert enhancer.run(backend).done == COUNT - BATCH
    assert enhancer.pending(backend) == BATCH
    age_claims(backend, monkeypatch)
    assert enhancer.run(backend).done == BATCH
    backend.close()


def age_claims(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every claim be an old one."""
    for module in (claiming, enhancement_log, sys.modules["ariel_lite.backends.postgres.enhancement_log"]):
        if hasattr(module, "CLAIM_LIFETIME"):
            monkeypatch.setattr(module, "CLAIM_LIFETIME", timedelta(0))
