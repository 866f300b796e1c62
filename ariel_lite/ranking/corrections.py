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

from ariel_lite.query.nodes import All, AnyOf, BoundNode, Nothing, TextLeaf, conjunction, disjunction, text_leaves
from ariel_lite.ranking.fuzzy import Candidate, Vocabulary
from ariel_lite.text.highlight import Form
from ariel_lite.text.tokenise import WRITTEN

Rows = NDArray[np.int64]
RowsOf = Callable[[BoundNode], Rows]
Exists = Callable[[BoundNode], bool]

LOSS_STEPS = (0.0, 0.15, 0.35, 1.0)
MOST_WORDS = 12
"""Longer queries are not corrected: they are questions or pasted text, and every word multiplies the readings."""

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
    """An entry's best reading: mean score over words (0..1), (typed, corrected) pairs, matching leaves, worst score."""

    score: float
    corrections: tuple[tuple[str, str], ...]
    leaves: tuple[TextLeaf, ...]
    worst: float


@dataclass(frozen=True)
class _Scores:
    """For each candidate row: does the node match, the sum of its word scores, and their number."""

    matched: NDArray[np.bool_]
    total: NDArray[np.float64]
    words: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        means: NDArray[np.float64] = self.total / np.maximum(self.words, 1.0)
        return means


class ApproximateRows:
    """The rows found, ascending, with their scores (0..1), and how each was read."""

    def __init__(self, step: _Step) -> None:
        self._step = step
        self._at = np.flatnonzero(step.scores.matched)
        self.rows: Rows = step.rows[self._at]
        self.scores: NDArray[np.float64] = step.scores.mean[self._at]

    def reading(self, row: int) -> Approximate:
        """How one of the rows was read."""
        place = int(np.searchsorted(self.rows, row))
        readings = self._step.readings_at(int(self._at[place]))
        corrections = tuple(pair for reading in readings for pair in reading.corrections)
        leaves = tuple(reading.leaf for reading in readings)
        worst = min((reading.score for reading in readings), default=1.0)
        return Approximate(float(self.scores[place]), corrections, leaves, worst)


def can_be_approximate(tree: BoundNode) -> bool:
    """True when the tree has bare words, outside exclusions, that may be corrected, and not too many of them."""
    return 0 < len(_correctable(tree)) <= MOST_WORDS


def approximate_rows(
    tree: BoundNode, vocabulary: Vocabulary, rows_of: RowsOf, exists: Exists, wanted: int, least: float = 0.0
) -> ApproximateRows:
    """Rows whose entries match the tree approximately, with their scores; at least the best `wanted` are complete.

    A reading of a leaf under the score `least` (0..1) is not tried.

    Readings are admitted step by step, by how much worse than the best reading of their leaf they are: an entry that
    no step has found yet is worse than the steps so far allow, so the search ends as soon as enough are found.
    """
    has_choice = _has_choice(tree)
    typed = {leaf: exists(leaf) for leaf in _correctable(tree)}
    readings: dict[TextLeaf, list[Alternative]] = {}
    for leaf in sorted(typed, key=typed.__getitem__):
        every = _alternatives(leaf, vocabulary, is_typed=typed[leaf])
        readings[leaf] = [reading for reading in every if reading.score >= least]
        if not readings[leaf] and not has_choice:
            return ApproximateRows(_Step(tree, {}, rows_of))
    words = max(sum(len(leaf.words) for leaf in text_leaves(tree)), 1)
    lost = sum((1 - found[0].score) * len(leaf.words) for leaf, found in readings.items() if found)
    step = _Step(tree, {}, rows_of)
    for loss in LOSS_STEPS[-1:] if has_choice else LOSS_STEPS:
        admitted = {leaf: _within(found, loss) for leaf, found in readings.items()}
        if admitted == step.readings:
            continue
        step = _Step(tree, admitted, rows_of)
        means = np.sort(step.scores.mean[step.scores.matched])[::-1]
        if len(means) >= wanted and means[wanted - 1] >= 1 - (lost + loss) / words:
            break
    return ApproximateRows(step)


