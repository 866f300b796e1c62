"""Blocking work in threads: bounded, and stopped when its caller goes away.

Reading standard input and writing standard output have threads of their own, so that work that is waiting for its
place never keeps an answer or a ping waiting.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio
import anyio.to_thread

T = TypeVar("T")

AT_ONCE = 8
"""Calls that work at the same time; further ones wait in order."""

ShouldStop = Callable[[], bool]


class Workers:
    """Places for calls that work."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self.places = anyio.CapacityLimiter(at_once)
        self._threads = anyio.CapacityLimiter(at_once)

    async def run(self, work: Callable[[ShouldStop], T]) -> T:
        """Do work in a thread; it is told by its argument when nobody waits for it any more."""
        stopped = threading.Event()
        try:
            return await anyio.to_thread.run_sync(
                partial(work, stopped.is_set), abandon_on_cancel=True, limiter=self._threads
            )
        finally:
            stopped.set()
