"""The resident scan: float32 for few vectors, the derived int8 copy for many; both against exact numbers.

The many vectors stand in 40 clusters: each is its cluster's centre plus Gaussian noise, of length 1, dimension 64.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import apsw
import numpy as np
import pytest
from logbooks import entries, entry
from numpy.typing import NDArray

from ariel_lite.backends.sqlite import nearest
from ariel_lite.backends.sqlite.backend import SQLiteBackend
from ariel_lite.backends.values import EntryVectors, VectorModel
from ariel_lite.embeddings.base import normalised

DIMENSION = 64
COUNT = 3000
CLUSTERS = 40
MODEL = VectorModel("cloud", DIMENSION, "cloud-1")
TESTS = Path(__file__).parent.parent

Rows = NDArray[np.int64]
Vectors = NDArray[np.float32]


def clustered(count: int, seed: int = 7, spread: float = 0.7) -> Vectors:
    """Vectors around cluster centres."""
    chance = np.random.default_rng(seed)
    centres = normalised(np.random.default_rng(1).normal(size=(CLUSTERS, DIMENSION)).astype(np.float32))
    noise = chance.normal(size=(count, DIMENSION)) * spread / DIMENSION**0.5
    return normalised((centres[chance.integers(0, CLUSTERS, count)] + noise).astype(np.float32))


def fill(backend: SQLiteBackend, vectors: Vectors, first: int = 1) -> Rows:
    """Entries with one vector each; their rows."""
    for start in range(0, len(vectors), 1000):
        part = range(start, min(start + 1000, len(vectors)))
        backend.upsert([entry(f"V{first + number}", f"text {number}") for number in part])
    rows = []
    at = 0
    while batch := backend.claim_pending(MODEL, "filler", 1000):
        made = [EntryVectors(text, vectors[at + n], vectors[at + n : at + n + 1]) for n, text in enumerate(batch)]
        assert backend.store_vectors(MODEL, made) == len(batch)
        rows += [text.row for text in batch]
        at += len(batch)
    return np.array(rows, dtype=np.int64)


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SQLiteBackend, Rows, Vectors]]:
    """A file with COUNT clustered vectors; nobody changes it."""
    backend = SQLiteBackend(tmp_path_factory.mktemp("cloud") / "logbook.db", create=True)
    vectors = clustered(COUNT)
    yield backend, fill(backend, vectors), vectors
    backend.close()


@pytest.fixture
def int8(monkeypatch: pytest.MonkeyPatch) -> None:
    """The int8 copy is used from the 101st vector on."""
    monkeypatch.setattr(nearest, "EXACT_VECTORS", 100)


def copy_of(backend: SQLiteBackend, path: Path) -> SQLiteBackend:
    """A backend over a copy of a file, which a test may change."""
    backend.backup(path)
    return SQLiteBackend(path)


def exact(vectors: Vectors, rows: Rows, query: Vectors, k: int) -> list[int]:
    """The k nearest, by float64 products."""
    similarities = vectors.astype(np.float64) @ query.astype(np.float64)
    return [int(row) for row in rows[np.argsort(-similarities, kind="stable")[:k]]]


def found(backend: SQLiteBackend, query: Vectors, k: int, allowed: Rows | None = None) -> list[int]:
    """Rows of the k nearest."""
    return [int(row) for row in backend.nearest(MODEL, query, k, allowed)[0][:k]]


QUERIES = clustered(60, seed=99)


def recall(backend: SQLiteBackend, rows: Rows, vectors: Vectors, allowed: Rows | None = None, k: int = 10) -> float:
    """The mean share of the k found that are as near as the exact k nearest, to the 6 digits that are kept."""
    kept = np.ones(len(rows), bool) if allowed is None else np.isin(rows, allowed)
    shares = []
    for query in QUERIES:
        similarities = dict(zip(rows[kept].tolist(), (vectors[kept] @ query).tolist(), strict=True))
        last = sorted(similarities.values(), reverse=True)[:k][-1]
        near = [row for row in found(backend, query, k, allowed) if similarities[row] >= last - 2e-6]
        shares.append(len(set(near)) / min(k, len(similarities)))
    return float(np.mean(shares))


def test_few_vectors_are_scanned_exactly(cloud: tuple[SQLiteBackend, Rows, Vectors]) -> None:
    backend, rows, vectors = cloud
    for query in QUERIES[:20]:
        assert found(backend, query, 25) == exact(vectors, rows, query, 25)


@pytest.mark.usefixtures("int8")
def test_many_vectors_have_a_recall_of_995_and_exact_similarities(
    cloud: tuple[SQLiteBackend, Rows, Vectors], tmp_path: Path
) -> None:
    _, rows, vectors = cloud
    backend = copy_of(cloud[0], tmp_path / "copy.db")
    assert recall(backend, rows, vectors) >= 0.995
    assert recall(backend, rows, vectors, k=100) >= 0.995
    by_row = dict(zip(rows.tolist(), vectors, strict=True))
    nearest_rows, similarities = backend.nearest(MODEL, QUERIES[0], 10, None)
    expected = [float(by_row[row] @ QUERIES[0]) for row in nearest_rows.tolist()]
    assert similarities.tolist() == pytest.approx(expected, abs=2e-6)
    backend.close()


@pytest.mark.usefixtures("int8")
@pytest.mark.parametrize("share", [0.002, 0.02, 0.5])
@pytest.mark.parametrize("shape", ["stretch", "scattered"])
def test_many_vectors_with_a_filter_are_complete(
    cloud: tuple[SQLiteBackend, Rows, Vectors], tmp_path: Path, share: float, shape: str
) -> None:
    _, rows, vectors = cloud
    backend = copy_of(cloud[0], tmp_path / "copy.db")
    count = round(share * len(rows))
    chance = np.random.default_rng(3)
    allowed = rows[-count:] if shape == "stretch" else np.sort(chance.choice(rows, count, replace=False))
    for k in (1, 10, count):
        assert [len(found(backend, query, k, allowed)) for query in QUERIES[:10]] == [min(k, count)] * 10
    assert recall(backend, rows, vectors, allowed) == 1.0
    assert set(found(backend, QUERIES[0], 10_000, allowed)) == set(allowed.tolist())
    backend.close()


@pytest.mark.usefixtures("int8")
def test_rows_beyond_the_stored_ones_are_no_hindrance(
    cloud: tuple[SQLiteBackend, Rows, Vectors], tmp_path: Path
) -> None:
    backend = copy_of(cloud[0], tmp_path / "copy.db")
    beyond = np.array([10**9, 10**9 + 1], dtype=np.int64)
    assert found(backend, QUERIES[0], 5, beyond) == []
    assert len(found(backend, QUERIES[0], 5, np.concatenate([cloud[1][5:7], beyond]))) == 2
    backend.close()


def sealed(path: Path) -> tuple[int, int]:
    """How many chunks there are, and how many have their copy written."""
    connection = apsw.Connection(str(path))
    counts = connection.execute("SELECT count(*), count(vectors) FROM vector_chunks").fetchall()[0]
    connection.close()
    return int(counts[0]), int(counts[1])


@pytest.mark.usefixtures("int8")
def test_sealed_copies_are_used_and_give_the_same_answers(
    cloud: tuple[SQLiteBackend, Rows, Vectors], tmp_path: Path
) -> None:
    path = tmp_path / "copy.db"
    backend = copy_of(cloud[0], path)
    before = [found(backend, query, 10) for query in QUERIES[:10]]
    chunks, written = sealed(path)
    assert (chunks, written) == (3, 0)
    backend.seal_vectors(MODEL)
    assert sealed(path) == (3, 3)
    other = SQLiteBackend(path)
    assert [found(other, query, 10) for query in QUERIES[:10]] == before
    # A copy that is wrong on purpose shows that it is what is read.
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE vector_chunks SET vectors = zeroblob(length(vectors)) WHERE chunk > 0")
    connection.close()
    last = SQLiteBackend(path)
    assert {row // 1024 for query in QUERIES[:10] for row in found(last, query, 3)} == {0}
    for opened in (backend, other, last):
        opened.close()


@pytest.mark.usefixtures("int8")
@pytest.mark.parametrize("is_sealed", [False, True])
def test_edits_and_deletions_are_seen_at_once_by_every_backend(
    cloud: tuple[SQLiteBackend, Rows, Vectors], tmp_path: Path, is_sealed: bool
) -> None:
    path = tmp_path / "copy.db"
    writer = copy_of(cloud[0], path)
    if is_sealed:
        writer.seal_vectors(MODEL)
    reader = SQLiteBackend(path, read_only=True)
    query = QUERIES[0]
    first, second = found(writer, query, 2)
    assert found(reader, query, 2) == [first, second]
    names = {row: f"V{place}" for place, row in enumerate(cloud[1].tolist(), start=1)}
    writer.delete([names[first]])
    for backend in (writer, reader):
        assert first not in found(backend, query, 20)
    writer.upsert(entries((names[second], "another text")))
    for backend in (writer, reader):
        assert second not in found(backend, query, 20)
    (pending,) = writer.claim_pending(MODEL, "worker", 10)
    writer.store_vectors(MODEL, [EntryVectors(pending, query, query[None])])
    for backend in (writer, reader):
        assert found(backend, query, 1) == [second]
    (fresh,) = fill(writer, query[None], first=COUNT + 1)
    for backend in (writer, reader):
        assert set(found(backend, query, 2)) == {second, int(fresh)}
    writer.close()
    reader.close()


SEARCH = """
import sys
from pathlib import Path
from test_sqlite_nearest import MODEL, QUERIES, found
from ariel_lite.backends.sqlite import nearest
from ariel_lite.backends.sqlite.backend import SQLiteBackend
nearest.EXACT_VECTORS = 100
backend = SQLiteBackend(Path(sys.argv[1]))
for line in sys.stdin:
    print(*found(backend, QUERIES[int(line)], 5), flush=True)
