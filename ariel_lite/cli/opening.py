"""Settings and logbooks for the commands that need them."""

from __future__ import annotations

from ariel_lite.compose import create_ariel_service
from ariel_lite.config import ARIELConfig, load_config, resolve_database
from ariel_lite.errors import DatabaseConnectionError
from ariel_lite.service import ARIELSearchService

__all__ = ["load_config", "open_for_reading", "open_for_writing", "resolve_database"]


def open_for_writing(config: ARIELConfig, location: str, *, create: bool) -> ARIELSearchService:
    """The service of a logbook that may be changed; see `create_ariel_service` for what is raised."""
    return create_ariel_service(config, location=location, create=create)


def open_for_reading(config: ARIELConfig, location: str) -> ARIELSearchService:
    """The service of a logbook to look at; see `create_ariel_service` for what is raised."""
    try:
        return create_ariel_service(config, location=location, read_only=True)
    except DatabaseConnectionError:
        # An older file is brought up to date by opening it for writing; every other fault shows again there.
        return create_ariel_service(config, location=location)
