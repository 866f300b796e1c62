"""Opening a logbook file, one connection a thread, and transactions."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw
import sqlite_vec

from ariel_lite.backends.sqlite.tokenizer import IndexTokenizer
from ariel_lite.backends.undoing import unless_done
from ariel_lite.errors import DamagedLogbookError, DatabaseConnectionError, DatabaseQueryError

APPLICATION_ID = 0x41524C54
BUSY_SECONDS = 5.0
PERMISSIONS = "check the permissions of the file and its folder"
"""How long a transaction waits for another one's end."""

BUSY_POLL_SECONDS = 0.005
"""How often it looks: an ingestion leaves only short gaps between its transactions, which longer pauses would miss."""

SPARE_SHARE = 20
"""Free pages are given back when they are more than a twentieth of the file."""

SQLITE_HEADER = b"SQLite format 3\x00"


class Connections:
    """The connections of one file: each thread has its own.

    Args:
        path: the file.
        create: make the file (and its folder) when it is absent.
        read_only: never write; a file on read-only media opens too.
        synchronous: NORMAL or FULL.
        prepare: done to every connection that only reads.

    Raises:
        DatabaseConnectionError: no such file, a folder, an empty file, not a logbook, or unreadable.
    """

    def __init__(
        self,
        path: Path,
        *,
        create: bool = False,
        read_only: bool = False,
        synchronous: str = "NORMAL",
        prepare: Callable[[apsw.Connection], None] = lambda connection: None,
    ) -> None:
        self.path = path
        self.read_only = read_only
        self._prepare = prepare
        self._synchronous = synchronous
        self._local = threading.local()
        self._lock = threading.Lock()
        self._opened: list[apsw.Connection] = []
        self._closed = False
        _check_file(path, create=create)
        if create:
            _make_folder(path)
        self._flags = apsw.SQLITE_OPEN_URI | (
            apsw.SQLITE_OPEN_READONLY
            if read_only
            else apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        )

    def get(self) -> apsw.Connection:
        """This thread's connection."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._open()
            self._local.connection = connection
        return connection

    def with_vectors(self) -> apsw.Connection:
        """This thread's connection, with sqlite-vec loaded."""
        connection = self.get()
        if not getattr(self._local, "has_vectors", False):
            load_extension(connection)
            self._local.has_vectors = True
        return connection

    def tokenizer(self) -> IndexTokenizer:
        """The tokenizer of this thread's connection."""
        self.get()
        tokenizer: IndexTokenizer = self._local.tokenizer
        return tokenizer

    def close(self) -> None:
        """Close every thread's connection; a writer tidies up first."""
        with self._lock:
            self._closed = True
            opened, self._opened = self._opened, []
        for index, connection in enumerate(opened):
            if not self.read_only and index == len(opened) - 1:
                tidy(connection)
            connection.close()

    def interrupt(self) -> None:
        """Stop what every connection is doing."""
        with self._lock:
            for connection in self._opened:
                connection.interrupt()

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """One consistent view of the file."""
        connection = self.get()
        with translated_errors(self.path):
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                _roll_back(connection)

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """A write transaction, taken at once (BEGIN IMMEDIATE) so that it waits for others instead of failing.

        Inside another one of the same thread it is part of that: when it fails, only its own part is taken back.
        """
        connection = self.writable()
        is_inner = connection.in_transaction
        if is_inner and connection.txn_state("main") != apsw.SQLITE_TXN_WRITE:
            raise DatabaseQueryError(f"{self.path} cannot be written amid a read", hint="read first, then write")
        with translated_errors(self.path):
            connection.execute("SAVEPOINT inner_part" if is_inner else "BEGIN IMMEDIATE")
            with unless_done(lambda: _roll_back(connection, is_inner=is_inner)):
                yield connection
                connection.execute("RELEASE inner_part" if is_inner else "COMMIT")

    def writable(self) -> apsw.Connection:
        """This thread's connection, to write with.

        Raises:
            DatabaseQueryError: the logbook was opened for reading only.
            DatabaseConnectionError: the file may not be written; SQLite opens it all the same.
        """
        if self.read_only:
            raise DatabaseQueryError(f"{self.path} was opened for reading only", hint="open it without read_only")
        connection = self.get()
        if connection.readonly("main"):
            raise not_writable(self.path)
        return connection

    def compact(self) -> None:
        """Give free pages back at once; inside a transaction they stay for the next use."""
        connection = self.get()
        with translated_errors(self.path):
            if not connection.in_transaction:
                connection.execute("VACUUM")

    def _open(self) -> apsw.Connection:
        if self._closed:
            raise DatabaseConnectionError(f"{self.path} is closed already", hint="open the logbook again")
        try:
            with translated_errors(self.path):
                uri = reading_uri(self.path) if self.read_only else self.path.absolute().as_uri()
                connection = apsw.Connection(uri, flags=self._flags)
                with unless_done(connection.close):
                    self._set_up(connection)
        except DamagedLogbookError as fault:
            fault.hint = f"nothing was changed; {fault.hint}"
            raise
        with self._lock:
            self._opened.append(connection)
        self._close_with_thread(connection)
        return connection

    def _set_up(self, connection: apsw.Connection) -> None:
        connection.set_busy_handler(_Patience())
        # First, because it reads the file: a busy, damaged or strange one is called that, and not a fault of the index.
        _check_identity(connection, self.path)
        self._local.tokenizer = IndexTokenizer(connection)
        if not self.read_only:
            give_back_pages(connection)
            use_write_ahead_log(connection)
            connection.pragma("synchronous", self._synchronous)
            connection.pragma("foreign_keys", True)
        use_memory(connection)
        if self.read_only:
            self._prepare(connection)

    def _close_with_thread(self, connection: apsw.Connection) -> None:
        """Close a connection when its thread ends: servers start threads and let them end again."""
        self._local.owner = _Owner()
        ending = weakref.finalize(self._local.owner, _close_left, self._opened, connection)
        ending.atexit = False


