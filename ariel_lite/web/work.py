"""Running searches and counts in threads: so many at once, stopped when their time is up or their client leaves."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TypeVar

import anyio
import anyio.to_thread
from starlette.requests import Request

from ariel_lite.backends.base import Backend
from ariel_lite.errors import ARIELException, ErrorCategory

T = TypeVar("T")

MOST_WAITING = 200
"""How many calls may wait for their turn; further ones are told to come back."""


class ServerBusyError(ARIELException):
    """Too many calls are waiting already."""

    code = "busy"
    http_status = 503
    default_category = ErrorCategory.DATABASE


class ClientLeft(Exception):
    """The client closed its connection before the answer was ready."""


class Gate:
    """Lets a bounded number of calls work at once; the others wait in order.

    Args:
        backend: whose statements are stopped.
        at_once: calls that work at the same time.
        seconds: how long one call may work.
    """

    def __init__(self, backend: Backend, at_once: int, seconds: float) -> None:
        self._backend = backend
        self._places = anyio.CapacityLimiter(at_once)
        self._room = at_once + MOST_WAITING
        self._seconds = seconds

    async def run(self, request: Request, work: Callable[[], T]) -> T:
        """Do blocking work in a thread.

        Raises:
            ServerBusyError: too many calls wait.
            ClientLeft: the client went away; the work was stopped.
            SearchTimeoutError: it took too long.
        """
        return await self.wait(request, partial(self.in_thread, work))

    async def wait(self, request: Request, work: Callable[[], Awaitable[T]]) -> T:
        """Await work that runs in threads of its own; see `run` for what is raised."""
        with self._admitted():
            return await _while_connected(request, partial(self._in_turn, work))

    async def finish(self, work: Callable[[], T]) -> T:
        """Do blocking work in a thread and let it come to its end, also when the client leaves meanwhile.

        Raises:
            ServerBusyError: too many calls wait.
        """
        async with self.turn():
            return await anyio.to_thread.run_sync(work)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Do blocking work in a thread, for who has a place at this gate; it is stopped when its time is up.

        Raises:
            SearchTimeoutError: it took too long.
        """
        stopped = threading.Event()
        end = time.monotonic() + self._seconds

        def bounded() -> T:
            with self._backend.limited(lambda: stopped.is_set() or time.monotonic() > end):
                return work()

        try:
            return await anyio.to_thread.run_sync(bounded, abandon_on_cancel=True)
        finally:
            stopped.set()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """A place at this gate.

        Raises:
            ServerBusyError: too many calls wait.
        """
        with self._admitted():
            async with self._places:
                yield

    @contextmanager
    def _admitted(self) -> Iterator[None]:
        if self._room <= 0:
            raise ServerBusyError("the server is busy", hint="try again in a few seconds")
        self._room -= 1
        try:
            yield
        finally:
            self._room += 1

    async def _in_turn(self, work: Callable[[], Awaitable[T]]) -> T:
        async with self._places:
            return await work()


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


async def _while_connected(request: Request, work: Callable[[], Awaitable[T]]) -> T:
    """Await work; when the client leaves first, cancel it."""
    working = asyncio.ensure_future(work())
    leaving = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientLeft
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
