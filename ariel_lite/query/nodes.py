"""The two trees of a query.

Syntax tree (as typed, with character positions): Word, Quoted, FieldTerm, Not, And, Or.
Bound tree (what it means): TextLeaf, FieldLeaf, Exclude, All, AnyOf, Everything, Nothing. A backend compiles the bound
tree; the highlighter and the fuzzy fallback read its leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ariel_lite.query.dates import TimeRange
from ariel_lite.text.highlight import Pattern


@dataclass(frozen=True)
class Word:
    """A run of characters outside quotes; `prefix` when a star ended it."""

    text: str
    start: int
    end: int
    prefix: bool = False


@dataclass(frozen=True)
class Quoted:
    """The text between two quotes."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class FieldTerm:
    """`name:value`; `value_start` is where the value begins."""

    name: str
    value: str
    quoted: bool
    start: int
    end: int
    value_start: int


@dataclass(frozen=True)
class Not:
    """Everything that `child` does not match."""

    child: SyntaxNode


@dataclass(frozen=True)
class And:
    """What all children match."""

    children: tuple[SyntaxNode, ...]


@dataclass(frozen=True)
class Or:
    """What at least one child matches."""

    children: tuple[SyntaxNode, ...]


SyntaxNode = Word | Quoted | FieldTerm | Not | And | Or


@dataclass(frozen=True)
class Problem:
    """Something that was mended, ignored or noticed while reading a query; `position` is a character offset."""

    message: str
    position: int
    level: Literal["info", "warning"] = "warning"


LeafKind = Literal["word", "identifier", "phrase", "exact", "prefix"]


@dataclass(frozen=True)
class TextLeaf:
    """Lexemes at consecutive positions.

    Attributes:
        forms: what must stand at each position.
        kind: "word" (one lexeme, stemmed), "identifier" (parts of a bare name or number), "phrase" (quoted words),
            "exact" (a quoted single word or identifier) or "prefix".
        text: as typed, for people.
        words: the folded written word at each position (what the fuzzy fallback corrects).
        written: the forms of the exact spelling, when it ranks first (quoted and identifier leaves), else ().
        position: character offset in the query.
    """

    forms: Pattern
    kind: LeafKind
    text: str
    words: tuple[str, ...]
    written: Pattern = ()
    position: int = 0


@dataclass(frozen=True)
class FieldLeaf:
    """A condition on a field: `value` is folded (ids are as written); dates carry `range` instead."""

    name: str
    value: str
    range: TimeRange | None = None
    text: str = ""


@dataclass(frozen=True)
class Exclude:
    """Everything that `child` does not match."""

    child: BoundNode


@dataclass(frozen=True)
class All:
    """What all children match."""

    children: tuple[BoundNode, ...]


@dataclass(frozen=True)
class AnyOf:
    """What at least one child matches."""

    children: tuple[BoundNode, ...]


@dataclass(frozen=True)
class Everything:
    """Every entry (a query that only excludes, or only a filter)."""


@dataclass(frozen=True)
class Nothing:
    """No entry; `reason` says why, for people."""

    reason: str


BoundNode = TextLeaf | FieldLeaf | Exclude | All | AnyOf | Everything | Nothing


def conjunction(nodes: list[BoundNode]) -> BoundNode:
    """All of the nodes; nested conjunctions are flattened, Everything is neutral, Nothing wins."""
    flat: list[BoundNode] = []
    for node in nodes:
        flat.extend(node.children if isinstance(node, All) else (node,))
    for node in flat:
        if isinstance(node, Nothing):
            return node
    flat = [node for node in flat if not isinstance(node, Everything)]
    if not flat:
        return Everything()
    return flat[0] if len(flat) == 1 else All(tuple(flat))


def disjunction(nodes: list[BoundNode]) -> BoundNode:
    """Any of the nodes; nested disjunctions are flattened, Nothing is neutral, Everything wins."""
    flat: list[BoundNode] = []
    for node in nodes:
        flat.extend(node.children if isinstance(node, AnyOf) else (node,))
    if any(isinstance(node, Everything) for node in flat):
        return Everything()
    matching = [node for node in flat if not isinstance(node, Nothing)]
    if not matching:
        return flat[0] if flat else Nothing("nothing to search for")
    return matching[0] if len(matching) == 1 else AnyOf(tuple(matching))


def negation(node: BoundNode) -> BoundNode:
    """The opposite; a double negation is none."""
    if isinstance(node, Exclude):
        return node.child
    if isinstance(node, Everything):
        return Nothing("everything is excluded")
    return Everything() if isinstance(node, Nothing) else Exclude(node)


def text_leaves(node: BoundNode, *, positive: bool = True) -> Iterator[TextLeaf]:
    """The text leaves outside every exclusion (or, with positive=False, all of them), in query order."""
    if isinstance(node, TextLeaf):
        yield node
    elif isinstance(node, All | AnyOf):
        for child in node.children:
            yield from text_leaves(child, positive=positive)
    elif isinstance(node, Exclude) and not positive:
        yield from text_leaves(node.child, positive=positive)


def without_words(node: BoundNode) -> BoundNode:
    """What a tree demands besides its bare words: fields, exclusions and quoted phrases. Words become Everything."""
    if isinstance(node, TextLeaf):
        return node if node.kind in ("phrase", "exact") else Everything()
    if isinstance(node, All):
        return conjunction([without_words(child) for child in node.children])
    if isinstance(node, AnyOf):
        return disjunction([without_words(child) for child in node.children])
    return node
