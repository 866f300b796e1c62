"""Query text to tokens. Nothing here raises: what is odd becomes a Problem."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ariel_lite.query.fields import FIELDS
from ariel_lite.query.nodes import Problem

MAX_CHARACTERS = 1000
QUOTES = frozenset('"“”„‟«»‹›〝〞＂「」『』')
FIELD = re.compile(rf"({'|'.join(FIELDS)}):")
OPERATORS = ("AND", "OR", "NOT")

TokenKind = Literal["word", "quoted", "field", "operator", "open", "close", "minus"]


@dataclass(frozen=True)
class Token:
    """A token with its character offsets; `name` and `value_start` belong to fields."""

    kind: TokenKind
    text: str
    start: int
    end: int
    name: str = ""
    quoted: bool = False
    value_start: int = 0


def clean(text: str) -> tuple[str, list[Problem]]:
    """Characters that cannot be searched become blanks, and an over-long query is cut at a word; both reported."""
    problems: list[Problem] = []
    cleaned = "".join(" " if _unusable(character) else character for character in text)
    if cleaned != text:
        first = next(at for at, character in enumerate(text) if _unusable(character))
        problems.append(Problem("characters that cannot be searched were treated as blanks", first))
    if len(cleaned) > MAX_CHARACTERS:
        cut = max(cleaned.rfind(" ", 0, MAX_CHARACTERS + 1), 0) or MAX_CHARACTERS
        problems.append(Problem(f"the query is longer than {MAX_CHARACTERS} characters; the rest was left out", cut))
        cleaned = cleaned[:cut]
    return cleaned, problems


def tokenize(text: str) -> tuple[list[Token], list[Problem]]:
    """The tokens of a cleaned query, in order."""
    return _Lexer(text).run()


def _unusable(character: str) -> bool:
    code = ord(character)
    return (code < 32 and character not in "\t\n\r") or code == 127 or 0xD800 <= code <= 0xDFFF


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.tokens: list[Token] = []
        self.problems: list[Problem] = []

    def run(self) -> tuple[list[Token], list[Problem]]:
        while self.at < len(self.text):
            character = self.text[self.at]
            if character.isspace():
                self.at += 1
            elif character in "()":
                self._add("open" if character == "(" else "close", self.at, self.at + 1)
            elif character in QUOTES:
                self._quoted()
            elif self._is_minus():
                self._add("minus", self.at, self.at + 1)
            elif match := FIELD.match(self.text, self.at):
                self._field(match)
            else:
                self._word()
        return self.tokens, self.problems

    def _add(self, kind: TokenKind, start: int, end: int) -> None:
        self.tokens.append(Token(kind, self.text[start:end], start, end))
        self.at = end

    def _is_minus(self) -> bool:
        """A minus excludes at the start of a token, before a letter, a quote, a bracket or a field; -3 is a number."""
        if self.text[self.at] != "-" or self.at + 1 >= len(self.text):
            return False
        before = self.text[self.at - 1] if self.at else " "
        after = self.text[self.at + 1]
        follows = after in QUOTES or after == "(" or (after.isalnum() and not after.isdigit())
        return follows and (before.isspace() or before in "()" or before in QUOTES)

    def _quoted(self) -> None:
        start = self.at
        closing = self._closing_quote(start + 1)
        if closing is None:
            self.problems.append(Problem("the last quote is never closed; it was removed", start))
            self.at = start + 1
            return
        self.tokens.append(Token("quoted", self.text[start + 1 : closing], start, closing + 1))
        self.at = closing + 1

    def _closing_quote(self, start: int) -> int | None:
        return next((at for at in range(start, len(self.text)) if self.text[at] in QUOTES), None)

    def _field(self, match: re.Match[str]) -> None:
        start, value_start = self.at, match.end()
        name = match.group(1)
        if value_start < len(self.text) and self.text[value_start] in QUOTES:
            closing = self._closing_quote(value_start + 1)
            if closing is not None:
                value = self.text[value_start + 1 : closing]
                self.tokens.append(Token("field", value, start, closing + 1, name, True, value_start + 1))
                self.at = closing + 1
                return
            self.problems.append(Problem("the last quote is never closed; it was removed", value_start))
            value_start += 1
        end = self._end_of_word(value_start)
        self.tokens.append(Token("field", self.text[value_start:end], start, end, name, False, value_start))
        self.at = end

    def _word(self) -> None:
        start, end = self.at, self._end_of_word(self.at)
        kind: TokenKind = "operator" if self.text[start:end] in OPERATORS else "word"
        self._add(kind, start, end)

    def _end_of_word(self, start: int) -> int:
        end = start
        while end < len(self.text):
            character = self.text[end]
            if character.isspace() or character in "()" or character in QUOTES:
                break
            end += 1
        return end
