"""Finding rows: ranked text, lists by time, counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from ariel_lite.backends.ordering import contenders
from ariel_lite.backends.postgres.arrays import Rows, places, read_arrays
from ariel_lite.backends.postgres.columns import Layout
from ariel_lite.backends.postgres.compiler import INDEX, Condition, Table, conjunction_of, rows_of_field, table_for
from ariel_lite.backends.postgres.connection import Connection, integer
from ariel_lite.backends.postgres.lexemes import Queries
from ariel_lite.backends.postgres.longtexts import LongTexts, LongTextsCache
from ariel_lite.backends.postgres.scoring import Candidates, Scorer
from ariel_lite.backends.values import Hit, SearchPlan, Statement
from ariel_lite.query.nodes import BoundNode, Everything, Nothing, TextLeaf, text_leaves
from ariel_lite.ranking.bm25 import SCORE_DIGITS, CorpusStatistics
from ariel_lite.text.highlight import Pattern
from ariel_lite.text.tokenise import Analyzer

NOT_INDEXED = -1
MANY_TIED = 500
REMEMBERED_COUNTS = 10_000

PREPARE = (
    "SELECT set_config('enable_seqscan', 'off', true), generation, entries, positions,"
    " (SELECT coalesce(max(limit_kind), 0) FROM ariel_lite_lexemes WHERE limit_kind > 0) FROM ariel_lite_totals"
)
"""The planner knows nothing of what reading all vectors costs; with this it always takes the index."""


@dataclass
class SearchMemory:
    """What searches of one generation of the logbook may reuse: how many entries a pattern matches. One a backend."""

    counts: tuple[int, dict[Pattern, int]] = field(default_factory=lambda: (-1, {}))
    texts: LongTextsCache = field(default_factory=LongTextsCache)

    def counts_of(self, generation: int) -> dict[Pattern, int]:
        """The counts known of a generation. Threads swap the pair as one, so that no count gets a wrong generation."""
        known, counts = self.counts
        if known != generation or len(counts) > REMEMBERED_COUNTS:
            counts = {}
            self.counts = (generation, counts)
        return counts


class Searcher:
    """Searches over one connection, inside a read transaction of the caller."""

    def __init__(self, connection: Connection, layout: Layout, analyzer: Analyzer, memory: SearchMemory) -> None:
        self._db = connection
        row = connection.execute(PREPARE).fetchone()
        assert row is not None
        _, generation, entries, positions, self._greatest_kind = row
        self._statistics = CorpusStatistics(int(entries), int(positions))
        self._counts = memory.counts_of(int(generation))
        self._queries = Queries(analyzer)
        self._long = LongTexts(connection, layout, self._queries, analyzer, memory.texts)

    def statistics(self) -> CorpusStatistics:
        """Entries and positions of what is indexed."""
        return self._statistics

    def search(self, plan: SearchPlan) -> list[Hit]:
        """The plan's hits in the contract's order."""
        if isinstance(plan.tree, Nothing):
            return []
        if any(True for _ in text_leaves(plan.tree)):
            return self._ranked(plan)
        statement = self._listed_statement(plan)
        found = self._db.execute(statement.sql, statement.parameters)
        return [Hit(entry_id, 0.0, 0, NOT_INDEXED if row is None else int(row)) for entry_id, row in found]

    def rows(self, tree: BoundNode) -> Rows:
        """Row numbers of what a tree matches, ascending."""
        field = rows_of_field(tree)
        if field is not None:
            sql = f"SELECT array_agg(DISTINCT row_id) FROM ({field.sql}) AS found"
            return np.sort(read_arrays(self._db, sql, field.parameters)[0])
        where = self.where(tree, INDEX)
        found = read_arrays(
            self._db, f"SELECT array_agg(i.row_id) FROM {INDEX.source} WHERE {where.sql}", where.parameters
        )
        return np.sort(found[0])

    def count(self, tree: BoundNode) -> int:
        """How many entries a tree matches."""
        table = table_for(tree)
        field = rows_of_field(tree)
        if field is not None:
            sql = f"SELECT count(DISTINCT row_id) FROM ({field.sql}) AS found"
            return integer(self._db, sql, field.parameters)
        where = self.where(tree, table)
        found = self._db.execute(f"SELECT count(*) FROM {table.source} WHERE {where.sql}", where.parameters).fetchone()
        return int(found[0]) if found else 0

    def exists(self, tree: BoundNode) -> bool:
        """True when a tree matches at least one entry."""
        table = table_for(tree)
        where = self.where(tree, table)
        found = self._db.execute(f"SELECT 1 FROM {table.source} WHERE {where.sql} LIMIT 1", where.parameters)
        return found.fetchone() is not None

    def document_frequency(self, leaf: TextLeaf) -> int:
        """How many entries a leaf matches, whatever else is asked for."""
        if leaf.forms not in self._counts:
            self._counts[leaf.forms] = self.count(leaf)
        return self._counts[leaf.forms]

    def statements(self, plan: SearchPlan) -> list[Statement]:
        """What `search` runs first; scores are computed from what it finds."""
        if isinstance(plan.tree, Nothing):
            return []
        if any(True for _ in text_leaves(plan.tree)):
            return [self._candidates_statement(plan.tree)]
        return [self._listed_statement(plan)]

    def best_rows(
        self, rows: Rows, scores: NDArray[np.float64], limit: int, offset: int = 0, written: Rows | None = None
    ) -> list[Hit]:
        """Scored rows as hits in the contract's order, cut to the page asked for."""
        if not len(rows) or limit <= 0:
            return []
        counts = np.zeros(len(rows), dtype=np.int64) if written is None else written
        values = np.round(scores, SCORE_DIGITS)
        order = contenders(rows, values, counts, offset + limit, self._newest)
        known = self._times(rows[order])
        keyed = [
            (-int(counts[at]), -float(values[at]), -known[row][0].timestamp(), known[row][1], row)
            for at in order
            if (row := int(rows[at])) in known
        ]
        best = sorted(keyed)[offset : offset + limit]
        return [Hit(entry_id, -score, -count, row) for count, score, _, entry_id, row in best]

    def _newest(self, rows: Rows, wanted: int) -> NDArray[np.intp]:
        """Indices of the newest of many rows: at least `wanted`, with all that are as old as the last of them."""
        if len(rows) <= MANY_TIED:
            return np.arange(len(rows))
        sql = (
            "SELECT array_agg(row_id) FROM (SELECT row_id FROM ariel_lite_lexemes WHERE row_id = ANY(%s)"
            " ORDER BY at DESC FETCH FIRST %s ROWS WITH TIES) AS newest"
        )
        order = np.argsort(rows)
        return order[places(rows[order], read_arrays(self._db, sql, (rows, wanted))[0])]

    def _times(self, rows: Rows) -> dict[int, tuple[datetime, str]]:
        sql = "SELECT row_id, at, entry_id FROM ariel_lite_lexemes WHERE row_id = ANY(%s)"
        return {int(row): (at, entry_id) for row, at, entry_id in self._db.execute(sql, (rows,))}

    def where(self, tree: BoundNode, table: Table) -> Condition:
        """A tree's condition; entries that the index holds only in part are named by their rows."""
        where = conjunction_of(tree, self._queries, table)
        least = self._long.least_kind(tree)
        if table is not INDEX or self._greatest_kind < least or isinstance(tree, Everything):
            return where
        if not any(True for _ in text_leaves(tree, positive=False)):
            return where
        found = self._long.matching(tree, least)
        sql, parameters = f"({where.sql} AND i.limit_kind < %s)", (*where.parameters, least)
        if not len(found):
            return Condition(sql, parameters)
        return Condition(f"({sql} OR i.row_id = ANY(%s))", (*parameters, found))

    def _listed_statement(self, plan: SearchPlan) -> Statement:
        table = table_for(plan.tree)
        where = self.where(plan.tree, table)
        direction = "DESC" if plan.order == "newest" else "ASC"
        order = f'ORDER BY {table.time} {direction}, {table.entry_id} COLLATE "C" LIMIT %s OFFSET %s'
        sql = f"SELECT {table.entry_id}, i.row_id FROM {table.source} WHERE {where.sql} {order}"
        if table is not INDEX:
            page = f"SELECT {table.entry_id}, {table.time} FROM {table.source} WHERE {where.sql} {order}"
            sql = (
                f"SELECT e.entry_id, i.row_id FROM ({page}) AS e LEFT JOIN ariel_lite_lexemes AS i"
                f' ON i.entry_id = e.entry_id ORDER BY {table.time} {direction}, e.entry_id COLLATE "C"'
            )
        return Statement(sql, (*where.parameters, plan.limit, plan.offset))

    def _candidates_statement(self, tree: BoundNode) -> Statement:
        where = self.where(tree, INDEX)
        sql = (
            "SELECT array_agg(i.row_id), array_agg(i.length), array_agg(i.row_id) FILTER (WHERE i.limit_kind > 0)"
            f" FROM {INDEX.source} WHERE {where.sql}"
        )
        return Statement(sql, where.parameters)

    def _ranked(self, plan: SearchPlan) -> list[Hit]:
        statement = self._candidates_statement(plan.tree)
        rows, lengths, limited = read_arrays(self._db, statement.sql, statement.parameters)
        order = np.argsort(rows)
        candidates = Candidates(rows[order], lengths[order], np.sort(limited))
        scorer = Scorer(self._db, self._queries, self._long, self.document_frequency, self._statistics, plan.tree)
        scored = scorer.score(candidates, wanted=plan.limit + plan.offset)
        return self.best_rows(scored.rows, scored.scores, plan.limit, plan.offset, scored.written)
