"""Answers on every backend: cited sentences that stand in their sources, filters that hold, silence where it is due."""

from __future__ import annotations

from typing import Any

import pytest
from logbooks import MakeLogbook, entry
from meanings import OpenEmpty, meaning_book

from ariel_lite.compose import Logbook
from ariel_lite.evaluation.answers import cited_sentences
from ariel_lite.records import ARIELSearchResult
from ariel_lite.search.answer import NOT_SAID

SHIFTS = (
    entry("R1", "Klystron KLY-3 tripped on cathode overcurrent.", at="2026-02-01", author="Ada", logbook="rf"),
    entry("R2", "Klystron KLY-3 tripped again. New tube ordered.", at="2026-02-03", author="Bo", source="ALS eLog"),
    entry("R3", "Klystron KLY-3 exchanged, no trip since.", at="2026-02-09", author="Ada"),
    entry("V1", "Vacuum gauge of sector 7 reads nonsense.", at="2026-02-05", author="Cy"),
    entry("N1", "Quiet night.\n\nKlystron 1.2\nKlystron 1.3\nKlystron 1.4", at="2026-02-06", author="Cy"),
)


@pytest.fixture(params=["with vectors", "by words"])
def book(request: pytest.FixtureRequest, open_empty: OpenEmpty) -> Logbook:
    """The shifts; answers must be right with vectors and without."""
    return meaning_book(open_empty, SHIFTS, embed=request.param == "with vectors")


def ask(book: Logbook, question: str, **options: Any) -> ARIELSearchResult:
    return book.search(question, mode="rag", **options)


def test_an_answer_cites_entries_that_hold_its_sentences(book: Logbook) -> None:
    result = ask(book, "klystron trip")
    assert result.answer == (
        "Klystron KLY-3 tripped on cathode overcurrent. [1]\n"
        "Klystron KLY-3 tripped again. [2]\n"
        "Klystron KLY-3 exchanged, no trip since. [3]"
    )
    assert result.sources == ("R1", "R2", "R3")
    assert result.search_modes_used == ("rag",)
    texts = {hit["entry_id"]: hit["raw_text"] for hit in result.entries}
    for text, numbers in cited_sentences(result.answer):
        assert all(text in texts[result.sources[number - 1]] for number in numbers)


def test_entries_are_what_was_found_with_their_ranks(book: Logbook) -> None:
    result = ask(book, "klystron trip")
    assert {"R1", "R2", "R3"} <= {hit["entry_id"] for hit in result.entries}
    assert all({"keyword", "all_words", "confidence"} <= set(hit["_ranks"]) for hit in result.entries)
    assert all(0 <= hit["_ranks"]["confidence"] <= 1 for hit in result.entries)


@pytest.mark.parametrize(
    ("question", "options", "sources"),
    [
        ("klystron trip author:bo", {}, ("R2",)),
        ("klystron trip -author:bo", {}, ("R1", "R3")),
        ("klystron trip", {"author": "ada"}, ("R1", "R3")),
        ("klystron trip", {"source_system": "als"}, ("R2",)),
        ("klystron trip", {"start_date": "2026-02-02", "end_date": "2026-02-04"}, ("R2",)),
        ("klystron trip NOT exchanged", {}, ("R1", "R2")),
        ("klystron trip logbook:rf", {}, ("R1",)),
        ('"tripped again"', {}, ("R2",)),
        ("klystron trip date:2026-02-09", {}, ("R3",)),
        ("klystron trip", {"exclude_entry_ids": ["R1", "R2"]}, ("R3",)),
    ],
)
def test_fields_exclusions_and_filters_hold(
    book: Logbook, question: str, options: dict[str, Any], sources: tuple[str, ...]
) -> None:
    result = ask(book, question, **options)
    assert result.sources == sources
    assert {hit["entry_id"] for hit in result.entries} <= {e["entry_id"] for e in SHIFTS}


def test_only_excluded_or_filtered_entries_are_never_found(book: Logbook) -> None:
    result = ask(book, "klystron trip -author:ada", author="ada")
    assert (result.entries, result.answer, result.sources) == ((), NOT_SAID, ())


def test_the_logbook_does_not_say(book: Logbook) -> None:
    result = ask(book, "who stole the neutrino detector?")
    assert (result.answer, result.sources) == (NOT_SAID, ())
    assert "no_answer" in {note.category for note in result.diagnostics}


def test_a_lower_bar_gives_an_answer_all_the_same(book: Logbook) -> None:
    question = "how many neutrinos came to the north sector of Geneva?"
    assert ask(book, question).answer == NOT_SAID
    assert ask(book, question, least_confidence=0, similarity_threshold=-1).sources


def test_readings_are_not_quoted(book: Logbook) -> None:
    answer = ask(book, "klystron author:cy").answer
    assert answer is not None
    assert "1.3" not in answer


def test_a_query_of_fields_alone_is_answered_with_what_the_entries_begin_with(book: Logbook) -> None:
    result = ask(book, "author:bo")
    assert result.answer is not None
    assert result.answer.startswith("Klystron KLY-3 tripped again. [1]")
    assert result.sources == ("R2",)


def test_nothing_to_ask_is_no_answer(book: Logbook) -> None:
    result = ask(book, "the")
    assert (result.answer, result.sources, result.entries) == (None, (), ())
    assert any("without content" in note.message for note in result.diagnostics)


def test_the_limits_of_an_answer(book: Logbook) -> None:
    assert len(ask(book, "klystron trip", max_sources=1).sources) == 1
    answer = ask(book, "klystron trip", max_sentences=2).answer
    assert len(list(cited_sentences(answer or ""))) == 2
    assert len(ask(book, "klystron trip", max_results=1).entries) == 1


def test_without_vectors_it_says_how_to_make_them(open_empty: OpenEmpty) -> None:
    result = ask(meaning_book(open_empty, SHIFTS, embed=False), "klystron trip")
    assert result.degraded
    assert any(note.level == "warning" and "ariel-lite enhance" in note.message for note in result.diagnostics)


def test_without_hybrid_mode_words_are_enough(make_logbook: MakeLogbook) -> None:
    book = make_logbook(SHIFTS)
    modes = {"hybrid": {"enabled": False}}
    config = book.service.config.model_validate({**book.service.config.model_dump(), "search_modules": modes})
    object.__setattr__(book.service.context, "config", config)
    result = ask(book, "klystron trip")
    assert not result.degraded
    assert result.sources == ("R1", "R2", "R3")


def test_a_typo_is_mended_and_said(book: Logbook) -> None:
    result = ask(book, "klystrn trip")
    assert result.sources
    assert any("klystron (for klystrn)" in note.message for note in result.diagnostics)
    assert "KLY-3 tripped" in (result.answer or "")


def test_all_backends_and_runs_give_the_same(book: Logbook) -> None:
    first, second = ask(book, "what made the klystron trip?"), ask(book, "what made the klystron trip?")
    assert (first.answer, first.sources) == (second.answer, second.sources)
    assert first.answer != NOT_SAID


def test_an_empty_logbook(open_empty: OpenEmpty) -> None:
    result = ask(meaning_book(open_empty), "klystron trip")
    assert (result.answer, result.sources, result.entries) == (NOT_SAID, (), ())
