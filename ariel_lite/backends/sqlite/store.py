"""An open file: its connections, its migrations, and what a writer remembers. The backend's parts build on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ariel_lite.backends.open_store import OpenStore
from ariel_lite.backends.sqlite import vectors
from ariel_lite.backends.sqlite.connection import Connections
from ariel_lite.backends.sqlite.entries import EntryWriterSession, WriterMemory
from ariel_lite.backends.sqlite.migrations import check_readable, migrate, stand_in
from ariel_lite.backends.undoing import unless_done
from ariel_lite.errors import DatabaseQueryError


class SQLiteStore(OpenStore):
    """A logbook file that is open.

    Args:
        path: the file.
        create: make it (and its folder) when it is absent.
        read_only: never write; a file of an older schema is then read as it is.
        synchronous: NORMAL or FULL.

    Raises:
        DatabaseConnectionError: see `connection.Connections`; or the file was made by a newer ariel-lite.
    """

    _connections: Connections

    def __init__(
        self, path: Path, *, create: bool = False, read_only: bool = False, synchronous: str = "NORMAL"
    ) -> None:
        super().__init__()
        self.path = path
        self.location = str(path)
        self.read_only = read_only
        self._connections = Connections(
            path, create=create, read_only=read_only, synchronous=synchronous, prepare=stand_in
        )
        with unless_done(self.close):
            if read_only:
                check_readable(self._connections)
            else:
                self._applied = migrate(self._connections)

    def _migrate(self) -> list[str]:
        return migrate(self._connections)

    def _memory(self) -> WriterMemory:
        if not hasattr(self._local, "memory"):
            self._local.memory = WriterMemory()
        memory: WriterMemory = self._local.memory
        return memory

    def _forget_vectors(self, rows: list[int]) -> None:
        """Drop vectors of rows, inside the transaction that changes their text."""
        if rows and vectors.has_models(self._connections.get()):
            try:
                connection = self._connections.with_vectors()
            except DatabaseQueryError:
                vectors.forget_state(self._connections.get(), rows)
            else:
                vectors.forget_rows(connection, rows)

    @contextmanager
    def _writing(self) -> Iterator[EntryWriterSession]:
        """A write transaction over entries; what the writer remembers is forgotten when it fails."""
        memory = self._memory()
        with unless_done(memory.forget), self._connections.writing() as db:
            yield EntryWriterSession(db, self._connections.tokenizer(), memory, self._forget_vectors)
