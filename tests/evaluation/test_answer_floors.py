"""Answers to the golden set with the real model: what they cite is relevant, and they keep silent where they should."""

from __future__ import annotations

import pytest

from ariel_lite.config import ARIELConfig
from ariel_lite.evaluation.answers import summarise_answers
from ariel_lite.evaluation.baseline import BUNDLED, falls, read_baseline
from ariel_lite.evaluation.collections import Collection, read_golden
from ariel_lite.evaluation.scorecard import (
    NO_ANSWER,
    OVERALL,
    ModeScores,
    Scorecard,
    embed,
    evaluate,
    judged_logbook,
    store,
)

MODE = "rag"
PRECISION = 0.95
REFUSED = 0.9
ANSWERED_IN_WORDS = 0.95
"""Of the classes whose queries use the logbook's words."""


@pytest.fixture(scope="module")
def golden() -> Collection:
    """The bundled golden set."""
    return read_golden()


@pytest.fixture(scope="module")
def scores(golden: Collection) -> ModeScores:
    """All its queries answered; takes a few minutes."""
    with judged_logbook(golden, ARIELConfig()) as service:
        store(service, golden)
        embed(service)
        return evaluate(service, golden.queries, MODE, plain=False)


def test_the_baseline_holds_an_answer_to_every_query(golden: Collection) -> None:
    recorded = read_baseline(BUNDLED).modes[MODE].answers
    assert set(recorded) == {query.query_id for query in golden.queries}


def test_the_recorded_figures(golden: Collection) -> None:
    recorded = read_baseline(BUNDLED).modes[MODE].answers
    assert summarise_answers(recorded.values()).precision >= PRECISION
    silent = summarise_answers(recorded[query.query_id] for query in golden.queries if not query.relevant)
    assert 1 - silent.answered >= REFUSED
    groups = {query.group for query in golden.queries if query.relevant} - {"concept"}
    for group in groups:
        members = [recorded[query.query_id] for query in golden.queries if query.group == group]
        assert summarise_answers(members).answered >= ANSWERED_IN_WORDS, group


@pytest.mark.slow
def test_no_class_is_below_its_floor(scores: ModeScores, golden: Collection) -> None:
    assert [str(fall) for fall in falls(Scorecard(golden, (scores,)), read_baseline(BUNDLED))] == []


@pytest.mark.slow
def test_citations_are_relevant_and_word_for_word(scores: ModeScores) -> None:
    answered = scores.answered
    assert answered[OVERALL].precision >= PRECISION
    assert answered[OVERALL].verbatim == 1.0
    assert 1 - answered[NO_ANSWER].answered >= REFUSED
