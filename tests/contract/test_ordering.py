"""The order of results: leaves matched as written, BM25, newest, id; and pages of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from logbooks import FIRST, MakeLogbook, entry, exact, found


def test_the_exact_spelling_of_a_name_comes_first(make_logbook: MakeLogbook) -> None:
    book = make_logbook(
        ["BR_QF_12 BR_QF_12 BR_QF_12", "br:qf:12", "a long text that mentions BR-QF-12 once only", "BR QF 12"]
    )
    assert exact(book, "BR-QF-12")[0] == "E3"
    assert exact(book, "BR_QF_12")[0] == "E1"
    assert exact(book, "br:qf:12")[0] == "E2"
    assert exact(book, '"br-qf-12"')[0] == "E3"


def test_the_exact_spelling_of_a_phrase_comes_first(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["beams dumped beams dumped", "the operator asked for a beam dump at noon", "other"])
    assert exact(book, '"beam dump"')[0] == "E2"
    assert exact(book, '"beams dumped"')[0] == "E1"


def test_more_exact_spellings_rank_higher(make_logbook: MakeLogbook) -> None:
    book = make_logbook(
        [
            "BR_QF_12 and BR_QD_3",
            "BR-QF-12 and BR_QD_3 and so on and on",
            "BR-QF-12 and BR-QD-3 and so on and on and on",
        ]
    )
    assert exact(book, "BR-QF-12 BR-QD-3") == ["E3", "E2", "E1"]
    assert exact(book, "BR-QF-12 OR BR-QD-3") == ["E3", "E2", "E1"]


def test_an_exact_word_in_an_alternative_ranks_first(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["trips trips trips", "the beam was lost in a long text of many words", "other"])
    assert exact(book, 'trips OR "beam"') == ["E2", "E1"]
    assert exact(book, '"trips" OR beam') == ["E1", "E2"]


def test_case_and_accents_do_not_change_what_is_as_written(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["br-qf-12 with some more words around it", "BR_QF_12"])
    assert exact(book, "BR-QF-12") == ["E1", "E2"]


def test_rarer_words_and_shorter_texts_weigh_more(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["beam beam", "beam and some other words", "quench", "beam", "x", "y", "z", "w", "v"])
    assert exact(book, "beam") == ["E1", "E4", "E2"]
    assert exact(book, "beam OR quench")[0] == "E3"


def test_a_word_counts_only_in_a_satisfied_part(make_logbook: MakeLogbook) -> None:
    fillers = [f"filler {n}" for n in range(12)]
    book = make_logbook(["alpha gamma", "gamma gamma", *fillers])
    alone = {hit["entry_id"]: hit["_score"] for hit in book.search("gamma").entries}
    mixed = {hit["entry_id"]: hit["_score"] for hit in book.search("(alpha beta) OR gamma").entries}
    assert mixed == pytest.approx(alone)


@pytest.mark.parametrize(
    "query", ["gamma OR (beta -alpha)", "gamma OR (beta NOT (alpha gamma))", "(zzz -gamma) OR gamma"]
)
def test_an_exclusion_never_counts(make_logbook: MakeLogbook, query: str) -> None:
    book = make_logbook(["alpha gamma", "gamma gamma", *(f"filler {n}" for n in range(12))])
    alone = {hit["entry_id"]: pytest.approx(hit["_score"]) for hit in book.search("gamma").entries}
    assert {hit["entry_id"]: hit["_score"] for hit in book.search(query).entries} == alone


def test_an_alternative_beside_a_phrase_counts_in_every_row(make_logbook: MakeLogbook) -> None:
    book = make_logbook([*(f"filler {n}" for n in range(9)), "strasse vacuum x tripping", "dump vacuum tripping"])
    (alone,) = book.search('(dump OR strasse) "vacuum tripping"').entries
    (beside,) = book.search('zzz OR ((dump OR strasse) "vacuum tripping")').entries
    assert beside["entry_id"] == alone["entry_id"] == "E11"
    assert beside["_score"] == pytest.approx(alone["_score"])


def test_fields_do_not_change_scores(make_logbook: MakeLogbook) -> None:
    given = [entry(f"E{n}", "beam " * n + "x", author="Ada", at=FIRST + timedelta(minutes=n)) for n in range(1, 5)]
    book = make_logbook([*given, *(f"filler {n}" for n in range(9))])
    plain = {hit["entry_id"]: pytest.approx(hit["_score"]) for hit in book.search("beam").entries}
    for query in ("beam author:ada", "beam (author:ada OR author:bo)", "beam -author:bo", "(beam author:ada) OR zzz"):
        hits = book.search(query).entries
        assert {hit["entry_id"]: hit["_score"] for hit in hits} == plain, query
        assert [hit["entry_id"] for hit in hits] == list(plain), query


def test_equal_scores_are_newest_first_then_by_id(make_logbook: MakeLogbook) -> None:
    given = [("B", 1), ("A", 1), ("C", 3), ("D", 2)]
    book = make_logbook([entry(name, "beam", at=FIRST + timedelta(hours=hours)) for name, hours in given])
    assert exact(book, "beam") == ["C", "D", "A", "B"]
    assert exact(book, "NOT x") == exact(book, "date:2026") == ["C", "D", "A", "B"]


def test_scores_are_bm25_and_match_is_exact(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["beam", *(f"filler {n}" for n in range(9))])
    (hit,) = book.search("beam").entries
    # N 10, n 1, f 1, |d| 1, avgdl 1.9
    assert hit["_score"] == pytest.approx(1.8458266904983307 * 2.2 / (1 + 1.2 * (0.25 + 0.75 / 1.9)))
    assert hit["_match"] == "exact"


QUERIES = ("beam", "beam*", "NOT x", "beam OR (tag:y -x)", "date:2026", "beam -x", "baem")


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("size", [7, 50, 100])
def test_pages_of_equal_entries_neither_repeat_nor_skip(make_logbook: MakeLogbook, query: str, size: int) -> None:
    shifts = [FIRST + timedelta(minutes=n % 3) for n in range(150)]
    book = make_logbook([entry(f"E{n:03}", "beam", at=at) for n, at in enumerate(shifts)])
    pages = [found(book, query, max_results=size, offset=offset) for offset in range(0, 150 + size, size)]
    seen = [entry_id for page in pages for entry_id in page]
    newest_first = sorted(range(150), key=lambda n: (-shifts[n].timestamp(), n))
    assert seen == [f"E{n:03}" for n in newest_first]
    assert pages[-1] == []


def test_pages_of_ranked_entries_follow_each_other(make_logbook: MakeLogbook) -> None:
    book = make_logbook([f"beam {'x ' * (n % 7)}" for n in range(90)])
    whole = found(book, "beam")
    assert [hit for offset in range(0, 90, 8) for hit in found(book, "beam", max_results=8, offset=offset)] == whole


def test_a_page_behind_the_last_hit_does_not_go_fuzzy(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["beam", "beams beamer"])
    assert found(book, "beam", offset=2) == []


def test_more_than_a_hundred_results_are_clamped_and_reported(make_logbook: MakeLogbook) -> None:
    book = make_logbook([f"beam {n}" for n in range(120)])
    result = book.search("beam", max_results=1000)
    assert len(result.entries) == 100
    assert any("1000" in note.message and "100" in note.message for note in result.diagnostics)


@pytest.mark.parametrize("query", ["beam", "beam OR trip", "author:smith", "beam OR author:smith"])
def test_a_page_beyond_any_end_is_empty(make_logbook: MakeLogbook, query: str) -> None:
    book = make_logbook([entry("E1", "beam trip", author="Smith")])
    assert book.search(query, mode="keyword", offset=10**20).entries == ()
