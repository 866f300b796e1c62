"""Vectors taken from one logbook and kept in another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from logbooks import entries, entry

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import EntryVectors, PendingText, VectorModel
from ariel_lite.errors import EmbeddingGenerationError

OpenEmpty = Callable[[], Backend]
MODEL = VectorModel("small", 4, "small-1")
OTHER = VectorModel("small", 4, "small-2")


def fill(backend: Backend, model: VectorModel = MODEL) -> dict[str, EntryVectors]:
    """Vectors for all entries, of random windows: E3 has three, E4 is blank, E5 failed."""
    random = np.random.default_rng(7)
    made = {}
    for pending in backend.claim_pending(model, "w", 100):
        if pending.entry_id == "E4":
            made[pending.entry_id] = EntryVectors(pending, None, None)
        elif pending.entry_id == "E5":
            made[pending.entry_id] = EntryVectors(pending, None, None, "refused")
        else:
            windows = random.normal(size=(3 if pending.entry_id == "E3" else 1, model.dimension)).astype(np.float32)
            windows /= np.linalg.norm(windows, axis=1, keepdims=True)
            whole = windows.mean(axis=0)
            made[pending.entry_id] = EntryVectors(pending, whole / np.linalg.norm(whole), windows)
    backend.store_vectors(model, list(made.values()))
    return made


def near(backend: Backend, query: list[float]) -> list[tuple[str, float]]:
    rows, scores = backend.nearest(MODEL, np.array(query, dtype=np.float32), 9, None)
    hits = backend.best_rows(rows, scores, 9)
    return [(hit.entry_id, pytest.approx(hit.score, abs=1e-6)) for hit in hits]


def test_current_vectors_are_given_in_the_order_of_the_ids(backend: Backend) -> None:
    backend.upsert(entries("a", "b", "c", "d", "e"))
    made = fill(backend)
    given = backend.stored_vectors(MODEL, ["E5", "E3", "none", "E4", "E1"])
    assert [one.pending.entry_id for one in given] == ["E3", "E1"]
    for one in given:
        expected = made[one.pending.entry_id]
        assert (one.pending.row, one.pending.text, one.error) == (-1, "", "")
        assert one.pending.text_hash == expected.pending.text_hash
        assert one.vector is not None
        assert one.windows is not None
        assert one.vector.dtype == one.windows.dtype == np.float32
        np.testing.assert_allclose(one.vector, expected.vector, atol=1e-6)
        np.testing.assert_allclose(one.windows, expected.windows, atol=1e-6)


def test_stale_absent_and_foreign_vectors_are_not_given(backend: Backend) -> None:
    backend.upsert(entries("a", "b"))
    assert backend.stored_vectors(MODEL, ["E1"]) == []
    fill(backend)
    assert backend.stored_vectors(OTHER, ["E1"]) == []
    assert backend.stored_vectors(MODEL, []) == []
    backend.upsert([entry("E1", "a, edited")])
    assert [one.pending.entry_id for one in backend.stored_vectors(MODEL, ["E1", "E2"])] == ["E2"]


def test_a_copy_answers_as_the_original(open_empty: OpenEmpty) -> None:
    first, second = open_empty(), open_empty()
    texts = entries("a", "b", "c", "d", "e")
    first.upsert(texts)
    second.upsert([entry("X1", "before them"), *reversed(texts)])
    fill(first)
    given = first.stored_vectors(MODEL, [f"E{number}" for number in range(1, 6)])
    assert second.store_vectors(MODEL, given) == 3
    for query in ([1.0, 0, 0, 0], [0, -1.0, 0.5, 0]):
        assert near(second, query) == near(first, query)
    assert second.get_entries(["E1"])[0]["enhancement_status"]["text_embedding"]["status"] == "complete"
    assert second.vector_counts(MODEL).current == 3
    assert second.store_vectors(MODEL, given) == 3
    assert second.vector_counts(MODEL).current == 3


def test_vectors_of_other_texts_and_unknown_entries_are_left(backend: Backend) -> None:
    backend.upsert(entries("a", "b"))
    fill(backend)
    given = backend.stored_vectors(MODEL, ["E1", "E2"])
    backend.upsert([entry("E1", "a, edited")])
    backend.delete(["E2"])
    assert backend.store_vectors(MODEL, given) == 0
    wrong = PendingText(-1, "E1", given[0].pending.text_hash, "")
    vector = np.ones(5, dtype=np.float32)
    with pytest.raises(EmbeddingGenerationError, match="5 numbers"):
        backend.store_vectors(MODEL, [EntryVectors(wrong, vector, vector[np.newaxis])])
