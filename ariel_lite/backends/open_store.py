"""What an open logbook is on either backend: the base of both stores."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import Protocol

from ariel_lite.backends.claiming import ClaimPlaces


class OpenConnections(Protocol):
    """The connections to a logbook."""

    def close(self) -> None:
        """Close every connection."""

    def interrupt(self) -> None:
        """Stop the statements that run now."""


class OpenStore(ABC):
    """Holds connections, what each thread remembers, and the migrations that opening applied."""

    _connections: OpenConnections

    def __init__(self) -> None:
        self._places = ClaimPlaces()
        self._local = threading.local()
        self._applied: list[str] = []

    def close(self) -> None:
        """Close every connection."""
        self._connections.close()

    def interrupt(self) -> None:
        """Stop the statements that run now, in whatever thread."""
        self._connections.interrupt()

    def migrate(self) -> list[str]:
        """Names of the migrations that opening this logbook applied, and of those applied now."""
        applied, self._applied = self._applied, []
        return applied + self._migrate()

    @abstractmethod
    def _migrate(self) -> list[str]:
        """Make what is missing of the tables; the names of the migrations applied."""