"""


@pytest.mark.usefixtures("int8")
def test_another_process_sees_changes_too(cloud: tuple[SQLiteBackend, Rows, Vectors], tmp_path: Path) -> None:
    path = tmp_path / "copy.db"
    backend = copy_of(cloud[0], path)
    backend.seal_vectors(MODEL)
    folders = [str(TESTS / "backends"), str(TESTS), str(TESTS.parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    other = subprocess.Popen(
        [sys.executable, "-c", SEARCH, str(path)], env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert other.stdin is not None
    assert other.stdout is not None

    def ask(number: int) -> list[int]:
        other.stdin.write(f"{number}\n")
        other.stdin.flush()
        return [int(row) for row in other.stdout.readline().split()]

    for number in range(5):
        before = ask(number)
        assert before == found(backend, QUERIES[number], 5)
        names = {row: f"V{place}" for place, row in enumerate(cloud[1].tolist(), start=1)}
        backend.delete([names[before[0]]])
        assert ask(number)[:4] == before[1:]
        backend.seal_vectors(MODEL)
        assert ask(number)[:4] == before[1:]
    other.stdin.close()
    other.wait(timeout=20)
    other.stdout.close()
    backend.close()


@pytest.mark.usefixtures("int8")
def test_best_windows_count_among_many(cloud: tuple[SQLiteBackend, Rows, Vectors], tmp_path: Path) -> None:
    backend = copy_of(cloud[0], tmp_path / "copy.db")
    backend.upsert(entries(("long", "a long entry"), ("longer", "another")))
    long, longer = backend.claim_pending(MODEL, "worker", 10)
    query = QUERIES[1]
    away = clustered(200, seed=5)
    backend.store_vectors(
        MODEL,
        [
            EntryVectors(long, away[0], np.concatenate([away[:150], query[None]])),
            EntryVectors(longer, away[1], np.tile(query, (150, 1))),
        ],
    )
    rows, similarities = backend.nearest(MODEL, query, 10, None)
    assert set(rows[:2].tolist()) == {long.row, longer.row}
    assert similarities[:2].tolist() == pytest.approx([1, 1], abs=1e-5)
    assert len(set(rows.tolist())) == len(rows) >= 10
    backend.close()


@pytest.mark.parametrize("threshold", [100, 20_000])
def test_equal_vectors_all_come_along_so_that_time_can_decide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threshold: int
) -> None:
    monkeypatch.setattr(nearest, "EXACT_VECTORS", threshold)
    backend = SQLiteBackend(tmp_path / "logbook.db", create=True)
    one = clustered(1)
    for count in (7, 203):
        rows = fill(backend, np.repeat(one, count, axis=0), first=count)
    found_rows, similarities = backend.nearest(MODEL, one[0] + 0.3 * QUERIES[0], 5, None)
    assert len(found_rows) == 210
    assert len(set(similarities.tolist())) == 1
    assert set(rows.tolist()) <= set(found_rows.tolist())
    backend.close()


def test_threads_share_a_backend_while_another_changes_it(
    cloud: tuple[SQLiteBackend, Rows, Vectors], tmp_path: Path
) -> None:
    backend = copy_of(cloud[0], tmp_path / "copy.db")
    names = [f"V{place}" for place in range(1, 41)]
    gone = set(cloud[1][:40].tolist())
    failures: list[str] = []

    def search() -> None:
        for query in QUERIES[:20]:
            if len(set(found(backend, query, 10))) != 10:
                failures.append("too few")

    threads = [Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for name in names:
        backend.delete([name])
    for thread in threads:
        thread.join()
    assert failures == []
    assert not gone & {row for query in QUERIES for row in found(backend, query, 50)}
    backend.close()


@pytest.mark.slow
def test_above_the_real_threshold_recall_holds(tmp_path: Path) -> None:
    backend = SQLiteBackend(tmp_path / "logbook.db", create=True)
    vectors = clustered(nearest.EXACT_VECTORS + 5000)
    rows = fill(backend, vectors)
    backend.seal_vectors(MODEL)
    assert sealed(tmp_path / "logbook.db")[1] > 20
    assert recall(backend, rows, vectors) >= 0.995
    assert recall(backend, rows, vectors, rows[4000:4200]) == 1.0
    assert recall(backend, rows, vectors, rows[::500]) == 1.0
    backend.close()
