"""The fuzzy fallback: a bound tree whose bare words may also be vocabulary words near them, and its best entries.

Every query word needs a match, exact (score 1) or a candidate's; an entry's score is the mean over the words. Fields,
exclusions, quoted phrases and prefixes stay as they are. The algorithm only asks a backend which rows match a tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from ariel_lite.query.nodes import All, AnyOf, BoundNode, TextLeaf, conjunction, text_leaves
from ariel_lite.ranking.fuzzy import Candidate, Vocabulary
from ariel_lite.text.highlight import Form
from ariel_lite.text.tokenise import WRITTEN

Rows = NDArray[np.int64]
RowsOf = Callable[[BoundNode], Rows]

LOSS_STEPS = (0.0, 0.15, 0.35, 1.0)
ALTERNATIVES = 400
"""The most spellings tried for one leaf; only identifiers of several correctable parts can have more."""


@dataclass(frozen=True)
class Alternative:
    """One way to read a leaf: the leaf as a backend finds it, its mean score (0..1), the corrected words."""

    leaf: TextLeaf
    score: float
    corrections: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Approximate:
    """An entry's best reading: mean score over its words (0..1), and (as typed, corrected) pairs."""

    score: float
    corrections: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Found:
    """Sum of word scores, number of words, corrections."""

    total: float
    words: int
    corrections: tuple[tuple[str, str], ...]

    @property
    def mean(self) -> float:
        return self.total / self.words if self.words else 1.0


def can_be_approximate(tree: BoundNode) -> bool:
    """True when the tree has a bare word, outside exclusions, that may be corrected."""
    return any(leaf.kind in ("word", "identifier") for leaf in text_leaves(tree))


def approximate_rows(tree: BoundNode, vocabulary: Vocabulary, rows_of: RowsOf, wanted: int) -> dict[int, Approximate]:
    """Rows whose entries match the tree approximately, with their scores; at least the best `wanted` are complete."""
    alternatives = {leaf: _alternatives(leaf, vocabulary, rows_of) for leaf in _correctable(tree)}
    if any(not found for found in alternatives.values()) and not _has_choice(tree):
        return {}
    search = _Search(alternatives, rows_of)
    words = max(sum(len(leaf.words) for leaf in alternatives), 1)
    best = sum(found[0].score * len(leaf.words) for leaf, found in alternatives.items() if found) / words
    found: dict[int, _Found] = {}
    for loss in LOSS_STEPS[-1:] if _has_choice(tree) else LOSS_STEPS:
        found = search.run(tree, loss)
        scores = sorted((reading.mean for reading in found.values()), reverse=True)
        if len(scores) >= wanted and scores[wanted - 1] >= best - loss / words:
            break
    return {row: Approximate(reading.mean, reading.corrections) for row, reading in found.items()}


def _correctable(tree: BoundNode) -> list[TextLeaf]:
    return [leaf for leaf in dict.fromkeys(text_leaves(tree)) if leaf.kind in ("word", "identifier")]


def _has_choice(tree: BoundNode) -> bool:
    if isinstance(tree, AnyOf):
        return any(True for _ in text_leaves(tree))
    return isinstance(tree, All) and any(_has_choice(child) for child in tree.children)


def _alternatives(leaf: TextLeaf, vocabulary: Vocabulary, rows_of: RowsOf) -> list[Alternative]:
    """The readings of a leaf, best first: as typed where that occurs at all, then with corrected words."""
    typed = [Alternative(leaf, 1.0, ())] if len(rows_of(leaf)) else []
    choices = [[Candidate(word, 1.0), *_others(vocabulary, word)] for word in leaf.words]
    readings = [
        Alternative(
            replace(leaf, forms=_forms(leaf, combination), written=()),
            sum(candidate.score for candidate in combination) / len(combination),
            tuple((w, c.word) for w, c in zip(leaf.words, combination, strict=True) if w != c.word),
        )
        for combination in islice(product(*choices), ALTERNATIVES)
        if any(candidate.word != word for candidate, word in zip(combination, leaf.words, strict=True))
    ]
    return typed + sorted(readings, key=lambda reading: (-reading.score, reading.corrections))


def _others(vocabulary: Vocabulary, word: str) -> list[Candidate]:
    return [candidate for candidate in vocabulary.candidates(word) if candidate.word != word]


def _forms(leaf: TextLeaf, combination: tuple[Candidate, ...]) -> tuple[Form, ...]:
    return tuple(
        form if candidate.word == word else Form(WRITTEN + candidate.word)
        for form, word, candidate in zip(leaf.forms, leaf.words, combination, strict=True)
    )


class _Search:
    """Evaluates a tree over sets of rows, with each leaf read in every way within a loss."""

    def __init__(self, alternatives: dict[TextLeaf, list[Alternative]], rows_of: RowsOf) -> None:
        self.alternatives = alternatives
        self.rows_of = rows_of
        self.known: dict[TextLeaf, Rows] = {}

    def run(self, node: BoundNode, loss: float) -> dict[int, _Found]:
        if isinstance(node, TextLeaf):
            return self._leaf(node, loss)
        if isinstance(node, AnyOf):
            return self._any(node, loss)
        if isinstance(node, All):
            return self._all(node, loss)
        return {int(row): _Found(0.0, 0, ()) for row in self.rows_of(node)}

    def _leaf(self, leaf: TextLeaf, loss: float) -> dict[int, _Found]:
        words = len(leaf.words)
        if leaf not in self.alternatives:
            return {int(row): _Found(float(words), words, ()) for row in self.rows_of(leaf)}
        found: dict[int, _Found] = {}
        readings = self.alternatives[leaf]
        for reading in readings:
            if readings[0].score - reading.score > loss + 1e-9:
                break
            if reading.leaf not in self.known:
                self.known[reading.leaf] = self.rows_of(reading.leaf)
            match = _Found(reading.score * words, words, reading.corrections)
            for row in self.known[reading.leaf].tolist():
                found.setdefault(row, match)
        return found

    def _all(self, node: All, loss: float) -> dict[int, _Found]:
        searched = [child for child in node.children if any(True for _ in text_leaves(child))]
        conditions = [child for child in node.children if child not in searched]
        results = sorted((self.run(child, loss) for child in searched), key=len)
        rows = set(results[0]).intersection(*results[1:]) if results else set()
        if rows and conditions:
            rows &= set(self.rows_of(conjunction(conditions)).tolist())
        return {row: _added([result[row] for result in results]) for row in rows}

    def _any(self, node: AnyOf, loss: float) -> dict[int, _Found]:
        found: dict[int, _Found] = {}
        for child in node.children:
            for row, match in self.run(child, loss).items():
                if row not in found or match.mean > found[row].mean:
                    found[row] = match
        return found


def _added(matches: list[_Found]) -> _Found:
    return _Found(
        sum(match.total for match in matches),
        sum(match.words for match in matches),
        tuple(pair for match in matches for pair in match.corrections),
    )
