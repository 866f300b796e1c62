"""Semantic mode beyond its cases: what it compares, what it shows, its parameters; with providers of third parties."""

from __future__ import annotations

from pathlib import Path

import pytest
from logbooks import NOW
from meanings import OpenEmpty, book_over, configuration, ids, meaning_book, notes, provider_of, scores

from ariel_lite.compose import Logbook, open_backend
from ariel_lite.enhancement.text_embedding import create_enhancer
from ariel_lite.errors import InvalidRequestError
from ariel_lite.registry import Registry
from ariel_lite.search import semantic
from ariel_lite.search.base import SearchContext
from ariel_lite.service import ARIELSearchService

FOUR = ["vacuum", "vacuum orbit", "vacuum orbit orbit kicker", "cafeteria"]


def test_the_score_is_the_cosine(open_empty: OpenEmpty) -> None:
    found = scores(meaning_book(open_empty, FOUR), "pressure", similarity_threshold=-1)
    assert found == pytest.approx({"E1": 1, "E2": 0.7071, "E3": 0.4082, "E4": 0}, abs=1e-4)
    assert list(found) == ["E1", "E2", "E3", "E4"]


@pytest.mark.parametrize(
    ("query", "compared"),
    [
        ("pressure gauge", "pressure gauge"),
        ("pressure author:ada", "pressure"),
        ("pressure NOT kicker", "pressure"),
        ('"pressure gauge" rf', "pressure gauge rf"),
        ("pressure OR rf", "pressure rf"),
        ("(pressure -rf) date:2026", "pressure"),
    ],
)
def test_what_is_compared_are_the_wanted_words(open_empty: OpenEmpty, query: str, compared: str) -> None:
    book = meaning_book(open_empty, FOUR)
    explanation = book.search(query, mode="semantic", explain=True).explanation
    assert explanation is not None
    assert explanation["meaning"] == compared
    assert provider_of(book).embedded[-1] == compared  # type: ignore[attr-defined]


def test_filters_that_leave_nothing_leave_nothing(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, FOUR)
    for options in ({"author": "nobody"}, {"start_date": "2030"}, {"source_system": "elsewhere"}):
        result = book.search("pressure", mode="semantic", similarity_threshold=-1, **options)
        assert (result.entries, result.degraded) == ((), False)


def test_the_query_is_embedded_once_a_search(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, FOUR)
    provider = provider_of(book)
    before = len(provider.embedded)  # type: ignore[attr-defined]
    ids(book, "pressure gauge", "hybrid")
    ids(book, "pressure gauge")
    assert provider.embedded[before:] == ["pressure gauge"] * 2  # type: ignore[attr-defined]


def test_a_search_without_vectors_does_not_embed_the_query(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, FOUR, embed=False)
    ids(book, "pressure")
    assert provider_of(book).embedded == []  # type: ignore[attr-defined]


def test_edits_and_deletions_are_seen_by_the_next_search(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, FOUR)
    assert ids(book, "pressure")[0] == "E1"
    book.service.backend.delete(["E1"])
    assert ids(book, "pressure")[0] == "E2"
    book.add({"entry_id": "E9", "raw_text": "gauge", "timestamp": NOW})
    create_enhancer(book.service.config, book.service.registry).run(book.service.backend)
    assert ids(book, "pressure")[0] == "E9"


def test_an_unknown_parameter_is_refused_with_those_there_are(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, FOUR)
    with pytest.raises(InvalidRequestError, match="fusion_depth") as fault:
        book.search("pressure", mode="semantic", fusion_depth=5)
    assert "similarity_threshold" in fault.value.hint


def test_every_offered_parameter_is_accepted_within_its_limits(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum"])
    for offered in semantic.get_parameter_descriptors():
        for value in (offered.default, offered.min_value, offered.max_value):
            assert ids(book, "vacuum", **{offered.name: value}) == ["E1"], (offered.name, value)


def test_highlights_are_of_words_that_the_entry_shares(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum & leak", "pressure"])
    marked = {hit["entry_id"]: hit["_highlights"] for hit in book.search("vacuum", mode="semantic").entries}
    assert marked == {"E1": ["<b>vacuum</b> &amp; leak"], "E2": []}


def test_a_long_query_is_compared_as_a_whole(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, FOUR)
    assert ids(book, "pressure " + "gauge vacuum " * 20)[0] == "E1"


def test_a_read_only_logbook_is_searched_by_meaning(open_empty: OpenEmpty) -> None:
    writer = meaning_book(open_empty, FOUR)
    service = writer.service
    backend = open_backend(service.backend.location, service.config, service.registry, read_only=True)
    with book_over(backend, service.config) as reader:
        assert ids(reader, "pressure") == ["E1", "E2", "E3"]
        assert ids(reader, "pressure", "hybrid") == ["E1", "E2", "E3"]


PLUGIN = """
from meanings import create_provider
"""
METADATA = "Metadata-Version: 2.1\nName: needle\nVersion: 1.0\n"


def test_a_provider_of_a_third_party_is_found_by_its_entry_point(
    open_empty: OpenEmpty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "needle-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(METADATA)
    (folder / "entry_points.txt").write_text("[ariel_lite.embedding_providers]\nneedle = needle_provider\n")
    (tmp_path / "needle_provider.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    config, registry = configuration("needle"), Registry()
    service = ARIELSearchService(config, open_empty(), registry)
    service.context = SearchContext(service.backend, config, registry, lambda: NOW)
    book = Logbook(service)
    book.add([{"entry_id": f"E{n}", "raw_text": text, "timestamp": NOW} for n, text in enumerate(FOUR, start=1)])
    assert "no entry has a vector of needle yet" in notes(book, "pressure")
    create_enhancer(config, registry).run(service.backend)
    assert ids(book, "pressure", max_results=1) == ["E1"]
