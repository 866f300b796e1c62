"""The history of ingestion, in ARIEL's `ingestion_runs`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ariel_lite.backends.encoding import cleaned, to_json
from ariel_lite.backends.postgres.connection import Connection, integer
from ariel_lite.backends.values import IngestionRun
from ariel_lite.embeddings.base import clean_text

COLUMNS = (
    "id, started_at, completed_at, source_system, entries_added, entries_updated, entries_failed, status,"
    " error_message, metadata"
)


def start(connection: Connection, source_system: str, metadata: dict[str, Any]) -> int:
    """Note that a run began; its number."""
    return integer(
        connection,
        "INSERT INTO ingestion_runs (started_at, source_system, status, metadata)"
        " VALUES (%s, %s, 'running', %s::jsonb) RETURNING id",
        (datetime.now(UTC), clean_text(source_system), to_json(cleaned(metadata))),
    )


def finish(
    connection: Connection,
    run_id: int,
    *,
    added: int,
    updated: int,
    failed: int,
    error: str | None,
    metadata: dict[str, Any],
) -> None:
    """Note how a run ended; a metadata value of None removes that key."""
    removed = [key for key, value in metadata.items() if value is None]
    connection.execute(
        "UPDATE ingestion_runs SET completed_at = %s, entries_added = %s, entries_updated = %s, entries_failed = %s,"
        " status = %s, error_message = %s, metadata = (coalesce(metadata, '{}') || %s::jsonb) - %s::text[]"
        " WHERE id = %s",
        (
            datetime.now(UTC),
            added,
            updated,
            failed,
            "failed" if error else "success",
            None if error is None else clean_text(error),
            to_json(cleaned(metadata)),
            removed,
            run_id,
        ),
    )


def latest(connection: Connection, source_system: str | None, limit: int) -> list[IngestionRun]:
    """The latest runs, newest first."""
    sql = (
        f"SELECT {COLUMNS} FROM ingestion_runs WHERE %s::text IS NULL OR source_system = %s::text"
        " ORDER BY id DESC LIMIT %s"
    )
    return [_run(row) for row in connection.execute(sql, (source_system, source_system, limit))]


def _run(row: tuple[Any, ...]) -> IngestionRun:
    return IngestionRun(
        run_id=int(row[0]),
        started_at=row[1].astimezone(UTC),
        completed_at=row[2].astimezone(UTC) if row[2] else None,
        source_system=row[3],
        entries_added=row[4] or 0,
        entries_updated=row[5] or 0,
        entries_failed=row[6] or 0,
        status=row[7],
        error_message=row[8],
        metadata=row[9] or {},
    )
