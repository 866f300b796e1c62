"""Syntax tree to bound tree: words become lexemes, fields become conditions, empty words go, dates become ranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from ariel_lite.errors import QuerySyntaxError
from ariel_lite.query.dates import parse_date_expression
from ariel_lite.query.fields import FIELDS, FLAGS
from ariel_lite.query.nodes import (
    BoundNode,
    FieldLeaf,
    FieldTerm,
    Not,
    Nothing,
    Or,
    Problem,
    Quoted,
    SyntaxNode,
    TextLeaf,
    Word,
    conjunction,
    disjunction,
    negation,
    text_leaves,
)
from ariel_lite.query.parser import Parsed
from ariel_lite.text.highlight import Form
from ariel_lite.text.normalise import fold
from ariel_lite.text.tokenise import Analyzer, Part

MAX_LEXEMES = 512


@dataclass(frozen=True)
class Bound:
    """A bound tree and what binding has to report."""

    tree: BoundNode
    problems: tuple[Problem, ...]


def bind(parsed: Parsed, analyzer: Analyzer, *, zone: ZoneInfo, now: datetime) -> Bound:
    """Give a syntax tree its meaning.

    Args:
        parsed: what the parser made.
        analyzer: makes the lexemes; the same kind as at indexing.
        zone: the facility's zone, in which days are counted.
        now: aware; what `today` and `8h` refer to.

    Raises:
        QuerySyntaxError: an impossible date, an unknown `has:` value, a prefix under two characters.
    """
    binder = _Binder(parsed.text, analyzer, zone, now)
    tree = binder.bind(parsed.tree) if parsed.tree is not None else None
    problems = list(parsed.problems)
    if binder.ignored:
        words = ", ".join(word.text for word in binder.ignored)
        problems.append(
            Problem(f"words without content of their own were ignored: {words}", binder.ignored[0].start, "info")
        )
    return Bound(tree if tree is not None else Nothing(binder.why_nothing()), tuple(problems))


def bind_all_words(text: str, analyzer: Analyzer) -> BoundNode:
    """Plain text as the conjunction of its words: no operators, no fields, no limit; a repeated word counts twice."""
    parts = [placed.part for placed in analyzer.parts(text)]
    leaves: list[BoundNode] = [_single(part) for part in parts if part.written[1:] not in analyzer.stop_words]
    return conjunction(leaves) if leaves else Nothing("only words without content of their own")


def any_word(tree: BoundNode, analyzer: Analyzer) -> BoundNode:
    """The disjunction of the single words of a tree's wanted text; phrases and identifiers fall into their parts.

    Words of state (on, off, in, …) are left out like empty words: alone they say nothing, and are everywhere. Repeated
    words stay repeated, so that they weigh more.
    """
    ignored = analyzer.stop_words | analyzer.state_words
    leaves: list[BoundNode] = [
        TextLeaf((form,), "prefix" if form.prefix else "word", word, (word,))
        for leaf in text_leaves(tree)
        for form, word in zip(leaf.forms, leaf.words, strict=True)
        if word not in ignored
    ]
    return disjunction(leaves) if leaves else Nothing("only words without content of their own")


def _single(part: Part) -> TextLeaf:
    return TextLeaf((Form(part.lexeme),), "word", part.written[1:], (part.written[1:],))


class _Binder:
    def __init__(self, text: str, analyzer: Analyzer, zone: ZoneInfo, now: datetime) -> None:
        self.text = text
        self.analyzer = analyzer
        self.zone = zone
        self.now = now
        self.ignored: list[Word] = []
        self.lexemes = 0

    def why_nothing(self) -> str:
        if self.ignored:
            words = ", ".join(word.text for word in self.ignored)
            return f"only words without content of their own ({words}); put them in quotes to search for them"
        return "nothing to search for: only punctuation or operators"

    def bind(self, node: SyntaxNode) -> BoundNode | None:
        """The meaning of a node; None when nothing of it is left (empty words, punctuation)."""
        if isinstance(node, Word):
            return self._word(node)
        if isinstance(node, Quoted):
            return self._quoted(node)
        if isinstance(node, FieldTerm):
            return self._field(node)
        if isinstance(node, Not):
            child = self.bind(node.child)
            return None if child is None else negation(child)
        if isinstance(node, Or):
            return _combined(disjunction, [self.bind(child) for child in node.children])
        return _combined(conjunction, [self.bind(child) for child in node.children])

    def _parts(self, text: str, position: int) -> list[Part]:
        parts = [placed.part for placed in self.analyzer.parts(text)]
        self.lexemes += len(parts)
        if self.lexemes > MAX_LEXEMES:
            raise QuerySyntaxError("the query has too many words", position, f"at most {MAX_LEXEMES} in all")
        return parts

    def _word(self, word: Word) -> BoundNode | None:
        groups = _groups(self._parts(word.text, word.start), keep_together=" " in word.text)
        leaves: list[BoundNode] = []
        for index, group in enumerate(groups):
            prefix = word.prefix and index == len(groups) - 1
            if len(group) == 1 and not prefix and group[0].written[1:] in self.analyzer.stop_words:
                self.ignored.append(word)
            else:
                leaves.append(_prefix_leaf(group, word) if prefix else _bare_leaf(group, word))
        return conjunction(leaves) if leaves else None

    def _quoted(self, quoted: Quoted) -> BoundNode | None:
        parts = self._parts(quoted.text, quoted.start)
        if not parts:
            return None
        single = len(_groups(parts)) == 1 and len(quoted.text.split()) == 1
        written = tuple(Form(part.written) for part in parts)
        return TextLeaf(
            forms=written if single else tuple(Form(part.lexeme) for part in parts),
            kind="exact" if single else "phrase",
            text=quoted.text.strip(),
            words=tuple(part.written[1:] for part in parts),
            written=_as_written(parts),
            position=quoted.start,
        )

    def _field(self, term: FieldTerm) -> BoundNode:
        comparison = FIELDS[term.name].comparison
        if comparison == "date":
            value_range = parse_date_expression(term.value, zone=self.zone, now=self.now, position=term.value_start)
            return FieldLeaf("date", "", value_range, term.value)
        if comparison == "identical":
            return FieldLeaf(term.name, term.value, text=term.value)
        value = fold_value(term.value)
        if comparison == "flag":
            if value not in FLAGS:
                raise QuerySyntaxError(
                    f"has:{term.value} is not known", term.value_start, "has:attachment and has:link are"
                )
            value = FLAGS[value]
        return FieldLeaf(term.name, value, text=term.value)


def fold_value(value: str) -> str:
    """A field's value as it is compared: folded, runs of blanks made one."""
    return fold(" ".join(value.split()))


