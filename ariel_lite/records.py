"""The record shapes: entries, requests, results, status. Names and fields are ARIEL's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

from ariel_lite.errors import InvalidRequestError

MAX_RESULTS = 100
"""The most entries one search returns; a larger wish is clamped and reported."""

TITLE_CHARACTERS = 120
"""How much of a first line stands for a missing title."""

DiagnosticLevel = Literal["info", "warning", "error"]


class Attachment(TypedDict):
    """A file that belongs to an entry. `text` is what can be searched of it; "" when it holds no readable text."""

    url: str
    type: NotRequired[str | None]
    filename: NotRequired[str | None]
    thumbnail_url: NotRequired[str | None]
    caption: NotRequired[str | None]
    missing: NotRequired[bool]
    text: NotRequired[str]


class EnhancedLogbookEntry(TypedDict):
    """One logbook entry. All times are aware datetimes in UTC."""

    entry_id: str
    source_system: str
    timestamp: datetime
    author: str
    raw_text: str
    attachments: list[Attachment]
    metadata: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    summary: NotRequired[str | None]
    keywords: NotRequired[list[str]]
    enhancement_status: NotRequired[dict[str, Any]]


@dataclass(frozen=True)
class SearchDiagnostic:
    """Something a search has to say about itself: what it mended, could not do, or did in another way."""

    level: DiagnosticLevel
    source: str
    message: str
    category: str = ""

    def to_dict(self) -> dict[str, str]:
        """The JSON shape {level, source, message, category}."""
        return {"level": self.level, "source": self.source, "message": self.message, "category": self.category}


@dataclass
class ARIELSearchRequest:
    """A search as ARIEL's callers write it.

    Raises:
        InvalidRequestError (a ValueError): empty or blank query, or an end before its start.
    """

    query: str
    modes: list[str] = field(default_factory=lambda: ["keyword"])
    time_range: tuple[datetime | None, datetime | None] | None = None
    facility: str | None = None
    max_results: int = 10
    include_images: bool = False
    advanced_params: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.query.strip():
            raise InvalidRequestError("the query is empty", hint="give at least one word or field to search for")
        self.max_results = min(max(int(self.max_results), 1), MAX_RESULTS)
        if self.time_range:
            start, end = self.time_range
            if start and end and end < start:
                raise InvalidRequestError("the end of the time range is before its start")


@dataclass(frozen=True)
class ARIELSearchResult:
    """What a search found and what it has to say about it.

    Attributes:
        entries: records, each with `_score`, `_match` ("exact" or "fuzzy") and, for keyword, `_highlights`.
        answer: the composed answer of the answer mode, else None.
        sources: ids of the entries that an answer cites, else of the entries found.
        search_modes_used: mode names, in the order used.
        reasoning: one sentence on how the query was read.
        diagnostics: see SearchDiagnostic.
        degraded: True when some part of the search could not run.
        explanation: the trees, sentence and backend statements, when asked for.
    """

    entries: tuple[dict[str, Any], ...] = ()
    answer: str | None = None
    sources: tuple[str, ...] = ()
    search_modes_used: tuple[str, ...] = ()
    reasoning: str = ""
    diagnostics: tuple[SearchDiagnostic, ...] = ()
    degraded: bool = False
    explanation: dict[str, Any] | None = None


@dataclass(frozen=True)
class EmbeddingTableInfo:
    """A table of vectors: its name, how many entries it covers, its dimension, whether searches use it."""

    table_name: str
    entry_count: int
    dimension: int | None
    is_active: bool


@dataclass(frozen=True)
class ARIELStatusResult:
    """The health of a logbook; `database_uri` never shows credentials. `details` holds ariel-lite's own counts."""

    healthy: bool
    database_connected: bool
    database_uri: str
    entry_count: int | None
    embedding_tables: list[EmbeddingTableInfo]
    active_embedding_model: str | None
    enabled_search_modules: list[str]
    enabled_enhancement_modules: list[str]
    last_ingestion: datetime | None
    errors: list[str]
    details: dict[str, Any] = field(default_factory=dict)


def entry_title(entry: EnhancedLogbookEntry) -> str:
    """An entry's title: metadata.title, else metadata.subject, else the first line (120 characters)."""
    metadata = entry["metadata"]
    for key in ("title", "subject"):
        value = metadata.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    lines = entry["raw_text"].strip().splitlines()
    return lines[0][:TITLE_CHARACTERS] if lines else ""


def _texts(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return [str(item) for item in value if item is not None and str(item).strip()]
    return [str(value)] if str(value).strip() else []


FIELD_HOMES: dict[str, tuple[str, ...]] = {
    "logbook": ("logbook", "books", "logbook_name"),
    "tag": ("tags", "tag"),
    "category": ("categories", "category"),
}
"""Where each field of the query language lives in an entry's metadata; all of the keys are read."""


FIELD_OF_KEY = {key: name for name, keys in FIELD_HOMES.items() for key in keys}


def field_values(entry: EnhancedLogbookEntry) -> dict[str, list[str]]:
    """The values of an entry's filterable fields, as written.

    Returns a mapping with the keys author, source, logbook, tag, category and has ("attachment", "link"); a field
    without a value gives [].
    """
    values: dict[str, list[str]] = defaultdict(list, source=[entry["source_system"]])
    if entry["author"].strip():
        values["author"] = [entry["author"]]
    for key, value in entry["metadata"].items():
        field_name = FIELD_OF_KEY.get(key)
        if field_name is not None and value:
            values[field_name].extend(_texts(value))
    if entry["attachments"]:
        values["has"] = ["attachment"]
    if any(text != "0" for text in _texts(entry["metadata"].get("linked_to"))):
        values["has"].append("link")
    return values


def attached_texts(entry: EnhancedLogbookEntry) -> list[str]:
    """The texts of an entry's files, where they have one."""
    return [text for file in entry["attachments"] if isinstance(text := file.get("text"), str) and text]


def without_text(attachment: Mapping[str, Any]) -> dict[str, Any]:
    """An attachment as it is shown: its text can be very long, and is found through its entry."""
    return {key: value for key, value in attachment.items() if key != "text"}


def own_text(entry: EnhancedLogbookEntry) -> str:
    """What was written and attached, without what enhancers added: what an entry's vectors stand for."""
    return "\n".join([entry["raw_text"], *attached_texts(entry)])


def searchable_text(entry: EnhancedLogbookEntry) -> str:
    """The text a keyword search looks at: raw_text, summary and keywords once filled, text of attached files."""
    parts = [entry["raw_text"]]
    if entry.get("summary"):
        parts.append(str(entry["summary"]))
    if entry.get("keywords"):
        parts.append(" ".join(entry["keywords"]))
    return "\n".join([*parts, *attached_texts(entry)])
