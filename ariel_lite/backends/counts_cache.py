"""Counts of vectors by model, kept until entries or vectors change: every semantic search asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ariel_lite.backends.values import VectorCounts, VectorModel


class CountsCache:
    """Remembers what was counted last for each model."""

    def __init__(self) -> None:
        self._known: dict[VectorModel, tuple[tuple[Any, ...], VectorCounts]] = {}

    def get(self, model: VectorModel, stamps: tuple[Any, ...], count: Callable[[], VectorCounts]) -> VectorCounts:
        """The counts as they are now; `stamps` differ from all before once entries or vectors have changed."""
        known = self._known.get(model)
        if known is None or known[0] != stamps:
            known = (stamps, count())
            self._known[model] = known
        return known[1]
