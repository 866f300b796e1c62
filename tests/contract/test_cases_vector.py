"""The open cases of the area `vector`, on every backend. VC15 and VC16 are about SQLite: test_sqlite_vectors.py."""

from __future__ import annotations

import numpy as np
import pytest
from logbooks import NOW, Brief, entries, entry
from meanings import (
    DIMENSION,
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
from ariel_lite.backends.values import EntryVectors, VectorModel
from ariel_lite.config import ARIELConfig
from ariel_lite.errors import DatabaseQueryError, EmbeddingGenerationError, InvalidRequestError

NEAR, FAR = "vacuum vacuum vacuum orbit", "vacuum orbit orbit orbit"


def crowd() -> list[Brief]:
    """90 near entries by lind in 2025 and 10 further ones by kestrel in 2026, one nearer than the other."""
    many = [
        entry(f"L{n}", NEAR, author="lind", source="ALS eLog", at=f"2025-02-{1 + n % 28:02}T0{n // 28}:00:00")
        for n in range(90)
    ]
    few = [
        entry(f"K{n}", FAR + " orbit" * n, author="kestrel", source="JLab", at=f"2026-03-{1 + n:02}T00:00:00")
        for n in range(10)
    ]
    return [*many, *few]


def test_vc01_filters_hold_before_the_nearest_are_chosen_at_any_k(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, crowd())
    for restriction in (
        {"author": "kestrel"},
        {"source_system": "JLab"},
        {"start_date": "2026-03-01", "end_date": "2026-03-10"},
    ):
        for limit in (1, 5, 9, 10, 50):
            found = ids(book, "pressure", max_results=limit, similarity_threshold=0, **restriction)
            assert found == [f"K{n}" for n in range(min(limit, 10))], (restriction, limit)


def test_vc01_fields_of_the_query_hold_before_the_nearest_are_chosen(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, crowd())
    for query in (
        "pressure author:kestrel",
        "pressure date:2026-03",
        "pressure source:jlab",
        "pressure NOT author:lind",
    ):
        assert ids(book, query, max_results=5, similarity_threshold=0) == [f"K{n}" for n in range(5)], query


def test_vc01_excluded_ids_leave_their_places_to_others(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum", "vacuum orbit", "vacuum orbit orbit"])
    assert ids(book, "pressure", max_results=2, exclude_entry_ids=["E1"]) == ["E2", "E3"]


def test_vc05_an_edit_replaces_the_vector(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, [("E1", "kicker misfire")], configuration("onnx"))
    before = scores(book, "kicker misfire")["E1"]
    book.service.backend.upsert(entries(("E1", "septum cooling leak")))
    assert enhance(book).done == 1
    old, new = (scores(book, text, similarity_threshold=-1)["E1"] for text in ("kicker misfire", "septum cooling leak"))
    assert before > 0.99
    assert new > 0.99
    assert old < new - 0.3


def test_vc05_row_index_and_vector_change_together_or_not_at_all(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, [("E1", "kicker misfire"), ("E2", "orbit")])
    unwritable = entry("E9", "nobody wrote this", at=NOW)
    unwritable["author"] = None  # type: ignore[typeddict-item]
    with pytest.raises((AttributeError, TypeError, DatabaseQueryError)):
        book.service.backend.upsert([entry("E1", "septum"), unwritable])
    assert ids(book, "kicker", "keyword") == ["E1"]
    assert ids(book, "kicker") == ["E1"]
    assert ids(book, "cooling") == []


def test_vc06_a_deleted_entry_leaves_no_vector(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, [("E1", "confidential dose report"), ("E2", "orbit ok")])
    backend = book.service.backend
    backend.delete(["E1"])
    backend.upsert(entries(("E9", "menu of the canteen")))
    assert ids(book, "radiation dose", similarity_threshold=-1) == ["E2"]
    assert [table.entry_count for table in backend.embedding_tables()] == [1]
    assert backend.vector_counts(model_of(book)).missing == 1


def test_vc06_the_latest_entry_deleted_gives_its_vector_to_nobody(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, [("E1", "orbit ok"), ("E2", "dose report")])
    book.service.backend.delete(["E2"])
    book.service.backend.upsert(entries(("E9", "cafeteria menu")))
    assert ids(book, "radiation", similarity_threshold=-1) == ["E1"]
    enhance(book)
    assert ids(book, "holiday") == ["E9"]


def two_models(backend: Backend) -> tuple[VectorModel, VectorModel]:
    """Half of the entries with vectors of revision 1, the others of revision 2; same name, same dimension."""
    backend.upsert(entries(*["vacuum"] * 4))
    first, second = (book_over(backend, revision(number)) for number in (1, 2))
    enhance(first, limit=4)
    enhance(second, limit=2)
    return model_of(first), model_of(second)


def revision(number: int) -> ARIELConfig:
    model = {"name": "compass", "max_input_tokens": number}
    return configuration(enhancement_modules={"text_embedding": {"models": [model]}})


def test_vc08_vectors_of_two_revisions_are_never_compared(backend: Backend) -> None:
    first, second = two_models(backend)
    assert first.dimension == second.dimension
    counts = [backend.vector_counts(model) for model in (first, second)]
    assert [(c.current, c.stale, c.missing) for c in counts] == [(2, 2, 0), (2, 2, 0)]
    query = np.eye(1, DIMENSION, dtype=np.float32)[0]
    found = [set(backend.nearest(model, query, 10, None)[0].tolist()) for model in (first, second)]
    assert [len(rows) for rows in found] == [2, 2]
    assert not found[0] & found[1]


def test_vc08_a_search_says_that_the_rest_is_stale(backend: Backend) -> None:
    two_models(backend)
    book = book_over(backend, revision(2))
    assert len(ids(book, "pressure")) == 2
    assert "2 of 4 entries have no current vector" in notes(book, "pressure")
    assert enhance(book).done == 2
    assert len(ids(book, "pressure")) == 4
    assert notes(book, "pressure") == ""


def test_vc08_models_of_two_names_have_vectors_of_their_own(backend: Backend) -> None:
    backend.upsert(entries("vacuum", "orbit"))
    first, second = (book_over(backend, configuration(model=name)) for name in ("north", "south"))
    enhance(first)
    assert "no entry has a vector of south yet" in notes(second, "pressure")
    enhance(second)
    assert {t.table_name: t.entry_count for t in backend.embedding_tables()} == {
        "text_embeddings_north": 2,
        "text_embeddings_south": 2,
    }
    backend.drop_vectors("north")
    assert ids(second, "pressure") == ["E1"]
    assert ids(first, "pressure") == []


@pytest.mark.parametrize(("one", "other"), [("m-1", "m_1"), ("Compass", "compass")])
def test_vc08_a_name_that_shares_a_table_with_another_is_refused(backend: Backend, one: str, other: str) -> None:
    backend.upsert(entries("vacuum", "orbit"))
    first, second = (book_over(backend, configuration(model=name)) for name in (one, other))
    enhance(first)
    with pytest.raises(EmbeddingGenerationError, match=one) as fault:
        enhance(second)
    assert fault.value.hint
    assert ids(first, "pressure") == ["E1"]


def test_vc10_a_vector_that_is_not_finite_is_reported_and_the_others_are_kept(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum", "nan vacuum", "nothing", "orbit"], embed=False)
    report = enhance(book)
    assert sorted(report.failed) == ["E2", "E3"]
    assert all("not finite" in reason for reason in report.failed.values())
    assert report.done == 2
    assert ids(book, "pressure", similarity_threshold=-1) == ["E1", "E4"]


def test_vc10_an_entry_whose_vector_was_refused_is_not_called_complete(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum", "nan vacuum"])
    states = [(book.get(key) or {}).get("enhancement_status", {}).get("text_embedding", {}) for key in ("E1", "E2")]
    assert states[0]["status"] == "complete"
    assert states[1]["status"] != "complete"


def test_vc11_similarity_is_the_cosine_whatever_the_lengths(backend: Backend) -> None:
    backend.upsert(entries("one", "two"))
    model = VectorModel("long", 2, "long-1")
    pending = backend.claim_pending(model, "worker", 10)
    vectors = [np.array(numbers, dtype=np.float32) for numbers in ([10, 0], [0.7, 0.7])]
    made = [EntryVectors(text, vector, vector[None]) for text, vector in zip(pending, vectors, strict=True)]
    assert backend.store_vectors(model, made) == 2
    for query, expected in (([1, 0], [1.0, 0.7071]), ([3, 3], [0.7071, 1.0])):
        rows, similarities = backend.nearest(model, np.array(query, dtype=np.float32), 2, None)
        by_row = dict(zip(rows.tolist(), similarities.tolist(), strict=True))
        assert [by_row[text.row] for text in pending] == pytest.approx(expected, abs=1e-4)
        assert list(similarities) == sorted(similarities, reverse=True)


def test_vc13_the_models_own_threshold_applies(open_empty: OpenEmpty) -> None:
    brief = [("E1", "klystron arc detector tripped"), ("E2", "holiday schedule")]
    book = meaning_book(open_empty, brief, configuration("onnx"))
    assert ids(book, "RF station fault due to arcing") == ["E1"]
    assert ids(book, "RF station fault due to arcing", "hybrid")[:1] == ["E1"]


def test_vc13_an_answer_emptied_by_the_threshold_says_so(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, [("E1", "klystron arc detector tripped")], configuration("onnx"))
    query = "RF station fault due to arcing"
    assert ids(book, query, similarity_threshold=0.95) == []
    said = notes(book, query, similarity_threshold=0.95)
    assert "under the threshold of 0.95" in said


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
@pytest.mark.parametrize("query", ["", " ", "\n", "\t\u00a0"])
def test_vc18_a_blank_query_is_refused_before_anything_is_embedded(
    open_empty: OpenEmpty, mode: str, query: str
) -> None:
    book = meaning_book(open_empty, ["x"])
    with pytest.raises(InvalidRequestError, match="empty") as fault:
        book.search(query, mode=mode)
    assert fault.value.hint


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
@pytest.mark.parametrize("query", ["\u200b", "...", "\x00", "the", '""', "*", "-", "\ud800", "()"])
def test_vc18_a_query_without_content_finds_nothing_and_says_why(open_empty: OpenEmpty, mode: str, query: str) -> None:
    result = meaning_book(open_empty, ["x"]).search(query, mode=mode)
    assert result.entries == ()
    assert result.diagnostics
    assert not result.degraded


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_vc18_a_blank_query_with_a_filter_lists_newest_first(open_empty: OpenEmpty, mode: str) -> None:
    book = meaning_book(open_empty, ["vacuum", "orbit"])
    assert ids(book, " ", mode, start_date="2026") == ["E2", "E1"]
