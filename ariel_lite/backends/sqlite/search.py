"""Finding rows: the ranked MATCH, lists by time, and set algebra for what one MATCH cannot say."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import apsw
import numpy as np
from numpy.typing import NDArray

from ariel_lite.backends.ordering import contenders
from ariel_lite.backends.sqlite.choices import Choice, Frequencies, cut_choice
from ariel_lite.backends.sqlite.compiler import (
    EVERY_ROW,
    MATCHING,
    Compiled,
    compile_tree,
    condition,
    expression,
    field_rows,
    joined,
)
from ariel_lite.backends.sqlite.stamps import View, view
from ariel_lite.backends.values import Hit, SearchPlan, Statement
from ariel_lite.query.nodes import (
    All,
    AnyOf,
    BoundNode,
    Everything,
    Exclude,
    FieldLeaf,
    Nothing,
    conjunction,
    text_leaves,
)
from ariel_lite.ranking.bm25 import SCORE_DIGITS, CorpusStatistics, rounded

MANY_TIED = 500
LEAST_DIFFERENCE = 1e-9
TIE_ROOM = 32
"""How many hits more than wanted are read at first, so that most ties at the cut need no second look."""


class EveryRow:
    """The numbers of all rows, which exclusions are taken from: new ones are added, and after any other change all are
    read anew. Shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[View, NDArray[np.int64]] | None = None

    def get(self, connection: apsw.Connection) -> NDArray[np.int64]:
        """All row numbers as they are now, ascending; not to be changed."""
        now = view(connection)
        with self._lock:
            known = self._known
        if known is None or known[0].edited != now.edited:
            known = now, _read_rows(connection, EVERY_ROW)
        elif known[0].last_row < now.last_row:
            added = _read_rows(connection, f"{EVERY_ROW} WHERE row_id > ?", (known[0].last_row,))
            known = now, np.concatenate([known[1], added])
        with self._lock:
            self._known = known
        # Another thread may have seen later rows than this transaction does.
        return known[1][: np.searchsorted(known[1], now.last_row, "right")]


@dataclass(frozen=True)
class Known:
    """What searches remember from one to the next."""

    every: EveryRow = field(default_factory=EveryRow)
    frequencies: Frequencies = field(default_factory=Frequencies)


Scored = tuple[int, float, int]
"""A row with its bm25() (the smaller, the better) and the number of its exact spellings."""


