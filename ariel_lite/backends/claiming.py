"""Where a worker's last claim ended, so that its next one need not look at what lies before again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import timedelta
from typing import Any, TypeVar

Found = TypeVar("Found")

CLAIM_LIFETIME = timedelta(minutes=5)
"""A claim older than this is a dead worker's: others take its entries over."""


class ClaimPlaces:
    """The place each worker has reached in each queue. A queue is an ascending key; what changed before is found last.

    Without it every claim would pass all that is done already: quadratic in the size of the logbook.
    """

    def __init__(self) -> None:
        self._reached: dict[tuple[str, Hashable], Any] = {}

    def next_of(
        self, worker: str, queue: Hashable, limit: int, pick: Callable[[Any, int], dict[Any, Found]]
    ) -> dict[Any, Found]:
        """Up to `limit` of what waits: `pick(after, limit)` gives what lies behind a place, in order (None: all)."""
        reached = self._reached.get((worker, queue))
        found = pick(reached, limit)
        if len(found) < limit and reached is not None:
            found |= pick(None, limit - len(found))
        self._reached[worker, queue] = next(reversed(found)) if found else None
        return found

    def forget(self, worker: str) -> None:
        """The worker is done."""
        for key in [key for key in self._reached if key[0] == worker]:
            del self._reached[key]

    def forget_all(self) -> None:
        """The queues begin anew."""
        self._reached.clear()
