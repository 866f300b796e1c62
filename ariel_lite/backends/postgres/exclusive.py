"""One process at a time for what must not run twice, wherever it runs: an advisory lock of a connection of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from zlib import crc32

import psycopg

from ariel_lite.backends.postgres.connection import (
    CONNECT_SECONDS,
    WRITER_LOCK,
    Connection,
    masked,
    translated_errors,
)
from ariel_lite.errors import AlreadyRunningError

KEEPALIVE = "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3"
"""The server notices within a minute that a machine has vanished, and gives its lock away."""

HOLDER = (
    "SELECT format('server process %%s from %%s since %%s', a.pid, coalesce(host(a.client_addr), 'this host'),"
    " to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS \"UTC\"'))"
    " FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid"
    " WHERE l.locktype = 'advisory' AND l.granted AND l.classid = %s AND l.objid = %s"
    " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


class ServerHold:
    """A lock that is held as long as its connection."""

    def __init__(self, location: str, purpose: str) -> None:
        self._location = location
        self._purpose = purpose
        self._connection: Connection | None = None

    def renew(self) -> None:
        """Make sure of the lock; a connection that the server closed is made anew.

        Raises:
            AlreadyRunningError: another process has the lock.
            DatabaseConnectionError: the server cannot be reached.
        """
        with translated_errors(self._location):
            if self._connection is not None and _answers(self._connection):
                return
            self.release()
            connection = psycopg.connect(
                self._location,
                connect_timeout=CONNECT_SECONDS,
                autocommit=True,
                application_name=f"ariel-lite {self._purpose}",
            )
            self._connection = connection
            connection.execute(KEEPALIVE)
            self._take(connection)

    def release(self) -> None:
        """Give the lock back."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _take(self, connection: Connection) -> None:
        keys = WRITER_LOCK, crc32(self._purpose.encode()) & 0x7FFFFFFF
        row = connection.execute("SELECT pg_try_advisory_lock(%s::int, %s::int)", keys).fetchone()
        if row is not None and row[0]:
            return
        holder = connection.execute(HOLDER, keys).fetchone()
        self.release()
        raise AlreadyRunningError(
            f"another {self._purpose} of {masked(self._location, self._location)} runs already"
            + (f" ({holder[0]})" if holder else ""),
            hint="stop that one first",
        )


@contextmanager
def exclusively(location: str, purpose: str) -> Iterator[ServerHold]:
    """See `backends.base.Exclusion.exclusively`."""
    hold = ServerHold(location, purpose)
    try:
        hold.renew()
        yield hold
    finally:
        hold.release()


def _answers(connection: Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True
