"""What the bench says of a logbook on a database server. There is no floor here: FTS5 is no part of a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ariel_lite.evaluation.bench_figures import Target, Times, by_kind, that_match, times_of
from ariel_lite.evaluation.bench_report import Ingested, machine_facts
from ariel_lite.evaluation.bench_vector_report import (
    HybridFigures,
    HybridSample,
    NearestFigures,
    StoredVectors,
    cosines_dict,
    nearest_targets,
    overall_of,
    summed_by_kind,
)

MOST_P50_MILLISECONDS = 30.0
MOST_P95_MILLISECONDS = 200.0
MOST_MISS_MILLISECONDS = 100.0
MOST_NEAREST_MILLISECONDS = 30.0


@dataclass(frozen=True)
class ServerSample:
    """One query's measurements: seconds of each round, how many entries it found, and whether approximately."""

    kind: str
    text: str
    seconds: tuple[float, ...]
    hits: int
    approximate: bool


@dataclass(frozen=True)
class ServerFigures:
    """Searches of a class; `hits` is the mean number of entries found."""

    name: str
    queries: int
    hits: float
    approximate: int
    times: Times

    def to_dict(self) -> dict[str, Any]:
        """All of it; times in milliseconds."""
        return {
            "queries": self.queries,
            "mean_hits": round(self.hits, 2),
            "approximate": self.approximate,
            "ms": self.times.to_dict(),
        }


@dataclass(frozen=True)
class ServerVectors:
    """The part on vectors.

    Attributes:
        stored: storing them and making the index; None when an earlier run did.
        neighbours: cosines of the ten nearest of all queries: 5th, 50th and 95th percentile.
        nearest: without and with filters.
        samples: hybrid searches.
    """

    stored: StoredVectors | None
    neighbours: tuple[float, float, float]
    nearest: tuple[NearestFigures, ...]
    samples: tuple[HybridSample, ...]

    @property
    def hybrid(self) -> list[HybridFigures]:
        """Each class of hybrid searches, then the classes of the keyword part together."""
        return [*summed_by_kind(self.samples), overall_of(self.samples)]

    @property
    def targets(self) -> list[Target]:
        """What should be reached at 135,000 entries."""
        return nearest_targets(self.nearest, MOST_NEAREST_MILLISECONDS)

    def to_dict(self) -> dict[str, Any]:
        """The key "vectors" of the JSON document."""
        return {
            "stored": None if self.stored is None else self.stored.to_dict(),
            "neighbour_cosines": cosines_dict(self.neighbours),
            "nearest": {figures.name: figures.to_dict() for figures in self.nearest},
            "hybrid": {figures.name: figures.to_dict() for figures in self.hybrid},
        }


@dataclass(frozen=True)
class ServerReport:
    """A whole run on a server.

    Attributes:
        location: the database's URL without its password.
        server: what runs there, with its version.
        seed: of entries and queries.
        rounds: how often each query was measured.
        ingested: reading, storing and indexing the entries.
        is_reused: an earlier run did that, and `ingested` are its figures.
        first_ms: the first search of a logbook just opened, and its first one with a typo.
        samples: keyword searches.
        vectors: the second part, where it was asked for.
    """

    location: str
    server: str
    seed: int
    rounds: int
    ingested: Ingested
    is_reused: bool
    first_ms: tuple[float, float]
    samples: tuple[ServerSample, ...]
    vectors: ServerVectors | None = None

    @property
    def classes(self) -> list[ServerFigures]:
        """Each class, in the order measured."""
        return [figures_of(name, samples) for name, samples in by_kind(self.samples).items()]

    @property
    def overall(self) -> ServerFigures:
        """All queries together."""
        return figures_of("all", self.samples)

    @property
    def matching(self) -> ServerFigures:
        """The queries of all classes but those in which nothing matches as typed."""
        return figures_of("all that match", that_match(self.samples))

    @property
    def targets(self) -> list[Target]:
        """What should be reached at 135,000 entries."""
        times = self.overall.times
        misses = [max(sample.seconds) * 1e3 for sample in self.samples if not sample.hits]
        return [
            Target("keyword p50", times.p50, MOST_P50_MILLISECONDS, "ms"),
            Target("keyword p95", times.p95, MOST_P95_MILLISECONDS, "ms"),
            *([Target("no hit max", max(misses), MOST_MISS_MILLISECONDS, "ms")] if misses else []),
            *(self.vectors.targets if self.vectors else ()),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `bench --db postgresql://… --json`."""
        second = {"vectors": self.vectors.to_dict()} if self.vectors else {}
        return {
            "machine": machine_facts(),
            "database": {"uri": self.location, "server": self.server},
            "entries": self.ingested.entries,
            "seed": self.seed,
            "rounds": self.rounds,
            "clock": "wall",
            "ingest": self.ingested.to_dict() | {"earlier_run": self.is_reused},
            "first_search_ms": round(self.first_ms[0], 3),
            "first_typo_ms": round(self.first_ms[1], 3),
            "classes": {figures.name: figures.to_dict() for figures in self.classes},
            "overall": self.overall.to_dict(),
            "matching": self.matching.to_dict(),
            **second,
            "targets": [target.to_dict() for target in self.targets],
        }


def figures_of(name: str, samples: Sequence[ServerSample]) -> ServerFigures:
    """Times over every round of every sample (at least one)."""
    return ServerFigures(
        name=name,
        queries=len(samples),
        hits=float(np.mean([sample.hits for sample in samples])),
        approximate=sum(sample.approximate for sample in samples),
        times=times_of(seconds for sample in samples for seconds in sample.seconds),
    )
