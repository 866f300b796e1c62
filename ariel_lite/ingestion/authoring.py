"""New entries written here, not at a source: by `add`, an agent or the page."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

from ariel_lite.errors import InvalidRequestError
from ariel_lite.query.source_times import parse_source_time
from ariel_lite.records import EnhancedLogbookEntry

CLI_SOURCE = "ARIEL CLI"
MCP_SOURCE = "ARIEL MCP"
WEB_SOURCE = "ARIEL Web"
LOCAL_SOURCES = (CLI_SOURCE, MCP_SOURCE, WEB_SOURCE)
"""Source systems of entries that were created here; they are what `push` sends."""


def new_entry(
    subject: str,
    details: str,
    *,
    author: str = "",
    logbook: str | None = None,
    shift: str | None = None,
    tags: Sequence[str] = (),
    source_system: str = CLI_SOURCE,
    metadata: Mapping[str, Any] | None = None,
    timestamp: datetime | None = None,
) -> EnhancedLogbookEntry:
    """An entry with an id of its own (`ariel-<12 hex>`), written now.

    Raises:
        InvalidRequestError: neither subject nor details.
    """
    parts = [part.strip() for part in (subject, details) if part.strip()]
    if not parts:
        raise InvalidRequestError("an entry needs a subject or details", hint="say what happened")
    now = timestamp or datetime.now(UTC)
    home: dict[str, Any] = {"title": subject.strip(), "logbook": logbook, "shift": shift, "tags": list(tags)}
    return {
        "entry_id": f"ariel-{secrets.token_hex(6)}",
        "source_system": source_system,
        "timestamp": now,
        "author": author.strip(),
        "raw_text": "\n\n".join(parts),
        "attachments": [],
        "metadata": {**{key: value for key, value in home.items() if value}, **(metadata or {})},
        "created_at": now,
        "updated_at": now,
    }


def completed_entry(entry: Mapping[str, Any], zone: ZoneInfo) -> EnhancedLogbookEntry:
    """A script's entry with what it leaves out: id, time (now), source. Text comes as raw_text, or title and text.

    Raises:
        InvalidRequestError: no text, or a time that cannot be read.
    """
    if "raw_text" not in entry:
        title, text = str(entry.get("title", "")), str(entry.get("text", ""))
        made = new_entry(title, text, author=str(entry.get("author", "")), tags=entry.get("tags", ()))
        made["metadata"] |= dict(entry.get("metadata") or {})
    else:
        made = new_entry("", str(entry["raw_text"]).strip() or ".", metadata=entry.get("metadata"))
        made["raw_text"] = str(entry["raw_text"])
    for key in ("entry_id", "source_system", "author", "attachments", "summary", "keywords"):
        if entry.get(key) is not None:
            cast(dict[str, Any], made)[key] = entry[key]
    if entry.get("timestamp") is not None:
        made["timestamp"] = _moment(entry["timestamp"], zone)
    return made


def _moment(value: Any, zone: ZoneInfo) -> datetime:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=zone)).astimezone(UTC)
    return parse_source_time(value, zone=zone)
