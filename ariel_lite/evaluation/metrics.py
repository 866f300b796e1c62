"""Figures of retrieval quality: what ir-measures computes per query, means, and bootstrap intervals.

Conventions are trec_eval's: an entry of grade 1 or more is relevant; nDCG takes the grade as gain and log2 as discount;
`mrr` looks at the whole ranking asked for, not only at its first ten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ariel_lite.errors import ConfigurationError

METRICS = ("ndcg@10", "recall@10", "recall@50", "mrr", "success@1")
RESAMPLES = 2000
SEED = 20260310
CONFIDENCE = (2.5, 97.5)
BLOCK = 100
DIGITS = 6
"""Of a query's metrics, so that recorded ones are equal to those just computed."""

Ranking = Sequence[str]
"""Entry ids, best first."""

Grades = Mapping[str, int]
"""Entry id -> grade, 1 or more; entries that are not named are not relevant."""

Scores = Mapping[str, float]
"""Metric (see METRICS) -> value, 0 to 1."""

Verdict = Literal["better", "worse", "noise"]


@dataclass(frozen=True)
class Summary:
    """Means over queries and their 95 % bootstrap intervals (low, high), by metric."""

    queries: int
    means: Scores
    intervals: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Difference:
    """The mean change of a metric over the same queries, its 95 % interval, and whether that leaves out 0."""

    change: float
    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        """What the interval says: noise while it holds 0."""
        if self.low > 0:
            return "better"
        return "worse" if self.high < 0 else "noise"


def score_rankings(rankings: Mapping[str, Ranking], judged: Mapping[str, Grades]) -> dict[str, dict[str, float]]:
    """Each judged query's metrics; a query without a ranking scores 0.

    Raises:
        ConfigurationError: ir-measures is not installed.
    """
    measures = load_measures()
    names = {
        measures.nDCG @ 10: "ndcg@10",
        measures.R @ 10: "recall@10",
        measures.R @ 50: "recall@50",
        measures.RR: "mrr",
        measures.Success @ 1: "success@1",
    }
    run = {query: _descending(rankings.get(query, ())) for query in judged}
    scores = {query: dict.fromkeys(METRICS, 0.0) for query in judged}
    wanted = {query: dict(grades) for query, grades in judged.items()}
    for found in measures.iter_calc(list(names), wanted, run):
        scores[found.query_id][names[found.measure]] = round(float(found.value), DIGITS)
    return scores


def load_measures() -> ModuleType:
    """The package ir-measures, an optional one.

    Raises:
        ConfigurationError: it is not installed.
    """
    try:
        return import_module("ir_measures")
    except ImportError as fault:
        raise ConfigurationError(
            "the scorecard needs the package ir-measures", hint="pip install 'ariel-lite[eval]'"
        ) from fault


def summarise(scores: Mapping[str, Scores]) -> Summary:
    """Means and intervals over at least one query's metrics."""
    values = _matrix(scores, list(scores))
    means = values.mean(axis=0)
    low, high = _interval(values)
    return Summary(
        len(scores),
        {metric: float(means[place]) for place, metric in enumerate(METRICS)},
        {metric: (float(low[place]), float(high[place])) for place, metric in enumerate(METRICS)},
    )


def compare(ours: Mapping[str, Scores], theirs: Mapping[str, Scores]) -> dict[str, Difference]:
    """How each metric changed from `theirs` to `ours`, by a paired bootstrap; {} when no query is in both."""
    shared = [query for query in ours if query in theirs]
    if not shared:
        return {}
    changes = _matrix(ours, shared) - _matrix(theirs, shared)
    means = changes.mean(axis=0)
    low, high = _interval(changes)
    return {
        metric: Difference(float(means[place]), float(low[place]), float(high[place]))
        for place, metric in enumerate(METRICS)
    }


def _descending(ranking: Ranking) -> dict[str, float]:
    """Scores that say nothing but the order: equal scores would be ordered by id."""
    return {entry_id: float(len(ranking) - place) for place, entry_id in enumerate(ranking)}


def _matrix(scores: Mapping[str, Scores], queries: Sequence[str]) -> NDArray[np.float64]:
    return np.array([[scores[query][metric] for metric in METRICS] for query in queries], dtype=np.float64)


def _interval(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The 95 % percentile interval of the mean of rows; the same rows always give the same one."""
    random = np.random.default_rng(SEED)
    count = len(values)
    blocks = []
    for start in range(0, RESAMPLES, BLOCK):
        drawn = random.multinomial(count, np.full(count, 1 / count), size=min(BLOCK, RESAMPLES - start))
        blocks.append(drawn @ values / count)
    low, high = np.percentile(np.concatenate(blocks), CONFIDENCE, axis=0)
    return low, high
