"""Numbered schema changes. Each runs once, in a transaction of its own together with its version mark."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import resources

import apsw

from ariel_lite.backends.sqlite.connection import APPLICATION_ID, Connections
from ariel_lite.errors import DatabaseConnectionError
from ariel_lite.query.days import to_storage
from ariel_lite.text.tokenise import Analyzer

OLDEST_READABLE = 2
"""Files of this schema and later can be read without being changed."""


def statements(name: str) -> list[str]:
    """The statements of one of our SQL files."""
    text = resources.files("ariel_lite.backends.sqlite").joinpath(name).read_text(encoding="utf-8")
    return [statement for statement in text.split(";\n") if statement.strip()]


def configure_index(connection: apsw.Connection) -> None:
    """Fewer merges, and a batch's postings in memory until it is complete: both make ingestion faster."""
    connection.execute("INSERT INTO entry_index (entry_index, rank) VALUES ('automerge', 16)")
    connection.execute("INSERT INTO entry_index (entry_index, rank) VALUES ('hashsize', 33554432)")


def create_tables(connection: apsw.Connection) -> None:
    """0001: ARIEL's tables, the full-text index, vocabulary, filterable values."""
    for statement in statements("schema.sql"):
        connection.execute(statement)
    connection.execute(
        "INSERT INTO settings VALUES ('analyzer', ?), ('generation', random()), ('time_ordered', 1)",
        (Analyzer().fingerprint,),
    )
    configure_index(connection)


def create_vector_tables(connection: apsw.Connection) -> None:
    """0002: which entries have vectors of which model, who is making them, and the derived copy that is scanned."""
    for statement in statements("vectors.sql"):
        connection.execute(statement)
    connection.execute("INSERT INTO settings VALUES ('vectors', random())")


def create_authoring_tables(connection: apsw.Connection) -> None:
    """0003: drafts and waiting files; which module is done with which entry, and who is working on it."""
    for statement in (*statements("drafts.sql"), *statements("enhancement.sql")):
        connection.execute(statement)
    # What facets remember grows with new entries and is read anew only after this mark has changed.
    connection.execute("INSERT OR IGNORE INTO settings VALUES ('edited', random())")
    note_enhancements(connection)


def note_enhancements(connection: apsw.Connection) -> None:
    """Repeat what the entries say of modules in the form that counts quickly."""
    connection.execute("DELETE FROM enhancement_state")
    connection.execute("INSERT INTO enhancement_state SELECT DISTINCT * FROM noted_enhancements")


def stand_in(connection: apsw.Connection) -> None:
    """Give a file of an older schema what it lacks, in memory and empty, so that it can be read as it is."""
    if not OLDEST_READABLE <= version(connection) < len(MIGRATIONS):
        return
    for statement in (*statements("drafts.sql"), *statements("enhancement.sql")):
        if "CREATE VIEW" in statement:
            for name in ("noted_enhancements", "enhancement_state"):
                connection.execute(statement.replace("CREATE VIEW noted_enhancements", f"CREATE TEMP VIEW {name}"))
        elif "CREATE TABLE" in statement and "CREATE TABLE enhancement_state" not in statement:
            connection.execute(statement.replace("CREATE TABLE", "CREATE TEMP TABLE"))


MIGRATIONS: tuple[Callable[[apsw.Connection], None], ...] = (
    create_tables,
    create_vector_tables,
    create_authoring_tables,
)


def version(connection: apsw.Connection) -> int:
    """How many migrations the file has had."""
    return int(connection.pragma("user_version"))


def migrate(connections: Connections) -> list[str]:
    """Bring the file up to date; several processes may do so at once. Returns the names of what was applied.

    Raises:
        DatabaseConnectionError: the file was made by a newer ariel-lite.
    """
    applied: list[str] = []
    check_version(connections)
    for number, change in enumerate(MIGRATIONS, start=1):
        if version(connections.get()) >= number:
            continue
        with connections.writing() as connection:
            if version(connection) >= number:
                continue
            change(connection)
            name = f"{number:04d}_{change.__name__}"
            checksum = hashlib.sha256((change.__doc__ or "").encode()).hexdigest()
            connection.execute(
                "INSERT INTO ariel_migrations VALUES (?, ?, ?)", (name, to_storage(datetime.now(UTC)), checksum)
            )
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", number)
            applied.append(name)
    return applied


def check_version(connections: Connections) -> None:
    """Refuse a file made by a newer program."""
    found = version(connections.get())
    if found > len(MIGRATIONS):
        raise DatabaseConnectionError(
            f"{connections.path} was made by a newer ariel-lite (schema {found}, this one knows {len(MIGRATIONS)})",
            hint="upgrade ariel-lite",
        )


def check_readable(connections: Connections) -> None:
    """Refuse a file that cannot be read as it is."""
    check_version(connections)
    if version(connections.get()) < OLDEST_READABLE:
        raise DatabaseConnectionError(
            f"{connections.path} has an older schema", hint="run 'ariel-lite migrate' on a writable copy"
        )
