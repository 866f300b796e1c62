"""Hybrid mode beyond its cases: what it explains, its parameters, its pages, what it says when nothing is near."""

from __future__ import annotations

import random
from typing import Any

import pytest
from logbooks import Brief, entry
from meanings import GROUPS, OpenEmpty, ids, meaning_book, notes, scores

from ariel_lite.compose import Logbook
from ariel_lite.errors import InvalidRequestError
from ariel_lite.search import hybrid

WORDS = [word for group in GROUPS for word in group] + ["alpha", "bravo", "delta"]


@pytest.fixture
def crowd(open_empty: OpenEmpty) -> Logbook:
    """330 short entries of random words."""
    chosen = random.Random(3)
    return meaning_book(open_empty, [" ".join(chosen.choices(WORDS, k=chosen.randint(3, 9))) for _ in range(330)])


def pages(book: Logbook, query: str, size: int, mode: str = "hybrid", **options: Any) -> list[str]:
    """All pages of an answer, one after the other, until one is empty."""
    seen: list[str] = []
    while True:
        page = ids(book, query, mode, max_results=size, offset=len(seen), **options)
        seen += page
        if len(page) < size:
            return seen


PAGED = ("vacuum", "vacuum klystron", "vacuum klystron kicker alpha orbit", "vacuum OR kicker", "vakuum klystron")


def test_pages_of_any_size_make_one_list(crowd: Logbook) -> None:
    for mode, extra in (("semantic", {}), ("hybrid", {}), ("hybrid", {"similarity_threshold": -1})):
        for query in PAGED:
            options = {"include_highlights": False, **extra}
            whole = pages(crowd, query, 100, mode, **options)
            assert len(whole) == len(set(whole)) > 100, (mode, query, extra)
            assert pages(crowd, query, 67, mode, **options) == whole, (mode, query, extra)


def test_pages_of_a_shallow_fusion_make_one_list(crowd: Logbook) -> None:
    whole = pages(crowd, "vacuum klystron kicker alpha", 100, fusion_depth=20)
    assert len(whole) == len(set(whole)) > 20
    assert pages(crowd, "vacuum klystron kicker alpha", 7, fusion_depth=20) == whole


def test_a_page_beyond_the_end_is_empty_without_complaint(open_empty: OpenEmpty) -> None:
    result = meaning_book(open_empty, ["vacuum"]).search("vacuum", mode="hybrid", offset=50)
    assert (result.entries, result.degraded) == ((), False)


@pytest.mark.parametrize("query", ["author:ada", "NOT kicker", "date:2026-03"])
def test_a_query_without_words_lists_newest_first_page_by_page(open_empty: OpenEmpty, query: str) -> None:
    given: list[Brief] = [entry(f"E{n}", "vacuum", author="Ada", at=f"2026-03-0{n}") for n in range(1, 8)]
    book = meaning_book(open_empty, given)
    assert pages(book, query, 3) == [f"E{n}" for n in range(7, 0, -1)]


def test_explain_shows_the_rank_of_each_leg(open_empty: OpenEmpty) -> None:
    brief = [("W", "ledger vacuum " + "cafeteria " * 3), ("B", "ledger vacuum"), ("M", "pressure orbit"), ("N", "dose")]
    book = meaning_book(open_empty, brief)
    hits = book.search("vacuum ledger", mode="hybrid", explain=True, similarity_threshold=0).entries
    ranks = {hit["entry_id"]: hit["_ranks"] for hit in hits}
    assert ranks["B"]["keyword"] == 1
    assert ranks["W"]["keyword"] == 2
    assert ranks["M"]["keyword"] is None
    assert [ranks[key]["all_words"] for key in "BWM"] == [True, True, False]
    assert [ranks[key]["semantic"] for key in "BMWN"] == [1, 2, 3, 4]
    assert ranks["M"]["similarity"] == pytest.approx(0.5**0.5, abs=1e-4)


