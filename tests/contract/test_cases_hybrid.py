"""The open cases of the area `hybrid`, on every backend."""

from __future__ import annotations

import pytest
from logbooks import Brief, entries, entry
from meanings import OpenEmpty, configuration, enhance, ids, meaning_book, notes, scores, similarity

from ariel_lite.errors import InvalidRequestError

MODES = ["keyword", "semantic", "hybrid"]


def test_hf01_filters_hold_in_both_legs(open_empty: OpenEmpty) -> None:
    old: list[Brief] = [entry(f"O{n}", "vacuum", at=f"2025-06-{1 + n % 28:02}") for n in range(60)]
    new: list[Brief] = [
        entry(f"N{n}", text, at=f"2026-03-{5 + n:02}")
        for n, text in enumerate(
            ["vacuum orbit", "pressure", "gauge orbit", "vacuum", "pressure gauge", "vacuum kicker"]
        )
    ]
    book = meaning_book(open_empty, [*old, *new])
    march = {"start_date": "2026-03-01", "end_date": "2026-03-31", "max_results": 10}
    assert sorted(ids(book, "vacuum", "hybrid", **march)) == [f"N{n}" for n in range(6)]
    assert sorted(ids(book, "vacuum date:2026-03", "hybrid", max_results=10)) == [f"N{n}" for n in range(6)]


def test_hf01_a_filter_holds_however_shallow_the_fusion(open_empty: OpenEmpty) -> None:
    crowd: list[Brief] = [entry(f"L{n}", "vacuum vacuum", author="lind") for n in range(60)]
    few: list[Brief] = [entry(f"K{n}", "vacuum kicker orbit", author="kestrel") for n in range(6)]
    book = meaning_book(open_empty, [*crowd, *few])
    assert len(ids(book, "vacuum", "hybrid", author="kestrel", fusion_depth=10)) == 6


def test_hf03_candidates_of_both_legs_meet_before_the_cut(open_empty: OpenEmpty) -> None:
    worded = [(f"W{n}", f"vacuum {'cafeteria ' * (n + 3)}") for n in range(5)]
    meant = [(f"M{n}", f"pressure gauge {'orbit ' * n}") for n in range(5)]
    book = meaning_book(open_empty, [*worded, *meant])
    for limit in (2, 4):
        hits = book.search("vacuum", mode="hybrid", max_results=limit, explain=True, similarity_threshold=0.2).entries
        legs = [(hit["_ranks"]["keyword"], hit["_ranks"]["semantic"]) for hit in hits]
        assert len(legs) == limit
        assert any(keyword is None for keyword, _ in legs), legs
        assert any(keyword is not None for keyword, _ in legs), legs


def test_hf03_no_entry_of_either_leg_is_lost(open_empty: OpenEmpty) -> None:
    worded = [(f"W{n}", f"ledger {'cafeteria ' * (n + 1)}") for n in range(5)]
    meant = [(f"M{n}", f"pressure {'orbit ' * n}") for n in range(5)]
    book = meaning_book(open_empty, [*worded, *meant])
    assert sorted(ids(book, "ledger OR vacuum", "hybrid", similarity_threshold=0.2)) == [
        *(f"M{n}" for n in range(5)),
        *(f"W{n}" for n in range(5)),
    ]


def test_hf05_scores_are_from_0_to_1_and_the_best_in_both_legs_has_1(open_empty: OpenEmpty) -> None:
    brief = [("E1", "exact match text vacuum"), ("E2", "match of another vacuum"), ("E3", "orbit"), ("E4", "pressure")]
    book = meaning_book(open_empty, brief)
    for query in ("vacuum", "exact match text", "exact match text vacuum", "exact match text vacuum in the orbit"):
        found = scores(book, query, "hybrid", similarity_threshold=-1)
        assert all(0 <= score <= 1 for score in found.values()), (query, found)
    found = scores(book, "exact match text vacuum", "hybrid", similarity_threshold=-1)
    assert next(iter(found)) == "E1"
    assert found["E1"] == pytest.approx(1)


def test_hf05_the_threshold_is_a_cosine_and_the_cosine_is_told(open_empty: OpenEmpty) -> None:
    brief = [("E1", "vacuum"), ("E2", "pressure orbit"), ("E3", "gauge orbit kicker septum"), ("E4", "cafeteria")]
    book = meaning_book(open_empty, brief)
    hits = book.search("vacuum", mode="hybrid", explain=True, similarity_threshold=0.6).entries
    cosines = {hit["entry_id"]: similarity(hit) for hit in hits}
    assert cosines == pytest.approx({"E1": 1, "E2": 0.5**0.5}, abs=1e-4)
    assert sorted(ids(book, "vacuum", "hybrid", similarity_threshold=0.45)) == ["E1", "E2", "E3"]


def test_hf05_an_entry_with_all_words_needs_no_nearness(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, [("E1", "exact match text cafeteria"), ("E2", "vacuum")])
    assert ids(book, "exact match text", "hybrid", similarity_threshold=0.99)[:1] == ["E1"]


