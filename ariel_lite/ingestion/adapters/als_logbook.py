"""The ALS electronic logbook as a file of its records (JSON Lines or a list).

id, timestamp (epoch seconds, a string), author, subject, details, category (comma list), tag,
linkedto ("0" = none), level, attachments [{url}]
"""

from __future__ import annotations

from typing import Any

from ariel_lite.ingestion.base import AdapterOptions
from ariel_lite.ingestion.entry_building import SourceFields, add_known, linked, texts
from ariel_lite.ingestion.json_files import JsonFileAdapter

source_system_name = "ALS eLog"

_KNOWN = frozenset((
    "id", "timestamp", "author", "subject", "details", "category", "tag", "linkedto", "level", "attachments",
    "source_system",
))  # fmt: skip


def read_record(record: dict[str, Any]) -> SourceFields | str:
    """The fields of an ALS record, or why it is none."""
    if "subject" not in record and "details" not in record:
        return "it has neither subject nor details; is this the right adapter?"
    metadata: dict[str, Any] = {}
    add_known(metadata, ((key, value) for key, value in record.items() if key not in _KNOWN))
    known = (
        ("categories", texts(record.get("category"))),
        ("tags", texts(record.get("tag"))),
        ("linked_to", linked(record.get("linkedto"), nothing=("0",))),
        ("level", record.get("level")),
    )
    add_known(metadata, known)
    return SourceFields(
        entry_id=record.get("id"),
        time=record.get("timestamp"),
        author=record.get("author"),
        title=record.get("subject"),
        body=record.get("details"),
        attachments=record.get("attachments"),
        source_system=record.get("source_system"),
        metadata=metadata,
    )


def create_adapter(options: AdapterOptions) -> JsonFileAdapter:
    """The adapter of a file. Raises IngestionError when it cannot be read."""
    return JsonFileAdapter(options, source_system_name, read_record)
