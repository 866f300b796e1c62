"""A pool of connections that fails at once, with the server's own reason.

psycopg_pool was tried: with a server that is away it lets every caller wait for a time-out, cannot say why, and keeps
trying (and warning on stderr) in threads of its own. Here a connection is made by the thread that needs it.
"""

from __future__ import annotations

import select
import threading
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from ariel_lite.backends.undoing import unless_done

Connection = psycopg.Connection[Any]


class PoolBusyError(Exception):
    """No connection became free in time."""


class Pool:
    """Up to `size` connections that threads take and give back.

    Args:
        connect: makes a connection; what it raises, `take` raises.
        size: connections at most.
    """

    def __init__(self, connect: Callable[[], Connection], size: int) -> None:
        self._connect = connect
        self._free = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._is_closed = False

    def take(self, timeout: float) -> Connection:
        """A connection that works, as far as can be told without asking the server.

        Raises:
            PoolBusyError: all are taken for `timeout` seconds.
            psycopg.InterfaceError: the pool is closed.
        """
        if self._is_closed:
            raise psycopg.InterfaceError("the logbook is closed already")
        if not self._free.acquire(timeout=timeout):
            raise PoolBusyError
        with unless_done(self._free.release):
            return self._waiting() or self._connect()

    def give(self, connection: Connection) -> None:
        """Take a connection back; one that is broken or still busy is closed."""
        is_usable = not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE
        with self._lock:
            is_kept = is_usable and not self._is_closed
            if is_kept:
                self._idle.append(connection)
        if not is_kept:
            connection.close()
        self._free.release()

    def close(self) -> None:
        """Close every connection, those in use when they come back."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _waiting(self) -> Connection | None:
        """The latest connection given back that the server has not closed since."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            if not _is_hung_up(connection):
                return connection
            connection.close()


def _is_hung_up(connection: Connection) -> bool:
    """True when there is something to read on an idle connection: the server's farewell."""
    return bool(select.select([connection.fileno()], [], [], 0)[0])
