"""The same logbook on PostgreSQL and on SQLite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from postgres_server import drop_database, new_database

from ariel_lite.compose import Logbook, open_logbook
from ariel_lite.records import EnhancedLogbookEntry


@contextmanager
def twins(folder: Path, batches: Iterable[list[EnhancedLogbookEntry]]) -> Iterator[tuple[Logbook, Logbook]]:
    """(on the server, in a file), both with the entries of all batches."""
    url = new_database()
    with open_logbook(url) as server, open_logbook(folder / "twin.db") as file:
        for batch in batches:
            for book in (server, file):
                book.service.backend.upsert(batch)
        yield server, file
    drop_database(url)
