"""Several processes make vectors for one logbook: each entry once, and what a dead one held is taken over."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from logbooks import entries
from meanings import CompassProvider, MeaningRegistry, configuration

from ariel_lite.backends.base import Backend
from ariel_lite.backends.sqlite import vectors
from ariel_lite.compose import open_backend
from ariel_lite.enhancement.text_embedding import BATCH, TextEmbedding

TESTS = Path(__file__).parent.parent
COUNT = 10 * BATCH + 5

WORKER = """
import sys, time
from meanings import CompassProvider, MeaningRegistry, configuration
from ariel_lite.compose import open_backend
from ariel_lite.enhancement.text_embedding import TextEmbedding

class Slow(CompassProvider):
    def embed(self, texts, *, query=False):
        print("embedding", len(texts), flush=True)
        time.sleep(float(sys.argv[2]))
        return super().embed(texts, query=query)

backend = open_backend(sys.argv[1], configuration(), MeaningRegistry())
report = TextEmbedding(Slow()).run(backend)
print("done", report.done, flush=True)
backend.close()
"""


@pytest.fixture
def location(tmp_path: Path) -> str:
    """A file with many entries and no vectors."""
    path = str(tmp_path / "logbook.db")
    backend = open_backend(path, configuration(), MeaningRegistry(), create=True)
    backend.upsert(entries(*[f"vacuum {number}" for number in range(COUNT)]))
    backend.close()
    return path


def start(location: str, pause: float) -> subprocess.Popen[str]:
    """A worker that takes `pause` seconds for a batch."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
    command = [sys.executable, "-c", WORKER, location, str(pause)]
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE)


def reopened(location: str) -> Backend:
    return open_backend(location, configuration(), MeaningRegistry())


def test_two_workers_share_the_work_and_embed_nothing_twice(location: str) -> None:
    workers = [start(location, 0.05) for _ in range(2)]
    told = [worker.communicate(timeout=60)[0].split() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0]
    done = [int(words[-1]) for words in told]
    assert sum(done) == COUNT
    assert min(done) > 0
    backend = reopened(location)
    counts = backend.vector_counts(TextEmbedding(CompassProvider()).model)
    assert (counts.current, counts.missing) == (COUNT, 0)
    backend.close()


def test_what_a_killed_worker_held_is_taken_over_when_its_claim_is_old(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = start(location, 600)
    assert worker.stdout is not None
    assert worker.stdout.readline().startswith("embedding")
    worker.kill()
    worker.wait(timeout=10)
    worker.stdout.close()
    backend = reopened(location)
    enhancer = TextEmbedding(CompassProvider())
    assert enhancer.run(backend).done == COUNT - BATCH
    assert enhancer.pending(backend) == BATCH
    monkeypatch.setattr(vectors, "CLAIM_LIFETIME", timedelta(0))
    assert enhancer.run(backend).done == BATCH
    assert enhancer.pending(backend) == 0
    backend.close()


def test_a_worker_that_was_taken_for_dead_does_no_harm(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "CLAIM_LIFETIME", timedelta(0))
    backend, other = reopened(location), reopened(location)

    class Late(CompassProvider):
        """While it embeds its first batch, another worker does all the work."""

        def embed(self, texts: object, *, query: bool = False) -> object:
            if not self.embedded:
                assert TextEmbedding(CompassProvider()).run(other).done == COUNT
            return super().embed(texts, query=query)  # type: ignore[arg-type]

    report = TextEmbedding(Late()).run(backend)  # type: ignore[arg-type]
    assert report.done == BATCH
    counts = backend.vector_counts(TextEmbedding(CompassProvider()).model)
    assert (counts.current, counts.missing) == (COUNT, 0)
    assert [table.entry_count for table in backend.embedding_tables()] == [COUNT]
    backend.close()
    other.close()
