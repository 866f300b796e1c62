"""Metrics against values worked out by hand, intervals, and comparisons."""

from __future__ import annotations

import math
import sys

import pytest

from ariel_lite.errors import ConfigurationError
from ariel_lite.evaluation.metrics import METRICS, Difference, compare, score_rankings, summarise


def scores(*values: float) -> dict[str, dict[str, float]]:
    """Queries Q0, Q1, … with the same value for every metric."""
    return {f"Q{place}": dict.fromkeys(METRICS, value) for place, value in enumerate(values)}


def test_values_worked_out_by_hand() -> None:
    judged = {"q": {"a": 3, "b": 1, "c": 2}}
    found = score_rankings({"q": ["a", "x", "b"]}, judged)["q"]
    ideal = 3 + 2 / math.log2(3) + 1 / math.log2(4)
    assert found["ndcg@10"] == pytest.approx((3 + 1 / math.log2(4)) / ideal, abs=1e-5)
    assert found["recall@10"] == found["recall@50"] == pytest.approx(2 / 3, abs=1e-5)
    assert found["mrr"] == 1
    assert found["success@1"] == 1


def test_cut_offs() -> None:
    judged = {"q": {"early": 1, "late": 1, "last": 1}}
    ranking = [f"x{place}" for place in range(60)]
    ranking[3], ranking[20], ranking[55] = "early", "late", "last"
    found = score_rankings({"q": ranking}, judged)["q"]
    assert found["recall@10"] == pytest.approx(1 / 3, abs=1e-5)
    assert found["recall@50"] == pytest.approx(2 / 3, abs=1e-5)
    assert found["success@1"] == 0
    assert found["mrr"] == 0.25


def test_mrr_looks_at_the_whole_ranking() -> None:
    ranking = [f"x{place}" for place in range(39)] + ["a"]
    assert score_rankings({"q": ranking}, {"q": {"a": 1}})["q"]["mrr"] == pytest.approx(1 / 40)


@pytest.mark.parametrize("first", ["a", "z"])
def test_the_order_of_a_ranking_counts_whatever_the_ids(first: str) -> None:
    ranking = [first, "m"]
    assert score_rankings({"q": ranking}, {"q": {first: 1}})["q"]["success@1"] == 1
    assert score_rankings({"q": ranking}, {"q": {"m": 1}})["q"]["success@1"] == 0


def test_a_query_that_found_nothing_or_was_not_asked_scores_zero() -> None:
    found = score_rankings({"empty": []}, {"empty": {"a": 1}, "absent": {"a": 2}})
    assert found == {"empty": dict.fromkeys(METRICS, 0.0), "absent": dict.fromkeys(METRICS, 0.0)}


def test_rankings_that_nobody_judged_do_not_count() -> None:
    assert set(score_rankings({"q": ["a"], "other": ["a"]}, {"q": {"a": 1}})) == {"q"}


def test_summary_has_the_mean_inside_its_interval() -> None:
    summary = summarise(scores(0, 0.2, 0.4, 0.6, 0.8, 1, 1, 1))
    low, high = summary.intervals["mrr"]
    assert summary.queries == 8
    assert summary.means["mrr"] == pytest.approx(0.625)
    assert 0 < low < 0.625 < high < 1


def test_intervals_narrow_with_more_queries_and_are_the_same_each_time() -> None:
    few, many = summarise(scores(*[0, 1] * 5)), summarise(scores(*[0, 1] * 200))
    width = [interval[1] - interval[0] for interval in (few.intervals["ndcg@10"], many.intervals["ndcg@10"])]
    assert width[1] < width[0] / 4
    # 1.96 standard errors each way: the bootstrap of a mean agrees with theory.
    assert width[1] == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(400), rel=0.1)
    assert summarise(scores(*[0, 1] * 5)) == few


def test_one_query_has_an_interval_without_width() -> None:
    assert summarise(scores(0.3)).intervals["mrr"] == pytest.approx((0.3, 0.3))


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ([0.5, 0.6, 0.7, 0.8, 0.9], [0.4, 0.5, 0.65, 0.7, 0.8], "better"),
        ([0.4, 0.5, 0.65, 0.7, 0.8], [0.5, 0.6, 0.7, 0.8, 0.9], "worse"),
        ([0.4, 0.9, 0.5, 0.7, 0.2], [0.9, 0.4, 0.7, 0.5, 0.3], "noise"),
        ([0.4, 0.9], [0.4, 0.9], "noise"),
    ],
)
def test_verdicts(ours: list[float], theirs: list[float], verdict: str) -> None:
    assert {change.verdict for change in compare(scores(*ours), scores(*theirs)).values()} == {verdict}


def test_pairing_finds_a_small_change_that_the_intervals_of_the_means_hide() -> None:
    theirs = [place / 20 for place in range(20)]
    ours = [value + 0.01 for value in theirs]
    mean = summarise(scores(*ours)).means["mrr"]
    low, high = summarise(scores(*theirs)).intervals["mrr"]
    assert low < mean < high
    assert compare(scores(*ours), scores(*theirs))["mrr"].verdict == "better"


def test_only_shared_queries_are_compared() -> None:
    ours = {**scores(0.5, 0.5), "new": dict.fromkeys(METRICS, 1.0)}
    assert compare(ours, scores(0.5, 0.5, 0.9))["mrr"] == Difference(0, 0, 0)
    assert compare({"new": ours["new"]}, scores(0.5)) == {}


def test_without_ir_measures_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(ConfigurationError, match="ir-measures") as caught:
        score_rankings({}, {"q": {"a": 1}})
    assert "ariel-lite[eval]" in caught.value.hint
