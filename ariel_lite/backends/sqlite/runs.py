"""The history of ingestion, in ARIEL's `ingestion_runs`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import apsw

from ariel_lite.backends.encoding import cleaned, to_json
from ariel_lite.backends.values import IngestionRun
from ariel_lite.embeddings.base import clean_text
from ariel_lite.query.days import from_storage, to_storage

COLUMNS = (
    "id, started_at, completed_at, source_system, entries_added, entries_updated, entries_failed, status,"
    " error_message, metadata"
)


def start(connection: apsw.Connection, source_system: str, metadata: dict[str, Any]) -> int:
    """Note that a run began; its number."""
    connection.execute(
        "INSERT INTO ingestion_runs (started_at, source_system, metadata) VALUES (?, ?, ?)",
        (to_storage(datetime.now(UTC)), clean_text(source_system), to_json(cleaned(metadata))),
    )
    return int(connection.last_insert_rowid())


def finish(
    connection: apsw.Connection,
    run_id: int,
    *,
    added: int,
    updated: int,
    failed: int,
    error: str | None,
    metadata: dict[str, Any],
) -> None:
    """Note how a run ended; a metadata value of None removes that key."""
    stored = json.loads(connection.execute("SELECT metadata FROM ingestion_runs WHERE id = ?", (run_id,)).get or "{}")
    kept = {key: value for key, value in {**stored, **metadata}.items() if metadata.get(key, ...) is not None}
    connection.execute(
        "UPDATE ingestion_runs SET completed_at = ?, entries_added = ?, entries_updated = ?, entries_failed = ?,"
        " status = ?, error_message = ?, metadata = ? WHERE id = ?",
        (
            to_storage(datetime.now(UTC)),
            added,
            updated,
            failed,
            "failed" if error else "success",
            None if error is None else clean_text(error),
            to_json(cleaned(kept)),
            run_id,
        ),
    )


def latest(connection: apsw.Connection, source_system: str | None, limit: int) -> list[IngestionRun]:
    """The latest runs, newest first."""
    sql = f"SELECT {COLUMNS} FROM ingestion_runs WHERE ?1 IS NULL OR source_system = ?1 ORDER BY id DESC LIMIT ?2"
    return [_run(row) for row in connection.execute(sql, (source_system, limit))]


def _run(row: tuple[Any, ...]) -> IngestionRun:
    return IngestionRun(
        run_id=row[0],
        started_at=from_storage(row[1]),
        completed_at=from_storage(row[2]) if row[2] else None,
        source_system=row[3],
        entries_added=row[4],
        entries_updated=row[5],
        entries_failed=row[6],
        status=row[7],
        error_message=row[8],
        metadata=json.loads(row[9]),
    )