def test_hf05_a_cut_off_on_the_fused_score_is_not_accepted(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum"])
    with pytest.raises(InvalidRequestError, match="min_score") as fault:
        book.search("vacuum", mode="hybrid", min_score=0.5)
    assert "similarity_threshold" in fault.value.hint


OURS: list[Brief] = [
    entry("K1", "vacuum leak pump station alpha", author="kestrel", at="2026-03-01T01:00"),
    entry("K2", "pressure pump", author="kestrel", at="2026-03-01T02:00"),
    entry("K3", "leak alpha beta pump orbit", author="kestrel", at="2026-03-01T03:00"),
]
BEST = entry("L1", "vacuum leak pump vacuum leak pump", author="lind", at="2026-03-01T04:00")


@pytest.mark.parametrize("query", ["vacuum", "vacuum leak", "pump", "leak"])
def test_hf06_an_entry_that_is_filtered_out_changes_no_score(open_empty: OpenEmpty, query: str) -> None:
    alone, beside = (meaning_book(open_empty, given) for given in (OURS, [*OURS, BEST]))
    with_filter = {"author": "kestrel", "similarity_threshold": 0}
    assert scores(beside, query, "hybrid", **with_filter) == scores(alone, query, "hybrid", **with_filter)


def test_hf06_a_long_query_is_scaled_over_what_the_filter_leaves(open_empty: OpenEmpty) -> None:
    query = "vacuum leak pump station"
    alone, beside = (meaning_book(open_empty, given) for given in (OURS, [*OURS, BEST]))
    with_filter = {"author": "kestrel", "similarity_threshold": 0}
    one, two = (scores(book, query, "hybrid", **with_filter) for book in (alone, beside))
    assert list(one) == list(two)
    assert one["K1"] == two["K1"] == pytest.approx(1)
    # What is left of the difference: BM25's word frequencies are those of the whole logbook.
    assert one == pytest.approx(two, abs=0.05)


@pytest.mark.parametrize(
    "query",
    [
        "vacuum spike NOT planned",
        "vacuum spike -planned",
        'vacuum spike -"planned pump"',
        "vacuum spike NOT (planned OR cafeteria)",
        "pressure NOT planned",
        "vacuum zebra NOT planned",
        'vacuum "at septum"',
        "vacuum author:ada",
        "vacuum NOT author:bo",
        "pressure tag:rf",
    ],
)
def test_hf08_exclusions_phrases_and_fields_hold_for_every_entry(open_empty: OpenEmpty, query: str) -> None:
    given: list[Brief] = [
        entry("E1", "vacuum spike at septum", author="Ada", tags=["RF"]),
        entry("E2", "vacuum spike, planned pump test", author="Bo", tags=["vac"]),
    ]
    book = meaning_book(open_empty, given)
    for mode in ("hybrid", "semantic"):
        assert ids(book, query, mode, similarity_threshold=-1) == ["E1"], mode


def test_hf10_a_long_entry_stands_once_and_by_its_best_window(open_empty: OpenEmpty) -> None:
    long = " | ".join(["vacuum orbit"] * 49 + ["vacuum pressure"])
    short = [(f"S{n}", "vacuum " + "orbit " * (n + 2)) for n in range(5)]
    book = meaning_book(open_empty, [("L", long), *short])
    for mode in ("semantic", "hybrid"):
        found = scores(book, "gauge", mode, max_results=5, similarity_threshold=0)
        assert len(found) == 5, mode
        assert list(found)[:2] == ["L", "S0"], mode
    assert scores(book, "gauge")["L"] == pytest.approx(1)


def test_hf10_windows_do_not_use_up_the_places_of_other_entries(open_empty: OpenEmpty) -> None:
    given = [(f"L{n}", " | ".join(["vacuum"] * 50)) for n in range(4)] + [("S", "vacuum orbit")]
    book = meaning_book(open_empty, given)
    assert ids(book, "gauge", max_results=5) == ["L3", "L2", "L1", "L0", "S"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("query", ["same", "same thing", "the same thing was noted again"])
@pytest.mark.parametrize("provider", ["compass", "hashing"])
def test_hf11_equal_entries_come_newest_first_each_time(
    open_empty: OpenEmpty, provider: str, query: str, mode: str
) -> None:
    book = meaning_book(open_empty, ["the same thing was noted again"] * 20, configuration(provider))
    answers = {tuple(ids(book, query, mode, max_results=7, **all_of(mode))) for _ in range(20)}
    assert answers == {tuple(f"E{n}" for n in range(20, 13, -1))}


def all_of(mode: str) -> dict[str, float]:
    """The parameter that lets everything pass."""
    return {} if mode == "keyword" else {"similarity_threshold": -1}


@pytest.mark.parametrize("mode", MODES)
def test_hf11_equal_entries_of_one_time_come_by_id(open_empty: OpenEmpty, mode: str) -> None:
    book = meaning_book(open_empty, [entry(name, "vacuum") for name in ("C", "A", "D", "B")])
    assert ids(book, "vacuum", mode) == ["A", "B", "C", "D"]


def test_hf11_more_equal_entries_than_the_fusion_takes(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum"] * 37)
    assert ids(book, "vacuum", "hybrid", max_results=5, fusion_depth=10) == ["E37", "E36", "E35", "E34", "E33"]


def test_hf11_the_order_does_not_depend_on_when_entries_were_stored(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum"] * 9)
    late = entries(*["vacuum"] * 9)[4]
    late["entry_id"] = "late"
    book.service.backend.upsert([late])
    enhance(book)
    expected = ["E9", "E8", "E7", "E6", "E5", "late", "E4", "E3", "E2", "E1"]
    for mode in MODES:
        assert ids(book, "vacuum", mode) == expected, mode
    assert notes(book, "vacuum", "hybrid") == ""