class _Patience:
    """Waits for a busy file; one a connection."""

    def __init__(self) -> None:
        self._end = 0.0

    def __call__(self, calls: int) -> bool:
        """True to look again, `calls` being how often this transaction has looked before."""
        now = time.monotonic()
        if calls == 0:
            self._end = now + BUSY_SECONDS
        if now >= self._end:
            return False
        time.sleep(BUSY_POLL_SECONDS)
        return True


class _Owner:
    """Lives as long as the thread that it is local to."""


def _roll_back(connection: apsw.Connection, *, is_inner: bool = False) -> None:
    """Take a transaction back, unless SQLite has done so already: some errors make it."""
    if connection.in_transaction:
        connection.execute("ROLLBACK TO inner_part; RELEASE inner_part" if is_inner else "ROLLBACK")


def _close_left(opened: list[apsw.Connection], connection: apsw.Connection) -> None:
    with suppress(ValueError):
        opened.remove(connection)
    with suppress(apsw.Error):
        connection.close()


def integer(connection: apsw.Connection, sql: str, parameters: tuple[Any, ...] = ()) -> int:
    """The one number that a statement gives; 0 when it gives none."""
    value: Any = connection.execute(sql, parameters).get
    return int(value or 0)


def give_back_pages(connection: apsw.Connection) -> None:
    """Let a new file shrink again: a merge of the full-text index frees many pages at once, `tidy` gives them back."""
    if not connection.pragma("page_count"):
        connection.pragma("auto_vacuum", 2)


def use_write_ahead_log(connection: apsw.Connection) -> None:
    """Readers never wait for the writer, and a crash loses at most what was not committed."""
    if connection.pragma("journal_mode") != "wal":
        connection.pragma("journal_mode", "wal")


def use_memory(connection: apsw.Connection) -> None:
    """A page cache of 64 MB and a memory map: a laptop's whole logbook stays warm."""
    connection.pragma("cache_size", -65536)
    connection.pragma("mmap_size", 1 << 30)
    connection.pragma("temp_store", "memory")


def tidy(connection: apsw.Connection) -> None:
    """Refresh the planner's statistics and fold the log into the file, unless another process is using it."""
    try:
        if integer(connection, "PRAGMA freelist_count") > integer(connection, "PRAGMA page_count") // SPARE_SHARE:
            connection.execute("PRAGMA incremental_vacuum").fetchall()
        connection.pragma("optimize")
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except (apsw.BusyError, apsw.LockedError, apsw.ReadOnlyError, apsw.IOError, apsw.FullError, apsw.CorruptError):
        return