def _combined(combine: Callable[[list[BoundNode]], BoundNode], nodes: list[BoundNode | None]) -> BoundNode | None:
    present = [node for node in nodes if node is not None]
    return combine(present) if present else None


def _groups(parts: Sequence[Part], *, keep_together: bool = False) -> list[list[Part]]:
    """Parts that only joining characters separate belong together; a quantity does although a blank stands in it."""
    groups: list[list[Part]] = []
    for part in parts:
        if groups and (part.joined or keep_together):
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups


def _as_written(parts: Sequence[Part]) -> tuple[Form, ...]:
    return tuple(Form(part.compound or part.written) for part in parts)


def _bare_leaf(group: list[Part], word: Word) -> TextLeaf:
    forms = tuple(Form(part.lexeme) for part in group)
    words = tuple(part.written[1:] for part in group)
    if len(group) == 1:
        return TextLeaf(forms, "word", word.text, words, position=word.start)
    return TextLeaf(forms, "identifier", word.text, words, _as_written(group), word.start)


def _prefix_leaf(group: list[Part], word: Word) -> TextLeaf:
    last = group[-1]
    if len(group) == 1 and len(last.written) < 3:
        raise QuerySyntaxError(
            f"the prefix {word.text}* is too short", word.start, "a prefix needs at least two letters or digits"
        )
    forms = (*(Form(part.lexeme) for part in group[:-1]), Form(last.written, prefix=True))
    return TextLeaf(forms, "prefix", word.text + "*", tuple(part.written[1:] for part in group), position=word.start)
