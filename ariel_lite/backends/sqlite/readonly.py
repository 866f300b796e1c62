"""The read-only SQL tool on a logbook file: a connection of its own, which can do nothing but read.

The rules of the statement are in sql_guard and its translation in dialect. Here is the second wall, which holds even
when those fail: the file is opened read-only, an authorizer allows SELECT on the logbook's tables and known functions
only, sqlite3_limit bounds the size of every value, and a clock stops what runs too long.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

import apsw
import apsw.sqlite_extra

try:
    import sqlite_vec
except ImportError:  # no wheel for this platform: everything but vectors works
    sqlite_vec = None

from ariel_lite.backends.readonly_sql.sql_allowed import ENTRY_COLUMNS, ENTRY_TABLE, VECTOR_TABLE
from ariel_lite.backends.readonly_sql.sql_columns import unique_names
from ariel_lite.backends.readonly_sql.sql_guard import HINT, check_statement
from ariel_lite.backends.readonly_sql.sql_intervals import write_interval
from ariel_lite.backends.sqlite.connection import damage, reading_uri
from ariel_lite.backends.sqlite.readonly_sql import sql_functions
from ariel_lite.backends.sqlite.readonly_sql.dialect import Translation, translate
from ariel_lite.backends.sqlite.readonly_sql.dialect_kinds import Columns, Kind
from ariel_lite.errors import ARIELException, DatabaseConnectionError, SearchTimeoutError, SqlRefusedError

MAX_ROWS: Final = 200
MAX_RESULT_BYTES: Final = 2_000_000
MAX_VALUE_BYTES: Final = 2_000_000
MAX_TEMPORARY_BYTES: Final = 500_000_000
"""How much a sort may write to temporary files."""
STEPS_BETWEEN_CHECKS: Final = 1_000

_LIMITS: Final = {
    apsw.SQLITE_LIMIT_LENGTH: MAX_VALUE_BYTES,
    apsw.SQLITE_LIMIT_SQL_LENGTH: 400_000,
    apsw.SQLITE_LIMIT_COLUMN: 100,
    apsw.SQLITE_LIMIT_EXPR_DEPTH: 1_000,
    apsw.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    apsw.SQLITE_LIMIT_VDBE_OP: 250_000,
    apsw.SQLITE_LIMIT_FUNCTION_ARG: 100,
    apsw.SQLITE_LIMIT_ATTACHED: 0,
    apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 5_000,
    apsw.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    apsw.SQLITE_LIMIT_WORKER_THREADS: 0,
}

_FUNCTIONS: Final = sql_functions.NAMES | sql_functions.NATIVE
_READABLE: Final = frozenset({ENTRY_TABLE, "json_each"})
_BROKEN_FILE: Final = (
    apsw.CantOpenError,
    apsw.NotADBError,
    apsw.CorruptError,
    apsw.IOError,
    apsw.BusyError,
    apsw.LockedError,
    apsw.PermissionsError,
)


def run_readonly(
    path: str,
    sql: str,
    *,
    max_rows: int = 100,
    time_limit: float = 10.0,
    should_stop: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Run one SELECT, written in PostgreSQL's dialect, on a logbook file.

    Args:
        path: the file; also changes that are still in its write-ahead log are seen.
        sql: the statement.
        max_rows: rows to return at most, 1 to 200 (other values are clamped).
        time_limit: seconds after which it is stopped.
        should_stop: asked all the while; it is stopped as soon as this is true.

    Returns:
        {"columns": names, "rows": one mapping a row, "row_count", "truncated": more rows exist, or the answer
        passed 2 MB}. Moments are texts like 2026-03-05T08:00:00.000000Z, jsonb and arrays are decoded.

    Raises:
        SqlRefusedError: the statement is not allowed, has no counterpart on SQLite, or fails.
        SearchTimeoutError: the time is up, or it was stopped.
        DatabaseConnectionError: the file cannot be read.
    """
    deadline = time.monotonic() + time_limit
    checked = check_statement(sql)
    translation = translate(checked)
    try:
        with closing(reading_connection(path, translation.sql, checked.tables, deadline, should_stop)) as connection:
            return _answer(connection, translation, max(1, min(max_rows, MAX_ROWS)), deadline)
    except apsw.InterruptError as error:
        if should_stop():
            raise SearchTimeoutError("the statement was stopped") from error
        if time.monotonic() < deadline:
            raise SqlRefusedError("the statement sorts or collects too much", hint="narrow it with WHERE") from error
        raise _timeout(time_limit) from error
    except _BROKEN_FILE as error:
        raise _unreadable(path, error) from error
    except apsw.Error as error:
        raise _failed(error) from error


