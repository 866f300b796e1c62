"""What every backend promises of vectors: claims, counts, transactions, the nearest among allowed rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logbooks import NOW, entries, entry
from numpy.typing import NDArray

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import EntryVectors, PendingText, VectorModel
from ariel_lite.errors import DatabaseQueryError, EmbeddingGenerationError

MODEL = VectorModel("plane", 3, "plane-1")
Numbers = Sequence[float]


def vector(numbers: Numbers) -> NDArray[np.float32]:
    """A vector of length 1."""
    made = np.array(numbers, dtype=np.float32)
    return np.asarray(made / np.linalg.norm(made), dtype=np.float32)


def with_windows(pending: PendingText, *windows: Numbers) -> EntryVectors:
    """An entry's vectors: its windows', and their mean."""
    many = np.stack([vector(window) for window in windows])
    return EntryVectors(pending, vector(many.sum(axis=0).tolist()), many)


def fill(backend: Backend, *given: Sequence[Numbers]) -> list[PendingText]:
    """Entries E1, E2, … with the windows given."""
    backend.upsert(entries(*[f"text {number}" for number in range(len(given))]))
    pending = backend.claim_pending(MODEL, "filler", 1000)
    made = [with_windows(text, *windows) for text, windows in zip(pending, given, strict=True)]
    assert backend.store_vectors(MODEL, made) == len(given)
    return pending


def near(backend: Backend, query: Numbers, k: int = 10, rows: Sequence[int] | None = None) -> list[tuple[int, float]]:
    """(row, similarity) of the nearest."""
    allowed = None if rows is None else np.array(rows, dtype=np.int64)
    found, similarities = backend.nearest(MODEL, vector(query), k, allowed)
    return list(zip(found.tolist(), similarities.tolist(), strict=True))


def test_claims_are_given_to_one_worker_only(backend: Backend) -> None:
    backend.upsert(entries(*"abcdef"))
    first = backend.claim_pending(MODEL, "one", 4)
    second = backend.claim_pending(MODEL, "two", 4)
    assert [len(first), len(second)] == [4, 2]
    assert {text.entry_id for text in first} | {text.entry_id for text in second} == {f"E{n}" for n in range(1, 7)}
    assert backend.claim_pending(MODEL, "three", 4) == []


def test_a_claim_tells_the_text_that_the_vector_will_stand_for(backend: Backend) -> None:
    noted = entries("pump")[0]
    noted["summary"] = "vacuum restored"
    noted["keywords"] = ["ion pump"]
    noted["attachments"] = [{"url": "a.txt", "text": "pressure table"}, {"url": "b.png"}]
    backend.upsert([noted])
    (pending,) = backend.claim_pending(MODEL, "one", 4)
    assert pending.text == "pump\npressure table"


def test_claims_that_are_given_back_can_be_taken_by_others(backend: Backend) -> None:
    backend.upsert(entries(*"abc"))
    backend.claim_pending(MODEL, "one", 2)
    backend.release_claims("one")
    assert len(backend.claim_pending(MODEL, "two", 9)) == 3


def test_claims_of_two_models_do_not_touch_each_other(backend: Backend) -> None:
    backend.upsert(entries(*"abc"))
    backend.claim_pending(MODEL, "one", 9)
    assert len(backend.claim_pending(VectorModel("space", 4, "space-1"), "two", 9)) == 3


def test_a_vector_of_a_text_that_changed_meanwhile_is_not_kept(backend: Backend) -> None:
    backend.upsert(entries("old", "other"))
    pending = backend.claim_pending(MODEL, "one", 9)
    backend.upsert(entries(("E1", "new")))
    assert backend.store_vectors(MODEL, [with_windows(text, (1, 0, 0)) for text in pending]) == 1
    assert [row for row, _ in near(backend, (1, 0, 0))] == [pending[1].row]
    assert [text.text for text in backend.claim_pending(MODEL, "two", 9)] == ["new"]


def test_a_vector_of_an_entry_that_is_gone_is_not_kept(backend: Backend) -> None:
    backend.upsert(entries("old", "other"))
    pending = backend.claim_pending(MODEL, "one", 9)
    backend.delete(["E1"])
    assert backend.store_vectors(MODEL, [with_windows(text, (1, 0, 0)) for text in pending]) == 1
    assert backend.vector_counts(MODEL).current == 1


def test_storing_twice_keeps_the_last(backend: Backend) -> None:
    pending = fill(backend, [(1, 0, 0), (0, 1, 0)])
    backend.store_vectors(MODEL, [with_windows(pending[0], (0, 0, 1))])
    assert near(backend, (1, 0, 0))[0][1] == pytest.approx(0, abs=1e-6)
    assert near(backend, (0, 0, 1)) == [(pending[0].row, pytest.approx(1))]


def test_the_best_window_is_the_entrys_similarity(backend: Backend) -> None:
    pending = fill(backend, [(1, 0, 0), (0, 1, 0), (0, 0, 1)], [(1, 1, 0)], [(1, 0, 0.5)])
    found = dict(near(backend, (0, 1, 0)))
    assert [found[text.row] for text in pending] == pytest.approx([1, 0.5**0.5, 0], abs=1e-5)


def test_the_table_of_entries_holds_the_mean_of_the_windows_once(backend: Backend) -> None:
    fill(backend, [(1, 0, 0), (0, 1, 0)], [(0, 0, 1)])
    (table,) = backend.embedding_tables()
    assert (table.table_name, table.entry_count, table.dimension) == ("text_embeddings_plane", 2, 3)


def test_filters_come_before_the_nearest(backend: Backend) -> None:
    pending = fill(backend, *[[(1, 0.01 * n, 0)] for n in range(50)])
    rows = [text.row for text in pending]
    for allowed in (rows[40:], rows[45:46], rows[1::7], []):
        found = near(backend, (1, 0, 0), 5, allowed)
        assert [row for row, _ in found] == allowed[:5]


def test_rows_that_have_no_vector_or_do_not_exist_are_no_hindrance(backend: Backend) -> None:
    pending = fill(backend, [(1, 0, 0)], [(0, 1, 0)])
    backend.upsert(entries(("late", "no vector yet")))
    rows = sorted([pending[1].row, pending[1].row + 1, 10_000_000])
    assert [row for row, _ in near(backend, (1, 0, 0), 5, rows)] == [pending[1].row]


@pytest.mark.parametrize("k", [0, 1, 2, 3, 100])
def test_any_k(backend: Backend, k: int) -> None:
    fill(backend, [(1, 0, 0)], [(1, 1, 0)])
    found = near(backend, (1, 0, 0), k)
    assert [round(value, 4) for _, value in found] == [1.0, 0.7071][:k]


def test_nothing_is_near_where_nothing_is(backend: Backend) -> None:
    assert near(backend, (1, 0, 0)) == []
    backend.upsert(entries("a"))
    assert near(backend, (1, 0, 0)) == []
    assert not backend.has_vectors()


@pytest.mark.parametrize("bad", [(0, 0, 0), (float("nan"), 0, 1), (float("inf"), 0, 0)])
@pytest.mark.parametrize("place", ["vector", "window"])
def test_vectors_that_mean_nothing_are_refused_by_name(backend: Backend, bad: Numbers, place: str) -> None:
    backend.upsert(entries("good", "bad"))
    good, other = backend.claim_pending(MODEL, "one", 9)
    fine, wrong = vector((1, 0, 0)), np.array(bad, dtype=np.float32)
    windows = np.stack([fine, wrong if place == "window" else fine])
    made = EntryVectors(other, wrong if place == "vector" else fine, windows)
    with pytest.raises(EmbeddingGenerationError, match="E2"):
        backend.store_vectors(MODEL, [with_windows(good, (1, 0, 0)), made])
    assert not backend.has_vectors()
    assert near(backend, (1, 0, 0)) == []


def test_a_vector_of_another_length_is_refused_by_name(backend: Backend) -> None:
    backend.upsert(entries("a"))
    (pending,) = backend.claim_pending(MODEL, "one", 9)
    long = np.ones(5, dtype=np.float32)
    with pytest.raises(EmbeddingGenerationError, match="E1 has 5 numbers, not 3"):
        backend.store_vectors(MODEL, [EntryVectors(pending, long, long[None])])


def test_a_model_of_another_dimension_is_refused_with_the_way_out(backend: Backend) -> None:
    fill(backend, [(1, 0, 0)])
    with pytest.raises(EmbeddingGenerationError, match="holds vectors of 3 numbers, the model gives 5") as fault:
        backend.claim_pending(VectorModel("plane", 5, "plane-2"), "one", 9)
    assert "reembed --model plane --drop" in fault.value.hint
    assert len(near(backend, (1, 0, 0))) == 1


def test_dropped_vectors_make_room_for_another_dimension(backend: Backend) -> None:
    fill(backend, [(1, 0, 0), (0, 1, 0)], [(1, 0, 0)])
    assert backend.drop_vectors("plane") == 2
    assert backend.embedding_tables() == []
    assert not backend.has_vectors()
    other = VectorModel("plane", 2, "plane-2")
    pending = backend.claim_pending(other, "one", 9)
    flat = np.array([[0.6, 0.8]], dtype=np.float32)
    backend.store_vectors(other, [EntryVectors(text, flat[0], flat) for text in pending])
    rows, similarities = backend.nearest(other, flat[0], 9, None)
    assert (len(rows), similarities.tolist()) == (2, pytest.approx([1, 1]))
    assert backend.drop_vectors("unknown") == 0


def test_dropping_counts_the_entries_that_had_a_vector(backend: Backend) -> None:
    backend.upsert(entries("a", "", "b"))
    pending = backend.claim_pending(MODEL, "one", 9)
    made = [with_windows(p, (1, 0, 0)) if p.text else EntryVectors(p, None, None) for p in pending]
    backend.store_vectors(MODEL, made)
    assert backend.drop_vectors("plane") == 2


def test_counts_by_state(backend: Backend) -> None:
    backend.upsert(entries("a", "b", "", "d", "e"))
    pending = backend.claim_pending(MODEL, "one", 4)
    made = [with_windows(p, (1, 0, 0)) if p.text else EntryVectors(p, None, None) for p in pending]
    backend.store_vectors(MODEL, made)
    counts = backend.vector_counts(MODEL)
    assert (counts.current, counts.blank, counts.missing, counts.stale) == (3, 1, 1, 0)
    newer = backend.vector_counts(VectorModel("plane", 3, "plane-2"))
    assert (newer.current, newer.blank, newer.missing + newer.stale) == (0, 0, 5)
    assert newer.stale >= 3
    unknown = backend.vector_counts(VectorModel("other", 3, "other-1"))
    assert (unknown.current, unknown.missing) == (0, 5)


def test_a_dry_run_keeps_the_vectors(backend: Backend) -> None:
    pending = fill(backend, [(1, 0, 0)])
    assert backend.upsert(entries(("E1", "reworded")), dry_run=True).updated == ["E1"]
    assert near(backend, (1, 0, 0)) == [(pending[0].row, pytest.approx(1))]
    assert backend.vector_counts(MODEL).current == 1


def test_an_edit_that_fails_keeps_the_vectors(backend: Backend) -> None:
    fill(backend, [(1, 0, 0)], [(0, 1, 0)])
    unwritable = entry("E9", "nobody wrote this", at=NOW)
    unwritable["author"] = None  # type: ignore[typeddict-item]
    with pytest.raises((AttributeError, TypeError, DatabaseQueryError)):
        backend.upsert([*entries("one", "two"), unwritable])
    assert backend.vector_counts(MODEL).current == 2
    assert len(near(backend, (1, 0, 0))) == 2


def test_purged_vectors_never_answer_again(fresh_backend: Backend) -> None:
    fill(fresh_backend, [(1, 0, 0)])
    assert len(near(fresh_backend, (1, 0, 0))) == 1
    fresh_backend.purge(entries=True)
    assert near(fresh_backend, (1, 0, 0)) == []
    fill(fresh_backend, [(0, 1, 0)])
    assert near(fresh_backend, (0, 1, 0))[0][1] == pytest.approx(1)


weights = st.tuples(*[st.integers(-3, 3)] * 3).filter(any)
corpora = st.lists(st.lists(weights, min_size=1, max_size=3), min_size=1, max_size=12)


def test_the_nearest_are_those_that_a_loop_finds(backend: Backend) -> None:
    @settings(max_examples=30)
    @given(windows=corpora, query=weights, k=st.integers(1, 14), data=st.data())
    def agree(windows: list[list[Numbers]], query: Numbers, k: int, data: st.DataObject) -> None:
        backend.drop_vectors("plane")
        backend.delete([f"E{number}" for number in range(1, 13)])
        windows = [entry for entry in windows if np.any(np.sum([vector(w) for w in entry], axis=0))]
        pending = fill(backend, *windows)
        rows = sorted(data.draw(st.sets(st.sampled_from([text.row for text in pending])))) if pending else []
        best = {
            text.row: max(float(vector(window) @ vector(query)) for window in entry)
            for text, entry in zip(pending, windows, strict=True)
            if text.row in rows
        }
        found = near(backend, query, k, rows)
        expected = sorted(best.values(), reverse=True)[:k]
        # Those that are as near as the last one may come along: the caller breaks ties.
        assert [value for _, value in found][:k] == pytest.approx(expected, abs=1e-5)
        assert all(value == pytest.approx(best[row], abs=1e-5) for row, value in found)
        assert len({row for row, _ in found}) == len(found)
        if len(found) > k:
            assert found[-1][1] == pytest.approx(expected[-1], abs=1e-5)

    agree()