def load_extension(connection: apsw.Connection) -> None:
    """Make sqlite-vec's `vec0` known to a connection.

    Raises:
        DatabaseQueryError: sqlite-vec cannot be loaded on this machine.
    """
    try:
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
    except (apsw.Error, AttributeError, OSError) as fault:
        raise DatabaseQueryError(
            f"sqlite-vec cannot be loaded: {fault}", hint="reinstall sqlite-vec; keyword search works without it"
        ) from fault


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """SQLite's errors as this package's, with what to do next."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as fault:
        raise DatabaseConnectionError(
            f"{path} is in use by another program", hint="try again when it has finished"
        ) from fault
    except (apsw.NotADBError, apsw.CorruptError) as fault:
        raise damage(path, fault) from fault
    except apsw.FullError as fault:
        raise DatabaseQueryError(f"the disk is full: {path}", hint="free some space and run it again") from fault
    except apsw.ReadOnlyError as fault:
        raise not_writable(path) from fault
    except (apsw.CantOpenError, apsw.PermissionsError) as fault:
        raise DatabaseConnectionError(f"{path} cannot be opened or written: {fault}", hint=PERMISSIONS) from fault
    except apsw.IOError as fault:
        raise DatabaseConnectionError(f"{path} cannot be read: {fault}", hint="check the disk") from fault
    except apsw.InterruptError:
        raise
    except apsw.Error as fault:
        raise DatabaseQueryError(
            f"the logbook {path} refused a statement: {fault}", hint="run 'ariel-lite doctor'"
        ) from fault


def not_writable(path: Path) -> DatabaseConnectionError:
    """What a file is called that may be read only."""
    return DatabaseConnectionError(f"{path} may not be written", hint=PERMISSIONS)


def damage(path: Path, fault: apsw.Error) -> DatabaseQueryError:
    """What a damaged file is called. A new index mends a damaged index; nothing but a backup mends the file itself."""
    message = f"{path} is damaged: {fault}"
    if getattr(fault, "extendedresult", 0) == apsw.SQLITE_CORRUPT_VTAB:
        return DatabaseQueryError(message, hint="run 'ariel-lite doctor --repair', or restore a backup")
    return DamagedLogbookError(message, hint="move the file away and restore a backup: 'ariel-lite restore FILE'")


def _check_file(path: Path, *, create: bool) -> None:
    if path.is_dir():
        raise DatabaseConnectionError(f"{path} is a folder, not a logbook file", hint="name a file with --db")
    if not path.exists():
        if create:
            return
        raise DatabaseConnectionError(
            f"there is no logbook at {path}", hint="make one with 'ariel-lite ingest' or 'ariel-lite quickstart'"
        )
    try:
        with path.open("rb") as handle:
            header = handle.read(16)
    except OSError as fault:
        raise DatabaseConnectionError(f"{path} cannot be read: {fault.strerror}", hint="check permissions") from fault
    if not header and not create:
        raise DatabaseConnectionError(
            f"{path} is empty, no logbook yet",
            hint="fill it with 'ariel-lite ingest', restore a backup, or name another with --db",
        )
    if header and header != SQLITE_HEADER:
        raise DatabaseConnectionError(
            f"{path} is not a logbook file, or it is damaged",
            hint="check --db; or move the file, which is left as it is, away and restore a backup",
        )


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise DatabaseConnectionError(
            f"the folder {path.parent} cannot be made: {fault.strerror}", hint="name another file with --db"
        ) from fault


def _check_identity(connection: apsw.Connection, path: Path) -> None:
    identity = connection.pragma("application_id")
    if identity not in (0, APPLICATION_ID):
        raise DatabaseConnectionError(f"{path} belongs to another program", hint="name another file with --db")
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
    if identity == 0 and tables:
        raise DatabaseConnectionError(
            f"{path} is a SQLite file, but no logbook", hint="name another file with --db; it is left as it is"
        )


def reading_uri(path: Path) -> str:
    """A file's URI to read from. `immutable` would ignore a log that was not folded in: only where there is none."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    if os.access(path.parent, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        return uri
    log = Path(f"{path}-wal")
    return uri if log.exists() and log.stat().st_size else f"{uri}&immutable=1"