class Searcher:
    """Searches over one connection, inside a read transaction of the caller."""

    def __init__(self, connection: apsw.Connection, known: Known | None = None) -> None:
        self._db = connection
        self._known = known or Known()
        ordered = connection.execute("SELECT value FROM settings WHERE key = 'time_ordered'").get
        self._time_ordered = bool(ordered)

    def search(self, plan: SearchPlan) -> list[Hit]:
        """The plan's hits in the contract's order."""
        if isinstance(plan.tree, Nothing):
            return []
        compiled = compile_tree(plan.tree, time_ordered=self._time_ordered)
        if compiled.mixed:
            return self._mixed(compiled, plan)
        if compiled.match:
            return self._ranked(compiled, plan)
        return self._listed(compiled, plan)

    def rows(self, tree: BoundNode) -> NDArray[np.int64]:
        """Row numbers of what a tree matches, ascending."""
        if isinstance(tree, Everything):
            return self._known.every.get(self._db)
        conjuncts = tree.children if isinstance(tree, All) else (tree,)
        unwanted = [node.child for node in conjuncts if isinstance(node, Exclude)]
        wanted = [node for node in conjuncts if not isinstance(node, Exclude)]
        if unwanted and not any(True for node in wanted for _ in text_leaves(node)):
            kept = self.rows(conjunction([Everything(), *wanted]))
            for node in unwanted:
                kept = kept[~_among(kept, self.rows(node))]
            return kept
        if isinstance(tree, FieldLeaf) and tree.range is None and tree.name != "id":
            listed = field_rows(tree)
            return np.unique(_read_rows(self._db, listed.sql, listed.parameters))
        statement = self._rows_statement(tree)
        return _read_rows(self._db, statement.sql, statement.parameters)

    def exists(self, tree: BoundNode) -> bool:
        """True when a tree matches at least one entry."""
        statement = self._rows_statement(tree)
        return self._db.execute(f"SELECT 1 FROM ({statement.sql}) LIMIT 1", statement.parameters).get is not None

    def count(self, tree: BoundNode) -> int:
        """How many entries a tree matches."""
        statement = self._rows_statement(tree)
        return int(self._db.execute(f"SELECT count(*) FROM ({statement.sql})", statement.parameters).get)

    def statements(self, plan: SearchPlan) -> list[Statement]:
        """What `search` runs."""
        if isinstance(plan.tree, Nothing):
            return []
        compiled = compile_tree(plan.tree, time_ordered=self._time_ordered)
        if compiled.mixed:
            return [self._rows_statement(plan.tree)]
        if compiled.match:
            return [self._ranked_statement(compiled, plan.limit + plan.offset + TIE_ROOM)]
        return [self._listed_statement(compiled, plan)]

    def best_rows(
        self,
        rows: NDArray[np.int64],
        scores: NDArray[np.float64],
        limit: int,
        offset: int = 0,
        written: NDArray[np.int64] | None = None,
    ) -> list[Hit]:
        """Scored rows as hits in the contract's order, cut to the page asked for."""
        if not len(rows) or limit <= 0:
            return []
        counts = np.zeros(len(rows), dtype=np.int64) if written is None else written
        values = np.round(scores, SCORE_DIGITS)
        order = contenders(rows, values, counts, offset + limit, self._newest)
        known = self._times(int(rows[at]) for at in order)
        keyed = [
            (-int(counts[at]), -float(values[at]), *known[row], row)
            for at in order.tolist()
            if (row := int(rows[at])) in known
        ]
        keyed.sort(key=itemgetter(3))
        keyed.sort(key=itemgetter(2), reverse=True)
        keyed.sort(key=itemgetter(0, 1))
        best = keyed[offset : offset + limit]
        return [Hit(entry_id, -score, -count, row) for count, score, _, entry_id, row in best]

    def _newest(self, rows: NDArray[np.int64], wanted: int) -> NDArray[np.intp]:
        """Indices of the newest of many rows: at least `wanted`, with all that are as old as the last of them."""
        if len(rows) <= MANY_TIED:
            return np.arange(len(rows))
        places = dict(zip(rows.tolist(), range(len(rows)), strict=True))
        found: list[int] = []
        last = ""
        for row, stamp in self._db.execute("SELECT row_id, timestamp FROM enhanced_entries ORDER BY timestamp DESC"):
            if len(found) >= wanted and stamp != last:
                break
            if row in places:
                found.append(places[row])
                last = stamp
        return np.array(found, dtype=np.intp)

    def statistics(self) -> CorpusStatistics:
        """Entries and positions as FTS5 counts them."""
        found = self._db.execute("SELECT count(*) FROM entry_state").get
        record = self._db.execute("SELECT block FROM entry_index_data WHERE id = 1").get
        return CorpusStatistics(int(found), _positions(record) if record else 0)

    def _rows_statement(self, tree: BoundNode) -> Statement:
        compiled = compile_tree(tree, time_ordered=self._time_ordered)
        if compiled.match and not compiled.mixed:
            where = joined(compiled.conditions)
            return Statement(f"{MATCHING} AND {where.sql}", (compiled.match, *where.parameters))
        where = condition(tree, time_ordered=self._time_ordered, drive=True)
        return Statement(f"{EVERY_ROW} WHERE {where.sql}", where.parameters)

    def _ranked(self, compiled: Compiled, plan: SearchPlan) -> list[Hit]:
        wanted = plan.limit + plan.offset
        choice = None if compiled.written else cut_choice(self._db, plan.tree, wanted, self._known.frequencies)
        found = (self._chosen(choice, wanted) if choice else []) or self._every_ranked(compiled, wanted)
        rows = np.array([row for row, _, _ in found], dtype=np.int64)
        scores = np.array([-score for _, score, _ in found])
        written = np.array([count for _, _, count in found], dtype=np.int64)
        return self.best_rows(rows, scores, plan.limit, plan.offset, written)

    def _chosen(self, choice: Choice, wanted: int) -> list[Scored]:
        """The best rows of a choice of words, or [] when its rarer words do not decide which they are."""
        reach = wanted + TIE_ROOM
        best: dict[int, Scored] = {}
        ends: list[float] = []
        for tree in (choice.rare, choice.both):
            statement = self._ranked_statement(compile_tree(tree, time_ordered=self._time_ordered), reach)
            found: list[Scored] = list(self._db.execute(statement.sql, statement.parameters))
            best.update((hit[0], hit) for hit in found)
            if len(found) == reach:
                ends.append(found[-1][1])
        ranked = sorted(best.values(), key=itemgetter(1))
        if len(ranked) < wanted:
            return []
        last = ranked[wanted - 1][1]
        decides = -last > choice.rest + LEAST_DIFFERENCE
        return ranked if decides and all(end > last + LEAST_DIFFERENCE for end in ends) else []

    def _every_ranked(self, compiled: Compiled, wanted: int) -> list[Scored]:
        """The best rows of a MATCH, with all that tie with the last one wanted."""
        reach = wanted + TIE_ROOM
        while True:
            statement = self._ranked_statement(compiled, reach)
            found = list(self._db.execute(statement.sql, statement.parameters))
            if len(found) < reach or _key(found[-1]) != _key(found[wanted - 1]):
                return found
            reach *= 16

    def _ranked_statement(self, compiled: Compiled, limit: int) -> Statement:
        spellings = " + ".join(f"(rowid IN ({MATCHING}))" for _ in compiled.written) or "0"
        where = joined(compiled.conditions)
        order = "written DESC, score" if compiled.written else "score"
        sql = (
            f"SELECT rowid, bm25(entry_index) AS score, {spellings} AS written FROM entry_index"
            f" WHERE entry_index MATCH ? AND {where.sql} ORDER BY {order} LIMIT ?"
        )
        return Statement(sql, (*compiled.written, compiled.match, *where.parameters, limit))

    def _listed(self, compiled: Compiled, plan: SearchPlan) -> list[Hit]:
        statement = self._listed_statement(compiled, plan)
        return [Hit(entry_id, 0.0, 0, row) for entry_id, row in self._db.execute(statement.sql, statement.parameters)]

    def _listed_statement(self, compiled: Compiled, plan: SearchPlan) -> Statement:
        where = joined(compiled.conditions)
        direction = "DESC" if plan.order == "newest" else "ASC"
        sql = (
            f"SELECT entry_id, row_id FROM enhanced_entries WHERE {where.sql}"
            f" ORDER BY timestamp {direction}, entry_id LIMIT ? OFFSET ?"
        )
        return Statement(sql, (*where.parameters, plan.limit, plan.offset))

    def _mixed(self, compiled: Compiled, plan: SearchPlan) -> list[Hit]:
        scored = self._algebra(plan.tree)
        rows = np.array(list(scored), dtype=np.int64)
        spellings = self._written(compiled)
        written = np.array([spellings.get(row, 0) for row in scored], dtype=np.int64)
        return self.best_rows(rows, np.array(list(scored.values())), plan.limit, plan.offset, written)

    def _written(self, compiled: Compiled) -> dict[int, int]:
        counts: dict[int, int] = {}
        for spelling in compiled.written:
            for (row,) in self._db.execute(MATCHING, (spelling,)):
                counts[row] = counts.get(row, 0) + 1
        return counts

    def _algebra(self, node: BoundNode) -> dict[int, float]:
        """Row -> BM25 of the satisfied text, for a tree that one MATCH cannot say."""
        try:
            match = expression(node)
        except ValueError:
            match = ""
        if match:
            sql = "SELECT rowid, -bm25(entry_index) FROM entry_index WHERE entry_index MATCH ?"
            return dict(self._db.execute(sql, (match,)))
        if isinstance(node, AnyOf):
            total: dict[int, float] = {}
            for child in node.children:
                for row, score in self._algebra(child).items():
                    total[row] = total.get(row, 0.0) + score
            return total
        if isinstance(node, All):
            return self._conjunction(node.children)
        return dict.fromkeys(self.rows(node).tolist(), 0.0)

    def _conjunction(self, children: Sequence[BoundNode]) -> dict[int, float]:
        conditions = [child for child in children if not any(True for _ in text_leaves(child))]
        results = [self._algebra(child) for child in children if child not in conditions]
        rows = set(results[0]).intersection(*results[1:]) if results else set()
        if conditions:
            allowed = set(self.rows(conjunction(conditions)).tolist())
            rows = rows & allowed if results else allowed
        return {row: sum(result[row] for result in results) for row in rows}

    def _times(self, rows: Iterable[int]) -> dict[int, tuple[str, str]]:
        sql = (
            "SELECT row_id, timestamp, entry_id FROM enhanced_entries WHERE row_id IN (SELECT value FROM json_each(?))"
        )
        return {row: (stamp, entry_id) for row, stamp, entry_id in self._db.execute(sql, (json.dumps(list(rows)),))}


