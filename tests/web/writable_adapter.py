"""A plug-in adapter that takes new entries and keeps them in memory; it refuses what says so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

from ariel_lite.errors import IngestionError
from ariel_lite.ingestion.base import AdapterOptions, NewEntry
from ariel_lite.records import EnhancedLogbookEntry

REFUSED = "refuse me"


class MemoryAdapter:
    """A source that numbers its entries."""

    source_system_name = "Memory"
    supports_write = True

    def __init__(self, options: AdapterOptions) -> None:
        self.requires_write_auth = options.config.settings.get("closed", False) if options.config else False

    async def fetch_entries(
        self, since: datetime | None = None, until: datetime | None = None, limit: int | None = None
    ) -> AsyncIterator[EnhancedLogbookEntry]:
        for _ in ():
            yield _

    async def create_entry(self, request: NewEntry) -> str:
        if request.subject == REFUSED:
            raise IngestionError("the source said no")
        return f"M-{len(request.subject)}"


def create_adapter(options: AdapterOptions) -> MemoryAdapter:
    """The adapter."""
    return MemoryAdapter(options)
