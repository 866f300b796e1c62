"""Scoring answers: citations against judgements, sentences against sources, silence; and their floors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from logbooks import entries

from ariel_lite.config import ARIELConfig
from ariel_lite.evaluation.answers import AnswerScore, cited_sentences, score_answer, summarise_answers
from ariel_lite.evaluation.baseline import falls, read_baseline, write_baseline
from ariel_lite.evaluation.collections import Collection, JudgedQuery
from ariel_lite.evaluation.scorecard import ModeScores, Scorecard, embed, evaluate, judged_logbook, store
from ariel_lite.records import ARIELSearchResult

TEXTS = {
    "A": "Klystron tripped on overvoltage.",
    "B": "Klystron filament current adjusted to 9 A.",
    "C": "Vacuum leak at the septum flange.",
}
QUERIES = (
    JudgedQuery("1", "klystron tripped", {"A": 2}, "exact"),
    JudgedQuery("2", "klystron", {"A": 1}, "exact"),
    JudgedQuery("3", "who stole the neutrino detector?", {}, "no_answer"),
    JudgedQuery("4", "septum neutrino septum?", {}, "no_answer"),
)


def result(answer: str, *sources: str) -> ARIELSearchResult:
    found = tuple({"entry_id": key, "raw_text": text} for key, text in TEXTS.items())
    return ARIELSearchResult(entries=found, answer=answer, sources=sources)


def test_sentences_and_their_numbers() -> None:
    answer = "Tripped at 21:10. [1] Reset [1][2]\nBeam back 22:40 [10]"
    assert list(cited_sentences(answer)) == [("Tripped at 21:10.", (1,)), ("Reset", (1, 2)), ("Beam back 22:40", (10,))]


@pytest.mark.parametrize(
    ("answer", "sources", "expected"),
    [
        ("Klystron tripped on overvoltage. [1]", ["A"], AnswerScore(1, 1, 1, 1)),
        ("Klystron tripped on overvoltage. [1]", ["B"], AnswerScore(1, 0, 1, 0)),
        ("Klystron tripped. [1] Klystron tripped on overvoltage. [1]", ["A"], AnswerScore(1, 1, 2, 1)),
        ("Klystron tripped on overvoltage. [1][2]", ["B", "A"], AnswerScore(2, 1, 1, 1)),
        ("The logbook does not say.", [], AnswerScore(0, 0, 0, 0)),
    ],
)
def test_an_answers_score(answer: str, sources: list[str], expected: AnswerScore) -> None:
    assert score_answer(result(answer, *sources), {"A": 2}) == expected


def test_a_summary_counts_citations_not_answers() -> None:
    summary = summarise_answers([AnswerScore(1, 0, 1, 1), AnswerScore(3, 3, 4, 3), AnswerScore(0, 0)])
    assert (summary.queries, summary.answered, summary.cited) == (3, pytest.approx(2 / 3), 4)
    assert (summary.precision, summary.verbatim) == (0.75, 0.8)
    assert summarise_answers([]).precision == 1.0


@pytest.fixture(scope="module")
def scores() -> ModeScores:
    """The queries through answer mode."""
    config = ARIELConfig.from_dict({"embedding": {"provider": "hashing", "model": "hashing"}})
    with judged_logbook(collection(), config) as service:
        store(service, collection())
        embed(service)
        return evaluate(service, QUERIES, "rag", plain=False)


def collection() -> Collection:
    return Collection(
        "small", QUERIES, len(TEXTS), lambda: iter(entries(*TEXTS.items())), "UTC", False, "0" * 64, "1" * 64
    )


def test_a_mode_that_answers_is_scored_by_class(scores: ModeScores) -> None:
    assert scores.answers["1"] == AnswerScore(1, 1, 1, 1)
    assert scores.answers["2"].cited == 2
    assert not scores.answers["3"].is_answered
    shares = {name: summary.answered for name, summary in scores.answered.items()}
    assert shares["all"] == shares["exact"] == 1.0
    assert scores.answered["exact"].precision == pytest.approx(2 / 3)
    document: dict[str, Any] = scores.to_dict()
    assert set(document["answers"]) == {"all", "exact", "no_answer"}
    assert document["answers"]["exact"]["verbatim"] == 1.0


def test_the_precision_of_all_counts_citations_that_answer_nothing(scores: ModeScores) -> None:
    worse = replace(scores, answers={**scores.answers, "3": AnswerScore(3, 0, 3, 3)})
    assert worse.answered["all"].precision < scores.answered["all"].precision
    assert worse.answered["all"].answered == scores.answered["all"].answered


def test_floors(scores: ModeScores, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    write_baseline(path, Scorecard(collection(), (scores,)), "hashing")
    baseline = read_baseline(path)
    assert baseline.modes["rag"].answers["2"] == AnswerScore(2, 1)

    def fallen(**answers: AnswerScore) -> list[tuple[str, str]]:
        changed = replace(scores, answers={**scores.answers, **{key[1:]: value for key, value in answers.items()}})
        found = falls(Scorecard(collection(), (changed,)), baseline)
        return [(fall.group, fall.metric) for fall in found]

    assert fallen() == []
    assert fallen(q1=AnswerScore(0, 0)) == [("all", "citation precision"), ("exact", "answered")]
    assert fallen(q2=AnswerScore(4, 1)) == [("all", "citation precision")]
    assert ("no_answer", "refused") in fallen(q3=AnswerScore(1, 0))
