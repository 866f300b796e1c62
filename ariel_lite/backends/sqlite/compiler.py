"""Bound tree to FTS5 expressions and SQL conditions.

FTS5's own query language is only ever fed with lexemes that we quote. It refuses a leading NOT, `a OR (NOT b)`, and
knows no fields; so text that FTS5 can say becomes one MATCH, and all else becomes conditions on row numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ariel_lite.query.dates import TimeRange
from ariel_lite.query.days import to_storage
from ariel_lite.query.nodes import (
    All,
    AnyOf,
    BoundNode,
    Everything,
    Exclude,
    FieldLeaf,
    Nothing,
    TextLeaf,
    text_leaves,
)
from ariel_lite.text.highlight import Form, Pattern

EVERY_ROW = "SELECT row_id FROM enhanced_entries"
MATCHING = "SELECT rowid FROM entry_index WHERE entry_index MATCH ?"


@dataclass(frozen=True)
class Condition:
    """A boolean SQL expression over a row number, with its parameters."""

    sql: str
    parameters: tuple[str | int, ...] = ()


@dataclass(frozen=True)
class Compiled:
    """A tree in SQLite's terms.

    Attributes:
        match: the FTS5 expression that finds and ranks, or "" when there is no text that one expression can say.
        conditions: what a row must satisfy besides.
        written: FTS5 expressions of the exact spellings that rank first.
        mixed: conjuncts in which fields or exclusions stand beside text inside OR; they need set algebra.
    """

    match: str
    conditions: tuple[Condition, ...] = ()
    written: tuple[str, ...] = ()
    mixed: tuple[BoundNode, ...] = field(default=())


def compile_tree(tree: BoundNode, *, time_ordered: bool) -> Compiled:
    """Split a tree into one MATCH, SQL conditions, and what is left for set algebra.

    Args:
        tree: the bound tree, filters included.
        time_ordered: True when row numbers ascend with the entries' times, so that a time range is a range of rows.
    """
    conjuncts = tree.children if isinstance(tree, All) else (tree,)
    positive = [node for node in conjuncts if _is_text(node)]
    negative = [node.child for node in conjuncts if isinstance(node, Exclude) and _is_text(node.child)]
    match = _match_all(positive, negative) if positive else ""
    conditions: list[Condition] = []
    mixed: list[BoundNode] = []
    for node in conjuncts:
        if _is_text(node) or (positive and isinstance(node, Exclude) and _is_text(node.child)):
            continue
        if any(True for _ in text_leaves(node)):
            mixed.append(node)
        elif not isinstance(node, Everything):
            conditions.append(condition(node, time_ordered=time_ordered, row="rowid" if match else "row_id"))
    written = tuple(phrase(leaf.written) for leaf in dict.fromkeys(text_leaves(tree)) if leaf.written)
    return Compiled(match, tuple(conditions), written, tuple(mixed))


def expression(node: BoundNode) -> str:
    """The FTS5 expression of a node that is text only.

    Raises:
        ValueError: the node holds fields, or an exclusion that FTS5 cannot say.
    """
    if isinstance(node, TextLeaf):
        return phrase(node.forms)
    if isinstance(node, AnyOf) and _is_choice(node):
        return "(" + " OR ".join(expression(child) for child in node.children) + ")"
    if isinstance(node, All):
        positive = [child for child in node.children if not isinstance(child, Exclude)]
        if not positive:
            raise ValueError("only exclusions")
        return _match_all(positive, [child.child for child in node.children if isinstance(child, Exclude)])
    raise ValueError(f"not text: {type(node).__name__}")


def phrase(pattern: Pattern) -> str:
    """Consecutive lexemes as FTS5 writes them: `"br" + "qf" + "=12"`."""
    return " + ".join(_quoted(form) for form in pattern)


def condition(node: BoundNode, *, time_ordered: bool, row: str = "row_id", drive: bool = False) -> Condition:
    """Any tree as a boolean SQL expression over the column `row`.

    With `drive` a statement may begin from the lists of rows in it; beside a MATCH it never should.
    """
    tested = row if drive else f"+{row}"
    if isinstance(node, Everything):
        return Condition("1")
    if isinstance(node, Nothing):
        return Condition("0")
    if isinstance(node, FieldLeaf):
        return _field_condition(node, time_ordered, row, tested)
    if _is_text(node):
        return Condition(f"{tested} IN ({MATCHING})", (expression(node),))
    if isinstance(node, Exclude):
        inner = condition(node.child, time_ordered=time_ordered, row=row, drive=drive)
        return Condition(f"NOT ({inner.sql})", inner.parameters)
    assert isinstance(node, All | AnyOf)
    parts = [condition(child, time_ordered=time_ordered, row=row, drive=drive) for child in node.children]
    joiner = " AND " if isinstance(node, All) else " OR "
    return Condition("(" + joiner.join(p.sql for p in parts) + ")", sum((p.parameters for p in parts), ()))


def joined(conditions: Sequence[Condition]) -> Condition:
    """All conditions as one; true when there are none."""
    if not conditions:
        return Condition("1")
    return Condition(" AND ".join(c.sql for c in conditions), sum((c.parameters for c in conditions), ()))


def _is_text(node: BoundNode) -> bool:
    """True when FTS5 can say the node: text, with exclusions only beside something that must match."""
    if isinstance(node, TextLeaf):
        return True
    if isinstance(node, AnyOf):
        return _is_choice(node)
    if isinstance(node, All):
        positive = [child for child in node.children if not isinstance(child, Exclude)]
        negative = [child.child for child in node.children if isinstance(child, Exclude)]
        return bool(positive) and all(_is_text(child) for child in (*positive, *negative))
    return False


def _is_choice(node: AnyOf) -> bool:
    """True when only words and phrases stand beside the OR.

    With more below it, bm25() goes wrong: it counts the words of an exclusion in rows that another branch matched, and
    loses counts where a row has the words of an AND but not its phrase (seen in SQLite 3.54.1).
    """
    return all(isinstance(child, TextLeaf) for child in node.children)


def _match_all(positive: Sequence[BoundNode], negative: Sequence[BoundNode]) -> str:
    wanted = " AND ".join(expression(node) for node in positive)
    if not negative:
        return wanted if len(positive) == 1 else f"({wanted})"
    unwanted = " OR ".join(expression(node) for node in negative)
    return f"(({wanted}) NOT ({unwanted}))"


def _quoted(form: Form) -> str:
    text = '"' + form.lexeme.replace('"', '""') + '"'
    return f"{text} *" if form.prefix else text


def _field_condition(leaf: FieldLeaf, time_ordered: bool, row: str, tested: str) -> Condition:
    if leaf.range is not None:
        return _time_condition(leaf.range, time_ordered, row)
    if leaf.name == "id":
        return Condition(f"{tested} IN (SELECT row_id FROM enhanced_entries WHERE entry_id = ?)", (leaf.value,))
    rows = field_rows(leaf)
    return Condition(f"{tested} IN ({rows.sql})", rows.parameters)


def field_rows(leaf: FieldLeaf) -> Condition:
    """The statement that lists the rows of a field's value, in no order and with repeats; not for times and ids."""
    matches = "instr(folded, ?) > 0" if leaf.name in ("author", "source") else "folded = ?"
    values = f"SELECT value_id FROM field_values WHERE field = ? AND {matches}"
    return Condition(f"SELECT row_id FROM entry_fields WHERE value_id IN ({values})", (leaf.name, leaf.value))


def _time_condition(bounds: TimeRange, time_ordered: bool, row: str) -> Condition:
    tests: list[str] = []
    parameters: list[str | int] = []
    if bounds.start is not None:
        tests.append("timestamp >= ?")
        parameters.append(to_storage(bounds.start))
    if bounds.end is not None:
        tests.append("timestamp <= ?")
        parameters.append(to_storage(bounds.end))
    where = " AND ".join(tests) or "1"
    if not time_ordered:
        return Condition(f"+{row} IN (SELECT row_id FROM enhanced_entries WHERE {where})", tuple(parameters))
    first = f"SELECT row_id FROM enhanced_entries WHERE {where} ORDER BY timestamp, row_id LIMIT 1"
    last = f"SELECT row_id FROM enhanced_entries WHERE {where} ORDER BY timestamp DESC, row_id DESC LIMIT 1"
    return Condition(f"{row} BETWEEN coalesce(({first}), 1) AND coalesce(({last}), 0)", (*parameters, *parameters))
