"""Reaching the server: a pool of connections, transactions, time limits, and errors in this package's words."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from ariel_lite.backends.postgres import arrays
from ariel_lite.backends.postgres.limits import Limits
from ariel_lite.backends.postgres.pool import Connection, Pool, PoolBusyError
from ariel_lite.backends.undoing import unless_done
from ariel_lite.errors import ARIELException, DatabaseConnectionError, DatabaseQueryError, SearchTimeoutError
from ariel_lite.locations import mask_credentials

WAIT_SECONDS = 30.0
CONNECT_SECONDS = 10
OLDEST_SERVER = 140_000
WRITER_LOCK = 0x41524C54
"""The advisory lock that writers of entries take in turn; in ASCII: ARLT."""

NEW_STAMP = "floor(random() * 9007199254740991)::bigint"
"""A value that no reader has seen before, not even one of a transaction that was rolled back."""

SESSION = (
    "SET TimeZone = 'UTC'; SET jit = off; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;"
    " SET intervalstyle = 'postgres'; SET datestyle = 'ISO'"
)
PASSWORD = re.compile(r"(password=)('[^']*'|[^\s&]+)", re.IGNORECASE)


class Connections:
    """The connections to one database, shared by threads.

    Args:
        location: a postgresql:// URL.
        size: connections at most.
        read_only: never write.

    Raises:
        DatabaseConnectionError: the server cannot be reached, refuses us, or is too old.
    """

    def __init__(self, location: str, *, size: int = 4, read_only: bool = False) -> None:
        self.location = location
        self.masked = masked(location, location)
        self.read_only = read_only
        self._size = size
        self._local = threading.local()
        self._limits = Limits()
        self._pool = Pool(self._connect, size)
        with self._translated():
            self._pool.give(self._pool.take(WAIT_SECONDS))

    def close(self) -> None:
        """Give back every connection."""
        self._limits.close()
        self._pool.close()

    def interrupt(self) -> None:
        """Stop the statements that run now, in whatever thread."""
        self._limits.interrupt()

    @contextmanager
    def limited(self, should_stop: Callable[[], bool]) -> Iterator[None]:
        """Inside, this thread's statements end with SearchTimeoutError as soon as `should_stop()` is true."""
        with self._limits.watching(should_stop):
            yield

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent view of the database."""
        open_already: Connection | None = getattr(self._local, "connection", None)
        if open_already is not None:
            yield open_already
            return
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as connection:
            yield connection

    @contextmanager
    def writing(self, *, entries: bool = True) -> Iterator[Connection]:
        """A write transaction. Those over entries wait for each other, so that counters and words stay exact."""
        if self.read_only:
            raise DatabaseQueryError(f"{self.masked} was opened for reading only", hint="open it without read_only")
        outer: Connection | None = getattr(self._local, "connection", None)
        if outer is not None:
            with self._translated(), outer.transaction():
                yield outer
            return
        with self._transaction("BEGIN") as connection:
            if entries:
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (WRITER_LOCK,))
            yield connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Connection]:
        with self._translated(), self._taken() as connection:
            connection.execute(begin)
            self._local.connection = connection
            try:
                with unless_done(lambda: _roll_back(connection)):
                    yield connection
            finally:
                self._local.connection = None
            connection.execute("COMMIT")

    @contextmanager
    def _taken(self) -> Iterator[Connection]:
        connection = self._take()
        try:
            with self._limits.running(connection):
                yield connection
        finally:
            self._pool.give(connection)

    def _take(self) -> Connection:
        try:
            return self._pool.take(WAIT_SECONDS)
        except PoolBusyError as fault:
            raise DatabaseConnectionError(
                f"all {self._size} connections to {self.masked} are in use",
                hint="try again, or raise database.pool_size",
            ) from fault

    def _connect(self) -> Connection:
        try:
            connection = psycopg.connect(
                self.location, connect_timeout=CONNECT_SECONDS, autocommit=True, prepare_threshold=None
            )
        except psycopg.ProgrammingError as fault:
            reason = masked(one_line(fault), self.location)
            raise DatabaseConnectionError(
                f"{self.masked} is no URL of PostgreSQL: {reason}", hint="check --db"
            ) from fault
        with unless_done(connection.close):
            if connection.info.server_version < OLDEST_SERVER:
                raise DatabaseConnectionError(
                    f"{self.masked} is PostgreSQL {connection.info.server_version // 10_000}",
                    hint="PostgreSQL 14 or newer is needed",
                )
            arrays.register(connection)
            connection.execute(SESSION)
        return connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        with translated_errors(self.location):
            yield


def _roll_back(connection: Connection) -> None:
    if not connection.closed:
        connection.rollback()


@contextmanager
def translated_errors(location: str) -> Iterator[None]:
    """PostgreSQL's errors as this package's, without credentials, with what to do next."""
    try:
        yield
    except psycopg.Error as fault:
        raise translated(fault, location) from fault
    except UnicodeEncodeError as fault:
        raise DatabaseQueryError("a text holds characters that cannot be stored", hint="replace them") from fault


def translated(fault: psycopg.Error, location: str) -> ARIELException:
    """An error of the driver as one of ours."""
    name = masked(location, location)
    reason = masked(one_line(fault), location)
    if isinstance(fault, errors.QueryCanceled):
        return SearchTimeoutError(
            "the search took too long and was stopped", hint="narrow it by date or author, or raise the time limit"
        )
    if isinstance(fault, errors.DiskFull):
        return DatabaseQueryError(f"the disk of {name} is full", hint="free some space and run it again")
    if isinstance(fault, errors.InsufficientPrivilege):
        return DatabaseQueryError(f"{name} refuses: {reason}", hint="ask for the right, or use another user")
    if isinstance(fault, errors.UndefinedTable | errors.UndefinedColumn):
        return DatabaseQueryError(f"{name} lacks a table or column: {reason}", hint="run 'ariel-lite migrate'")
    if isinstance(fault, errors.ReadOnlySqlTransaction):
        return DatabaseQueryError(f"{name} can only be read: {reason}", hint="write to the primary server")
    if isinstance(fault, errors.DeadlockDetected | errors.SerializationFailure | errors.LockNotAvailable):
        return DatabaseQueryError(f"{name} was busy: {reason}", hint="run it again")
    if isinstance(fault, psycopg.OperationalError | psycopg.InterfaceError):
        return DatabaseConnectionError(
            f"{name} cannot be reached: {reason}", hint="check that the server runs, the URL and the credentials"
        )
    return DatabaseQueryError(f"{name} refused a statement: {reason}", hint="run 'ariel-lite doctor'")


def masked(text: str, location: str) -> str:
    """A text without the password of a URL."""
    hidden = PASSWORD.sub(r"\1***", mask_credentials(text))
    try:
        secret = str(conninfo_to_dict(location).get("password") or "")
    except psycopg.ProgrammingError:
        return hidden
    return hidden.replace(secret, "***") if len(secret) > 2 else hidden


def one_line(fault: Exception) -> str:
    """The first line of an error's message."""
    lines = str(fault).strip().splitlines()
    return lines[0].strip() if lines else type(fault).__name__


def integer(connection: Connection, sql: str, parameters: tuple[Any, ...] = ()) -> int:
    """The one number that a statement gives; 0 when it gives none."""
    row = connection.execute(sql, parameters).fetchone()
    return int(row[0] or 0) if row else 0


def server_version(connection: Connection) -> str:
    """What runs there, for people: PostgreSQL and, where it is installed, pgvector."""
    number = connection.info.server_version
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    return f"PostgreSQL {number // 10_000}.{number % 10_000}" + (f", pgvector {row[0]}" if row else "")


__all__ = [
    "Connection",
    "Connections",
    "integer",
    "masked",
    "one_line",
    "server_version",
    "translated",
    "translated_errors",
]
