"""The golden set with the real model: no class below its recorded floor, and hybrid not behind its legs.

After a change that is meant: `ariel-lite eval --record`, and look at what the difference of baseline.json says.
"""

from __future__ import annotations

import pytest

from ariel_lite.config import ARIELConfig
from ariel_lite.evaluation.baseline import BUNDLED, NO_ANSWER_TOLERANCE, falls, read_baseline
from ariel_lite.evaluation.collections import Collection, Kept, read_golden
from ariel_lite.evaluation.metrics import summarise
from ariel_lite.evaluation.scorecard import MODES, ModeScores, Scorecard, embed, evaluate, judged_logbook, store

LEG_TOLERANCE = 0.02
"""What hybrid may lie behind the better leg in a class, as its mean: a neighbour or two that changed places."""


@pytest.fixture(scope="session")
def golden() -> Collection:
    """The bundled golden set."""
    return read_golden()


@pytest.fixture(scope="session")
def card(golden: Collection) -> Scorecard:
    """Its queries through all modes; the sample is embedded once."""
    with judged_logbook(golden, ARIELConfig()) as service:
        store(service, golden)
        embed(service)
        modes = tuple(evaluate(service, golden.queries, mode, plain=False) for mode in MODES)
    return Scorecard(golden, modes)


def means(scores: ModeScores, golden: Collection, kept: Kept, metric: str) -> dict[str, float]:
    """Class -> mean of a metric over all or the kept queries."""
    chosen = {query.query_id for query in golden.chosen(kept)}
    return {
        group: summarise({key: value for key, value in scores.of_group(group).items() if key in chosen}).means[metric]
        for group in scores.groups
    }


def test_the_baseline_is_of_this_golden_set_and_whole(golden: Collection) -> None:
    baseline = read_baseline(BUNDLED)
    assert baseline.fits(golden)
    assert set(baseline.modes) == {*MODES, "rag"}
    answered = {query.query_id for query in golden.queries if query.relevant}
    assert all(set(recorded.scores) == answered for recorded in baseline.modes.values())


def test_no_class_is_below_its_floor(card: Scorecard) -> None:
    assert [str(fall) for fall in falls(card, read_baseline(BUNDLED))] == []


@pytest.mark.parametrize("kept", ["all", "only"])
@pytest.mark.parametrize("metric", ["ndcg@10", "recall@50"])
def test_hybrid_is_as_good_as_the_better_leg_in_every_class(
    card: Scorecard, golden: Collection, kept: Kept, metric: str
) -> None:
    keyword, semantic, hybrid = (means(scores, golden, kept, metric) for scores in card.modes)
    behind = {
        group: f"{hybrid[group]:.3f} where keyword has {keyword[group]:.3f}, semantic {semantic[group]:.3f}"
        for group in hybrid
        if hybrid[group] < max(keyword[group], semantic[group]) - LEG_TOLERANCE
    }
    assert behind == {}


def test_hybrid_leaves_as_much_unanswered_as_semantic_where_there_is_no_answer(card: Scorecard) -> None:
    _, semantic, hybrid = card.modes
    asked = len(hybrid.without_answer)
    assert len(hybrid.unanswered) / asked >= len(semantic.unanswered) / asked - NO_ANSWER_TOLERANCE
