"""Results as JSON documents: one shape for the CLI, agents and files."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from ariel_lite.errors import ARIELException
from ariel_lite.records import ARIELSearchResult, ARIELStatusResult, EnhancedLogbookEntry, entry_title, without_text


def local_time(moment: datetime, zone: ZoneInfo) -> str:
    """A time as the facility reads it: ISO 8601 with offset, seconds unless there are fractions."""
    local = moment.astimezone(zone)
    return local.isoformat(timespec="microseconds" if local.microsecond else "seconds")


def search_document(query: str, result: ARIELSearchResult, zone: ZoneInfo) -> dict[str, Any]:
    """The contract's search document."""
    document: dict[str, Any] = {
        "query": query,
        "search_modes": list(result.search_modes_used),
        "answer": result.answer,
        "sources": list(result.sources),
        "reasoning": result.reasoning,
        "degraded": result.degraded,
        "diagnostics": [diagnostic.to_dict() for diagnostic in result.diagnostics],
        "entries": [_found(entry, zone) for entry in result.entries],
    }
    return document | ({"explanation": result.explanation} if result.explanation is not None else {})


def entry_document(entry: EnhancedLogbookEntry, zone: ZoneInfo) -> dict[str, Any]:
    """An entry with all its fields; times in the facility's zone. The long texts of attached files are left out."""
    return {
        **entry,
        "attachments": [without_text(file) for file in entry["attachments"]],
        "timestamp": local_time(entry["timestamp"], zone),
        "created_at": local_time(entry["created_at"], zone),
        "updated_at": local_time(entry["updated_at"], zone),
        "title": entry_title(entry),
    }


def status_document(status: ARIELStatusResult, reason: str) -> dict[str, Any]:
    """The contract's status document; `reason` says what named the database."""
    return {
        "status": "ok" if status.healthy else "attention",
        "message": "; ".join(status.errors) or f"{status.entry_count} entries",
        "database": {"uri": status.database_uri, "connected": status.database_connected, "chosen_by": reason},
        "entries": status.entry_count,
        "embedding_tables": [
            {
                "table": table.table_name,
                "entries": table.entry_count,
                "dimension": table.dimension,
                "active": table.is_active,
            }
            for table in status.embedding_tables
        ],
        "enhancement_modules": status.enabled_enhancement_modules,
        "search_modules": status.enabled_search_modules,
        "last_ingestion": status.last_ingestion.isoformat() if status.last_ingestion else None,
        "details": status.details,
    }


def error_document(error: ARIELException) -> dict[str, Any]:
    """The contract's error document."""
    return {"error": error.envelope()}


def _found(entry: dict[str, Any], zone: ZoneInfo) -> dict[str, Any]:
    shape = {
        "entry_id": entry["entry_id"],
        "timestamp": local_time(entry["timestamp"], zone),
        "author": entry["author"],
        "title": entry_title(entry),  # type: ignore[arg-type]
        "score": entry["_score"],
        "source_system": entry["source_system"],
        "raw_text": entry["raw_text"],
        "highlights": entry["_highlights"],
        "match": entry["_match"],
    }
    return shape | ({"ranks": entry["_ranks"]} if "_ranks" in entry else {})