def test_explain_shows_how_the_query_was_read(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum"])
    explanation = book.search("vacuum NOT planned", mode="hybrid", explain=True).explanation
    assert explanation is not None
    assert explanation["sentence"]
    assert explanation["bound"]
    plain = book.search("vacuum", mode="hybrid")
    assert plain.explanation is None
    assert "_ranks" not in plain.entries[0]


def test_weights_decide_between_words_and_meaning(open_empty: OpenEmpty) -> None:
    words = ("W", "alpha bravo delta echo " + "cafeteria " * 9)
    meaning = ("M", "pressure gauge alpha")
    query = "alpha bravo delta vacuum"
    book = meaning_book(open_empty, [words, meaning])
    for weights, first in (((10, 0), "W"), ((0, 10), "M")):
        given = {"keyword_weight": weights[0], "semantic_weight": weights[1], "similarity_threshold": 0}
        assert ids(book, query, "hybrid", **given)[0] == first


@pytest.mark.parametrize(
    "parameters",
    [
        {"keyword_weight": 0, "semantic_weight": 0},
        {"keyword_weight": -1},
        {"semantic_weight": 11},
        {"fusion_depth": 9},
        {"fusion_depth": 1001},
        {"offset": -1},
    ],
)
def test_parameters_that_make_no_sense_are_refused(open_empty: OpenEmpty, parameters: dict[str, Any]) -> None:
    book = meaning_book(open_empty, ["vacuum"])
    with pytest.raises(InvalidRequestError):
        book.search("vacuum", mode="hybrid", **parameters)


def test_every_offered_parameter_is_accepted_within_its_limits(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum"])
    for offered in hybrid.get_parameter_descriptors():
        for value in (offered.default, offered.min_value, offered.max_value):
            assert ids(book, "vacuum", "hybrid", **{offered.name: value}) == ["E1"], (offered.name, value)


def test_a_typo_is_mended_in_words_and_in_meaning(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["klystron tripped", "arc orbit", "cafeteria"])
    result = book.search("klystorn", mode="hybrid")
    assert [hit["entry_id"] for hit in result.entries] == ["E1", "E2"]
    assert any("Did you mean klystron" in note.message for note in result.diagnostics)
    assert ids(book, "klystorn", "hybrid", fuzzy_fallback=False) == []


def test_nothing_near_is_no_answer_and_says_so(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["orbit orbit orbit vacuum"])
    result = book.search("menu of the cafeteria", mode="hybrid")
    assert result.entries == ()
    assert not result.degraded
    assert result.diagnostics


def test_words_that_occur_nowhere_are_named(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum lost", "orbit"])
    said = notes(book, "vacuum tokamak", "hybrid")
    assert "tokamak" in said
    assert "vacuum" not in said.replace("vacuum tokamak", "")


def test_highlights_are_of_the_querys_words(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum <lost> here", "pressure"])
    marked = {hit["entry_id"]: hit["_highlights"] for hit in book.search("vacuum", mode="hybrid").entries}
    assert marked == {"E1": ["<b>vacuum</b> &lt;lost&gt; here"], "E2": []}
    plain = book.search("vacuum", mode="hybrid", include_highlights=False).entries
    assert all(hit["_highlights"] == [] for hit in plain)


def test_entries_with_all_words_come_first_as_keyword_mode_orders_them(open_empty: OpenEmpty) -> None:
    given = [f"vacuum leak {'cafeteria ' * n}" for n in range(8, 0, -1)] + ["pressure leak orbit kicker dose"]
    book = meaning_book(open_empty, given)
    assert ids(book, "vacuum leak", "hybrid", max_results=8) == ids(book, "vacuum leak", "keyword", max_results=8)


def test_a_quoted_phrase_orders_by_its_exact_spelling_first(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum spikes", "vacuum spike", "vacuums spike"])
    query = '"vacuum spike"'
    assert ids(book, query, "hybrid", similarity_threshold=-1) == ids(book, query, "keyword")


def test_scores_fall_along_the_list(crowd: Logbook) -> None:
    for query in ("vacuum", "vacuum klystron kicker alpha orbit", "pressure OR dose"):
        found = list(scores(crowd, query, "hybrid").values())
        assert found == sorted(found, reverse=True)
        assert 0 <= found[-1] <= found[0] <= 1
