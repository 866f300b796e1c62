"""Ranking a choice of words without reading every entry that holds a common one.

bm25() reads the length of each matching entry, so that `staedrum OR cavity` costs as much as `cavity`, a word of half
the logbook. But the common words can only add a little. The rarer words are ranked first; when the last entry wanted
scores more than all common words could give together, no entry with common words alone can be among the best. Entries
with both kinds are ranked by one more MATCH, in which every word stands once. The result is the same, sooner.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from ariel_lite.backends.sqlite.compiler import expression
from ariel_lite.backends.sqlite.stamps import generation
from ariel_lite.query.nodes import All, AnyOf, BoundNode, Exclude, TextLeaf, conjunction, disjunction
from ariel_lite.ranking.bm25 import K1, inverse_document_frequency

COMMON_ROWS = 5_000
"""Words of fewer entries are read sooner than any plan is made."""

COMMON_SHARE = 1.5
"""The words left out must have so many times the entries of the others."""


class Frequencies:
    """How many entries there are and how many hold a word, kept until the logbook changes; shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._generation: int | None = None
        self._entries = 0
        self._matching: dict[str, int] = {}

    def get(self, connection: apsw.Connection, matches: Sequence[str]) -> tuple[int, list[int]]:
        """The number of entries, and of those that each FTS5 expression matches, as they are now."""
        current = generation(connection)
        with self._lock:
            if self._generation != current:
                self._generation = current
                self._entries = int(connection.execute("SELECT count(*) FROM entry_state").get)
                self._matching = {}
            known, entries = self._matching, self._entries
        sql = "SELECT count(*) FROM entry_index WHERE entry_index MATCH ?"
        for match in matches:
            if match not in known:
                known[match] = int(connection.execute(sql, (match,)).get)
        return entries, [known[match] for match in matches]


@dataclass(frozen=True)
class Choice:
    """A tree whose only wanted text is a choice of words, cut in two.

    Attributes:
        rare: the tree with the rarer words alone.
        both: the tree of entries that hold a rarer and a common word.
        rest: what the common words can add to a score at most.
    """

    rare: BoundNode
    both: BoundNode
    rest: float


def cut_choice(connection: apsw.Connection, tree: BoundNode, wanted: int, frequencies: Frequencies) -> Choice | None:
    """The two parts of a tree, or None when it is no choice of words, or cutting it would not pay.

    Whether the rarer words suffice shows only in their scores.
    """
    conjuncts = tree.children if isinstance(tree, All) else (tree,)
    wanting = [node for node in conjuncts if not isinstance(node, Exclude)]
    choices = [node for node in wanting if isinstance(node, AnyOf)]
    if len(choices) != 1 or any(isinstance(node, TextLeaf | All) for node in wanting):
        return None
    leaves = choices[0].children
    if not all(isinstance(leaf, TextLeaf) and leaf.kind == "word" and not leaf.written for leaf in leaves):
        return None
    entries, counts = frequencies.get(connection, [expression(leaf) for leaf in leaves])
    order = sorted(range(len(leaves)), key=lambda at: counts[at])
    weights = [inverse_document_frequency(entries, counts[at]) for at in order]
    size = _rare_words([counts[at] for at in order], weights, wanted)
    if not size:
        return None
    rare = disjunction([leaves[at] for at in order[:size]])
    common = disjunction([leaves[at] for at in order[size:]])
    others = [node for node in conjuncts if node is not choices[0]]
    return Choice(
        conjunction([rare, *others]),
        conjunction([rare, common, *others]),
        sum(weights[size:]) * (K1 + 1.0),
    )


def _rare_words(counts: Sequence[int], weights: Sequence[float], wanted: int) -> int:
    """How many of the words, rarest first, are likely enough; 0 when the others are not worth being left out.

    A word once in an entry of usual length adds its weight. The last of the wanted entries scores at least about the
    weight of the word with which there are so many; more often than not it holds further words.
    """
    least = 0.0
    for size in range(1, len(counts)):
        taken, left = sum(counts[:size]), sum(counts[size:])
        if left < max(COMMON_SHARE * taken, COMMON_ROWS):
            return 0
        if taken >= wanted:
            least = least or weights[size - 1]
            if sum(weights[size:]) * (K1 + 1.0) < least:
                return size
    return 0
