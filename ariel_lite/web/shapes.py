"""Entries and searches as the JSON that `models` describes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote

from ariel_lite.attachments import serving_headers, stored_url
from ariel_lite.backends.values import StoredAttachment
from ariel_lite.config import ARIELConfig
from ariel_lite.ingestion.authoring import LOCAL_SOURCES
from ariel_lite.present import local_time
from ariel_lite.query.syntax_table import SYNTAX
from ariel_lite.records import ARIELStatusResult, EnhancedLogbookEntry, entry_title
from ariel_lite.web.paging import RankedPage

LIST_CHARACTERS = 2000
"""How much of an entry's text a list shows."""

_MARKUP = re.compile(r"[*`]")
_ATTACHMENT_KEYS = ("type", "filename", "thumbnail_url", "caption")


def entry_shape(
    entry: EnhancedLogbookEntry | Mapping[str, Any], config: ARIELConfig, *, in_list: bool = True
) -> dict[str, Any]:
    """An entry, with its text cut when it stands in a list; found entries bring their score, match and highlights."""
    record = cast(EnhancedLogbookEntry, entry)
    found = cast(Mapping[str, Any], entry)
    text = record["raw_text"]
    is_cut = in_list and len(text) > LIST_CHARACTERS
    return {
        "entry_id": record["entry_id"],
        "source_system": record["source_system"],
        "timestamp": local_time(record["timestamp"], config.zone),
        "author": record["author"],
        "title": entry_title(record),
        "raw_text": text[:LIST_CHARACTERS] if is_cut else text,
        "raw_text_truncated": is_cut,
        "attachments": [_attachment(named) for named in record["attachments"]],
        "metadata": record["metadata"],
        "created_at": local_time(record["created_at"], config.zone),
        "updated_at": local_time(record["updated_at"], config.zone),
        "summary": record.get("summary"),
        "keywords": list(record.get("keywords") or ()),
        "score": found.get("_score"),
        "highlights": list(found.get("_highlights", ())),
        "match": found.get("_match"),
        "ranks": found.get("_ranks"),
        "source_url": source_url(config, record),
    }


def brief(entry: EnhancedLogbookEntry, config: ARIELConfig) -> dict[str, Any]:
    """An entry in one line."""
    return {
        "entry_id": entry["entry_id"],
        "title": entry_title(entry),
        "timestamp": local_time(entry["timestamp"], config.zone),
        "author": entry["author"],
        "source_system": entry["source_system"],
    }


def file_shape(stored: StoredAttachment) -> dict[str, Any]:
    """A file that the logbook keeps."""
    return {
        "attachment_id": stored.attachment_id,
        "filename": stored.filename,
        "mime_type": stored.mime_type,
        "size_bytes": stored.size_bytes,
        "url": stored_url(stored.attachment_id),
        "inline": serving_headers(stored.filename, stored.mime_type)["Content-Disposition"].startswith("inline"),
    }


def source_url(config: ARIELConfig, entry: EnhancedLogbookEntry) -> str | None:
    """Where the source shows an entry; None without a template, and for entries that were written here."""
    template = config.entry_url_template
    if not template or entry["source_system"] in LOCAL_SOURCES:
        return None
    return template.replace("{entry_id}", quote(entry["entry_id"], safe=""))


def search_shape(
    page: RankedPage, config: ARIELConfig, *, total: int | None, cursor: str | None, milliseconds: float
) -> dict[str, Any]:
    """A search's answer."""
    result = page.result
    return {
        "entries": [entry_shape(entry, config) for entry in page.entries],
        "answer": result.answer,
        "sources": list(result.sources),
        "search_modes_used": list(result.search_modes_used),
        "reasoning": result.reasoning,
        "total_results": total,
        "returned": len(page.entries),
        "offset": page.offset,
        "next_cursor": cursor,
        "execution_time_ms": round(milliseconds, 2),
        "diagnostics": [diagnostic.to_dict() for diagnostic in (*page.notes, *result.diagnostics)],
        "degraded": result.degraded,
        "mode": result.search_modes_used[0] if result.search_modes_used else "",
        "explanation": result.explanation,
    }


def status_shape(status: ARIELStatusResult, config: ARIELConfig) -> dict[str, Any]:
    """ARIEL's status, with ariel-lite's counts as `details`."""
    last = status.last_ingestion
    return {
        "healthy": status.healthy,
        "database_connected": status.database_connected,
        "database_uri": status.database_uri,
        "entry_count": status.entry_count,
        "embedding_tables": [
            {
                "table_name": table.table_name,
                "entry_count": table.entry_count,
                "dimension": table.dimension,
                "is_active": table.is_active,
            }
            for table in status.embedding_tables
        ],
        "active_embedding_model": status.active_embedding_model,
        "enabled_search_modules": status.enabled_search_modules,
        "enabled_enhancement_modules": status.enabled_enhancement_modules,
        "last_ingestion": local_time(last, config.zone) if last else None,
        "errors": status.errors,
        "details": status.details,
    }


def syntax_lines() -> list[dict[str, Any]]:
    """The forms of the query language, without Markdown."""
    return [
        {"example": line.queries[0], "examples": list(line.queries), "meaning": _MARKUP.sub("", line.meaning)}
        for line in SYNTAX
    ]


def counted(values: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
    """(value, entries) pairs as objects."""
    return [{"value": value, "count": count} for value, count in values]


def _attachment(named: Mapping[str, Any]) -> dict[str, Any]:
    shape = {"url": named["url"], **{key: named.get(key) for key in _ATTACHMENT_KEYS}}
    return shape | {"missing": bool(named.get("missing"))}
