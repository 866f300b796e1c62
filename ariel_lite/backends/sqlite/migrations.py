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


def schema() -> str:
    """The statements that make the tables."""
    return resources.files("ariel_lite.backends.sqlite").joinpath("schema.sql").read_text(encoding="utf-8")


def vectors_schema() -> str:
    """The statements that make the tables around vectors; a model's own tables come with its first vector."""
    return resources.files("ariel_lite.backends.sqlite").joinpath("vectors.sql").read_text(encoding="utf-8")


def configure_index(connection: apsw.Connection) -> None:
    """Fewer merges, and a batch's postings in memory until it is complete: both make ingestion faster."""
    connection.execute("INSERT INTO entry_index (entry_index, rank) VALUES ('automerge', 16)")
    connection.execute("INSERT INTO entry_index (entry_index, rank) VALUES ('hashsize', 33554432)")


def create_tables(connection: apsw.Connection) -> None:
    """0001: ARIEL's tables, the full-text index, vocabulary, filterable values."""
    for statement in schema().split(";\n"):
        if statement.strip():
            connection.execute(statement)
    connection.execute(
        "INSERT INTO settings VALUES ('analyzer', ?), ('generation', random()), ('time_ordered', 1)",
        (Analyzer().fingerprint,),
    )
    configure_index(connection)


def create_vector_tables(connection: apsw.Connection) -> None:
    """0002: which entries have vectors of which model, who is making them, and the derived copy that is scanned."""
    for statement in vectors_schema().split(";\n"):
        if statement.strip():
            connection.execute(statement)
    connection.execute("INSERT INTO settings VALUES ('vectors', random())")


MIGRATIONS: tuple[Callable[[apsw.Connection], None], ...] = (create_tables, create_vector_tables)


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


def is_current(connections: Connections) -> bool:
    """True when no migration is missing."""
    return version(connections.get()) == len(MIGRATIONS)
