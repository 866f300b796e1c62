"""Bound tree to SQL conditions over the index's rows.

`i` is the full-text index (ariel_lite_lexemes), `e` ARIEL's enhanced_entries. Text that stands alone in a conjunction
becomes one tsquery that the index answers; anywhere else it is a set of row numbers, so that no plan ever reads the
vectors of all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ariel_lite.backends.postgres.lexemes import Queries, is_text
from ariel_lite.query.dates import TimeRange
from ariel_lite.query.nodes import All, AnyOf, BoundNode, Everything, Exclude, FieldLeaf, Nothing

MATCHING = "SELECT row_id FROM ariel_lite_lexemes WHERE lexemes @@ %s::tsquery"
UNSTORABLE = frozenset("\x00") | frozenset(map(chr, range(0xD800, 0xE000)))


@dataclass(frozen=True)
class Condition:
    """A boolean SQL expression with its parameters."""

    sql: str
    parameters: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Table:
    """Where rows come from: their alias, and their time."""

    source: str
    time: str
    entry_id: str


INDEX = Table("ariel_lite_lexemes AS i", "i.at", "i.entry_id")
ENTRIES = Table("enhanced_entries AS e", "e.timestamp", "e.entry_id")

TRUE, FALSE = Condition("TRUE"), Condition("FALSE")


def table_for(tree: BoundNode) -> Table:
    """Entries that are not indexed yet are listed too, as long as only times and ids are asked for."""
    return ENTRIES if _is_plain(tree) else INDEX


def conjunction_of(tree: BoundNode, queries: Queries, table: Table) -> Condition:
    """A tree as a condition: its text one tsquery, its fields beside it."""
    conjuncts = tree.children if isinstance(tree, All) else (tree,)
    positive = [node for node in conjuncts if is_text(node) and not isinstance(node, Exclude)]
    if not positive:
        return joined([condition(node, queries, table) for node in conjuncts])
    text = [node for node in conjuncts if is_text(node)]
    match = Condition("i.lexemes @@ %s::tsquery", (queries.text(All(tuple(text))),))
    return joined([match, *(condition(node, queries, table) for node in conjuncts if node not in text)])


def condition(node: BoundNode, queries: Queries, table: Table) -> Condition:
    """Any tree as a condition."""
    if isinstance(node, Everything):
        return TRUE
    if isinstance(node, Nothing):
        return FALSE
    if isinstance(node, FieldLeaf):
        return _field_condition(node, table)
    if isinstance(node, Exclude):
        inner = condition(node.child, queries, table)
        return Condition(f"NOT ({inner.sql})", inner.parameters)
    if is_text(node) and not _only_excludes(node):
        return Condition(f"i.row_id IN ({MATCHING})", (queries.text(node),))
    assert isinstance(node, All | AnyOf)
    text = [child for child in node.children if is_text(child) and not _only_excludes(child)]
    others = [condition(child, queries, table) for child in node.children if child not in text]
    if text:
        query = queries.text(type(node)(tuple(text)))
        others.append(Condition(f"i.row_id IN ({MATCHING})", (query,)))
    return joined(others, " AND " if isinstance(node, All) else " OR ")


def rows_of_field(tree: BoundNode) -> Condition | None:
    """A statement for the rows of a tree that is one condition on a field's values: the index of those has them all.

    None for any other tree.
    """
    conjuncts = tree.children if isinstance(tree, All) else (tree,)
    asked = [node for node in conjuncts if not isinstance(node, Everything)]
    if len(asked) != 1 or not isinstance(asked[0], FieldLeaf) or _is_plain(asked[0]):
        return None
    return None if UNSTORABLE.intersection(asked[0].value) else _rows_with_value(asked[0])


def joined(conditions: Sequence[Condition], joiner: str = " AND ") -> Condition:
    """All conditions as one (or any, with OR); true when there are none."""
    if not conditions:
        return TRUE
    if len(conditions) == 1:
        return conditions[0]
    return Condition("(" + joiner.join(c.sql for c in conditions) + ")", sum((c.parameters for c in conditions), ()))


def _only_excludes(node: BoundNode) -> bool:
    """True for text that rows without any of its lexemes may match, which the index cannot say."""
    if isinstance(node, AnyOf):
        return any(map(_only_excludes, node.children))
    if isinstance(node, All):
        return all(map(_only_excludes, node.children))
    return isinstance(node, Exclude)


def _is_plain(node: BoundNode) -> bool:
    if isinstance(node, Exclude):
        return _is_plain(node.child)
    if isinstance(node, All | AnyOf):
        return all(map(_is_plain, node.children))
    return isinstance(node, Everything | Nothing) or (isinstance(node, FieldLeaf) and node.name in ("id", "date"))


def _field_condition(leaf: FieldLeaf, table: Table) -> Condition:
    if leaf.range is not None:
        return _time_condition(leaf.range, table)
    if UNSTORABLE.intersection(leaf.value):
        return FALSE
    if leaf.name == "id":
        return Condition(f"{table.entry_id} = %s", (leaf.value,))
    rows = _rows_with_value(leaf)
    return Condition(f"i.row_id IN ({rows.sql})", rows.parameters)


def _rows_with_value(leaf: FieldLeaf) -> Condition:
    matches = "strpos(folded, %s) > 0" if leaf.name in ("author", "source") else "folded = %s"
    values = f"SELECT value_id FROM ariel_lite_field_values WHERE field = %s AND {matches}"
    return Condition(
        f"SELECT row_id FROM ariel_lite_entry_fields WHERE value_id IN ({values})", (leaf.name, leaf.value)
    )


def _time_condition(bounds: TimeRange, table: Table) -> Condition:
    tests = []
    if bounds.start is not None:
        tests.append(Condition(f"{table.time} >= %s", (bounds.start,)))
    if bounds.end is not None:
        tests.append(Condition(f"{table.time} <= %s", (bounds.end,)))
    return joined(tests)
