"""Recording a baseline, comparing with it, and floors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ariel_lite.errors import ConfigurationError, InvalidRequestError
from ariel_lite.evaluation.baseline import (
    TOLERANCE,
    Baseline,
    changes,
    falls,
    read_baseline,
    require_fit,
    write_baseline,
)
from ariel_lite.evaluation.collections import Collection, JudgedQuery
from ariel_lite.evaluation.metrics import METRICS
from ariel_lite.evaluation.scorecard import ModeScores, Scorecard

GROUPS = {"exact": 4, "concept": 4}
ABSENT = [JudgedQuery(f"no{place}", "nothing", {}, "no_answer") for place in range(4)]
COLLECTION = Collection("small", (), 1, lambda: iter(()), "UTC", False, "d" * 64, "f" * 64)


def scores_of(mode: str, *, unanswered: int = 4, **values: float) -> ModeScores:
    """Every query of a class has the class's value for all metrics."""
    queries = [
        JudgedQuery(f"{group}{place}", group, {"a": 1}, group)
        for group, count in GROUPS.items()
        for place in range(count)
    ]
    scores = {query.query_id: dict.fromkeys(METRICS, values[query.group]) for query in queries}
    found_nothing = frozenset(query.query_id for query in ABSENT[:unanswered])
    return ModeScores(mode, (*queries, *ABSENT), scores, found_nothing)


def card(*modes: ModeScores) -> Scorecard:
    """A scorecard of the small collection."""
    return Scorecard(COLLECTION, modes)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a baseline with hybrid at exact .9, concept .5 lies."""
    file = tmp_path / "baseline.json"
    write_baseline(file, card(scores_of("hybrid", exact=0.9, concept=0.512345)), "model-x")
    return file


@pytest.fixture
def baseline(path: Path) -> Baseline:
    """That baseline."""
    return read_baseline(path)


def test_what_is_recorded_is_read_back(baseline: Baseline) -> None:
    recorded = scores_of("hybrid", exact=0.9, concept=0.512345)
    assert baseline.collection == "small"
    assert baseline.recorded_with.endswith("model-x")
    assert baseline.modes["hybrid"].scores == recorded.scores
    assert baseline.modes["hybrid"].unanswered == recorded.unanswered


def test_the_same_figures_are_no_change(baseline: Baseline) -> None:
    same = card(scores_of("hybrid", exact=0.9, concept=0.512345))
    assert falls(same, baseline) == []
    found = changes(same, baseline)["hybrid"]
    assert set(found) == {"all", "exact", "concept"}
    assert all(c.change == 0 and c.verdict == "noise" for metrics in found.values() for c in metrics.values())


def test_a_class_that_falls_is_named(baseline: Baseline) -> None:
    fallen = falls(card(scores_of("hybrid", exact=0.8, concept=0.7)), baseline)
    assert {(fall.group, fall.metric) for fall in fallen} == {("exact", "ndcg@10"), ("exact", "recall@50")}
    assert str(fallen[0]) == "hybrid, exact: ndcg@10 is 0.800, its floor 0.900"
    verdicts = changes(card(scores_of("hybrid", exact=0.8, concept=0.7)), baseline)["hybrid"]
    assert verdicts["exact"]["mrr"].verdict == "worse"
    assert verdicts["concept"]["mrr"].verdict == "better"


def test_less_than_the_tolerance_is_no_fall(baseline: Baseline) -> None:
    assert falls(card(scores_of("hybrid", exact=0.9 - TOLERANCE / 2, concept=0.51)), baseline) == []


def test_queries_that_should_find_nothing_have_a_floor(baseline: Baseline) -> None:
    fallen = falls(card(scores_of("hybrid", exact=0.9, concept=0.6, unanswered=3)), baseline)
    assert [(fall.group, fall.value, fall.floor) for fall in fallen] == [("no_answer", 0.75, 1.0)]


def test_a_part_of_the_set_is_held_to_its_own_queries(path: Path) -> None:
    whole = scores_of("hybrid", exact=0.9, concept=0.5)
    uneven = {**whole.scores, "exact0": dict.fromkeys(METRICS, 0.1)}
    write_baseline(path, card(replace(whole, scores=uneven)), "model-x")
    first = replace(whole, queries=whole.queries[:1], scores={"exact0": dict.fromkeys(METRICS, 0.1)})
    assert falls(card(first), read_baseline(path)) == []


def test_modes_that_were_not_recorded_are_not_compared(baseline: Baseline) -> None:
    other = card(scores_of("keyword", exact=0, concept=0))
    assert changes(other, baseline) == {}
    assert falls(other, baseline) == []


def test_recording_one_mode_keeps_the_others(path: Path) -> None:
    write_baseline(path, card(scores_of("keyword", exact=1, concept=0)), "model-x")
    assert set(read_baseline(path).modes) == {"hybrid", "keyword"}


def test_recording_another_state_of_the_collection_starts_anew(path: Path) -> None:
    changed = replace(COLLECTION, fingerprint="e" * 64)
    write_baseline(path, Scorecard(changed, (scores_of("keyword", exact=1, concept=0),)), "model-x")
    assert set(read_baseline(path).modes) == {"keyword"}


def test_a_baseline_of_another_collection_is_refused(baseline: Baseline, path: Path) -> None:
    require_fit(baseline, COLLECTION, path)
    with pytest.raises(ConfigurationError, match="was recorded of small"):
        require_fit(baseline, replace(COLLECTION, fingerprint="e" * 64), path)


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"metrics": ["mrr"]}', '{"metrics": 3, "modes": {}}'])
def test_a_file_that_is_no_baseline_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(InvalidRequestError, match=r"x\.json is no baseline"):
        read_baseline(tmp_path / "x.json")


def test_a_missing_baseline_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match=r"x\.json cannot be read"):
        read_baseline(tmp_path / "x.json")
