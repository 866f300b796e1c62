"""Words, phrases, exact words and prefixes."""

from __future__ import annotations

import pytest
from logbooks import MakeLogbook, exact, found, messages

from ariel_lite.errors import QuerySyntaxError


@pytest.mark.parametrize(
    ("query", "expected"),
    [('"beam dump"', {"E1", "E2"}), ('"dump beam"', {"E3"}), ('"the beam"', {"E1"}), ('"beam the"', set()), ('"beam"', {"E1", "E3"}),
     ('"beams"', {"E2"}), ("beam", {"E1", "E2", "E3"}), ('"beam dump" "was lost"', {"E1"}), ('"beam  dump"', {"E1", "E2"}),
     ('-"beam dump" beam', {"E3"}), ('"Beam, dump!"', {"E1", "E2"}), ('"dump." beam', {"E1", "E2", "E3"})],
)  # fmt: skip
def test_phrases_are_adjacent_and_single_quoted_words_exact(
    make_logbook: MakeLogbook, query: str, expected: set[str]
) -> None:
    assert set(exact(make_logbook(["the beam dump was lost", "beams dump.", "dump beam"]), query)) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [("be*", {"E1", "E2", "E3"}), ("beam*", {"E1", "E2"}), ("BEAMS*", {"E2"}), ("bén*", {"E3"}), ("ben*", {"E3"}), ("quenching*", set()),
     ("quench*", {"E4"}), ("quenche*", {"E4"}), ("BR-QF*", {"E5"}), ("BR-QF-1*", {"E5"}), ("br-q*", {"E5"}), ("BR*", {"E5"}), ("12*", {"E5"}),
     ("-be* -qu*", {"E5"}), ("(be* OR qu*) -beams", {"E3", "E4"}), ("beam**", {"E1", "E2"}), ("beam* *", {"E1", "E2"})],
)  # fmt: skip
def test_a_prefix_is_one_of_the_written_word(make_logbook: MakeLogbook, query: str, expected: set[str]) -> None:
    book = make_logbook(["beam", "beams", "Béni", "quenched", "BR-QF-12"])
    assert set(exact(book, query)) == expected


@pytest.mark.parametrize(
    ("query", "position"), [("b*", 0), ("beam x*", 5), ("é*", 0), ("-b*", 1), ("真*", 0), ("(a*)", 1), ("1*", 0)]
)
def test_a_prefix_under_two_characters_is_refused(make_logbook: MakeLogbook, query: str, position: int) -> None:
    with pytest.raises(QuerySyntaxError) as refused:
        make_logbook(["beam"]).search(query)
    assert refused.value.position == position
    assert refused.value.hint


@pytest.mark.parametrize(
    ("query", "expected"),
    [("*um", {"E1", "E2"}), ("be*um", {"E1"}), ("* beam", {"E1"}), ('"beam*"', {"E1"}), ('"*beam"', {"E1"}), ("*beam*", {"E1", "E3"})],
)  # fmt: skip
def test_a_star_elsewhere_is_text(make_logbook: MakeLogbook, query: str, expected: set[str]) -> None:
    assert set(exact(make_logbook(["be um beam", "um", "beamer"]), query)) == expected


def test_a_prefix_does_not_reach_over_a_separator(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["SR01C-BPM1", "SR01 C"])
    assert set(exact(book, "SR01*")) == {"E1", "E2"}
    assert exact(book, "SR01C-B*") == ["E1"]


def test_empty_words_alone_find_nothing_and_say_why(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["the beam"])
    assert found(book, "the of") == []
    assert any("the, of" in message and "quotes" in message for message in messages(book, "the of"))
    assert any("the" in message and "ignored" in message for message in messages(book, "the beam"))


@pytest.mark.parametrize(
    "query", ["the OR beam", "(the) beam", "-the beam", "beam AND the", "beam NOT the", "THE beam"]
)
def test_empty_words_are_neutral_everywhere(make_logbook: MakeLogbook, query: str) -> None:
    assert exact(make_logbook(["beam", "the vacuum"]), query) == ["E1"]


def test_an_entry_of_many_words_and_an_empty_one(make_logbook: MakeLogbook) -> None:
    book = make_logbook([" ".join(f"word{n}" for n in range(20_000)), "", "   "])
    assert exact(book, "word19999 word0") == ["E1"]
    assert exact(book, '"word19998 word19999"') == ["E1"]
    assert exact(book, "NOT word5") == ["E3", "E2"]


def test_only_the_first_million_characters_are_indexed(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["first " + "x" * 100 + " " * 999_880 + " inside", "first " + " " * 1_000_000 + " behind"])
    assert exact(book, "inside") == ["E1"]
    assert exact(book, "behind") == []
    assert set(exact(book, "first")) == {"E1", "E2"}
    assert book.status().details["cut"] == 1
