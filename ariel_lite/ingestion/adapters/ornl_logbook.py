"""The ORNL (SNS) logbook as a file of its records.

    ID, logbook, event_time (the entry's time), entry_time, author, title, content, segment, area,
    reference (the entry it answers), attachments

A record without an event_time has the time it was entered.
"""

from __future__ import annotations

from typing import Any

from ariel_lite.ingestion.base import AdapterOptions
from ariel_lite.ingestion.entry_building import SourceFields, add_known, linked, one_or_list, texts, unknown_fields
from ariel_lite.ingestion.json_files import JsonFileAdapter

source_system_name = "ORNL Logbook"

_KNOWN = frozenset((
    "ID", "logbook", "event_time", "author", "title", "content", "tags", "attachments", "source_system",
))  # fmt: skip


def read_record(record: dict[str, Any]) -> SourceFields | str:
    """The fields of an ORNL record, or why it is none."""
    if "title" not in record and "content" not in record:
        return "it has neither title nor content; is this the right adapter?"
    event_time, entry_time = record.get("event_time"), record.get("entry_time")
    metadata = unknown_fields(record, _KNOWN)
    known = (
        ("logbook", one_or_list(texts(record.get("logbook"), None))),
        ("tags", texts(record.get("tags"))),
        ("linked_to", linked(record.get("reference"))),
    )
    add_known(metadata, known)
    return SourceFields(
        entry_id=record.get("ID"),
        time=entry_time if event_time is None or event_time == "" else event_time,
        author=record.get("author"),
        title=record.get("title"),
        body=record.get("content"),
        attachments=record.get("attachments"),
        source_system=record.get("source_system"),
        metadata=metadata,
    )


def create_adapter(options: AdapterOptions) -> JsonFileAdapter:
    """The adapter of a file. Raises IngestionError when it cannot be read."""
    return JsonFileAdapter(options, source_system_name, read_record)
