"""The FTS5 tokenizer: it hands FTS5 what the analyzer made, several forms at one position.

Indexing gives it an encoded text (see `text.tokenise.Analyzer.encode`); a query gives it one lexeme at a time.
Other programs can read every ordinary table of the file, but MATCH needs this tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from ariel_lite.text.tokenise import FORM_SEPARATOR

NAME = "ariel_lite"
REMEMBERED = 200_000


class _Positions(dict[str, tuple[str, ...]]):
    """Encoded position -> its forms; bounded."""

    def __missing__(self, position: str) -> tuple[str, ...]:
        if len(self) > REMEMBERED:
            self.clear()
        forms = self[position] = tuple(position.split(FORM_SEPARATOR))
        return forms


def register(connection: apsw.Connection) -> None:
    """Make the tokenizer known to a connection; needed before the index is touched."""
    positions = _Positions()

    def tokenize(utf8: bytes, flags: int, locale: str | None) -> Iterable[tuple[str, ...]]:
        text = bytes(utf8).decode("utf-8")
        if flags & apsw.FTS5_TOKENIZE_DOCUMENT:
            return map(positions.__getitem__, text.split(" ")) if text else ()
        return ((text,),)

    def factory(connection: apsw.Connection, arguments: list[str]) -> apsw.Tokenizer:
        return tokenize

    connection.register_fts5_tokenizer(NAME, factory)
