"""Entries that pass PostgreSQL's limits: what the index cannot say of them is worked out from their text.

Texts without positions in the index (NO_POSITIONS) have all their lexemes there, so that only phrases are in question;
of texts without lexemes (NO_LEXEMES) everything is.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ariel_lite.backends.postgres.arrays import Rows, nothing, places, read_arrays
from ariel_lite.backends.postgres.columns import Layout, read_rows
from ariel_lite.backends.postgres.compiler import INDEX, condition
from ariel_lite.backends.postgres.connection import Connection
from ariel_lite.backends.postgres.lexemes import NO_LEXEMES, NO_POSITIONS, Queries, has_phrase
from ariel_lite.query.nodes import All, AnyOf, BoundNode, Everything, Exclude, FieldLeaf, TextLeaf, text_leaves
from ariel_lite.records import searchable_text
from ariel_lite.text.highlight import Form, Pattern
from ariel_lite.text.tokenise import Analyzer

REMEMBERED_POSITIONS = 3_000_000

Positions = list[tuple[str, ...]]


@dataclass
class PositionsCache:
    """Positions of long texts, by row and text hash; the least used go first. Shared by threads."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    kept: OrderedDict[tuple[int, bytes], Positions] = field(default_factory=OrderedDict)
    size: int = 0

    def get(self, key: tuple[int, bytes]) -> Positions | None:
        """The positions of a text, or None."""
        with self.lock:
            if key in self.kept:
                self.kept.move_to_end(key)
            return self.kept.get(key)

    def put(self, key: tuple[int, bytes], positions: Positions) -> None:
        """Keep the positions of a text."""
        with self.lock:
            if key not in self.kept:
                self.kept[key] = positions
                self.size += len(positions)
            while self.size > REMEMBERED_POSITIONS and len(self.kept) > 1:
                self.size -= len(self.kept.popitem(last=False)[1])


class LongTexts:
    """Counts patterns in texts, and evaluates trees over entries that the index holds in part."""

    def __init__(
        self, connection: Connection, layout: Layout, queries: Queries, analyzer: Analyzer, cache: PositionsCache
    ) -> None:
        self._db = connection
        self._layout = layout
        self._queries = queries
        self._analyzer = analyzer
        self._cache = cache
        self._texts: dict[int, Positions] = {}

    def least_kind(self, tree: BoundNode) -> int:
        """From which kind of limit on an entry has to be looked at by its text."""
        return NO_POSITIONS if has_phrase(tree) else NO_LEXEMES

    def matching(self, tree: BoundNode, least_kind: int) -> Rows:
        """Rows of the entries that pass a limit and match a tree, ascending."""
        if not any(True for _ in text_leaves(tree, positive=False)):
            return nothing()
        needed = self._queries.relaxed(_only_text(tree))
        sql = "SELECT array_agg(row_id ORDER BY row_id) FROM ariel_lite_lexemes WHERE limit_kind >= %s"
        parameters: tuple[object, ...] = (least_kind,)
        if needed is not None:
            sql += f" AND (limit_kind = {NO_LEXEMES} OR lexemes @@ %s::tsquery)"
            parameters = (least_kind, needed)
        rows = read_arrays(self._db, sql, parameters)[0]
        return rows[self.evaluate(tree, rows)] if len(rows) else rows

    def evaluate(self, node: BoundNode, rows: Rows) -> NDArray[np.bool_]:
        """For each row: does the entry match?"""
        if isinstance(node, TextLeaf):
            return self.counts(node.forms, rows) > 0
        if isinstance(node, Exclude):
            return ~self.evaluate(node.child, rows)
        if isinstance(node, All):
            return _folded(np.logical_and, [self.evaluate(child, rows) for child in node.children])
        if isinstance(node, AnyOf):
            return _folded(np.logical_or, [self.evaluate(child, rows) for child in node.children])
        matched = np.full(len(rows), isinstance(node, Everything))
        if isinstance(node, FieldLeaf):
            where = condition(node, self._queries, INDEX)
            sql = f"SELECT array_agg(i.row_id) FROM {INDEX.source} WHERE i.row_id = ANY(%s) AND {where.sql}"
            matched[places(rows, read_arrays(self._db, sql, (rows, *where.parameters))[0])] = True
        return matched

    def counts(self, pattern: Pattern, rows: Rows) -> NDArray[np.float64]:
        """How often a pattern stands in the text of each row."""
        self._load(rows)
        return np.array([occurrences(self._texts.get(int(row), []), pattern) for row in rows], dtype=np.float64)

    def _load(self, rows: Rows) -> None:
        wanted = np.array([row for row in rows if int(row) not in self._texts], dtype=np.int64)
        if not len(wanted):
            return
        sql = "SELECT row_id, text_hash FROM ariel_lite_entry_state WHERE row_id = ANY(%s)"
        keys = [(int(row), bytes(digest)) for row, digest in self._db.execute(sql, (wanted,))]
        absent = {}
        for key in keys:
            positions = self._cache.get(key)
            if positions is None:
                absent[key[0]] = key
            else:
                self._texts[key[0]] = positions
        for row, entry in read_rows(self._db, self._layout, np.array(sorted(absent), dtype=np.int64)):
            self._texts[row] = list(self._analyzer.positions(searchable_text(entry)))
            self._cache.put(absent[row], self._texts[row])


def occurrences(positions: Positions, pattern: Pattern) -> int:
    """How often forms stand at consecutive positions."""
    first, rest = pattern[0], list(enumerate(pattern))[1:]
    last = len(positions) - len(pattern)
    starts = [at for at, forms in enumerate(positions) if _stands(first, forms) and at <= last]
    return sum(1 for at in starts if all(_stands(form, positions[at + offset]) for offset, form in rest))


def _stands(form: Form, forms: tuple[str, ...]) -> bool:
    if form.prefix:
        return any(other.startswith(form.lexeme) for other in forms)
    return form.lexeme in forms


def _folded(combine: np.ufunc, parts: list[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    folded: NDArray[np.bool_] = combine.reduce(parts)
    return folded


def _only_text(node: BoundNode) -> BoundNode:
    """The tree with everything that is no text taken for true."""
    if isinstance(node, All):
        return All(tuple(map(_only_text, node.children)))
    if isinstance(node, AnyOf):
        return AnyOf(tuple(map(_only_text, node.children)))
    return node if isinstance(node, TextLeaf | Exclude) else Everything()
