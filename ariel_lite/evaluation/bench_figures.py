"""What the bench's parts share: clocks, times, and figures with the limit they should keep."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

Clock = Literal["wall", "cpu"]

CLOCKS: Mapping[Clock, Callable[[], float]] = MappingProxyType({"wall": time.perf_counter, "cpu": time.thread_time})
"""Seconds; "cpu" counts what the processor did for the calling thread."""

PROCESS_CLOCKS: Mapping[Clock, Callable[[], float]] = MappingProxyType(
    {"wall": time.perf_counter, "cpu": time.process_time}
)
"""The same for work that several threads share."""


MISSES = ("typo", "no hit")
"""The classes in which nothing matches as typed: the floor ends there, a search looks on for words that are near."""


@dataclass(frozen=True)
class Times:
    """Milliseconds."""

    p50: float
    p95: float
    most: float

    def to_dict(self) -> dict[str, float]:
        """{p50, p95, max} in milliseconds."""
        return {"p50": round(self.p50, 3), "p95": round(self.p95, 3), "max": round(self.most, 3)}


@dataclass(frozen=True)
class Target:
    """A figure with the limit it should keep; `at_least` says on which side."""

    name: str
    value: float
    limit: float
    unit: str
    at_least: bool = False

    @property
    def is_met(self) -> bool:
        """True when the figure keeps the limit."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def to_dict(self) -> dict[str, Any]:
        """{name, value, limit, unit, at_least, met}."""
        return {
            "name": self.name,
            "value": round(self.value, 4),
            "limit": self.limit,
            "unit": self.unit,
            "at_least": self.at_least,
            "met": self.is_met,
        }


class OfKind(Protocol):
    """A query's measurements."""

    @property
    def kind(self) -> str:
        """The class of the query."""


AnySample = TypeVar("AnySample", bound=OfKind)


def by_kind(samples: Iterable[AnySample]) -> dict[str, list[AnySample]]:
    """Class -> its samples, in the order measured."""
    found: dict[str, list[AnySample]] = {}
    for sample in samples:
        found.setdefault(sample.kind, []).append(sample)
    return found


def that_match(samples: Iterable[AnySample]) -> list[AnySample]:
    """The samples of all classes but those in which nothing matches as typed."""
    return [sample for sample in samples if sample.kind not in MISSES]


def times_of(seconds: Iterable[float]) -> Times:
    """The times of measurements in seconds, of which there is at least one."""
    milliseconds = np.array(list(seconds)) * 1e3
    p50, p95 = np.percentile(milliseconds, (50, 95))
    return Times(float(p50), float(p95), float(milliseconds.max()))


def timed(call: Callable[[], object], clock: Callable[[], float]) -> float:
    """How many seconds of a clock a call takes."""
    begin = clock()
    call()
    return clock() - begin
