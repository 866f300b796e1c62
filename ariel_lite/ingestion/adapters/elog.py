"""The PSI ELOG: raw log files in their folders, or a server (`https://host/logbook/`), which also takes new entries.

Settings (`ingestion.settings`), all optional:

    logbook         the logbook's name, for a file whose folder does not tell it
    title, author, tags, categories     the attributes (one or a list) that hold them
    attachments     false leaves a server's attachments where they are
    attributes      {name: value} of attributes that the logbook requires of new entries
    charset         how the server reads forms (default: as it writes its pages)
"""

from __future__ import annotations

from typing import Any

from ariel_lite.ingestion.base import AdapterOptions
from ariel_lite.ingestion.elog_files import ElogFiles
from ariel_lite.ingestion.elog_records import Attributes, source_system_name
from ariel_lite.ingestion.elog_server import ElogServer
from ariel_lite.ingestion.http_source import is_web_address
from ariel_lite.ingestion.settings import known_settings, names_setting, text_setting

__all__ = ["create_adapter", "source_system_name"]

_HOMES = ("title", "author", "tags", "categories")


def create_adapter(options: AdapterOptions) -> ElogFiles | ElogServer:
    """The adapter of a source.

    Raises:
        IngestionError: it cannot be read.
        ConfigurationError: an unknown setting, or one of the wrong kind.
    """
    settings = options.config.settings
    known_settings(settings, ("logbook", "attachments", "attributes", "charset", *_HOMES))
    named: dict[str, Any] = {home: names_setting(settings, home) for home in _HOMES if settings.get(home)}
    attributes = Attributes(**{home: tuple(name.lower() for name in names) for home, names in named.items()})
    if is_web_address(options.source):
        return ElogServer(options, attributes)
    return ElogFiles(options, attributes, text_setting(settings, "logbook"))
