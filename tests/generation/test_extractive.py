"""Choosing sentences: what counts, what is left out, in which order."""

from __future__ import annotations

import numpy as np
import pytest
from quoting import asked, passage, scored

from ariel_lite.embeddings.base import Vectors
from ariel_lite.generation.extractive import extract
from ariel_lite.generation.passages import Passage
from ariel_lite.generation.scoring import CERTAIN, Question, is_question, score_passages, term_weight
from ariel_lite.text.tokenise import Analyzer


def answer(
    analyzer: Analyzer, words: str, *passages: Passage, sources: int = 9, sentences: int = 9, **w: float
) -> list[str]:
    ranked = scored(analyzer, asked(words, analyzer, **w), *passages)
    return [s.text for s in extract(ranked, analyzer, max_sources=sources, max_sentences=sentences)]


def test_the_sentence_with_the_words_is_taken(analyzer: Analyzer) -> None:
    text = "Quiet shift so far. Klystron KLY-3 tripped on overcurrent. Coffee machine is broken again."
    assert answer(analyzer, "klystron trip", passage("E1", text)) == ["Klystron KLY-3 tripped on overcurrent."]


def test_rare_words_count_more(analyzer: Analyzer) -> None:
    text = "The beam came back after the trip. The thyratron was found guilty."
    common, rare = term_weight("beam", 1000, 500), term_weight("thyratron", 1000, 2)
    assert rare > 5 * common
    chosen = answer(analyzer, "beam thyratron", passage("E1", text), beam=common, thyratron=rare)
    assert chosen == ["The thyratron was found guilty."]


def test_words_that_only_ask_weigh_nothing() -> None:
    assert term_weight("happened", 1000, 1) == term_weight("Made", 1000, 1) == 0
    assert term_weight("septum", 1000, 0) > term_weight("septum", 1000, 1) > 0


def test_time_order_whatever_the_rank(analyzer: Analyzer) -> None:
    cause = passage("E2", "The septum magnet is dead.", at="2025-05-10T09:00")
    repair = passage("E1", "The septum magnet is replaced, all good.", at="2025-05-12T09:00")
    first = "The septum magnet is dead.", "The septum magnet is replaced, all good."
    assert answer(analyzer, "septum magnet replaced", repair, cause) == list(first)


def test_sentences_of_an_entry_keep_their_order_and_begin_a_line_each_entry(analyzer: Analyzer) -> None:
    one = passage("E1", "The septum coil shorted. Rain outside today. The septum coil was cut out.", at="2025-05-10")
    two = passage("E2", "A new septum coil is ordered.", at="2025-05-11")
    ranked = scored(analyzer, asked("septum coil", analyzer), two, one)
    found = extract(ranked, analyzer, max_sources=9, max_sentences=9)
    assert [(s.text, s.sources, s.begins_line) for s in found] == [
        ("The septum coil shorted.", (1,), True),
        ("The septum coil was cut out.", (1,), False),
        ("A new septum coil is ordered.", (0,), True),
    ]


def test_nothing_is_said_twice(analyzer: Analyzer) -> None:
    same = passage("E1", "The septum coil shorted today."), passage("E2", "Today the SEPTUM coil shorted!")
    assert len(answer(analyzer, "septum coil", *same)) == 1
    other = passage("E1", "Dump at 21:10 by the septum."), passage("E2", "Dump at 22:35 by the septum.")
    assert len(answer(analyzer, "septum dump", *other)) == 2


def test_data_and_heads_of_lists_are_never_quoted(analyzer: Analyzer) -> None:
    text = (
        "| septum | 2.31 |\n|---|---|\n| kicker | 3.68 |\n\nSeptum readings of today:\n\nVoltages look normal enough."
    )
    assert answer(analyzer, "septum", passage("E1", text)) == ["Voltages look normal enough."]
    assert answer(analyzer, "septum", passage("E1", "| septum | 2.31 |\n|---|---|\n| kicker | 3.68 |")) == []


