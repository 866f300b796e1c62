"""What the bench says: times by class beside the floor, the targets, and the machine it ran on."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw
import numpy as np

from ariel_lite.evaluation.bench_figures import MISSES, Clock, Target, Times, by_kind, that_match, times_of
from ariel_lite.evaluation.bench_vector_report import VectorReport

TARGET_ENTRIES = 135_000
MOST_MEGABYTES = 220.0
LEAST_ENTRIES_PER_SECOND = 10_000.0
MOST_FLOORS_P50 = 3.0
MOST_FLOORS_P95 = 1.5
MOST_MISS_MILLISECONDS = 50.0


@dataclass(frozen=True)
class Sample:
    """One query's measurements: seconds of each round, how many entries it found, and whether approximately."""

    kind: str
    text: str
    ours: tuple[float, ...]
    floor: tuple[float, ...]
    hits: int
    approximate: bool


@dataclass(frozen=True)
class Comparison:
    """A set of queries, ours beside the floor; `hits` is the mean number of entries found."""

    name: str
    queries: int
    hits: float
    approximate: int
    ours: Times
    floor: Times

    @property
    def ratios(self) -> tuple[float, float]:
        """Ours over the floor: of the p50 and of the p95."""
        return self.ours.p50 / self.floor.p50, self.ours.p95 / self.floor.p95

    def to_dict(self) -> dict[str, Any]:
        """All of it; times in milliseconds."""
        p50, p95 = self.ratios
        return {
            "queries": self.queries,
            "mean_hits": round(self.hits, 2),
            "approximate": self.approximate,
            "ours_ms": self.ours.to_dict(),
            "floor_ms": self.floor.to_dict(),
            "ratio": {"p50": round(p50, 2), "p95": round(p95, 2)},
        }


@dataclass(frozen=True)
class Ingested:
    """How long reading, storing and indexing took, closing included, and what came of it."""

    entries: int
    seconds: float
    file_bytes: int

    @property
    def rate(self) -> float:
        """Entries a second."""
        return self.entries / self.seconds

    def to_dict(self) -> dict[str, Any]:
        """{entries, seconds, entries_per_second, file_bytes}."""
        return {
            "entries": self.entries,
            "seconds": round(self.seconds, 3),
            "entries_per_second": round(self.rate, 1),
            "file_bytes": self.file_bytes,
        }


@dataclass(frozen=True)
class BenchReport:
    """A whole run. `first_ms` are the first search of a logbook just opened, and its first one with a typo.

    `vectors` is the second part, where it was asked for.
    """

    seed: int
    rounds: int
    clock: Clock
    ingested: Ingested
    first_ms: tuple[float, float]
    samples: tuple[Sample, ...]
    vectors: VectorReport | None = None

    @property
    def classes(self) -> list[Comparison]:
        """Each class, in the order measured."""
        return [compare(name, samples) for name, samples in by_kind(self.samples).items()]

    @property
    def overall(self) -> Comparison:
        """All queries together."""
        return compare("all", self.samples)

    @property
    def matching(self) -> Comparison:
        """The queries of all classes but those in which nothing matches as typed."""
        return compare("all that match", that_match(self.samples))

    @property
    def targets(self) -> list[Target]:
        """What should be reached at 135,000 entries; the file's limit is taken by the entry."""
        ratio_p50, ratio_p95 = self.overall.ratios
        megabytes = self.ingested.file_bytes / 1e6
        room = MOST_MEGABYTES * self.ingested.entries / TARGET_ENTRIES
        misses = [comparison for comparison in self.classes if comparison.name in MISSES]
        return [
            Target("ingest", self.ingested.rate, LEAST_ENTRIES_PER_SECOND, "entries/s", at_least=True),
            Target("file", megabytes, round(room, 3), "MB"),
            Target("p50 over floor", ratio_p50, MOST_FLOORS_P50, "x"),
            Target("p95 over floor", ratio_p95, MOST_FLOORS_P95, "x"),
            *(Target(f"{miss.name} p95", miss.ours.p95, MOST_MISS_MILLISECONDS, "ms") for miss in misses),
            *(self.vectors.targets if self.vectors else ()),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `bench --json`."""
        second = {"vectors": self.vectors.to_dict()} if self.vectors else {}
        return {
            "machine": machine_facts(),
            "entries": self.ingested.entries,
            "seed": self.seed,
            "rounds": self.rounds,
            "clock": self.clock,
            "ingest": self.ingested.to_dict(),
            "first_search_ms": round(self.first_ms[0], 3),
            "first_typo_ms": round(self.first_ms[1], 3),
            "classes": {comparison.name: comparison.to_dict() for comparison in self.classes},
            "overall": self.overall.to_dict(),
            "matching": self.matching.to_dict(),
            **second,
            "targets": [target.to_dict() for target in self.targets],
        }


def compare(name: str, samples: Sequence[Sample]) -> Comparison:
    """Times over every round of every sample (at least one)."""
    return Comparison(
        name=name,
        queries=len(samples),
        hits=float(np.mean([sample.hits for sample in samples])),
        approximate=sum(sample.approximate for sample in samples),
        ours=times_of(seconds for sample in samples for seconds in sample.ours),
        floor=times_of(seconds for sample in samples for seconds in sample.floor),
    )


def machine_facts() -> dict[str, Any]:
    """What the figures depend on besides the code; `load` is the mean of the last minute, None where unknown."""
    return {
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "system": platform.platform(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "apsw": apsw.apsw_version(),
    }
