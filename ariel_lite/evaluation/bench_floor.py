"""The floor: what a bare full-text query costs, without anything that makes it a logbook search.

A plain FTS5 table (`porter unicode61`, external content) over the same texts, asked through apsw for the ten best row
numbers. It has the page cache and memory map that our connections have, so that only the work differs.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import apsw

STATEMENT = "SELECT rowid FROM floor WHERE floor MATCH ? ORDER BY bm25(floor) LIMIT 10"
CACHE_KIBIBYTES = 65_536
MAP_BYTES = 1 << 30


class Floor:
    """The plain index in a file of its own; close it before the file goes."""

    def __init__(self, path: Path, texts: Iterable[str]) -> None:
        self._db = apsw.Connection(str(path))
        self._db.pragma("journal_mode", "wal")
        self._db.pragma("cache_size", -CACHE_KIBIBYTES)
        self._db.pragma("mmap_size", MAP_BYTES)
        with self._db:
            self._db.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, body TEXT NOT NULL)")
            self._db.execute(
                "CREATE VIRTUAL TABLE floor USING fts5"
                "(body, content='texts', content_rowid='id', tokenize='porter unicode61')"
            )
            self._db.executemany("INSERT INTO texts (body) VALUES (?)", ((text,) for text in texts))
            self._db.execute("INSERT INTO floor (floor) VALUES ('rebuild')")
        self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def search(self, match: str) -> list[int]:
        """Row numbers of the ten best texts for an FTS5 expression."""
        return [row for (row,) in self._db.execute(STATEMENT, (match,))]

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def quoted(*words: str) -> str:
    """Words as FTS5 strings, all of which must occur."""
    return " ".join('"' + word.replace('"', '""') + '"' for word in words)
