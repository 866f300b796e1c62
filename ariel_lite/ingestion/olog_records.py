"""What a log entry of the Phoebus Olog says.

id, owner, title, description (text) and source (the same in CommonMark), level, state, createdDate and modifyDate
(epoch milliseconds or ISO 8601), logbooks [{name}], tags [{name}], properties [{name, attributes [{name, value}]}],
events [{name, instant}], attachments [{id, filename, fileMetadataDescription}]

The service keeps no "answers": a reply and what it replies to share a property "Log Entry Group" with an id made up
for the thread. That id is what these entries are linked to, so it needs no other entry to be known, in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ariel_lite.ingestion.entry_building import SourceFields, add_known, linked, one_or_list, texts, unknown_fields

source_system_name = "Phoebus Olog"
LIST_KEYS = ("entries", "logs")
THREAD = "Log Entry Group"

_KNOWN = frozenset((
    "id", "owner", "title", "description", "source", "level", "state", "createdDate", "modifyDate", "logbooks", "tags",
    "properties", "events", "attachments",
))  # fmt: skip


def read_record(record: dict[str, Any]) -> SourceFields | str:
    """The fields of a log entry, or why it is none."""
    if "description" not in record and "source" not in record and "title" not in record:
        return "it has neither title nor description; is this the right adapter?"
    description, source = record.get("description"), record.get("source")
    logbooks, properties = texts(record.get("logbooks"), None), _properties(record.get("properties"))
    metadata = unknown_fields(record, _KNOWN)
    known = (
        ("logbook", one_or_list(logbooks)),
        ("tags", texts(record.get("tags"), None)),
        ("level", record.get("level")),
        ("state", record.get("state") if record.get("state") != "Active" else None),
        ("modified", record.get("modifyDate")),
        ("linked_to", linked(properties.get(THREAD, {}).get("id"))),
        ("properties", properties),
        ("events", record.get("events")),
        ("commonmark", source if description and source != description else None),
    )
    add_known(metadata, known)
    return SourceFields(
        entry_id=record.get("id"),
        time=record.get("createdDate"),
        author=record.get("owner"),
        title=record.get("title"),
        body=description or source,
        attachments=[{"url": name, "filename": name} for name, _ in attached(record)],
        metadata={key: value for key, value in metadata.items() if value != {}},
    )


def attached(record: dict[str, Any]) -> list[tuple[str, str]]:
    """(file name, id or "") of an entry's attachments."""
    listed = record.get("attachments")
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    found = [(_text(item.get("filename")) or _text(item.get("id")), _text(item.get("id"))) for item in items]
    return [(name, identifier) for name, identifier in found if name]


def _properties(value: Any) -> dict[str, dict[str, Any]]:
    """{property: {attribute: value}}; what has no name or no value is dropped."""
    found: dict[str, dict[str, Any]] = {}
    for item in _named(value):
        attributes = {_text(one["name"]): one.get("value") for one in _named(item.get("attributes"))}
        found[_text(item["name"])] = {key: text for key, text in attributes.items() if text not in (None, "")}
    return found


def _named(value: Any) -> Sequence[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, dict) and _text(item.get("name"))]


def _text(value: Any) -> str:
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
