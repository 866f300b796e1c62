"""The read-only SQL tool on a server.

The rules of the statement are in sql_guard. Here is the second wall: a connection of its own, a READ ONLY transaction,
a pinned search path, a time limit that the server keeps, and a cursor that fetches no more rows than are shown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import psycopg
from psycopg import errors, sql
from psycopg.abc import Buffer
from psycopg.adapt import Loader

from ariel_lite.backends.postgres.connection import CONNECT_SECONDS, Connection, masked, one_line, translated
from ariel_lite.backends.postgres.limits import Limits
from ariel_lite.backends.readonly_sql.sql_allowed import ENTRY_TABLE
from ariel_lite.backends.readonly_sql.sql_columns import unique_names
from ariel_lite.backends.readonly_sql.sql_guard import HINT, check_statement
from ariel_lite.errors import ARIELException, SearchTimeoutError, SqlRefusedError
from ariel_lite.query.days import to_storage

MAX_ROWS: Final = 200
MAX_RESULT_BYTES: Final = 2_000_000
LEAST_MILLISECONDS: Final = 50
TOO_LARGE: Final = "one row of the answer is larger than 2 MB"
SHORT_BYTES: Final = 16

SESSION: Final = (
    "SET default_transaction_read_only = on; BEGIN TRANSACTION READ ONLY;"
    " SET LOCAL TimeZone = 'UTC'; SET LOCAL datestyle = 'ISO'; SET LOCAL jit = off;"
    " SET LOCAL intervalstyle = 'postgres'; SET LOCAL max_parallel_workers_per_gather = 0;"
    " SET LOCAL work_mem = '32MB'; SET LOCAL lock_timeout = '5s'; SET LOCAL standard_conforming_strings = on;"
    " SET LOCAL client_min_messages = warning; SET LOCAL client_encoding = 'UTF8'"
)
SCHEMAS: Final = (
    "SELECT n.nspname FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace"
    " WHERE c.oid = pg_catalog.to_regclass(%s) UNION ALL SELECT n.nspname FROM pg_catalog.pg_extension AS x"
    " JOIN pg_catalog.pg_namespace AS n ON n.oid = x.extnamespace WHERE x.extname = 'vector'"
)
VECTOR_TABLES: Final = (
    "SELECT c.relname FROM pg_catalog.pg_class AS c WHERE c.relname LIKE 'text\\_embeddings\\_%'"
    " AND c.relkind IN ('r', 'p', 'v') AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1"
)
CURSOR: Final = (
    "DECLARE answer NO SCROLL CURSOR FOR SELECT answer.* FROM ({statement}\n) AS answer WHERE CASE WHEN"
    " octet_length(answer::text) > {most} THEN ({fault} || left(answer::text, 0))::integer IS NULL ELSE TRUE END"
)
MOMENT: Final = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?)(?:\+00)?")


def run_readonly(
    location: str,
    statement: str,
    *,
    max_rows: int = 100,
    time_limit: float = 10.0,
    should_stop: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Run one SELECT on a database.

    Args:
        location: a postgresql:// URL.
        statement: the statement, in PostgreSQL's dialect.
        max_rows: rows to return at most, 1 to 200 (other values are clamped).
        time_limit: seconds after which it is stopped.
        should_stop: asked all the while; it is stopped as soon as this is true.

    Returns:
        {"columns": names, "rows": one mapping a row, "row_count", "truncated": more rows exist, or the answer
        passed 2 MB}. Moments are texts like 2026-03-05T08:00:00.000000Z, jsonb and arrays are decoded.

    Raises:
        SqlRefusedError: the statement is not allowed, or fails.
        SearchTimeoutError: the time is up, or it was stopped.
        DatabaseConnectionError: the server cannot be reached.
    """
    checked = check_statement(statement)
    try:
        with closing(psycopg.connect(location, connect_timeout=CONNECT_SECONDS, autocommit=True)) as connection:
            _register(connection)
            connection.execute(SESSION.encode())
            _pin(connection, location)
            _check_tables(connection, checked.tables)
            limit = str(max(int(time_limit * 1000), LEAST_MILLISECONDS))
            connection.execute("SELECT set_config('statement_timeout', %s, true)", (limit,))
            with closing(Limits()) as limits, limits.watching(should_stop), limits.running(connection):
                return _answer(connection, checked.sql, max(1, min(max_rows, MAX_ROWS)))
    except psycopg.Error as fault:
        raise _translated(fault, location, time_limit) from fault


