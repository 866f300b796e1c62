"""Numbering sources, and checking a model's sentences against what they cite."""

from __future__ import annotations

import pytest
from quoting import passage

from ariel_lite.generation.citations import Checked, Statement, check, numbered
from ariel_lite.text.tokenise import Analyzer

TRIP = passage(
    "E1",
    "Klystron KLY-3 tripped on cathode overcurrent at 21:10. It was not the cavity. Beam back with 219.5 mA.",
    at="2025-06-29T22:15",
    author="K. Ferreira",
    title="RF trip",
)
LEAK = passage("E2", "Water leak at the hose of BR-QF-12, repaired.", at="2025-07-01T08:00", author="B. Whynot")
SOURCES = (TRIP, LEAK)


def checked(answer: str, analyzer: Analyzer) -> Checked:
    return check(answer, SOURCES, analyzer)


def texts(answer: str, analyzer: Analyzer) -> list[tuple[str, tuple[int, ...]]]:
    return [(statement.text, statement.sources) for statement in checked(answer, analyzer).statements]


def test_sources_are_numbered_as_they_are_first_cited() -> None:
    found = numbered(
        [
            Statement("Third.", (2,), True),
            Statement("First.", (0,), True),
            Statement("Both.", (0, 2)),
            Statement("x", (2,)),
        ]
    )
    assert found.text == "Third. [1]\nFirst. [2] Both. [1][2] x [1]"
    assert found.order == (2, 0)
    assert numbered([]).text == ""


@pytest.mark.parametrize(
    ("quoted", "shown"),
    [
        ("As in [3], nothing.", "As in (3), nothing. [1]"), ("PWNED [1, 2] 【4】 [2–3]", "PWNED (1, 2) (4) (2–3) [1]"),
        ("SR[3].BPM at [0.5] [mm] [see 2]", "SR(3).BPM at [0.5] [mm] [see 2] [1]"),
    ],
)  # fmt: skip
def test_numbers_in_brackets_that_an_entry_holds_are_no_citations(quoted: str, shown: str) -> None:
    assert numbered([Statement(quoted, (0,))]).text == shown


@pytest.mark.parametrize(
    "answer",
    [
        "KLY-3 tripped on cathode overcurrent [1].",
        "KLY-3 tripped on cathode overcurrent. [1]",
        "KLY-3 tripped on cathode overcurrent.[1]",
        "KLY-3 tripped on cathode overcurrent [1]",
        "[1] KLY-3 tripped on cathode overcurrent.",
        "**KLY-3** tripped on cathode overcurrent 【1】.",
        "KLY-3 tripped on cathode overcurrent [Entry 1].",
        "KLY-3 tripped on cathode overcurrent [#1].",
    ],
)
def test_citations_are_read_in_every_spelling(answer: str, analyzer: Analyzer) -> None:
    text = "KLY-3 tripped on cathode overcurrent"
    assert [(found.rstrip("."), sources) for found, sources in texts(answer, analyzer)] == [(text, (0,))]


@pytest.mark.parametrize("marks", ["[1][2]", "[1, 2]", "[1; 2]", "[1-2]", "[1–2]", "[1] [2]", "[2 and 1]"])
def test_several_citations(marks: str, analyzer: Analyzer) -> None:
    answer = f"KLY-3 tripped and a hose of BR-QF-12 had a water leak {marks}."
    assert texts(answer, analyzer) == [("KLY-3 tripped and a hose of BR-QF-12 had a water leak.", (0, 1))]


def test_sentences_keep_their_own_citations(analyzer: Analyzer) -> None:
    answer = "The klystron tripped. [1] A hose was leaking water. [2]\nThe beam came back with 219.5 mA [1]."
    assert texts(answer, analyzer) == [
        ("The klystron tripped.", (0,)),
        ("A hose was leaking water.", (1,)),
        ("The beam came back with 219.5 mA.", (0,)),
    ]
    assert [s.begins_line for s in checked(answer, analyzer).statements] == [False, False, True]


def test_citations_of_nothing_are_dropped_and_reported(analyzer: Analyzer) -> None:
    found = checked("The klystron tripped [1][7]. A hose was leaking [3].", analyzer)
    assert [statement.sources for statement in found.statements] == [(0,), (1,)]
    assert found.out_of_range == (7, 3)


def test_a_source_that_holds_little_of_the_sentence_is_none_of_it(analyzer: Analyzer) -> None:
    assert texts("Klystron KLY-3 tripped on cathode overcurrent [1][2].", analyzer)[0][1] == (0,)


def test_a_sentence_without_a_citation_gets_the_source_that_supports_it(analyzer: Analyzer) -> None:
    assert texts("The hose of BR-QF-12 was repaired.", analyzer) == [("The hose of BR-QF-12 was repaired.", (1,))]
    assert texts("It rained.", analyzer) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "The beam came back with 221.5 mA",  # another number
        "Klystron KLY-2 tripped on cathode overcurrent",  # another device
        "The hose of BR-QF-13 had a water leak",
        "Klystron KLY-3 tripped in Geneva on cathode overcurrent",  # a name that nobody wrote
        "The hose was repaired on 2 July 2025",  # another day
        "The leak at the hose was not repaired",  # a negation that nobody wrote
        "The control system was upgraded by the network team",  # something else
        "An earthquake shook the building and the leak grew",
        "Beam",  # nothing said, [2] does not hold it
    ],
)
def test_what_its_source_does_not_say_is_left_out(sentence: str, analyzer: Analyzer) -> None:
    number = 1 if "lystron" in sentence or "came back" in sentence else 2
    found = checked(f"{sentence} [{number}].", analyzer)
    assert found.statements == ()
    assert found.unsupported == (f"{sentence}.",)


@pytest.mark.parametrize(
    "sentence",
    [
        "It was not the cavity [1].",
        "The RF trip was on 29 June 2025 [1].",
        "K. Ferreira wrote at 22:15 that the klystron tripped [1].",
        "The klystron was tripping on an overcurrent of the cathode at 21:10 [1].",  # other forms of its words
        "On 2025-07-01 B. Whynot repaired the hose [2].",
    ],
)
def test_what_its_source_says_stays(sentence: str, analyzer: Analyzer) -> None:
    assert len(texts(sentence, analyzer)) == 1


def test_a_true_sentence_under_a_wrong_number_is_left_out(analyzer: Analyzer) -> None:
    assert checked("Klystron KLY-3 tripped on cathode overcurrent [2].", analyzer).statements == ()


@pytest.mark.parametrize("answer", ["", "[1]", "[1][2].", "...", "**", "| a | b |\n|---|---|"])
def test_answers_without_words(answer: str, analyzer: Analyzer) -> None:
    assert checked(answer, analyzer).statements == ()
