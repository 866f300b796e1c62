"""Fusing ranked lists by rank and by score, half and half.

    rank part(d)  = sum over legs of  weight * (k + 1) / (k + rank(d))        (0 where d is not in the leg)
    score part(d) = sum over legs of  weight * (s(d) - least) / (greatest - least)
    fused(d)      = (rank part(d) + score part(d)) / (2 * sum of weights)     (0..1; 1 is best in every leg)

k = 60. Ranks alone (Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
learning methods", SIGIR 2009) do not see how far apart entries are; scores alone are thrown off by one outlier. The
two together did better than either on all judged collections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

RANK_CONSTANT = 60


@dataclass(frozen=True)
class Leg:
    """A ranked list: row numbers, best first, their scores, and the leg's weight."""

    name: str
    rows: Sequence[int]
    scores: Sequence[float]
    weight: float = 1.0

    def ranks(self) -> dict[int, int]:
        """Row -> rank; the best has rank 1, and equal scores have equal ranks."""
        ranks: dict[int, int] = {}
        rank, last = 0, float("nan")
        for place, (row, score) in enumerate(zip(self.rows, self.scores, strict=True), start=1):
            rank = rank if score == last else place
            ranks[row], last = rank, score
        return ranks

    def scaled(self) -> dict[int, float]:
        """Row -> score brought to 0..1 over the leg; all 1 when all are equal."""
        if not self.rows:
            return {}
        least, greatest = min(self.scores), max(self.scores)
        if greatest == least:
            return dict.fromkeys(self.rows, 1.0)
        width = greatest - least
        return {row: (score - least) / width for row, score in zip(self.rows, self.scores, strict=True)}


def fuse(legs: Sequence[Leg], k: int = RANK_CONSTANT) -> dict[int, float]:
    """Row -> fused score, 0..1."""
    weights = sum(leg.weight for leg in legs)
    fused: dict[int, float] = {}
    if not weights:
        return fused
    for leg in legs:
        scaled = leg.scaled()
        for row, rank in leg.ranks().items():
            part = leg.weight * ((k + 1) / (k + rank) + scaled[row]) / (2 * weights)
            fused[row] = fused.get(row, 0.0) + part
    return fused
