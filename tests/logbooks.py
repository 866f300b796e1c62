"""Entries in few words, and what tests ask a logbook."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from ariel_lite.compose import Logbook
from ariel_lite.records import Attachment, EnhancedLogbookEntry

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
"""The fixed present of every logbook under test."""

FIRST = datetime(2026, 3, 5, 10, 0, tzinfo=UTC)
"""When the first entry was written, unless it says otherwise; each next one a minute later."""

PICTURE: Attachment = {"url": "scope.png", "filename": "scope.png"}

Brief = str | tuple[str, str] | EnhancedLogbookEntry
"""An entry as text alone, as (id, text), or whole."""

MakeLogbook = Callable[..., Logbook]
"""What the fixture `make_logbook` gives."""


def entry(
    entry_id: str,
    text: str = "",
    *,
    at: str | datetime = FIRST,
    author: str = "",
    source: str = "Generic JSON",
    attachments: Iterable[Attachment] = (),
    summary: str | None = None,
    keywords: Iterable[str] = (),
    **metadata: Any,
) -> EnhancedLogbookEntry:
    """An entry; `at` is ISO 8601 (UTC where it names no zone); other keywords are its metadata (tags, logbook, …)."""
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    made: EnhancedLogbookEntry = {
        "entry_id": entry_id,
        "source_system": source,
        "timestamp": moment,
        "author": author,
        "raw_text": text,
        "attachments": list(attachments),
        "metadata": metadata,
        "created_at": moment,
        "updated_at": moment,
    }
    if summary is not None:
        made["summary"] = summary
    if keywords:
        made["keywords"] = list(keywords)
    return made


def entries(*brief: Brief) -> list[EnhancedLogbookEntry]:
    """Entries from their texts (their ids are E1, E2, …), from (id, text) pairs, or whole; a minute apart."""
    made: list[EnhancedLogbookEntry] = []
    for index, given in enumerate(brief):
        at = FIRST + timedelta(minutes=index)
        if isinstance(given, str):
            made.append(entry(f"E{index + 1}", given, at=at))
        elif isinstance(given, tuple):
            made.append(entry(given[0], given[1], at=at))
        else:
            made.append(given)
    return made


def found(book: Logbook, query: str, **options: Any) -> list[str]:
    """Ids of what a keyword search finds, in order."""
    result = book.search(query, mode="keyword", **{"max_results": 100, **options})
    return [hit["entry_id"] for hit in result.entries]


def exact(book: Logbook, query: str, **options: Any) -> list[str]:
    """`found` without the fuzzy fallback."""
    return found(book, query, fuzzy_fallback=False, **options)


def messages(book: Logbook, query: str, **options: Any) -> list[str]:
    """What a keyword search has to say about itself."""
    return [note.message for note in book.search(query, mode="keyword", **options).diagnostics]


def fragments(book: Logbook, query: str, entry_id: str | None = None) -> list[str]:
    """The highlights of the first hit, or of one entry."""
    hits = book.search(query, mode="keyword").entries
    return next(hit["_highlights"] for hit in hits if entry_id in (None, hit["entry_id"]))


def refill(book: Logbook, fresh: Iterable[EnhancedLogbookEntry]) -> None:
    """Replace all entries of a logbook."""
    backend = book.service.backend
    backend.delete(list(backend.entry_ids()))
    backend.upsert(list(fresh))
