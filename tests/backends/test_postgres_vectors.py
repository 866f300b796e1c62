"""Vectors on both backends: the same neighbours, states and refusals; and many workers on one server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psycopg
import pytest
from logbooks import entry
from numpy.typing import NDArray

from ariel_lite.backends.base import Backend
from ariel_lite.backends.postgres import nearest
from ariel_lite.backends.postgres.backend import PostgresBackend
from ariel_lite.backends.sqlite.backend import SQLiteBackend
from ariel_lite.backends.values import EntryVectors, PendingText, VectorModel
from ariel_lite.embeddings.base import entry_vector, normalised
from ariel_lite.errors import EmbeddingGenerationError

MODEL = VectorModel("Test-Model 1", 16, "first")
SIZE = 300


def vectors_of(pending: PendingText, windows: int) -> EntryVectors:
    maker = np.random.default_rng(int(pending.entry_id[1:]))
    made = normalised(maker.normal(size=(windows, MODEL.dimension)).astype(np.float32))
    return EntryVectors(pending, made[0] if windows == 1 else entry_vector(made), made)


def embed_all(backend: Backend, model: VectorModel = MODEL, worker: str = "w") -> int:
    done = 0
    while batch := backend.claim_pending(model, worker, 64):
        made = [vectors_of(p, 3 if int(p.entry_id[1:]) % 7 == 0 else 1) for p in batch]
        done += backend.store_vectors(model, made)
    return done


def fill(backend: Backend) -> None:
    backend.upsert([entry(f"V{number}", f"text {number}") for number in range(SIZE)])


@pytest.fixture
def server(url: str) -> Iterator[PostgresBackend]:
    backend = PostgresBackend(url, create=True)
    fill(backend)
    yield backend
    backend.close()


def named(backend: Backend, rows: NDArray[np.int64], values: NDArray[np.float64]) -> list[tuple[str, float]]:
    hits = backend.best_rows(rows, values, 1000)
    return [(hit.entry_id, hit.score) for hit in hits]


def query(seed: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=MODEL.dimension).astype(np.float32)


def same_neighbours(one: Sequence[tuple[str, float]], other: Sequence[tuple[str, float]]) -> bool:
    close = np.allclose([value for _, value in one], [value for _, value in other], rtol=0, atol=1e-5)
    return close and [name for name, _ in one] == [name for name, _ in other]


def test_neighbours_are_those_of_sqlite(server: PostgresBackend, tmp_path: Path) -> None:
    file = SQLiteBackend(tmp_path / "twin.db", create=True)
    fill(file)
    assert embed_all(server) == embed_all(file) == SIZE
    some = [f"V{number}" for number in range(0, SIZE, 5)]
    for seed in range(5):
        answers = []
        for backend in (server, file):
            number = {hit.entry_id: hit.row for hit in backend.best_rows(*everything(backend), SIZE)}
            allowed = np.array(sorted(number[name] for name in some), dtype=np.int64)
            found = backend.nearest(MODEL, query(seed), 12, None)
            limited = backend.nearest(MODEL, query(seed), 12, allowed)
            answers.append((named(backend, *found), named(backend, *limited)))
        assert same_neighbours(answers[0][0], answers[1][0])
        assert same_neighbours(answers[0][1], answers[1][1])
    assert server.vector_counts(MODEL) == file.vector_counts(MODEL)
    assert server.embedding_tables() == file.embedding_tables()
    file.close()


def everything(backend: Backend) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    ids = list(backend.entry_ids())
    assert len(ids) == SIZE
    rows = np.arange(1, SIZE + 1, dtype=np.int64)
    return rows, np.zeros(SIZE)


def test_the_index_gives_complete_answers_under_filters(
    server: PostgresBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed_all(server)
    exact = [named(server, *server.nearest(MODEL, query(seed), 10, None)) for seed in range(5)]
    allowed = np.arange(1, SIZE + 1, 9, dtype=np.int64)
    limited = [named(server, *server.nearest(MODEL, query(seed), 10, allowed)) for seed in range(5)]
    monkeypatch.setattr(nearest, "EXACT_VECTORS", 20)
    server.seal_vectors(MODEL)
    server.seal_vectors(MODEL)
    with psycopg.connect(server.location) as connection:
        sql = "SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%hnsw%'"
        assert connection.execute(sql).fetchone() == (2,)
    assert [named(server, *server.nearest(MODEL, query(seed), 10, None)) for seed in range(5)] == exact
    assert [named(server, *server.nearest(MODEL, query(seed), 10, allowed)) for seed in range(5)] == limited


def test_edits_deletions_and_new_fingerprints_make_vectors_stale(server: PostgresBackend) -> None:
    embed_all(server)
    assert server.has_vectors()
    server.upsert([entry("V1", "another text"), entry("V2", "text 2", author="New Author")])
    assert server.delete(["V7", "V3"]) == 2
    counts = server.vector_counts(MODEL)
    assert (counts.current, counts.missing, counts.stale) == (SIZE - 3, 1, 0)
    newer = VectorModel(MODEL.name, MODEL.dimension, "second")
    assert server.vector_counts(newer).stale == SIZE - 3
    assert len(server.nearest(newer, query(1), 5, None)[0]) == 0
    assert embed_all(server, newer) == SIZE - 2
    assert server.vector_counts(newer).current == SIZE - 2
    assert server.vector_counts(MODEL).current == 0
    status = server.get_entries(["V5"])[0].get("enhancement_status")
    assert status is not None
    assert status["text_embedding"]["status"] == "complete"
    assert server.status().unindexed == 0
    assert server.drop_vectors(MODEL.name) == SIZE - 2
    assert (server.has_vectors(), server.embedding_tables()) == (False, [])


def test_vectors_outlive_a_new_index(server: PostgresBackend) -> None:
    embed_all(server)
    before = named(server, *server.nearest(MODEL, query(3), 10, None))
    assert server.reindex(everything=True) == SIZE
    assert server.vector_counts(MODEL).current == SIZE
    assert named(server, *server.nearest(MODEL, query(3), 10, None)) == before
    assert server.check() == []


def test_bad_vectors_are_refused(server: PostgresBackend) -> None:
    pending = server.claim_pending(MODEL, "w", 1)
    for bad in (np.zeros(16, np.float32), np.full(16, np.nan, np.float32), np.ones(8, np.float32)):
        with pytest.raises(EmbeddingGenerationError):
            server.store_vectors(MODEL, [EntryVectors(pending[0], bad, bad.reshape(1, -1))])
    assert server.store_vectors(MODEL, [EntryVectors(pending[0], None, None)]) == 1
    assert server.vector_counts(MODEL).blank == 1
    with pytest.raises(EmbeddingGenerationError, match="16 numbers"):
        server.claim_pending(VectorModel(MODEL.name, 8, "third"), "w", 1)


def test_a_vector_of_an_old_text_is_not_kept(server: PostgresBackend) -> None:
    pending = server.claim_pending(MODEL, "w", 1)
    server.upsert([entry(pending[0].entry_id, "changed in the meantime")])
    assert server.store_vectors(MODEL, [vectors_of(pending[0], 1)]) == 0
    assert server.vector_counts(MODEL).current == 0


def test_workers_share_a_backlog(url: str, server: PostgresBackend) -> None:
    workers = [PostgresBackend(url) for _ in range(4)]
    seen: list[str] = []

    def work(number: int) -> int:
        done = 0
        while batch := workers[number].claim_pending(MODEL, f"worker {number}", 7):
            seen.extend(pending.entry_id for pending in batch)
            done += workers[number].store_vectors(MODEL, [vectors_of(pending, 1) for pending in batch])
        return done

    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(work, range(4)))
    assert sum(done) == len(seen) == len(set(seen)) == SIZE
    for worker in workers:
        worker.close()


def test_a_killed_workers_entries_are_taken_over(server: PostgresBackend, url: str) -> None:
    assert len(server.claim_pending(MODEL, "killed", SIZE)) == SIZE
    assert server.claim_pending(MODEL, "other", 5) == []
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE ariel_lite_embedding_claims SET claimed_at = now() - interval '6 minutes'")
    assert len(server.claim_pending(MODEL, "other", 5)) == 5
    server.release_claims("other")
    assert len(server.claim_pending(MODEL, "third", SIZE)) == SIZE
