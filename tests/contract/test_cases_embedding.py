"""The open cases of the area `embedding`, and the semantic halves of IN03, IN05 and IN25, on every backend."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from logbooks import entries, entry
from meanings import (
    OpenEmpty,
    book_over,
    configuration,
    enhance,
    ids,
    meaning_book,
    model_of,
    notes,
    scores,
)

from ariel_lite.backends.base import Backend
from ariel_lite.config import DEFAULT_MODEL, ARIELConfig
from ariel_lite.embeddings.base import windows_of
from ariel_lite.embeddings.onnx import OnnxProvider, create_provider

ROUTINE = "routine checks of the pumps, nothing unusual to report today; " * 67
PACKAGE = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def onnx() -> OnnxProvider:
    """The model that comes along, loaded once."""
    return create_provider(ARIELConfig(), DEFAULT_MODEL)


def test_em01_the_end_of_a_long_entry_is_found(open_empty: OpenEmpty) -> None:
    given = [("E1", ROUTINE + "then: the stripline kicker arced and was replaced"), ("E2", ROUTINE)]
    book = meaning_book(open_empty, given, configuration("onnx"))
    found = scores(book, "stripline kicker arcing", similarity_threshold=-1)
    assert list(found) == ["E1", "E2"]
    assert found["E1"] > found["E2"] + 0.2


def test_em01_every_part_of_a_long_entry_is_in_some_window(onnx: OnnxProvider) -> None:
    words = [f"pump{n}" for n in range(600)]
    windows = windows_of(onnx, " ".join(words))
    assert len(windows) > 1
    assert set(" ".join(windows).split()) == set(words)
    assert all(len(onnx.token_ids(window)) <= 256 for window in windows)


def test_em03_a_vector_does_not_depend_on_the_batch(onnx: OnnxProvider) -> None:
    short, long = "short", "the beam was lost after the kicker misfired at turn three " * 30
    alone = onnx.embed([short])[0]
    for batch in ([short, long], [long, short], [long] * 7 + [short], [short, "x" * 3000]):
        vector = onnx.embed(batch)[batch.index(short)]
        assert float(alone @ vector) > 0.9999
        assert np.abs(alone - vector).max() < 1e-5


def test_em05_blank_text_has_no_vector(open_empty: OpenEmpty) -> None:
    given = [("E1", ""), ("E2", "   "), ("E3", "🙂"), ("E4", "beam lost"), ("E5", "\u200b\n")]
    book = meaning_book(open_empty, given, configuration("onnx"), embed=False)
    report = enhance(book)
    assert (report.done, report.blank, report.failed) == (2, 3, {})
    counts = book.service.backend.vector_counts(model_of(book))
    assert (counts.current, counts.blank, counts.missing) == (2, 3, 0)
    found = ids(book, "beam lost", similarity_threshold=-1)
    assert found[0] == "E4"
    assert set(found) == {"E3", "E4"}
    assert notes(book, "beam lost") == ""


def test_em05_text_that_is_taken_away_takes_its_vector_along(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum", "orbit"])
    book.service.backend.upsert(entries(("E1", "  ")))
    assert ids(book, "pressure", similarity_threshold=-1) == ["E2"]
    assert enhance(book).blank == 1
    assert ids(book, "pressure", similarity_threshold=-1) == ["E2"]


EMBED = """
import os, sys
import numpy
from ariel_lite.config import DEFAULT_MODEL, ARIELConfig
from ariel_lite.embeddings.onnx import create_provider
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
provider = create_provider(ARIELConfig(), DEFAULT_MODEL)
before = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0
provider.embed(["the beam was lost after a kicker misfire"] * 20)
after = len(os.listdir("/proc/self/task")) if before else 0
print(after - before)
"""


def test_em06_a_restricted_process_starts_no_thread_of_its_own_and_stays_quiet() -> None:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    command = [sys.executable, "-c", EMBED]
    workers = [
        subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    for worker in workers:
        told, complaint = worker.communicate(timeout=60)
        assert (worker.returncode, complaint) == (0, "")
        assert int(told) <= 1


def chunked(size: int) -> ARIELConfig:
    model = {"name": "hashing", "dimension": 64, "max_input_tokens": size}
    return configuration("hashing", enhancement_modules={"text_embedding": {"models": [model]}})


def test_em08_another_chunk_size_makes_vectors_stale(backend: Backend) -> None:
    backend.upsert(entries("vacuum pump " * 60, "kicker misfire", "dose"))
    before, after = (book_over(backend, chunked(size)) for size in (256, 32))
    enhance(before)
    assert backend.vector_counts(model_of(after)).stale == 3
    result = after.search("vacuum", mode="semantic")
    assert result.degraded
    assert "ariel-lite reembed" in result.diagnostics[0].message
    steps: list[int] = []
    assert enhance(after, progress=steps.append).done == 3
    assert sum(steps) == 3
    counts = backend.vector_counts(model_of(after))
    assert (counts.current, counts.stale, counts.missing) == (3, 0, 0)
    assert ids(after, "vacuum", max_results=1) == ["E1"]
    assert backend.vector_counts(model_of(before)).current == 0


def test_em08_another_model_revision_makes_vectors_stale_until_they_are_made_anew(backend: Backend) -> None:
    backend.upsert(entries("vacuum", "orbit"))
    model = {"name": "compass", "max_input_tokens": 2}
    new = book_over(backend, configuration(enhancement_modules={"text_embedding": {"models": [model]}}))
    enhance(book_over(backend, configuration()))
    assert ids(new, "pressure") == []
    enhance(new)
    assert ids(new, "pressure") == ["E1"]
    assert [table.entry_count for table in backend.embedding_tables()] == [2]


def test_in03_an_edit_leaves_nothing_of_the_old_wording(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, [("E1", "kicker misfire at turn 3"), ("E2", "orbit")])
    book.service.backend.upsert(entries(("E1", "septum water leak")))
    assert ids(book, "kicker misfire") == []
    assert "1 of 2 entries have no current vector; run 'ariel-lite enhance'" in notes(book, "kicker misfire")
    assert book.service.backend.vector_counts(model_of(book)).missing == 1
    enhance(book)
    assert ids(book, "cooling") == ["E1"]
    assert ids(book, "kicker misfire") == []
    assert notes(book, "cooling") == ""


def test_in05_a_deleted_entry_is_gone_from_every_mode(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, [("E1", "wrong dose value published"), ("E2", "dose ok")])
    book.service.backend.delete(["E1"])
    for mode in ("keyword", "semantic", "hybrid"):
        assert ids(book, "dose", mode) == ["E2"], mode
    assert ids(book, "dosse", "keyword") == ["E2"]
    assert ids(book, "dosse", "hybrid") == ["E2"]
    assert ids(book, "radiation", "hybrid") == ["E2"]
    assert book.browse().total == 1
    assert book.service.backend.vector_counts(model_of(book)).current == 1


def test_in25_only_what_changed_in_its_text_is_embedded_again(open_empty: OpenEmpty) -> None:
    first = entry("E1", "a", tags=["rf"], author="ada")
    book = meaning_book(open_empty, [first, ("E2", "vacuum")])
    for _ in range(2):
        assert book.service.backend.upsert([first]).unchanged == 1
        assert enhance(book).done == 0
    changes = (
        {"metadata": {"tags": ["vac"]}},
        {"author": "bo"},
        {"timestamp": first["timestamp"].replace(year=2025)},
        {"attachments": [{"url": "scope.png"}]},
    )
    for change in changes:
        assert book.service.backend.upsert([{**first, **change}]).updated == ["E1"]  # type: ignore[list-item]
        assert enhance(book).done == 0, change
    assert ids(book, "a has:attachment", similarity_threshold=-1) == ["E1"]
    book.service.backend.upsert([{**first, "raw_text": "b"}])  # type: ignore[list-item]
    assert enhance(book).done == 1
