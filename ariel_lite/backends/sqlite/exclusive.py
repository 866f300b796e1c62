"""One process at a time for what must not run twice. The lock is SQLite's own on a small file beside the logbook:
the system takes it away from a process that dies, on every platform, and a reader may still ask who holds it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import apsw

from ariel_lite.errors import AlreadyRunningError, DatabaseConnectionError


class FileHold:
    """A lock that is held until its process ends."""

    def renew(self) -> None:
        """Nothing to do: nobody can take it."""


@contextmanager
def exclusively(logbook: Path, purpose: str) -> Iterator[FileHold]:
    """See `backends.base.Exclusion.exclusively`."""
    path = logbook.with_name(f"{logbook.name}.{purpose}")
    try:
        connection = apsw.Connection(str(path))
    except apsw.CantOpenError as fault:
        raise DatabaseConnectionError(f"cannot make the lock {path}", hint="check the folder's permissions") from fault
    with closing(connection):
        try:
            _take(connection)
        except apsw.BusyError as fault:
            raise AlreadyRunningError(
                f"another {purpose} of {logbook} runs already{_holder(connection)}", hint="stop that one first"
            ) from fault
        except (apsw.ReadOnlyError, apsw.NotADBError, apsw.IOError, apsw.FullError) as fault:
            raise DatabaseConnectionError(
                f"cannot lock {path}: {fault}", hint="check the file and its folder"
            ) from fault
        yield FileHold()


def _take(connection: apsw.Connection) -> None:
    """Say who we are, then hold the right to write. Raises apsw.BusyError when another has it."""
    who = f"process {os.getpid()} on {socket.gethostname()} since {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("CREATE TABLE IF NOT EXISTS holder (who TEXT)")
    connection.execute("DELETE FROM holder")
    connection.execute("INSERT INTO holder VALUES (?)", (who,))
    connection.execute("COMMIT")
    connection.execute("BEGIN IMMEDIATE")


def _holder(connection: apsw.Connection) -> str:
    """Who holds it, in brackets; "" when that cannot be read just now."""
    try:
        row = connection.execute("SELECT who FROM holder").fetchone()
    except apsw.Error:
        return ""
    return f" ({row[0]})" if row else ""
