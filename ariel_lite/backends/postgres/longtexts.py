"""Entries that pass PostgreSQL's limits: what the index cannot say of them is worked out from their text.

Texts without positions in the index (NO_POSITIONS) have all their lexemes there, so that only phrases are in question;
of texts without lexemes (NO_LEXEMES) everything is.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

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

REMEMBERED_PLACES = 6_000_000


@dataclass(frozen=True)
class LongText:
    """Where each form of a text stands.

    Attributes:
        forms: the distinct forms, ascending.
        starts: for each form where its places begin in `places`, and at last their number.
        places: position numbers, ascending within a form.
    """

    forms: list[str]
    starts: NDArray[np.int64]
    places: NDArray[np.int32]

    @classmethod
    def of(cls, positions: Iterable[Sequence[str]]) -> LongText:
        """The text whose forms stand at these positions."""
        found: dict[str, list[int]] = {}
        for number, forms in enumerate(positions):
            for form in forms:
                found.setdefault(form, []).append(number)
        names = sorted(found)
        starts = np.cumsum([0, *(len(found[name]) for name in names)], dtype=np.int64)
        places = np.fromiter(chain.from_iterable(found[name] for name in names), dtype=np.int32, count=int(starts[-1]))
        return cls(names, starts, places)

    def occurrences(self, pattern: Pattern) -> int:
        """How often forms stand at consecutive positions."""
        begins = self._places_of(pattern[0])
        for offset, form in enumerate(pattern[1:], start=1):
            if not len(begins):
                break
            begins = np.intersect1d(begins, self._places_of(form) - offset, assume_unique=True)
        return len(begins)

    def _places_of(self, form: Form) -> NDArray[np.int32]:
        first = bisect_left(self.forms, form.lexeme)
        if not form.prefix:
            is_there = first < len(self.forms) and self.forms[first] == form.lexeme
            return self.places[self.starts[first] : self.starts[first + is_there]]
        last = first
        while last < len(self.forms) and self.forms[last].startswith(form.lexeme):
            last += 1
        return np.unique(self.places[self.starts[first] : self.starts[last]])


@dataclass
class LongTextsCache:
    """Long texts, by row and text hash; the least used go first. Shared by threads."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    kept: OrderedDict[tuple[int, bytes], LongText] = field(default_factory=OrderedDict)
    size: int = 0

    def get(self, key: tuple[int, bytes]) -> LongText | None:
        """A text, or None."""
        with self.lock:
            if key in self.kept:
                self.kept.move_to_end(key)
            return self.kept.get(key)

    def put(self, key: tuple[int, bytes], text: LongText) -> None:
        """Keep a text."""
        with self.lock:
            if key not in self.kept:
                self.kept[key] = text
                self.size += len(text.places)
            while self.size > REMEMBERED_PLACES and len(self.kept) > 1:
                self.size -= len(self.kept.popitem(last=False)[1].places)


class LongTexts:
    """Counts patterns in texts, and evaluates trees over entries that the index holds in part."""

    def __init__(
        self, connection: Connection, layout: Layout, queries: Queries, analyzer: Analyzer, cache: LongTextsCache
    ) -> None:
        self._db = connection
        self._layout = layout
        self._queries = queries
        self._analyzer = analyzer
        self._cache = cache
        self._texts: dict[int, LongText] = {}

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
        texts = [self._texts.get(row) for row in rows.tolist()]
        return np.array([text.occurrences(pattern) if text else 0 for text in texts], dtype=np.float64)

    def _load(self, rows: Rows) -> None:
        wanted = np.array([row for row in rows if int(row) not in self._texts], dtype=np.int64)
        if not len(wanted):
            return
        sql = "SELECT row_id, content_hash FROM ariel_lite_entry_state WHERE row_id = ANY(%s)"
        keys = [(int(row), bytes(digest)) for row, digest in self._db.execute(sql, (wanted,))]
        absent = {}
        for key in keys:
            text = self._cache.get(key)
            if text is None:
                absent[key[0]] = key
            else:
                self._texts[key[0]] = text
        for row, entry in read_rows(self._db, self._layout, np.array(sorted(absent), dtype=np.int64)):
            self._texts[row] = LongText.of(self._analyzer.positions(searchable_text(entry)))
            self._cache.put(absent[row], self._texts[row])


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