def _within(readings: list[Alternative], loss: float) -> list[Alternative]:
    return [reading for reading in readings if readings[0].score - reading.score <= loss + 1e-9]


def _correctable(tree: BoundNode) -> list[TextLeaf]:
    return [leaf for leaf in dict.fromkeys(text_leaves(tree)) if leaf.kind in ("word", "identifier")]


def _has_choice(tree: BoundNode) -> bool:
    if isinstance(tree, AnyOf):
        return any(True for _ in text_leaves(tree))
    return isinstance(tree, All) and any(_has_choice(child) for child in tree.children)


def _alternatives(leaf: TextLeaf, vocabulary: Vocabulary, *, is_typed: bool) -> list[Alternative]:
    """The readings of a leaf, best first: as typed where that occurs at all, then with corrected words."""
    typed = [Alternative(leaf, 1.0, ())] if is_typed else []
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


class _Step:
    """A tree with each leaf read in every admitted way, evaluated over the rows that match at all."""

    def __init__(self, tree: BoundNode, readings: dict[TextLeaf, list[Alternative]], rows_of: RowsOf) -> None:
        self.readings = readings
        self._tree = tree
        self._rows_of = rows_of
        self._widened = self._widen(tree) if readings else Nothing("no reading is admitted")
        self.rows = rows_of(self._widened)
        self._chosen: dict[TextLeaf, NDArray[np.int64]] = {}
        self.scores = self._evaluate(tree)

    def _widen(self, node: BoundNode) -> BoundNode:
        if isinstance(node, TextLeaf) and node in self.readings:
            return disjunction([reading.leaf for reading in self.readings[node]])
        if isinstance(node, All):
            return conjunction([self._widen(child) for child in node.children])
        return disjunction([self._widen(child) for child in node.children]) if isinstance(node, AnyOf) else node

    def _evaluate(self, node: BoundNode) -> _Scores:
        if isinstance(node, TextLeaf):
            return self._leaf(node)
        if isinstance(node, All):
            return self._all([self._evaluate(child) for child in node.children])
        if isinstance(node, AnyOf) and any(True for _ in text_leaves(node)):
            return self._best([self._evaluate(child) for child in node.children])
        none = np.zeros(len(self.rows))
        return _Scores(np.ones(len(self.rows), dtype=bool), none, none)

    def _leaf(self, leaf: TextLeaf) -> _Scores:
        readings = self.readings.get(leaf, [Alternative(leaf, 1.0, ())])
        chosen = np.full(len(self.rows), -1, dtype=np.int64)
        for number, reading in enumerate(readings):
            if len(readings) == 1 and isinstance(self._tree, All | TextLeaf) and not _has_choice(self._tree):
                chosen[:] = 0
                break
            matching = np.isin(self.rows, self._rows_of(conjunction([reading.leaf, self._widened])))
            chosen[matching & (chosen < 0)] = number
        self._chosen[leaf] = chosen
        scores = np.array([*(reading.score for reading in readings), 0.0])
        return _Scores(chosen >= 0, scores[chosen] * len(leaf.words), np.full(len(self.rows), float(len(leaf.words))))

    def _all(self, children: list[_Scores]) -> _Scores:
        matched = np.logical_and.reduce([child.matched for child in children])
        total = np.sum([child.total for child in children], axis=0)
        return _Scores(matched, total, np.sum([child.words for child in children], axis=0))

    def _best(self, children: list[_Scores]) -> _Scores:
        best = children[0]
        for child in children[1:]:
            better = child.matched & (~best.matched | (child.mean > best.mean))
            best = _Scores(
                best.matched | child.matched,
                np.where(better, child.total, best.total),
                np.where(better, child.words, best.words),
            )
        return best

    def readings_at(self, at: int) -> list[Alternative]:
        """The reading of each leaf that the row at an index matched by."""
        return [
            self.readings[leaf][chosen[at]] if leaf in self.readings else Alternative(leaf, 1.0, ())
            for leaf, chosen in self._chosen.items()
            if chosen[at] >= 0
        ]
