"""What the bench's second part says: storing vectors, the nearest of them, hybrid searches, and the model itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ariel_lite.evaluation.bench_figures import Target, Times, by_kind, times_of

LEAST_RECALL = 0.995
COMPLETE = 1.0
MOST_NEAREST_MILLISECONDS = 6.0
MOST_HYBRID_MILLISECONDS = 40.0
LEAST_OF_BARE_RATE = 0.9
MOST_PEAK_MEGABYTES = 400.0
MOST_FIRST_SECONDS = 0.6

UNFILTERED = "all entries"
SENTENCES = "sentence"
"""A class that only hybrid has: several words of one entry, as a question has them. The target is without it."""


@dataclass(frozen=True)
class StoredVectors:
    """Claiming and storing (`seconds`), then sealing, and the size of the file afterwards."""

    vectors: int
    seconds: float
    sealing_seconds: float
    file_bytes: int

    @property
    def rate(self) -> float:
        """Vectors a second, sealing included."""
        return self.vectors / (self.seconds + self.sealing_seconds)

    def to_dict(self) -> dict[str, Any]:
        """{vectors, seconds, sealing_seconds, vectors_per_second, file_bytes}."""
        return {
            "vectors": self.vectors,
            "seconds": round(self.seconds, 3),
            "sealing_seconds": round(self.sealing_seconds, 3),
            "vectors_per_second": round(self.rate, 1),
            "file_bytes": self.file_bytes,
        }


@dataclass(frozen=True)
class NearestFigures:
    """The ten nearest vectors under a kind of filter.

    Attributes:
        name: the filter.
        queries: how many were measured.
        allowed: the mean number of entries that the filter leaves.
        recall: the mean share of those found that are as near as the exact ten, to six digits.
        times: of finding the rows that the filter leaves, and the nearest of them.
        finding: of the former alone.
    """

    name: str
    queries: int
    allowed: float
    recall: float
    times: Times
    finding: Times

    def to_dict(self) -> dict[str, Any]:
        """All of it; times in milliseconds."""
        return {
            "queries": self.queries,
            "mean_allowed": round(self.allowed, 1),
            "recall@10": round(self.recall, 5),
            "ms": self.times.to_dict(),
            "finding_rows_ms": self.finding.to_dict(),
        }


@dataclass(frozen=True)
class HybridSample:
    """One query: seconds of each round, how many entries were found, and whether the semantic leg could not run."""

    kind: str
    text: str
    seconds: tuple[float, ...]
    hits: int
    degraded: bool


@dataclass(frozen=True)
class HybridFigures:
    """Hybrid searches of a class."""

    name: str
    queries: int
    hits: float
    degraded: int
    times: Times

    def to_dict(self) -> dict[str, Any]:
        """All of it; times in milliseconds."""
        return {
            "queries": self.queries,
            "mean_hits": round(self.hits, 2),
            "degraded": self.degraded,
            "ms": self.times.to_dict(),
        }


@dataclass(frozen=True)
class EmbeddingFigures:
    """The model that comes along.

    Attributes:
        texts: how many were embedded.
        words: their mean number of words.
        rate: texts a second of the provider.
        bare_rate: of a bare loop over the same texts.
        agreement: the least cosine of a text's two vectors.
        peak_bytes: the most memory of a process that does no more than embed them; None where it cannot be read.
        query: times of embedding one query, loading excluded.
    """

    texts: int
    words: float
    rate: float
    bare_rate: float
    agreement: float
    peak_bytes: int | None
    query: Times

    @property
    def ratio(self) -> float:
        """The provider's rate over the bare loop's."""
        return self.rate / self.bare_rate

    def to_dict(self) -> dict[str, Any]:
        """All of it."""
        return {
            "texts": self.texts,
            "mean_words": round(self.words, 1),
            "texts_per_second": round(self.rate, 1),
            "bare_texts_per_second": round(self.bare_rate, 1),
            "ratio": round(self.ratio, 3),
            "least_agreement": round(self.agreement, 6),
            "peak_bytes": self.peak_bytes,
            "query_ms": self.query.to_dict(),
        }


@dataclass(frozen=True)
class FirstSearch:
    """A process that opens a logbook and makes one hybrid search with the model: medians, in seconds.

    Attributes:
        entries: of the logbook, all with vectors of the model.
        hits: entries found.
        whole: the process.
        bare: a process that does nothing.
    """

    entries: int
    hits: int
    whole: float
    bare: float

    @property
    def seconds(self) -> float:
        """What the search costs beyond Python's start."""
        return self.whole - self.bare

    def to_dict(self) -> dict[str, Any]:
        """{entries, hits, process_seconds, python_seconds, seconds}."""
        return {
            "entries": self.entries,
            "hits": self.hits,
            "process_seconds": round(self.whole, 3),
            "python_seconds": round(self.bare, 3),
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True)
class VectorReport:
    """The second part of a run.

    Attributes:
        stored: storing them.
        first_ms: milliseconds of the first nearest of a logbook just opened, which reads all vectors.
        neighbours: cosines of the ten nearest of all queries: 5th, 50th and 95th percentile.
        nearest: without and with filters.
        samples: hybrid searches.
        embedding: the model.
        first: the first search of a process.
    """

    stored: StoredVectors
    first_ms: float
    neighbours: tuple[float, float, float]
    nearest: tuple[NearestFigures, ...]
    samples: tuple[HybridSample, ...]
    embedding: EmbeddingFigures
    first: FirstSearch

    @property
    def hybrid(self) -> list[HybridFigures]:
        """Each class of hybrid searches, in the order measured."""
        return summed_by_kind(self.samples)

    @property
    def overall(self) -> HybridFigures:
        """The classes of the keyword part together."""
        return overall_of(self.samples)

    @property
    def targets(self) -> list[Target]:
        """What should be reached at 135,000 entries."""
        whole, filtered = _divided(self.nearest)
        peak = self.embedding.peak_bytes
        return [
            Target("nearest recall", whole.recall, LEAST_RECALL, "", at_least=True),
            *nearest_targets(self.nearest, MOST_NEAREST_MILLISECONDS),
            *(Target(f"{one.name} p50", one.times.p50, round(whole.times.p50, 3), "ms") for one in filtered),
            Target("hybrid p95", self.overall.times.p95, MOST_HYBRID_MILLISECONDS, "ms"),
            Target("embedding/bare", self.embedding.ratio, LEAST_OF_BARE_RATE, "x", at_least=True),
            *([] if peak is None else [Target("embedding peak", peak / 1e6, MOST_PEAK_MEGABYTES, "MB")]),
            Target("first search", self.first.seconds, MOST_FIRST_SECONDS, "s"),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The key "vectors" of the JSON document."""
        return {
            "stored": self.stored.to_dict(),
            "first_nearest_ms": round(self.first_ms, 3),
            "neighbour_cosines": cosines_dict(self.neighbours),
            "nearest": {figures.name: figures.to_dict() for figures in self.nearest},
            "hybrid": {figures.name: figures.to_dict() for figures in (*self.hybrid, self.overall)},
            "embedding": self.embedding.to_dict(),
            "first_search": self.first.to_dict(),
        }


def cosines_dict(neighbours: tuple[float, float, float]) -> dict[str, float]:
    """{p5, p50, p95} of the cosines of neighbours."""
    return {name: round(cosine, 3) for name, cosine in zip(("p5", "p50", "p95"), neighbours, strict=True)}


def nearest_targets(nearest: Sequence[NearestFigures], most_milliseconds: float) -> list[Target]:
    """How soon the nearest of all entries should be there, and that filters lose none."""
    whole, filtered = _divided(nearest)
    return [
        Target("nearest p95", whole.times.p95, most_milliseconds, "ms"),
        *(Target(f"{one.name} recall", one.recall, COMPLETE, "", at_least=True) for one in filtered),
    ]


def _divided(nearest: Sequence[NearestFigures]) -> tuple[NearestFigures, list[NearestFigures]]:
    """The nearest of all entries, and those under filters."""
    whole = next(figures for figures in nearest if figures.name == UNFILTERED)
    return whole, [figures for figures in nearest if figures.name != UNFILTERED]


def summed_by_kind(samples: Sequence[HybridSample]) -> list[HybridFigures]:
    """Each class, in the order measured."""
    return [summed(name, of_kind) for name, of_kind in by_kind(samples).items()]


def overall_of(samples: Sequence[HybridSample]) -> HybridFigures:
    """The classes of the keyword part together."""
    return summed("all", [sample for sample in samples if sample.kind != SENTENCES])


def summed(name: str, samples: Sequence[HybridSample]) -> HybridFigures:
    """Times over every round of every sample (at least one)."""
    return HybridFigures(
        name=name,
        queries=len(samples),
        hits=float(np.mean([sample.hits for sample in samples])),
        degraded=sum(sample.degraded for sample in samples),
        times=times_of(seconds for sample in samples for seconds in sample.seconds),
    )
