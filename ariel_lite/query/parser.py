"""Tokens to the syntax tree.

    query   := or
    or      := and ("OR" and)*
    and     := unary (["AND"] unary)*
    unary   := "NOT" unary | "-" primary | primary
    primary := "(" query ")" | QUOTED | FIELD | NUMBER UNIT | WORD

AND, OR and NOT are operators in capitals only. Binding: NOT, then AND (also unwritten), then OR; brackets group.
Strict parsing raises at the first fault; lenient parsing mends open brackets and quotes and dangling operators and
reports each as a Problem. Too many terms or levels are an error in both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ariel_lite.errors import QuerySyntaxError
from ariel_lite.query.lexer import Token, clean, tokenize
from ariel_lite.query.nodes import And, FieldTerm, Not, Or, Problem, Quoted, SyntaxNode, Word
from ariel_lite.text.normalise import normalise
from ariel_lite.text.tokenise import CHUNK_PUNCTUATION
from ariel_lite.text.units import is_unit

MAX_TERMS = 64
MAX_DEPTH = 32
PREFIX = re.compile(r"(.*\w)\*+", re.DOTALL)
NUMBER = r"[-+\u2212]?\d+(?:\.\d+)*(?:[eE][-+]?\d+)?"
NUMBERS = re.compile(rf"[\[=:~<>]?{NUMBER}(?:[-\u2013/:x\u00d7]{NUMBER})*", re.ASCII)


@dataclass(frozen=True)
class Parsed:
    """A syntax tree (None when nothing was left to search for), the cleaned text it belongs to, and the problems."""

    tree: SyntaxNode | None
    text: str
    problems: tuple[Problem, ...]


def parse(text: str, *, strict: bool = False) -> Parsed:
    """Read a query.

    Raises:
        QuerySyntaxError: over 64 terms or 32 levels, a prefix under two characters, an empty field value; and with
            `strict`, anything that lenient parsing would mend.
    """
    cleaned, problems = clean(text)
    tokens, lexical = tokenize(cleaned)
    parser = _Parser(tokens, cleaned)
    tree = parser.query()
    found = tuple(sorted([*problems, *lexical, *parser.problems], key=lambda problem: problem.position))
    mended = [problem for problem in found if problem.level == "warning"]
    if strict and mended:
        raise QuerySyntaxError(mended[0].message, mended[0].position, "write it without the fault, or search leniently")
    return Parsed(tree, cleaned, found)


class _Parser:
    def __init__(self, tokens: list[Token], text: str) -> None:
        self.tokens = tokens
        self.text = text
        self.at = 0
        self.depth = 0
        self.terms = 0
        self.problems: list[Problem] = []

    def query(self) -> SyntaxNode | None:
        trees: list[SyntaxNode] = []
        while self.at < len(self.tokens):
            tree = self._or()
            if tree is not None:
                trees.append(tree)
            if self.at < len(self.tokens):
                self._report("a closing bracket has no opening one; it was ignored", self.tokens[self.at].start)
                self.at += 1
        return _join(And, trees)

    def _peek(self) -> Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def _report(self, message: str, position: int) -> None:
        self.problems.append(Problem(message, position))

    def _or(self) -> SyntaxNode | None:
        children: list[SyntaxNode] = []
        operator: Token | None = None
        while True:
            child = self._and()
            if child is not None:
                children.append(child)
            elif operator is not None:
                self._dangling(operator)
            token = self._peek()
            if token is None or token.text != "OR" or token.kind != "operator":
                return _join(Or, children)
            if child is None and operator is None:
                self._dangling(token)
            operator = token
            self.at += 1

    def _and(self) -> SyntaxNode | None:
        children: list[SyntaxNode] = []
        operator: Token | None = None
        while (token := self._peek()) is not None and token.kind != "close":
            if token.kind == "operator" and token.text == "OR":
                break
            if token.kind == "operator" and token.text == "AND":
                if not children or operator is not None:
                    self._dangling(token)
                operator = token
                self.at += 1
                continue
            child = self._unary()
            if child is not None:
                children.append(child)
                operator = None
        if operator is not None and children:
            self._dangling(operator)
        return _join(And, children)

    def _dangling(self, operator: Token) -> None:
        self._report(f"{operator.text} has nothing to join; it was ignored", operator.start)

    def _unary(self) -> SyntaxNode | None:
        token = self.tokens[self.at]
        negates = token.kind == "minus" or (token.kind == "operator" and token.text == "NOT")
        if not negates:
            return self._primary()
        self.at += 1
        self._deeper(token)
        following = self._peek()
        ends = following is None or following.kind == "close" or following.text in ("AND", "OR")
        if ends and (following is None or following.kind in ("close", "operator")):
            self._report(f"{token.text} has nothing to exclude; it was ignored", token.start)
            child = None
        else:
            child = self._unary()
        self.depth -= 1
        return None if child is None else Not(child)

    def _deeper(self, token: Token) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise QuerySyntaxError(
                f"the query is nested more than {MAX_DEPTH} levels deep", token.start, "use fewer brackets"
            )

    def _primary(self) -> SyntaxNode | None:
        token = self.tokens[self.at]
        self.at += 1
        if token.kind == "open":
            return self._group(token)
        self.terms += 1
        if self.terms > MAX_TERMS:
            raise QuerySyntaxError(f"the query has more than {MAX_TERMS} terms", token.start, "search for fewer words")
        if token.kind == "quoted":
            return Quoted(token.text, token.start, token.end)
        if token.kind == "field":
            return _field(token)
        return self._quantity(token) or _word(token)

    def _quantity(self, number: Token) -> Word | None:
        """A number and the unit word behind it are one name: `1.9 GeV` as `1.9GeV`."""
        unit = self._peek()
        if unit is None or unit.kind != "word" or not NUMBERS.fullmatch(number.text):
            return None
        if self.text[number.end : unit.start].strip() or not is_unit(normalise(unit.text)[0].strip(CHUNK_PUNCTUATION)):
            return None
        self.at += 1
        return Word(self.text[number.start : unit.end], number.start, unit.end)

    def _group(self, opening: Token) -> SyntaxNode | None:
        self._deeper(opening)
        tree = self._or()
        self.depth -= 1
        if self._peek() is None:
            self._report("a bracket is never closed; it was closed at the end", opening.start)
        else:
            self.at += 1
        if tree is None:
            self._report("empty brackets were ignored", opening.start)
        return tree


def _join(kind: type[And] | type[Or], children: list[SyntaxNode]) -> SyntaxNode | None:
    if not children:
        return None
    return children[0] if len(children) == 1 else kind(tuple(children))


def _field(token: Token) -> FieldTerm:
    if not token.text.strip():
        raise QuerySyntaxError(
            f"{token.name}: has no value",
            token.start,
            f'write {token.name}:value or {token.name}:"two words", without a blank behind the colon',
        )
    return FieldTerm(token.name, token.text.strip(), token.quoted, token.start, token.end, token.value_start)


def _word(token: Token) -> Word:
    match = PREFIX.fullmatch(token.text)
    if match is None:
        return Word(token.text, token.start, token.end)
    return Word(match.group(1), token.start, token.end, prefix=True)
