"""Putting a logbook together: settings, backend and service; and `open_logbook` for scripts and notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import UpsertOutcome
from ariel_lite.config import ARIELConfig, load_config, resolve_database
from ariel_lite.errors import ConfigurationError
from ariel_lite.ingestion.authoring import completed_entry
from ariel_lite.locations import scheme_of
from ariel_lite.records import ARIELSearchResult, ARIELStatusResult, EnhancedLogbookEntry
from ariel_lite.registry import BACKENDS, Registry
from ariel_lite.service import ARIELSearchService, Page

FILE_BACKEND = "sqlite"
BACKEND_OF_SCHEME = MappingProxyType({"postgresql": "postgres"})
"""Schemes that are not their backend's name."""

DateInput = str | date | datetime


def open_backend(
    location: str, config: ARIELConfig, registry: Registry, *, create: bool = False, read_only: bool = False
) -> Backend:
    """The backend that a location (a file's path, or a URL such as postgresql://host/database) asks for.

    Raises:
        ConfigurationError: a URL of no registered backend.
        DatabaseConnectionError: it cannot be opened.
    """
    name = backend_name(location, registry)
    backend: Backend = registry.load(BACKENDS, name).open_backend(location, config, create=create, read_only=read_only)
    return backend


def backend_name(location: str, registry: Registry) -> str:
    """The backend of a location: a URL's scheme names it, everything else is a file's path.

    Raises:
        ConfigurationError: a URL of no registered backend.
    """
    scheme = scheme_of(location)
    if scheme is None:
        return FILE_BACKEND
    name = BACKEND_OF_SCHEME.get(scheme, scheme)
    if name == FILE_BACKEND or name not in registry.names(BACKENDS):
        raise ConfigurationError(
            f"there is no backend for {scheme}://", hint="give a file's path, or postgresql://user@host/database"
        )
    return name


def create_ariel_service(
    config: ARIELConfig | Mapping[str, Any] | None = None,
    *,
    location: str | None = None,
    create: bool = False,
    read_only: bool = False,
) -> ARIELSearchService:
    """The search service of a configuration (an ARIELConfig, or ARIEL's mapping).

    Raises:
        ConfigurationError: a wrong setting.
        DatabaseConnectionError: the logbook cannot be opened.
    """
    settings = config if isinstance(config, ARIELConfig) else ARIELConfig.from_dict(dict(config or {}))
    registry = Registry()
    target = location or resolve_database(None, settings)[0]
    backend = open_backend(target, settings, registry, create=create, read_only=read_only)
    return ARIELSearchService(settings, backend, registry)


def open_logbook(
    path_or_url: str | Path, *, config: ARIELConfig | Mapping[str, Any] | None = None, read_only: bool = False
) -> Logbook:
    """Open a logbook for a script or notebook; a file that does not exist is made, unless `read_only`.

        with open_logbook("x.db") as book:
            book.search("RF trip author:smith")

    Raises:
        ConfigurationError: a wrong setting.
        DatabaseConnectionError: it cannot be opened.
    """
    settings = load_config() if config is None else config
    service = create_ariel_service(settings, location=str(path_or_url), create=not read_only, read_only=read_only)
    return Logbook(service)


class Logbook:
    """A logbook without an event loop."""

    def __init__(self, service: ARIELSearchService) -> None:
        self.service = service

    def __enter__(self) -> Logbook:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the logbook."""
        self.service.close()

    def search(
        self,
        query: str,
        *,
        mode: str | None = None,
        max_results: int = 10,
        start_date: DateInput | None = None,
        end_date: DateInput | None = None,
        author: str | None = None,
        source_system: str | None = None,
        **parameters: Any,
    ) -> ARIELSearchResult:
        """Search; see `ARIELSearchService.search`. Dates may be text in the query language's forms."""
        filters = {
            "start_date": start_date,
            "end_date": end_date,
            "author": author,
            "source_system": source_system,
        }
        given = {name: value for name, value in filters.items() if value is not None}
        return self.service.search_now(
            query, mode=mode, max_results=max_results, advanced_params={**given, **parameters}
        )

    def get(self, entry_id: str) -> EnhancedLogbookEntry | None:
        """The entry of an id, or None."""
        found = self.service.backend.get_entries([entry_id])
        return found[0] if found else None

    def add(self, entries: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> UpsertOutcome:
        """Store entries (mappings as in EnhancedLogbookEntry; id, time and source may be left out).

        Raises:
            InvalidRequestError: an entry without text, or a time that cannot be read; nothing is stored then.
        """
        many = [entries] if isinstance(entries, Mapping) else list(entries)
        zone = self.service.config.zone
        return self.service.backend.upsert([completed_entry(entry, zone) for entry in many])

    def browse(
        self,
        *,
        page: int = 1,
        page_size: int = 20,
        start_date: DateInput | None = None,
        end_date: DateInput | None = None,
        author: str | None = None,
        source_system: str | None = None,
    ) -> Page:
        """A page of entries, newest first."""
        return self.service.browse(
            start_date=start_date,
            end_date=end_date,
            author=author,
            source_system=source_system,
            limit=page_size,
            offset=(page - 1) * page_size,
        )

    def status(self) -> ARIELStatusResult:
        """The health of the logbook."""
        return self.service.status()