def _read_rows(connection: apsw.Connection, sql: str, parameters: Sequence[str | int] = ()) -> NDArray[np.int64]:
    """The row numbers that a statement gives, ascending; read as one text, which is twice as fast as one by one."""
    text = connection.execute(f"WITH found(row) AS ({sql}) SELECT group_concat(row, ' ') FROM found", parameters).get
    rows: NDArray[np.int64] = np.fromstring(str(text or ""), dtype=np.int64, sep=" ")
    # Most statements give them in order already.
    return np.sort(rows) if (rows[1:] < rows[:-1]).any() else rows


def _among(rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each row, whether it is among the others; both ascending, without repeats."""
    found = np.zeros(len(rows), dtype=bool)
    if len(rows):
        places = np.minimum(np.searchsorted(rows, others), len(rows) - 1)
        found[places[rows[places] == others]] = True
    return found


def _key(found: Scored) -> tuple[int, float]:
    return found[2], rounded(found[1])


def _positions(record: bytes) -> int:
    """The total number of positions, the second varint of FTS5's averages record."""
    _, at = _varint(record, 0)
    positions, _ = _varint(record, at)
    return positions


def _varint(record: bytes, at: int) -> tuple[int, int]:
    value = 0
    for count in range(9):
        byte = record[at]
        at += 1
        if count == 8:
            return (value << 8) | byte, at
        value = (value << 7) | (byte & 0x7F)
        if not byte & 0x80:
            break
    return value, at
