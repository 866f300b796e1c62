"""The Phoebus Olog: a JSON export of its log entries (a list, or `{"logs": […]}`), or its server.

Settings (`ingestion.settings`) for the server, all optional:

    max_records     entries of an answer (500; the server's own limit must not be lower)
    attachments     false leaves attachments where they are
    logbook         where new entries go that name no logbook
"""

from __future__ import annotations

from ariel_lite.ingestion.base import AdapterOptions
from ariel_lite.ingestion.http_source import is_web_address
from ariel_lite.ingestion.json_files import JsonFileAdapter
from ariel_lite.ingestion.olog_records import LIST_KEYS, read_record, source_system_name
from ariel_lite.ingestion.olog_server import OlogServer
from ariel_lite.ingestion.settings import known_settings

__all__ = ["create_adapter", "source_system_name"]


def create_adapter(options: AdapterOptions) -> JsonFileAdapter | OlogServer:
    """The adapter of a source.

    Raises:
        IngestionError: it cannot be read.
        ConfigurationError: an unknown setting, or one of the wrong kind.
    """
    known_settings(options.config.settings, ("max_records", "attachments", "logbook"))
    if is_web_address(options.source):
        return OlogServer(options)
    return JsonFileAdapter(options, source_system_name, read_record, LIST_KEYS)
