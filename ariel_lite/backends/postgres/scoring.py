"""BM25 of candidate rows, from the index.

How often a word stands in an entry is read from the level marks (see `lexemes`), which only the index is needed for;
how often a phrase or the beginning of a word does, and frequencies of five and more, come from ts_rank_cd, which counts
them exactly: with the weights given here every occurrence of a pattern adds 0.1. Entries that pass PostgreSQL's limits
are counted in their text.

All candidates are scored exactly up to EXACT_ROWS. Beyond, words still are; phrases and beginnings get a lower bound
first (does it stand there at all; the level marks of a beginning), and the EXACT_ROWS best by that are scored exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ariel_lite.backends.postgres.arrays import Rows, places, read_arrays
from ariel_lite.backends.postgres.compiler import INDEX, condition
from ariel_lite.backends.postgres.connection import Connection
from ariel_lite.backends.postgres.lexemes import LEVELS, Queries, is_text, level_query, ranked_query, ranks_exactly
from ariel_lite.backends.postgres.longtexts import LongTexts
from ariel_lite.query.nodes import All, AnyOf, BoundNode, Exclude, FieldLeaf, TextLeaf, text_leaves
from ariel_lite.ranking.bm25 import K1, B, CorpusStatistics, inverse_document_frequency
from ariel_lite.text.highlight import Pattern

FEW_ROWS = 400
"""Up to so many candidates their vectors are read at once, beyond level marks are cheaper."""
EXACT_ROWS = 5_000
OCCURRENCE = 0.1
WEIGHTS = f"{{{OCCURRENCE}, {OCCURRENCE}, {OCCURRENCE}, 0}}"
RANK = f"round(ts_rank_cd('{WEIGHTS}', lexemes, %s::tsquery) / {OCCURRENCE})"

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Candidates:
    """Rows that match, ascending; their lengths in positions; those of them that the index holds only in part."""

    rows: Rows
    lengths: Rows
    limited: Rows

    def only(self, chosen: NDArray[np.intp]) -> Candidates:
        """The candidates at ascending indices."""
        rows = self.rows[chosen]
        return Candidates(rows, self.lengths[chosen], self.limited[np.isin(self.limited, rows)])


@dataclass(frozen=True)
class Scored:
    """Rows with their BM25 and the number of leaves matched as written."""

    rows: Rows
    scores: Numbers
    written: Rows


class Scorer:
    """Scores the candidates of one tree."""

    def __init__(
        self,
        connection: Connection,
        queries: Queries,
        long_texts: LongTexts,
        document_frequency: Callable[[TextLeaf], int],
        statistics: CorpusStatistics,
        tree: BoundNode,
    ) -> None:
        self._db = connection
        self._queries = queries
        self._long = long_texts
        self._document_frequency = document_frequency
        self._statistics = statistics
        self._tree = tree
        self._leaves = list({leaf.forms: leaf for leaf in _needed(tree)}.values())
        self._spelled = [leaf for leaf in dict.fromkeys(text_leaves(tree)) if leaf.written]
        self._scope = queries.relaxed(_text_of(tree))

    def score(self, candidates: Candidates, wanted: int) -> Scored:
        """Every candidate's score; of very many, that of the best (at least `wanted`) only."""
        if not len(candidates.rows):
            return Scored(candidates.rows, np.array([]), candidates.rows)
        written = self._written(candidates)
        counted = [leaf for leaf in self._leaves if not _is_word(leaf)]
        reach = max(EXACT_ROWS, wanted)
        if counted and len(candidates.rows) > reach:
            bounds = self._words(candidates) | {leaf.forms: self._bound(leaf, candidates) for leaf in counted}
            order = np.lexsort((-self._scores(candidates, bounds), -written))
            chosen = np.sort(order[:reach])
            candidates, written = candidates.only(chosen), written[chosen]
        return Scored(candidates.rows, self._scores(candidates, self._frequencies(candidates)), written)

    # How often each leaf stands in each candidate

    def _frequencies(self, candidates: Candidates) -> dict[Pattern, Numbers]:
        if len(candidates.rows) <= FEW_ROWS:
            return self._counted(self._leaves, candidates)
        counted = [leaf for leaf in self._leaves if not _is_word(leaf)]
        return self._words(candidates) | self._counted(counted, candidates)

    def _counted(self, leaves: Sequence[TextLeaf], candidates: Candidates) -> dict[Pattern, Numbers]:
        """Frequencies by ts_rank_cd; in the text where that or the index cannot count."""
        if not leaves:
            return {}
        rows = candidates.rows
        ranked = [leaf for leaf in leaves if ranks_exactly(leaf.forms)]
        found = self._ranks([ranked_query(leaf.forms) for leaf in ranked], rows)
        frequencies = {leaf.forms: column for leaf, column in zip(ranked, found, strict=True)}
        for leaf in leaves:
            if leaf.forms not in frequencies:
                frequencies[leaf.forms] = self._long.counts(leaf.forms, rows)
        self._correct(frequencies, leaves, candidates)
        return frequencies

    def _ranks(self, queries: Sequence[str], rows: Rows) -> list[Numbers]:
        columns = [np.zeros(len(rows)) for _ in queries]
        if not queries or not len(rows):
            return columns
        ranks = ", ".join(f"array_agg(({RANK})::integer)" for _ in queries)
        sql = f"SELECT array_agg(row_id), {ranks} FROM ariel_lite_lexemes WHERE row_id = ANY(%s)"
        order, *found = read_arrays(self._db, sql, (*queries, rows))
        at = places(rows, order)
        for column, values in zip(columns, found, strict=True):
            column[at] = values
        return columns

    def _words(self, candidates: Candidates) -> dict[Pattern, Numbers]:
        """Frequencies of single words, by their level marks; five and more are counted."""
        frequencies: dict[Pattern, Numbers] = {}
        words = [leaf for leaf in self._leaves if _is_word(leaf)]
        for leaf in words:
            levels = self._levels(leaf, candidates.rows)
            many = np.flatnonzero(levels >= LEVELS[-1])
            if len(many):
                levels[many] = self._ranks([ranked_query(leaf.forms)], candidates.rows[many])[0]
            frequencies[leaf.forms] = levels
        self._correct(frequencies, words, candidates)
        return frequencies

    def _levels(self, leaf: TextLeaf, rows: Rows) -> Numbers:
        """A lower bound of a single form's frequency: exact up to 4 for a word."""
        scope = f"{self._scope} & " if self._scope is not None else ""
        queries = [scope + level_query(level, leaf.forms[0]) for level in (1, *LEVELS)]
        levels = np.zeros(len(rows))
        for level, found in enumerate(self._rows_of(queries), start=1):
            levels[places(rows, found)] = level
        return levels

    def _rows_of(self, queries: Sequence[str]) -> list[Rows]:
        column = "(SELECT array_agg(row_id) FROM ariel_lite_lexemes WHERE lexemes @@ %s::tsquery)"
        return read_arrays(self._db, "SELECT " + ", ".join([column] * len(queries)), tuple(queries))

    def _bound(self, leaf: TextLeaf, candidates: Candidates) -> Numbers:
        """A lower bound of the frequency of a phrase or of the beginning of a word."""
        if len(leaf.forms) == 1:
            return self._levels(leaf, candidates.rows)
        if leaf in (self._tree.children if isinstance(self._tree, All) else (self._tree,)):
            return np.ones(len(candidates.rows))
        bound = np.zeros(len(candidates.rows))
        bound[places(candidates.rows, self._rows_of([self._queries.pattern(leaf.forms)])[0])] = 1
        return bound

    def _correct(self, frequencies: dict[Pattern, Numbers], leaves: Sequence[TextLeaf], candidates: Candidates) -> None:
        """Replace what the index cannot know of entries that it holds only in part."""
        if not len(candidates.limited):
            return
        at = places(candidates.rows, candidates.limited)
        for leaf in leaves:
            if _is_word(leaf):
                frequencies[leaf.forms][at] = self._kept_frequencies(leaf, candidates.limited)
            else:
                frequencies[leaf.forms][at] = self._long.counts(leaf.forms, candidates.limited)

    def _kept_frequencies(self, leaf: TextLeaf, rows: Rows) -> Numbers:
        """Of long texts the frequencies of repeated words are kept beside the vector."""
        lexeme = leaf.forms[0].lexeme
        sql = (
            "SELECT array_agg(row_id), array_agg(coalesce((frequencies ->> %s)::integer,"
            " (lexemes @@ %s::tsquery)::integer)) FROM ariel_lite_lexemes WHERE row_id = ANY(%s)"
        )
        order, values = read_arrays(self._db, sql, (lexeme, self._queries.pattern(leaf.forms), rows))
        found = np.zeros(len(rows))
        found[places(rows, order)] = values
        return found

    # Exact spellings

    def _written(self, candidates: Candidates) -> Rows:
        """For each candidate: how many quoted and identifier leaves stand in it exactly as written."""
        counts = np.zeros(len(candidates.rows), dtype=np.int64)
        if not self._spelled:
            return counts
        queries = [self._queries.written(leaf) for leaf in self._spelled]
        if len(candidates.rows) > FEW_ROWS:
            scope = f"{self._scope} & " if self._scope is not None else ""
            for found in self._rows_of([scope + query for query in queries]):
                counts[places(candidates.rows, found)] += 1
        else:
            sums = " + ".join("(lexemes @@ %s::tsquery)::integer" for _ in queries)
            sql = f"SELECT array_agg(row_id), array_agg({sums}) FROM ariel_lite_lexemes WHERE row_id = ANY(%s)"
            order, values = read_arrays(self._db, sql, (*queries, candidates.rows))
            counts[places(candidates.rows, order)] = values
        if len(candidates.limited):
            spelled = [self._long.counts(leaf.written, candidates.limited) > 0 for leaf in self._spelled]
            counts[places(candidates.rows, candidates.limited)] = np.sum(spelled, axis=0)
        return counts

    # BM25

    def _scores(self, candidates: Candidates, frequencies: dict[Pattern, Numbers]) -> Numbers:
        return self._evaluate(self._tree, candidates, frequencies, is_met=True)[1]

    def _evaluate(
        self, node: BoundNode, candidates: Candidates, frequencies: dict[Pattern, Numbers], *, is_met: bool
    ) -> tuple[NDArray[np.bool_], Numbers]:
        """For each candidate: does the node match, and the score of the text in its satisfied parts."""
        everywhere, none = np.ones(len(candidates.rows), dtype=bool), np.zeros(len(candidates.rows))
        if isinstance(node, TextLeaf):
            frequency = frequencies[node.forms]
            return frequency > 0, self._term_scores(node, frequency, candidates.lengths)
        if is_met and not isinstance(node, All | AnyOf):
            return everywhere, none
        if isinstance(node, Exclude):
            return ~self._evaluate(node.child, candidates, frequencies, is_met=False)[0], none
        if isinstance(node, FieldLeaf):
            return self._field(node, candidates.rows), none
        if not isinstance(node, All | AnyOf):
            return everywhere, none
        inner = is_met and isinstance(node, All)
        parts = [self._evaluate(child, candidates, frequencies, is_met=inner) for child in node.children]
        combine = np.logical_and if isinstance(node, All) else np.logical_or
        matched = combine.reduce([part for part, _ in parts])
        total = np.sum([np.where(part, score, 0.0) for part, score in parts], axis=0)
        return matched, np.where(matched, total, 0.0)

    def _term_scores(self, leaf: TextLeaf, frequency: Numbers, lengths: Rows) -> Numbers:
        idf = inverse_document_frequency(self._statistics.entries, self._document_frequency(leaf))
        average = self._statistics.average_length or 1.0
        norm = frequency + K1 * (1 - B + B * lengths / average)
        scores: Numbers = idf * (frequency * (K1 + 1.0)) / norm
        return scores

    def _field(self, leaf: FieldLeaf, rows: Rows) -> NDArray[np.bool_]:
        where = condition(leaf, self._queries, INDEX)
        sql = f"SELECT array_agg(i.row_id) FROM {INDEX.source} WHERE i.row_id = ANY(%s) AND {where.sql}"
        matched = np.zeros(len(rows), dtype=bool)
        matched[places(rows, read_arrays(self._db, sql, (rows, *where.parameters))[0])] = True
        return matched


def _is_word(leaf: TextLeaf) -> bool:
    return len(leaf.forms) == 1 and not leaf.forms[0].prefix


def _needed(node: BoundNode, *, is_met: bool = True) -> list[TextLeaf]:
    """The leaves whose frequencies a score depends on; an exclusion in a conjunction is met by every candidate."""
    if isinstance(node, TextLeaf):
        return [node]
    if isinstance(node, Exclude):
        return [] if is_met else _needed(node.child, is_met=False)
    if isinstance(node, All | AnyOf):
        inner = is_met and isinstance(node, All)
        return [leaf for child in node.children for leaf in _needed(child, is_met=inner)]
    return []


def _text_of(tree: BoundNode) -> BoundNode:
    """The conjuncts that are text, choices excepted: what limits the rows that level marks are looked up in."""
    conjuncts = tree.children if isinstance(tree, All) else (tree,)
    return All(tuple(node for node in conjuncts if is_text(node) and not isinstance(node, AnyOf)))
