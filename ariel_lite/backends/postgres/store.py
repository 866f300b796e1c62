"""An open database: its connections, its migrations, where entries' parts stand. The backend's parts build on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ariel_lite.backends.open_store import OpenStore
from ariel_lite.backends.postgres.columns import Layout
from ariel_lite.backends.postgres.connection import Connections, server_version
from ariel_lite.backends.postgres.entries import EntryWriterSession
from ariel_lite.backends.postgres.migrations import check_readable, has_own_words, is_attached, migrate
from ariel_lite.backends.undoing import unless_done
from ariel_lite.text.tokenise import Analyzer


class PostgresStore(OpenStore):
    """A logbook on a server that is open. `attached` is True when another program made the entries' table.

    Args:
        location: a postgresql:// URL.
        create: make the tables when they are absent.
        read_only: never write; a database of an older schema is then read as it is.
        pool_size: connections at most.

    Raises:
        DatabaseConnectionError: see `connection.Connections`; or no logbook is there, or a newer ariel-lite made it.
    """

    _connections: Connections

    def __init__(self, location: str, *, create: bool = False, read_only: bool = False, pool_size: int = 4) -> None:
        super().__init__()
        self.location = location
        self.read_only = read_only
        self._connections = Connections(location, size=pool_size, read_only=read_only)
        with unless_done(self.close):
            if not read_only:
                self._applied = migrate(self._connections, create=create)
            with self._connections.reading() as db:
                check_readable(db, self._connections.masked)
                self.attached = is_attached(db)
                self._layout = Layout(has_own_words(db, self._connections.masked))

    @property
    def server(self) -> str:
        """What runs there: "PostgreSQL 18.6, pgvector 0.8.6"."""
        with self._connections.reading() as db:
            return server_version(db)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._connections.masked!r})"

    def _migrate(self) -> list[str]:
        return migrate(self._connections, create=True)

    def _analyzer(self) -> Analyzer:
        """This thread's analyzer."""
        if not hasattr(self._local, "analyzer"):
            self._local.analyzer = Analyzer()
        analyzer: Analyzer = self._local.analyzer
        return analyzer

    @contextmanager
    def _writing(self) -> Iterator[EntryWriterSession]:
        with self._connections.writing() as db:
            yield EntryWriterSession(db, self._layout, self._analyzer())
