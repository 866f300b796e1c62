"""Fusing ranked lists: reciprocal rank fusion, with the similarity as a second opinion.

    score(d) = sum over legs of  weight / (k + rank(d))

k = 60. Source: Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
learning methods", SIGIR 2009. Scores lie between 0 and the sum of weights over k + 1; `scaled` divides by that, so
that an entry that is first everywhere has 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

RANK_CONSTANT = 60


@dataclass(frozen=True)
class Leg:
    """A ranked list: row numbers, best first, and its weight."""

    name: str
    rows: Sequence[int]
    weight: float = 1.0


def ranks(leg: Leg) -> dict[int, int]:
    """Row -> rank in a leg; the best has rank 1."""
    places: dict[int, int] = {}
    for place, row in enumerate(leg.rows, start=1):
        places.setdefault(int(row), place)
    return places


def fuse(legs: Sequence[Leg], k: int = RANK_CONSTANT) -> dict[int, float]:
    """Row -> fused score, scaled to 0..1; a row that is first in every leg has 1."""
    best = sum(leg.weight for leg in legs) / (k + 1)
    fused: dict[int, float] = {}
    for leg in legs:
        for row, rank in ranks(leg).items():
            fused[row] = fused.get(row, 0.0) + leg.weight / (k + rank)
    return {row: score / best for row, score in fused.items()} if best else fused


def explain(legs: Sequence[Leg], row: int) -> Mapping[str, int | None]:
    """The row's rank in each leg, None where it is not in it."""
    return {leg.name: ranks(leg).get(row) for leg in legs}
