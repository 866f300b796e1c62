"""How common words and pairs of words are in a logbook, counted in a sample of its entries.

A sample of some thousand entries tells a common word from a telling one as well as the whole logbook does, and costs
the same for a hundred thousand entries as for ten thousand, on every backend.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import batched
from ariel_lite.query.nodes import Everything
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.text.tokenise import Analyzer

SAMPLE = 4_000
READ_BATCH = 500
COMMON, FEW = 0.2, 5
"""A word of more than this share of entries, and of more than a few, is common."""

RECURRENT = 3
"""In how many entries two words must stand side by side to be one term."""

Pair = tuple[str, str]


class Frequencies:
    """In how many entries of a sample each lexeme, identifier and pair of neighbouring lexemes stands."""

    def __init__(self) -> None:
        self.entries = 0
        self._words: Counter[str] = Counter()
        self._pairs: Counter[Pair] = Counter()

    def add(self, analyzer: Analyzer, text: str) -> None:
        """Count an entry's text."""
        parts = analyzer.analyzed(text).parts
        self.entries += 1
        self._words.update({part.lexeme for part in parts} | {part.compound for part in parts if part.compound})
        self._pairs.update({(first.lexeme, second.lexeme) for first, second in pairwise(parts)})

    def rarity(self, lexeme: str) -> float:
        """ln(entries / entries that hold it), at least 0; what stands in one entry counts as standing in two."""
        return math.log(max(self.entries, 2) / max(self._words[lexeme], 2))

    def is_stray(self, lexeme: str) -> bool:
        """True for what stands in no more than one entry."""
        return self._words[lexeme] <= 1

    def is_common(self, lexeme: str) -> bool:
        """True for what stands in so many entries that it tells nothing."""
        return self._words[lexeme] > max(COMMON * self.entries, FEW)

    def is_term(self, first: str, second: str) -> bool:
        """True when two lexemes stand side by side often enough to be one term."""
        return self._pairs[(first, second)] >= RECURRENT


def frequencies_of(backend: Backend, analyzer: Analyzer, sample: int = SAMPLE) -> Frequencies:
    """Count a logbook: all entries, or `sample` of them spread evenly over it."""
    counted = Frequencies()
    for entry in _sample(backend, sample):
        counted.add(analyzer, entry["raw_text"])
    return counted


def _sample(backend: Backend, size: int) -> Iterator[EnhancedLogbookEntry]:
    rows = backend.rows(Everything())
    if len(rows) > size:
        rows = rows[np.linspace(0, len(rows) - 1, size).astype(np.int64)]
    hits = backend.best_rows(rows, np.zeros(len(rows)), len(rows))
    for batch in batched((hit.entry_id for hit in hits), READ_BATCH):
        yield from backend.get_entries(batch)
