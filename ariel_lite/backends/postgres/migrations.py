"""Numbered changes of our side tables. ARIEL's tables are made where they are absent, and never changed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources

from ariel_lite.backends.postgres.connection import Connection, Connections, integer
from ariel_lite.errors import DatabaseConnectionError, DatabaseQueryError, NoLogbookError
from ariel_lite.text.tokenise import Analyzer

MIGRATION_LOCK = 0x41524C4D
SETTINGS = "CREATE TABLE IF NOT EXISTS ariel_lite_settings (key TEXT PRIMARY KEY, value TEXT NOT NULL)"
ARIEL_INDEXES = (
    "CREATE INDEX IF NOT EXISTS enhanced_entries_timestamp ON enhanced_entries (timestamp DESC)",
    "CREATE INDEX IF NOT EXISTS enhanced_entries_author ON enhanced_entries (author)",
    "CREATE INDEX IF NOT EXISTS enhanced_entries_source_system ON enhanced_entries (source_system)",
    "CREATE INDEX IF NOT EXISTS attachment_files_entry ON attachment_files (entry_id)",
)
ENTRY_COLUMNS = frozenset(
    {"entry_id", "source_system", "timestamp", "author", "raw_text", "attachments", "metadata", "created_at"}
    | {"updated_at", "enhancement_status"}
)


def statements(name: str) -> list[str]:
    """The statements of one of our SQL files."""
    text = resources.files("ariel_lite.backends.postgres").joinpath(name).read_text(encoding="utf-8")
    return [statement for statement in text.split(";\n") if statement.strip()]


def create_tables(connection: Connection) -> None:
    """0001: ARIEL's tables where absent; index, filterable values, vocabulary, the state of vectors."""
    attached = has_table(connection, "enhanced_entries")
    for statement in (*statements("schema.sql"), *(() if attached else ARIEL_INDEXES), *statements("index.sql")):
        connection.execute(statement.encode())
    connection.execute(
        "INSERT INTO ariel_lite_settings VALUES ('analyzer', %s), ('attached', %s)",
        (Analyzer().fingerprint, str(int(attached))),
    )


def create_authoring_tables(connection: Connection) -> None:
    """0002: drafts and waiting files; who is enhancing which entry."""
    for statement in statements("authoring.sql"):
        connection.execute(statement.encode())


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (create_tables, create_authoring_tables)
OLDEST_READABLE = 1
"""Databases of this schema and later can be read without being changed."""


def version(connection: Connection) -> int:
    """How many migrations the database has had."""
    if not has_table(connection, "ariel_lite_settings"):
        return 0
    return integer(connection, "SELECT value::integer FROM ariel_lite_settings WHERE key = 'schema'")


def migrate(connections: Connections, *, create: bool) -> list[str]:
    """Bring our side tables up to date; several processes may do so at once. Returns the names of what was applied.

    Raises:
        NoLogbookError: there is none and `create` is false.
        DatabaseConnectionError: it was made by a newer ariel-lite.
    """
    with connections.reading() as connection:
        found = check_version(connection, connections.masked)
        if not found and not create:
            check_present(connection, connections.masked)
    if found == len(MIGRATIONS):
        return []
    with connections.writing(entries=False) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
        return apply(connection)


def apply(connection: Connection) -> list[str]:
    """Apply what is missing, inside a write transaction of the caller."""
    connection.execute(SETTINGS)
    applied: list[str] = []
    for number, change in enumerate(MIGRATIONS, start=1):
        if version(connection) < number:
            change(connection)
            connection.execute(
                "INSERT INTO ariel_lite_settings VALUES ('schema', %s)"
                " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (str(number),),
            )
            applied.append(f"{number:04d}_{change.__name__}")
    return applied


def check_version(connection: Connection, name: str) -> int:
    """The version found; refuses a database changed by a newer program."""
    found = version(connection)
    if found > len(MIGRATIONS):
        raise DatabaseConnectionError(
            f"{name} was made by a newer ariel-lite (schema {found}, this one knows {len(MIGRATIONS)})",
            hint="upgrade ariel-lite",
        )
    return found


def check_present(connection: Connection, name: str) -> None:
    """Refuse a database without a logbook.

    Raises:
        NoLogbookError: neither ARIEL's tables nor ours are there.
    """
    if not has_table(connection, "enhanced_entries"):
        raise NoLogbookError(f"{name} holds no logbook yet", hint="make one with 'ariel-lite ingest'")


def check_readable(connection: Connection, name: str) -> None:
    """Refuse a database that cannot be read as it is."""
    if check_version(connection, name) < OLDEST_READABLE:
        check_present(connection, name)
        raise DatabaseConnectionError(
            f"{name} is not prepared for ariel-lite", hint="run 'ariel-lite migrate' as a user who may write"
        )


def is_attached(connection: Connection) -> bool:
    """True when another program made the entries' table."""
    return bool(integer(connection, "SELECT value::integer FROM ariel_lite_settings WHERE key = 'attached'"))


def has_own_words(connection: Connection, name: str) -> bool:
    """True when the entries' table has columns for summary and keywords.

    Raises:
        DatabaseQueryError: the table lacks a column that ARIEL's always has.
    """
    sql = (
        "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('enhanced_entries') AND attnum > 0"
        " AND NOT attisdropped"
    )
    found = {column for (column,) in connection.execute(sql)}
    if missing := sorted(ENTRY_COLUMNS - found):
        raise DatabaseQueryError(
            f"enhanced_entries in {name} has no column {missing[0]}", hint="it is not ARIEL's table; check --db"
        )
    return {"summary", "keywords"} <= found


def has_table(connection: Connection, name: str) -> bool:
    """True when the table is in the search path."""
    return connection.execute("SELECT to_regclass(%s) IS NOT NULL", (name,)).fetchone() == (True,)
