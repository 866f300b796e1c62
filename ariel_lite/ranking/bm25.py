"""BM25 as SQLite's FTS5 computes it, written down once so that every backend gives the same numbers.

For a query of terms q (a word, a phrase or a prefix is one term) and an entry d:

    score(d) = sum over q of  idf(q) * f * (k1 + 1) / (f + k1 * (1 - b + b * |d| / avgdl))
    idf(q)   = ln((N - n + 0.5) / (n + 0.5)), at least 1e-6

f is how often q occurs in d, |d| the number of positions of d, avgdl their mean, N the number of entries and n the
number of entries that q matches. k1 = 1.2, b = 0.75. Source: sqlite.org/fts5.html, "The bm25() function".
A term counts only inside a part of the query that the entry satisfies: in `(a b) OR c` an entry with a and c scores c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

K1 = 1.2
B = 0.75
LEAST_IDF = 1e-6
SCORE_DIGITS = 12
"""Scores that agree to this many decimals are a tie."""


@dataclass(frozen=True)
class CorpusStatistics:
    """How many entries there are and how many positions they have in all."""

    entries: int
    positions: int

    @property
    def average_length(self) -> float:
        """Mean number of positions of an entry; 0.0 for an empty logbook."""
        return self.positions / self.entries if self.entries else 0.0


def inverse_document_frequency(entries: int, matching: int) -> float:
    """idf of a term that `matching` of `entries` entries hold; never under 1e-6."""
    idf = math.log((entries - matching + 0.5) / (matching + 0.5))
    return idf if idf > 0 else LEAST_IDF


def term_score(frequency: float, length: int, idf: float, statistics: CorpusStatistics) -> float:
    """What one term adds to an entry's score: 0.0 for a frequency of 0."""
    if not frequency:
        return 0.0
    norm = frequency + K1 * (1 - B + B * length / statistics.average_length)
    return idf * (frequency * (K1 + 1.0)) / norm


def rounded(score: float) -> float:
    """The score as it is compared: equal scores of two computations stay equal."""
    return round(score, SCORE_DIGITS)
