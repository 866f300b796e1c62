"""Trees for people and for JSON."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from ariel_lite.query.dates import describe_range
from ariel_lite.query.fields import FIELDS
from ariel_lite.query.nodes import (
    All,
    And,
    AnyOf,
    BoundNode,
    Everything,
    Exclude,
    FieldLeaf,
    FieldTerm,
    Not,
    Nothing,
    Or,
    Quoted,
    SyntaxNode,
    TextLeaf,
    Word,
)


def sentence(node: BoundNode, zone: ZoneInfo) -> str:
    """What a bound tree asks for, in words: `contains rf and ("beam dump" or vacuum), not planned`."""
    return _Sentence(zone).of(node, top=True)


def syntax_json(node: SyntaxNode | None) -> Any:
    """A syntax tree as JSON values."""
    if node is None:
        return None
    if isinstance(node, Word):
        return {"word": node.text, "prefix": node.prefix, "span": [node.start, node.end]}
    if isinstance(node, Quoted):
        return {"quoted": node.text, "span": [node.start, node.end]}
    if isinstance(node, FieldTerm):
        return {"field": node.name, "value": node.value, "span": [node.start, node.end]}
    if isinstance(node, Not):
        return {"not": syntax_json(node.child)}
    return {"and" if isinstance(node, And) else "or": [syntax_json(child) for child in node.children]}


def bound_json(node: BoundNode) -> Any:
    """A bound tree as JSON values."""
    if isinstance(node, TextLeaf):
        leaf: dict[str, Any] = {"text": node.text, "kind": node.kind, "lexemes": [_lexeme(f) for f in node.forms]}
        return leaf | ({"written": [_lexeme(f) for f in node.written]} if node.written else {})
    if isinstance(node, FieldLeaf):
        if node.range is None:
            return {"field": node.name, "value": node.value}
        start, end = node.range.start, node.range.end
        return {"field": node.name, "start": start and start.isoformat(), "end": end and end.isoformat()}
    if isinstance(node, Exclude):
        return {"exclude": bound_json(node.child)}
    if isinstance(node, Nothing):
        return {"nothing": node.reason}
    if isinstance(node, Everything):
        return "everything"
    return {"all" if isinstance(node, All) else "any": [bound_json(child) for child in node.children]}


def syntax_text(node: SyntaxNode) -> str:
    """A syntax tree back as a query; parsing it gives the same meaning."""
    if isinstance(node, Word):
        return node.text + ("*" if node.prefix else "")
    if isinstance(node, Quoted):
        return f'"{node.text}"'
    if isinstance(node, FieldTerm):
        return f'{node.name}:"{node.value}"'
    if isinstance(node, Not):
        return f"NOT ({syntax_text(node.child)})"
    joiner = " AND " if isinstance(node, And) else " OR "
    return "(" + joiner.join(syntax_text(child) for child in node.children) + ")"


def wanted_texts(node: SyntaxNode) -> list[str]:
    """The words and phrases outside exclusions and fields, in order, as typed."""
    if isinstance(node, Word | Quoted):
        return [node.text]
    if isinstance(node, And | Or):
        return [text for child in node.children for text in wanted_texts(child)]
    return []


def _lexeme(form: tuple[str, bool]) -> str:
    return form[0] + ("*" if form[1] else "")


class _Sentence:
    def __init__(self, zone: ZoneInfo) -> None:
        self.zone = zone

    def of(self, node: BoundNode, *, top: bool = False) -> str:
        if isinstance(node, TextLeaf):
            text = f'"{node.text}"' if node.kind in ("phrase", "exact") else node.text
            return f"contains {text}" if top else text
        if isinstance(node, FieldLeaf):
            return self._field(node)
        if isinstance(node, Exclude):
            return f"not {self.of(node.child)}"
        if isinstance(node, Everything):
            return "all entries"
        if isinstance(node, Nothing):
            return f"nothing ({node.reason})"
        if isinstance(node, AnyOf):
            inside = " or ".join(self.of(child) for child in node.children)
            return f"contains {inside}" if top else f"({inside})"
        return self._all(node, top)

    def _all(self, node: All, top: bool) -> str:
        texts = [self.of(c) for c in node.children if not isinstance(c, FieldLeaf | Exclude)]
        fields = [self.of(c) for c in node.children if isinstance(c, FieldLeaf)]
        excluded = [self.of(c) for c in node.children if isinstance(c, Exclude)]
        inside = ", ".join(filter(None, [" and ".join(texts), *fields, *excluded]))
        if not top:
            return f"({' and '.join(filter(None, [*texts, *fields, *excluded]))})"
        return f"contains {inside}" if texts else inside

    def _field(self, leaf: FieldLeaf) -> str:
        if leaf.range is not None:
            return describe_range(leaf.range, self.zone)
        return f"{FIELDS[leaf.name].phrase} {leaf.text or leaf.value}"