def reading_connection(
    path: str, sql: str, tables: Iterable[str], deadline: float, should_stop: Callable[[], bool] = lambda: False
) -> apsw.Connection:
    """A connection that can do nothing but read the logbook, until a deadline or until it should stop.

    Args:
        sql: the statement for SQLite that it is for; extensions are loaded when it needs them.
        tables: the tables that it reads.
        deadline: when time.monotonic() passes it, what runs is interrupted.

    Raises:
        SqlRefusedError: a table of vectors that is not there.
        DatabaseConnectionError: the file cannot be read, or is no logbook.
    """
    with ExitStack() as unwinding:
        connection = unwinding.enter_context(closing(_open(path)))
        vectors = _prepare(connection, tables)
        _load_extensions(connection, sql, tables)
        _lock(connection, vectors, deadline, should_stop)
        unwinding.pop_all()
    return connection


def _open(path: str) -> apsw.Connection:
    """A read-only connection that has read from its file."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        connection = apsw.Connection(reading_uri(Path(path)), flags=flags)
        connection.set_busy_timeout(5_000)
        connection.execute("SELECT 1 FROM sqlite_schema").get  # noqa: B018
    except apsw.Error as error:
        raise _unreadable(path, error) from error
    return connection


def _prepare(connection: apsw.Connection, tables: Iterable[str]) -> frozenset[str]:
    """Functions, the view of the entries without our private column, and the vector tables that are there."""
    sql_functions.register(connection)
    vectors = _vector_tables(connection)
    missing = sorted(set(tables) - vectors - {ENTRY_TABLE})
    if missing:
        shown = ", ".join(sorted(vectors)) or "none yet"
        raise SqlRefusedError(f"there is no table {missing[0]}", hint=f"tables of vectors here: {shown}")
    present = {row[1] for row in connection.execute(f"PRAGMA main.table_info({ENTRY_TABLE})")}
    if not present:
        raise DatabaseConnectionError("the file is not a logbook", hint="run: ariel-lite migrate")
    columns = ", ".join(column for column in ENTRY_COLUMNS if column in present)
    connection.execute(f"CREATE TEMP VIEW {ENTRY_TABLE} AS SELECT {columns} FROM main.{ENTRY_TABLE}")
    return vectors


def _vector_tables(connection: apsw.Connection) -> frozenset[str]:
    """The tables of vectors, without the shadow tables that a virtual one keeps its data in."""
    tables = dict(
        connection.execute("SELECT name, sql LIKE 'CREATE VIRTUAL %' FROM main.sqlite_schema WHERE type = 'table'")
    )
    virtual = tuple(f"{name}_" for name, virtual_table in tables.items() if virtual_table)
    return frozenset(
        name
        for name, virtual_table in tables.items()
        if VECTOR_TABLE.fullmatch(name) and (virtual_table or not name.startswith(virtual))
    )


def _load_extensions(connection: apsw.Connection, sql: str, tables: Iterable[str]) -> None:
    """SQLite's regexp and sqlite-vec, where the statement needs them and the platform has them."""
    if "regexp(" in sql and apsw.sqlite_extra.has("regexp"):
        apsw.sqlite_extra.load(connection, "regexp")
    vectors = [table for table in tables if table != ENTRY_TABLE]
    if vectors and sqlite_vec is not None:
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
    for table in vectors:  # a virtual table declares itself at its first use, which the authorizer would refuse
        connection.execute(f"SELECT 1 FROM main.{table} LIMIT 0")


def _lock(
    connection: apsw.Connection, vectors: frozenset[str], deadline: float, should_stop: Callable[[], bool]
) -> None:
    """Everything that makes the connection unable to do anything but read what it may."""
    connection.pragma("case_sensitive_like", True)
    connection.pragma("query_only", True)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)  # an unknown "name" is an error, not a text
    for limit, value in _LIMITS.items():
        connection.limit(limit, value)

    def is_over() -> bool:
        spilled = connection.status(apsw.SQLITE_DBSTATUS_TEMPBUF_SPILL)[0]
        return time.monotonic() > deadline or spilled > MAX_TEMPORARY_BYTES or should_stop()

    connection.set_progress_handler(is_over, STEPS_BETWEEN_CHECKS)
    connection.authorizer = _authorizer(vectors)


