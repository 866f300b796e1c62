"""ARIEL's generic JSON: `{"entries": [...]}`, a list, or JSON Lines.

    id, timestamp or when {days_ago, time}, author, title, text, tags, categories, books, linked_to, level,
    attachments, metadata; "format": "html" where the text is HTML; "deleted": true for an entry that is gone

Entries that ariel-lite exported are read back too (entry_id, raw_text, source_system, summary, keywords). Every other
key is kept in the metadata.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from ariel_lite.ingestion.base import AdapterOptions
from ariel_lite.ingestion.entry_building import SourceFields, add_known, linked, one_or_list, texts
from ariel_lite.ingestion.html_text import is_html
from ariel_lite.ingestion.json_files import JsonFileAdapter

source_system_name = "Generic JSON"

_TEXT_KEYS = ("title", "text", "raw_text")
_KNOWN = frozenset((
    "id", "entry_id", "timestamp", "when", "author", "title", "text", "raw_text", "format", "tags", "categories",
    "books", "linked_to", "level", "attachments", "metadata", "source_system", "summary", "keywords", "deleted",
))  # fmt: skip
_OURS = frozenset((
    "created_at", "updated_at", "enhancement_status", "score", "_score", "_match", "_highlights", "highlights",
    "match",
))  # fmt: skip
_LARGEST_DAYS = 100_000


class _Reader:
    def __init__(self, options: AdapterOptions) -> None:
        self._options = options

    def __call__(self, record: dict[str, Any]) -> SourceFields | str | None:
        get = record.get
        if get("deleted") is True:
            return None
        if not any(key in record for key in _TEXT_KEYS):
            return "it has neither title nor text; is this the right adapter?"
        fields = SourceFields(
            get("id", get("entry_id")),
            get("timestamp"),
            get("author"),
            get("title"),
            get("text"),
            is_html(get("format")),
            None,
            get("attachments"),
            get("source_system"),
            _metadata(record),
        )
        if fields.time is None and "when" in record:
            fields.time = self._relative(record["when"])
        if "raw_text" in record:
            _use_export(fields, record)
        return fields

    def _relative(self, when: Any) -> Any:
        """The moment that {days_ago, time} means today; anything else as it is."""
        if not isinstance(when, dict):
            return when
        days = when.get("days_ago", 0)
        if isinstance(days, bool) or not isinstance(days, int) or abs(days) > _LARGEST_DAYS:
            return repr(when)
        return _local_moment(self._options.clock(), self._options.zone, days, when.get("time")) or repr(when)


def create_adapter(options: AdapterOptions) -> JsonFileAdapter:
    """The adapter of a file. Raises IngestionError when it cannot be read."""
    return JsonFileAdapter(options, source_system_name, _Reader(options))


def _metadata(record: dict[str, Any]) -> dict[str, Any]:
    given = record.get("metadata")
    metadata = dict(given) if isinstance(given, dict) else {}
    if given and not isinstance(given, dict):
        metadata["metadata"] = given
    if not record.keys() <= _KNOWN:
        add_known(metadata, ((key, record[key]) for key in record if key not in _KNOWN and key not in _OURS))
    get = record.get
    if value := get("tags"):
        metadata["tags"] = texts(value)
    if value := get("categories"):
        metadata["categories"] = texts(value)
    if value := get("books"):
        books = texts(value)
        add_known(metadata, (("logbook", one_or_list(books)), ("books", books)))
    if value := get("linked_to"):
        add_known(metadata, (("linked_to", linked(value)),))
    if value := get("level"):
        metadata["level"] = value
    return metadata


def _use_export(fields: SourceFields, record: dict[str, Any]) -> None:
    """An entry as ariel-lite writes it: the text is whole, and enhancers' words come along."""
    fields.whole_text = record["raw_text"]
    if isinstance(fields.title, str) and fields.title.strip():
        fields.metadata.setdefault("title", fields.title.strip())
    words: dict[str, Any] = {}
    if isinstance(record.get("summary"), str) and record["summary"]:
        words["summary"] = record["summary"]
    if isinstance(record.get("keywords"), list) and record["keywords"]:
        words["keywords"] = texts(record["keywords"], None)
    fields.words = words or None


def _local_moment(now: datetime, zone: ZoneInfo, days_ago: int, clock_time: Any) -> datetime | None:
    """A time of day so many days before today in the zone; midnight where none is given, None for an unreadable one."""
    text = "00:00" if clock_time in (None, "") else str(clock_time).strip()
    day = now.astimezone(zone).date() - timedelta(days=days_ago)
    try:
        return datetime.fromisoformat(f"{day.isoformat()}T{text}").replace(tzinfo=zone)
    except ValueError:
        return None
