"""What an enhancer is. Its module has `create_enhancer(config, registry) -> Enhancer`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from ariel_lite.backends.base import Backend

Progress = Callable[[int], None]
"""Told how many more entries are done."""


@dataclass
class EnhancementReport:
    """What a run did: entries enhanced, those with nothing to enhance, and id -> reason of those that failed."""

    module: str
    done: int = 0
    blank: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False


class Enhancer(Protocol):
    """Adds something to entries. `order`: smaller runs first, because later ones build on it."""

    name: str
    order: int

    def pending(self, backend: Backend) -> int:
        """How many entries wait."""

    def run(
        self, backend: Backend, *, limit: int | None = None, force: bool = False, progress: Progress = ...
    ) -> EnhancementReport:
        """Enhance entries that wait (all with `force`), a transaction a batch; safe to interrupt and to repeat."""