def _authorizer(vectors: frozenset[str]) -> Callable[..., int]:
    """Allows SELECT, recursion, the known functions and the columns of the logbook's tables."""
    shadows = tuple(f"{name}_" for name in vectors)

    def authorize(
        operation: int, first: str | None, second: str | None, database: str | None, inner: str | None
    ) -> int:
        if operation in (apsw.SQLITE_SELECT, apsw.SQLITE_RECURSIVE):
            return apsw.SQLITE_OK
        if operation == apsw.SQLITE_FUNCTION:
            return apsw.SQLITE_OK if (second or "").lower() in _FUNCTIONS else apsw.SQLITE_DENY
        if operation == apsw.SQLITE_READ:
            table = first or ""
            # Without a database it is a WITH query of which no column is read: translated tables have theirs.
            common = database is None and not second and not table.startswith("sqlite_")
            known = common or table in _READABLE or table in vectors or table.startswith(shadows)
            return apsw.SQLITE_OK if known else apsw.SQLITE_DENY
        return apsw.SQLITE_DENY

    return authorize


def _answer(connection: apsw.Connection, translation: Translation, max_rows: int, deadline: float) -> dict[str, Any]:
    names: list[str] = []
    cursor = connection.cursor()

    def remember(traced: apsw.Cursor, _sql: str, _bindings: Any) -> bool:
        names[:] = [column[0] for column in traced.get_description()]
        return True

    # A statement without rows has no description once it ran: take the names before its first step.
    cursor.exec_trace = remember
    rows = cursor.execute(translation.sql)
    columns, decoders = unique_names(names), _decoders(names, translation.columns)
    found: list[dict[str, Any]] = []
    size, truncated = 0, False
    for row in rows:
        if time.monotonic() > deadline:
            raise apsw.InterruptError("interrupted")
        size += sum(_size(value) for value in row)
        if size > MAX_RESULT_BYTES and not found:
            raise SqlRefusedError("one row of the answer is larger than 2 MB", hint="cut long texts: left(x, 1000)")
        if len(found) == max_rows or size > MAX_RESULT_BYTES:
            truncated = True
            break
        values = (decode(value) for decode, value in zip(decoders, row, strict=True))
        found.append(dict(zip(columns, values, strict=True)))
    return {"columns": columns, "rows": found, "row_count": len(found), "truncated": truncated}


def _size(value: Any) -> int:
    return len(value.encode()) if isinstance(value, str) else 16


def _decoders(names: list[str], kinds: Columns) -> list[Callable[[Any], Any]]:
    by_name = dict(kinds)
    aligned = [name for name, _ in kinds] == names
    found = [kind for _, kind in kinds] if aligned else [by_name.get(name, Kind.OTHER) for name in names]
    return [_DECODERS.get(kind, _plain) for kind in found]


def _plain(value: Any) -> Any:
    """A JSON-safe value."""
    if isinstance(value, bytes):
        return value.hex() if len(value) <= 16 else f"<{len(value)} bytes>"
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _truth(value: Any) -> Any:
    return bool(value) if isinstance(value, int) else _plain(value)


def _document(value: Any) -> Any:
    try:
        return json.loads(value, parse_constant=lambda _name: None) if isinstance(value, str) else _plain(value)
    except (ValueError, RecursionError):
        return value


def _interval(value: Any) -> Any:
    return write_interval(round(value)) if isinstance(value, int | float) else _plain(value)


def _number(value: Any) -> Any:
    """Whole numbers without `.0`, as PostgreSQL's numeric has them."""
    plain = _plain(value)
    return int(plain) if isinstance(plain, float) and plain.is_integer() and abs(plain) < 2**53 else plain


_DECODERS: Final[dict[Kind, Callable[[Any], Any]]] = {
    Kind.BOOL: _truth,
    Kind.NUMBER: _number,
    Kind.JSON: _document,
    Kind.ARRAY: _document,
    Kind.INTERVAL: _interval,
}


def _timeout(time_limit: float) -> SearchTimeoutError:
    return SearchTimeoutError(
        f"the statement ran longer than {time_limit:g} s and was stopped",
        hint="narrow it with WHERE, end the recursion, or avoid joining tables without a condition",
    )


def _unreadable(path: str, error: apsw.Error) -> ARIELException:
    if isinstance(error, apsw.CorruptError):
        return damage(Path(Path(path).name), error)
    return DatabaseConnectionError(
        f"{Path(path).name} cannot be read: {_line(error)}", hint="check the file: ariel-lite doctor"
    )


def _failed(error: apsw.Error) -> SqlRefusedError:
    return SqlRefusedError(f"SQLite: {_line(error)}", hint=HINT)


def _line(error: Exception) -> str:
    text = re.sub(r'no such column: "?([^" ]+)"?.*', r"no such column: \1", str(error))
    return " ".join(text.replace("temp.", "").replace("main.", "").split())[:200]
