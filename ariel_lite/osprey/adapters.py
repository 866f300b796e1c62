"""Our adapters as ARIEL makes its own: classes that take the configuration and give plain entries.

`AlsLogbookAdapter` stands for the adapter `als_logbook`, and so on for every registered one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from ariel_lite.config import IngestionConfig
from ariel_lite.errors import ConfigurationError
from ariel_lite.ingestion.base import AdapterOptions, FacilityAdapter, IncomingEntry
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.registry import ADAPTERS, Registry

SUFFIX = "Adapter"


class ConfiguredAdapter:
    """An adapter by name over a configuration with `ingestion.source_url`; records that are no entries are left out."""

    adapter_name: ClassVar[str]

    def __init__(self, config: Any) -> None:
        settings = config.ingestion
        source = getattr(settings, "source_url", None)
        if not source:
            raise ConfigurationError("ingestion.source_url is not set", hint="say where the entries are")
        options = AdapterOptions(
            source=source,
            zone=getattr(config, "zone", None) or ZoneInfo("UTC"),
            config=settings if isinstance(settings, IngestionConfig) else IngestionConfig(),
        )
        self._adapter: FacilityAdapter = Registry().load(ADAPTERS, self.adapter_name).create_adapter(options)

    @property
    def source_system_name(self) -> str:
        """The source system of the entries."""
        return self._adapter.source_system_name

    async def fetch_entries(
        self, since: datetime | None = None, until: datetime | None = None, limit: int | None = None
    ) -> AsyncIterator[EnhancedLogbookEntry]:
        """The source's entries; see `FacilityAdapter.fetch_entries`."""
        async for record in self._adapter.fetch_entries(since, until, limit):
            if isinstance(record, IncomingEntry):
                yield record.entry

    async def count_entries(self) -> int | None:
        """See `FacilityAdapter.count_entries`."""
        return await self._adapter.count_entries()


def class_name(adapter_name: str) -> str:
    """The name of an adapter's class: `als_logbook` -> `AlsLogbookAdapter`."""
    return "".join(part.capitalize() for part in adapter_name.split("_")) + SUFFIX


def __getattr__(name: str) -> type[ConfiguredAdapter]:
    for adapter_name in Registry().names(ADAPTERS):
        if class_name(adapter_name) == name:
            return type(name, (ConfiguredAdapter,), {"adapter_name": adapter_name, "__doc__": f"{adapter_name}."})
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