def test_a_title_is_followed_by_what_happened(analyzer: Analyzer) -> None:
    entry = passage("E1", "Found a shorted coil. Exchanged it.", title="Septum failure")
    assert answer(analyzer, "septum failure", entry) == ["Found a shorted coil."]
    entry = passage("E1", "Found a shorted coil. Exchanged it.", title="Failure of the septum")
    assert answer(analyzer, "septum failure", entry) == ["Failure of the septum", "Found a shorted coil."]


def test_no_more_than_was_asked_for(analyzer: Analyzer) -> None:
    many = [
        passage(f"E{n}", f"The septum fired late at {n} kV. Septum relay {n} was swapped.", at=f"2025-05-{n:02d}")
        for n in range(1, 9)
    ]
    assert len(answer(analyzer, "septum", *many, sources=3)) == 6
    assert len(answer(analyzer, "septum", *many, sentences=4)) == 4
    assert len(answer(analyzer, "septum", *many, sources=2, sentences=1)) == 1


def direction(texts: list[str]) -> Vectors:
    """Vectors that point to "gas" or away from it."""
    return np.array([[1.0, 0.0] if "argon" in text or "bottle" in text else [0.0, 1.0] for text in texts], np.float32)


def test_meaning_finds_a_sentence_without_the_words(analyzer: Analyzer) -> None:
    question = Question(asked("gas", analyzer).terms, vector=np.array([1.0, 0.0], np.float32), threshold=0.25)
    text = "Nothing on the rounds today. The argon bottle is empty. Door closed behind them."
    ranked = score_passages(question, [passage("E1", text)], analyzer, direction)
    best = ranked[0].best
    assert best is not None
    assert (best.sentence.text, best.cosine) == ("The argon bottle is empty.", 1.0)
    far = score_passages(question, [passage("E1", "Nothing on the rounds.")], analyzer, direction)
    assert ranked[0].confidence > 0.6 > 0.2 > far[0].confidence


def test_a_long_entry_does_not_embed_all_it_holds(analyzer: Analyzer) -> None:
    asked_for: list[str] = []

    def embed(texts: list[str]) -> Vectors:
        asked_for.extend(texts)
        return direction(texts)

    question = Question(asked("argon", analyzer).terms, vector=np.array([1.0, 0.0], np.float32), threshold=0.25)
    text = " ".join([*(f"Nothing on round number {n}." for n in range(500)), "The argon bottle is empty."])
    ranked = score_passages(question, [passage("E1", text)], analyzer, embed)
    assert len(asked_for) < 100
    assert ranked[0].best is not None
    assert ranked[0].best.sentence.text == "The argon bottle is empty."


@pytest.mark.parametrize("field", ["author", "at", "title"])
def test_what_stands_beside_the_text_counts(analyzer: Analyzer, field: str) -> None:
    about = {"author": "Nowak", "at": "2024-06-03", "title": "About Nowak of June 2024"}
    words = {"author": "septum nowak", "at": "septum june 2024", "title": "septum nowak"}[field]
    question = asked(words, analyzer)
    plain = scored(analyzer, question, passage("E1", "The septum failed."))[0]
    beside = scored(analyzer, question, passage("E1", "The septum failed.", **{field: about[field]}))[0]
    assert beside.coverage == 1.0 > plain.coverage
    assert beside.confidence > plain.confidence


def test_certainty_by_words(analyzer: Analyzer) -> None:
    held = Passage(**{**passage("E1", "Septum dead.").__dict__, "holds_all_words": True})
    terms = asked("septum", analyzer).terms
    assert scored(analyzer, Question(terms, names_its_words=True), held)[0].confidence == CERTAIN
    assert scored(analyzer, Question(terms), held)[0].confidence < CERTAIN
    assert scored(analyzer, Question(()), passage("E2", "Anything at all."))[0].confidence == CERTAIN


@pytest.mark.parametrize(
    ("text", "expected"),
    [("what tripped", True), ("KLY-3 tripped?", True), ("Is it dead?”", True), ("klystron trip", False), ("", False)],
)
def test_questions(text: str, expected: bool) -> None:
    assert is_question(text) is expected
