"""The FTS5 tokenizer: it hands FTS5 what the analyzer made, several forms at one position.

A document is handed over beside the SQL: `insert` names it by its row number, and the tokenizer gives FTS5 the
positions that the analyzer made. A query gives the tokenizer one lexeme at a time, taken as it is. Other programs can
read every ordinary table of the file, but MATCH needs this tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from ariel_lite.text.tokenise import Analyzer

NAME = "ariel_lite"


class IndexTokenizer:
    """One a connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._analyzer: Analyzer | None = None
        self._text = ""
        connection.register_fts5_tokenizer(NAME, lambda connection, arguments: self._tokenize)

    def insert(self, analyzer: Analyzer, documents: Iterable[tuple[int, str]]) -> None:
        """Index (row number, text) pairs."""
        self._analyzer = analyzer
        self._connection.executemany(
            "INSERT INTO entry_index (rowid, lexemes) VALUES (?, ?)", map(self._hand_over, documents)
        )

    def _hand_over(self, document: tuple[int, str]) -> tuple[int, str]:
        row, self._text = document
        return row, str(row)

    def _tokenize(self, utf8: bytes, flags: int, locale: str | None) -> Iterable[tuple[str, ...]]:
        if flags & apsw.FTS5_TOKENIZE_DOCUMENT and self._analyzer is not None:
            return self._analyzer.positions(self._text)
        return ((bytes(utf8).decode("utf-8"),),)
