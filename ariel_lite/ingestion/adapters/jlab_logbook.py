"""The Jefferson Lab logbook as its API gives it: a list, `{"entries": [...]}` or `{"data": {"entries": [...]}}`.

lognumber, created {timestamp}, author (a text or {username, firstname, lastname}), title,
body {content, type: text or html}, books, tags, attachments
"""

from __future__ import annotations

from typing import Any

from ariel_lite.ingestion.base import AdapterOptions
from ariel_lite.ingestion.entry_building import SourceFields, add_known, one_or_list, texts, unknown_fields
from ariel_lite.ingestion.html_text import is_html
from ariel_lite.ingestion.json_files import JsonFileAdapter

source_system_name = "JLab Logbook"

_KNOWN = frozenset((
    "lognumber", "created", "author", "title", "body", "books", "tags", "attachments", "source_system",
))  # fmt: skip


def read_record(record: dict[str, Any]) -> SourceFields | str:
    """The fields of a JLab record, or why it is none."""
    if "title" not in record and "body" not in record:
        return "it has neither title nor body; is this the right adapter?"
    body, created = record.get("body"), record.get("created")
    metadata = unknown_fields(record, _KNOWN)
    books = texts(record.get("books"))
    add_known(metadata, (("logbook", one_or_list(books)), ("books", books), ("tags", texts(record.get("tags")))))
    return SourceFields(
        entry_id=record.get("lognumber"),
        time=created.get("timestamp", created.get("string")) if isinstance(created, dict) else created,
        author=record.get("author"),
        title=record.get("title"),
        body=body.get("content") if isinstance(body, dict) else body,
        is_html=isinstance(body, dict) and is_html(body.get("type")),
        attachments=record.get("attachments"),
        source_system=record.get("source_system"),
        metadata=metadata,
    )


def create_adapter(options: AdapterOptions) -> JsonFileAdapter:
    """The adapter of a file. Raises IngestionError when it cannot be read."""
    return JsonFileAdapter(options, source_system_name, read_record)
