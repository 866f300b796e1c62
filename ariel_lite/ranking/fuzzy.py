"""Typo candidates: which words of the logbook a query word may have meant.

A vocabulary word is a candidate when its pg_trgm similarity to the query word is at least 0.3, or its optimal string
alignment (OSA) distance at most 1 (2 from eight letters). Its score is the larger of the trigram similarity and the
normalised OSA similarity. Words under 4 characters and all digits must match exactly. Sources: PostgreSQL manual,
appendix F "pg_trgm"; rapidfuzz `distance.OSA`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

SIMILARITY = 0.3
SHORTEST = 4
LONG_WORD = 8
CHARACTER_BITS = 21
NON_DIGITS = re.compile(r"\D+")


@dataclass(frozen=True)
class Candidate:
    """A vocabulary word and how like the query word it is (0..1)."""

    word: str
    score: float


class Vocabulary:
    """The written words of a logbook, ready for candidate search.

    Words of one length share a matrix of packed trigrams, so that a search is a few array comparisons.
    """

    def __init__(self, words: Iterable[str]) -> None:
        by_length: dict[int, list[str]] = {}
        for word in words:
            if is_correctable(word):
                by_length.setdefault(len(word), []).append(word)
        self._buckets = {length: _Bucket(sorted(bucket)) for length, bucket in by_length.items()}

    def __len__(self) -> int:
        return sum(len(bucket.words) for bucket in self._buckets.values())

    def candidates(self, word: str) -> list[Candidate]:
        """The words that `word` may have meant, best first; [] for a word that must match exactly."""
        if not is_correctable(word):
            return []
        digits = NON_DIGITS.sub(" ", word).split()
        found = [
            candidate
            for bucket in self._buckets.values()
            for candidate in bucket.candidates(word)
            if NON_DIGITS.sub(" ", candidate.word).split() == digits
        ]
        return sorted(found, key=lambda candidate: (-candidate.score, candidate.word))


def is_correctable(word: str) -> bool:
    """True for words of at least 4 characters with a letter in them and nothing but letters and digits."""
    return len(word) >= SHORTEST and word.isalnum() and not word.isdigit()


def trigrams(word: str) -> set[str]:
    """pg_trgm's trigrams of one word: two blanks before it, one behind it."""
    padded = f"  {word} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)}


def similarity(one: str, other: str) -> float:
    """pg_trgm's similarity of two words, 0..1: shared trigrams over all trigrams."""
    first, second = trigrams(one), trigrams(other)
    return len(first & second) / len(first | second)


def allowed_distance(word: str) -> int:
    """How many edits a query word is forgiven: 1, and 2 from eight letters."""
    return 2 if len(word) >= LONG_WORD else 1


class _Bucket:
    """Words of one length."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.length = len(words[0])
        letters = np.array([f"  {word} " for word in words]).view(np.uint32).reshape(len(words), self.length + 3)
        self.trigrams = _pack(letters)
        ordered = np.sort(self.trigrams, axis=1)
        self.distinct = 1 + (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)

    def candidates(self, word: str) -> list[Candidate]:
        shares = self._similarities(word)
        edits = allowed_distance(word)
        scores = {int(at): float(shares[at]) for at in np.flatnonzero(shares >= SIMILARITY)}
        if abs(len(word) - self.length) <= edits:
            near = process.extract_iter(word, self.words, scorer=OSA.distance, score_cutoff=edits)
            for _, _, at in near:
                scores.setdefault(at, float(shares[at]))
        longest = max(len(word), self.length)
        return [
            Candidate(self.words[at], max(share, 1 - OSA.distance(word, self.words[at]) / longest))
            for at, share in scores.items()
        ]

    def _similarities(self, word: str) -> NDArray[np.float64]:
        wanted = trigrams(word)
        most = min(len(wanted), self.length + 1) / max(len(wanted), 1)
        if most < SIMILARITY:
            return np.zeros(len(self.words))
        shared = np.zeros(len(self.words), dtype=np.int64)
        for packed in _pack(np.array(sorted(wanted)).view(np.uint32).reshape(len(wanted), 3))[:, 0]:
            shared += (self.trigrams == packed).any(axis=1)
        similarities: NDArray[np.float64] = shared / (len(wanted) + self.distinct - shared)
        return similarities


def _pack(letters: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Each three neighbouring code points as one number."""
    wide = letters.astype(np.uint64)
    shift = np.uint64(CHARACTER_BITS)
    packed: NDArray[np.uint64] = (((wide[:, :-2] << shift) | wide[:, 1:-1]) << shift) | wide[:, 2:]
    return packed
