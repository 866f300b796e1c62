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
    """The written words of a logbook, ready for candidate search: for each trigram, the words that hold it."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = sorted((word for word in words if is_correctable(word)), key=lambda word: (len(word), word))
        lengths = np.array([len(word) for word in self._words], dtype=np.int64)
        self._lengths = lengths
        self._trigrams, self._holders = _postings(self._words, lengths)
        self._distinct = np.bincount(self._holders, minlength=len(self._words))

    def __len__(self) -> int:
        return len(self._words)

    def candidates(self, word: str) -> list[Candidate]:
        """The words that `word` may have meant, best first; [] for a word that must match exactly."""
        if not is_correctable(word) or not self._words:
            return []
        shares = self._similarities(word)
        near = set(np.flatnonzero(shares >= SIMILARITY).tolist())
        near.update(self._few_edits(word))
        digits = NON_DIGITS.sub(" ", word).split()
        found = [
            self._candidate(word, at, float(shares[at]))
            for at in near
            if NON_DIGITS.sub(" ", self._words[at]).split() == digits
        ]
        return sorted(found, key=lambda candidate: (-candidate.score, candidate.word))

    def _candidate(self, word: str, at: int, share: float) -> Candidate:
        other = self._words[at]
        edits = OSA.distance(word, other) / max(len(word), len(other))
        return Candidate(other, max(share, 1 - edits))

    def _few_edits(self, word: str) -> list[int]:
        """Words within the edits that a word is forgiven; they lie side by side, because words are sorted by length."""
        edits = allowed_distance(word)
        first, end = np.searchsorted(self._lengths, (len(word) - edits, len(word) + edits + 1))
        nearby = process.extract_iter(word, self._words[first:end], scorer=OSA.distance, score_cutoff=edits)
        return [int(first) + at for _, _, at in nearby]

    def _similarities(self, word: str) -> NDArray[np.float64]:
        """pg_trgm's similarity to each word."""
        wanted = np.unique(_pack_words([word], len(word)))
        starts, ends = (np.searchsorted(self._trigrams, wanted, side) for side in ("left", "right"))
        holders = [self._holders[start:end] for start, end in zip(starts, ends, strict=True)]
        shared = np.bincount(np.concatenate(holders), minlength=len(self._words))
        similarities: NDArray[np.float64] = shared / (len(wanted) + self._distinct - shared)
        return similarities


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


def _postings(words: list[str], lengths: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Packed trigrams, ascending, each with the index of a word that holds it; a word holds a trigram once."""
    packed: list[NDArray[np.uint64]] = [np.zeros(0, dtype=np.uint64)]
    holders: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    for length in np.unique(lengths).tolist():
        first, end = np.searchsorted(lengths, (length, length + 1))
        trigrams = np.sort(_pack_words(words[first:end], length), axis=1)
        is_new = np.ones(trigrams.shape, dtype=bool)
        is_new[:, 1:] = trigrams[:, 1:] != trigrams[:, :-1]
        packed.append(trigrams[is_new])
        holders.append(np.repeat(np.arange(first, end), is_new.sum(axis=1)))
    every, owners = np.concatenate(packed), np.concatenate(holders)
    order = np.argsort(every, kind="stable")
    return every[order], owners[order]


def _pack_words(words: list[str], length: int) -> NDArray[np.uint64]:
    """The packed trigrams of words of one length, a row each."""
    letters = np.array([f"  {word} " for word in words])
    return _pack(letters.view(np.uint32).reshape(len(words), length + 3))


def _pack(letters: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Each three neighbouring code points as one number."""
    wide = letters.astype(np.uint64)
    shift = np.uint64(CHARACTER_BITS)
    packed: NDArray[np.uint64] = (((wide[:, :-2] << shift) | wide[:, 1:-1]) << shift) | wide[:, 2:]
    return packed
