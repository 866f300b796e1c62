"""What a search reports: mended queries with their positions, limits, and what strict mode refuses instead."""

from __future__ import annotations

import pytest
from logbooks import MakeLogbook, exact, messages

from ariel_lite.errors import ARIELException, ConfigurationError, InvalidRequestError, QuerySyntaxError

MENDED = [
    ('beam "dump', 5, "quote"),
    ("beam (dump", 5, "bracket"),
    ("beam) dump", 4, "bracket"),
    ("AND beam", 0, "AND"),
    ("beam AND", 5, "AND"),
    ("beam OR", 5, "OR"),
    ("OR beam", 0, "OR"),
    ("beam AND AND dump", 9, "AND"),
    ("beam OR OR dump", 5, "OR"),
    ("beam NOT", 5, "NOT"),
    ("beam (x NOT) dump", 8, "NOT"),
    ("beam () dump", 5, "bracket"),
    ("beam\x00 dump", 4, "blank"),
    ('author:"x beam', 7, "quote"),
]


@pytest.mark.parametrize(("query", "position", "word"), MENDED)
def test_a_fault_is_mended_and_reported_with_its_position(
    make_logbook: MakeLogbook, query: str, position: int, word: str
) -> None:
    book = make_logbook(["beam dump", "beam", "vacuum"])
    assert "E3" not in exact(book, query)
    assert any(word in text and f"(character {position + 1})" in text for text in messages(book, query))


@pytest.mark.parametrize(("query", "position", "word"), MENDED)
def test_strict_mode_refuses_what_would_be_mended(
    make_logbook: MakeLogbook, query: str, position: int, word: str
) -> None:
    with pytest.raises(QuerySyntaxError) as refused:
        make_logbook(["beam"]).search(query, strict=True)
    assert refused.value.position == position
    assert word in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize(
    "query", ["beam -dump", '"beam dump" OR (a NOT b)', "the beam", "author:x date:2026", "BR-QF-12 1.9 GeV", "be* -3"]
)
def test_strict_mode_accepts_what_is_right(make_logbook: MakeLogbook, query: str) -> None:
    book = make_logbook(["beam"])
    assert exact(book, query, strict=True) == exact(book, query)


def test_mended_queries_mean_what_is_left(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["beam dump", "beam", "dump the beam"])
    assert exact(book, 'beam "dump') == exact(book, "beam dump")
    assert exact(book, "beam AND") == exact(book, "AND OR beam") == exact(book, "beam")
    assert exact(book, '"beam dump" "') == ["E1"]
    assert exact(book, "beam (-dump") == ["E2"]


def test_a_long_query_is_cut_at_a_word_and_reported(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["beam"])
    query = "beam " + "beam" * 240 + " vacuum vacuum vacuum"
    assert len(query) <= 1000
    long = "beam  " + " " * 985 + "vacuumvacuum"
    assert len(long) > 1000
    assert exact(book, long) == ["E1"]
    assert any("longer than 1000" in text for text in messages(book, long))
    with pytest.raises(QuerySyntaxError):
        book.search(long, strict=True)


def test_a_query_of_200_kilobytes_is_answered_or_refused(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["word"])
    for query in ("word " * 40_000, "x" * 200_000, "(" * 200_000, '"' * 200_001, "-" * 200_000, "a OR " * 40_000):
        try:
            book.search(query)
        except ARIELException as refused:
            assert refused.hint, query[:10]


def test_too_many_terms_are_refused(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["w1"])
    assert exact(book, " OR ".join(f"w{n}" for n in range(64))) == ["E1"]
    with pytest.raises(QuerySyntaxError, match="64") as refused:
        book.search(" OR ".join(f"w{n}" for n in range(65)))
    assert refused.value.position == sum(len(f"w{n} OR ") for n in range(64))


def test_too_many_levels_are_refused(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["beam"])
    assert exact(book, "(" * 32 + "beam" + ")" * 32) == ["E1"]
    assert exact(book, "NOT " * 32 + "beam") == ["E1"]
    for query in ("(" * 33 + "beam" + ")" * 33, "NOT " * 33 + "beam"):
        with pytest.raises(QuerySyntaxError, match="32"):
            book.search(query)


def test_an_unknown_mode_or_parameter_is_refused_with_the_known_ones(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["beam"])
    with pytest.raises(ConfigurationError) as refused:
        book.search("beam", mode="telepathy")
    assert "keyword" in refused.value.message + refused.value.hint
    with pytest.raises(InvalidRequestError) as wrong:
        book.search("beam", mode="keyword", fuzziness=3)
    assert "fuzzy_fallback" in wrong.value.hint
    with pytest.raises(InvalidRequestError):
        book.search("beam", mode="keyword", offset=-1)


def test_the_sentence_and_the_explanation_say_how_a_query_was_read(make_logbook: MakeLogbook) -> None:
    result = make_logbook(["beam dump"]).search('rf "beam dump" -planned author:smith', mode="keyword", explain=True)
    assert result.reasoning == 'contains rf and "beam dump", author contains smith, not planned'
    assert result.explanation is not None
    assert {"syntax", "bound", "sentence", "statements", "backend"} <= set(result.explanation)
    assert result.explanation["statements"]


def test_a_result_names_its_mode_and_sources(make_logbook: MakeLogbook) -> None:
    result = make_logbook(["beam", "beam"]).search("beam", mode="keyword")
    assert result.search_modes_used == ("keyword",)
    assert result.sources == ("E2", "E1")
    assert not result.degraded
    assert result.answer is None