def _pin(connection: Connection, location: str) -> None:
    """Names mean PostgreSQL's own, then the logbook's schema; temporary objects come last."""
    names = [name for (name,) in connection.execute(SCHEMAS, (ENTRY_TABLE,))]
    if not connection.execute("SELECT to_regclass(%s)", (ENTRY_TABLE,)).fetchone() != (None,):
        raise SqlRefusedError(f"{masked(location, location)} holds no logbook", hint="run: ariel-lite migrate")
    path = sql.SQL(", ").join(map(sql.Identifier, dict.fromkeys(["pg_catalog", *names, "pg_temp"])))
    connection.execute(sql.SQL("SET LOCAL search_path TO {}").format(path))


def _check_tables(connection: Connection, tables: Iterable[str]) -> None:
    vectors = [name for (name,) in connection.execute(VECTOR_TABLES.encode())]
    missing = sorted(set(tables) - set(vectors) - {ENTRY_TABLE})
    if missing:
        shown = ", ".join(vectors) or "none yet"
        raise SqlRefusedError(f"there is no table {missing[0]}", hint=f"tables of vectors here: {shown}")


def _answer(connection: Connection, statement: str, max_rows: int) -> dict[str, Any]:
    declared = CURSOR.format(statement=statement, most=MAX_RESULT_BYTES, fault=f"'{TOO_LARGE}'")
    # A binary cursor speaks the extended protocol, in which the server takes one statement at a time.
    connection.cursor(binary=True).execute(declared.encode())
    found: list[dict[str, Any]] = []
    columns: list[str] = []
    size, truncated = 0, False
    while len(found) <= max_rows and not truncated:
        cursor = connection.execute("FETCH FORWARD 1 FROM answer")
        columns = unique_names([column.name for column in cursor.description or ()])
        row = cursor.fetchone()
        if row is None:
            break
        size += sum(len(str(value)) if isinstance(value, str | dict | list) else SHORT_BYTES for value in row)
        if len(found) == max_rows or size > MAX_RESULT_BYTES:
            truncated = True
            break
        found.append(dict(zip(columns, map(_plain, row), strict=True)))
    return {"columns": columns, "rows": found, "row_count": len(found), "truncated": truncated}


def _plain(value: Any) -> Any:
    """A JSON-safe value."""
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, bytes):
        return value.hex() if len(value) <= SHORT_BYTES else f"<{len(value)} bytes>"
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _number(value: Decimal) -> int | float | None:
    """Whole numbers without `.0`."""
    if not value.is_finite():
        return None
    return int(value) if value == value.to_integral_value() and abs(value) < 2**53 else float(value)


class _MomentLoader(Loader):
    """Moments as the rest of the package writes them; those that no datetime can hold as the server does."""

    def load(self, data: Buffer) -> str:
        text = bytes(data).decode()
        moment = MOMENT.fullmatch(text)
        return to_storage(datetime.fromisoformat(moment[1] + "+00:00")) if moment else text


class _TextLoader(Loader):
    """Values as the server writes them."""

    def load(self, data: Buffer) -> str:
        return bytes(data).decode()


def _register(connection: Connection) -> None:
    for name in ("timestamptz", "timestamp"):
        connection.adapters.register_loader(name, _MomentLoader)
    for name in ("date", "time", "timetz", "interval", "uuid"):
        connection.adapters.register_loader(name, _TextLoader)


def _translated(fault: psycopg.Error, location: str, time_limit: float) -> ARIELException:
    if isinstance(fault, errors.QueryCanceled):
        return SearchTimeoutError(
            f"the statement ran longer than {time_limit:g} s and was stopped",
            hint="narrow it with WHERE, end the recursion, or avoid joining tables without a condition",
        )
    if fault.sqlstate is None or fault.sqlstate[:2] in ("08", "28", "3D", "57"):
        return translated(fault, location)
    line = masked(one_line(fault), location)
    if TOO_LARGE in line:
        return SqlRefusedError(TOO_LARGE, hint="cut long texts: left(x, 1000)")
    return SqlRefusedError(f"PostgreSQL: {line[:200]}", hint=HINT)
