"""Serving one client over standard input and output, until it closes the input or a signal comes."""

from __future__ import annotations

import os
import threading
from asyncio import run_coroutine_threadsafe
from asyncio.events import AbstractEventLoop, get_running_loop
from collections.abc import AsyncIterator, Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from typing import Any, cast

import anyio
import anyio.abc
import anyio.to_thread
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.stdio import stdio_server

from ariel_lite.mcp_server.ending import on_signal
from ariel_lite.mcp_server.server import LogbookServer
from ariel_lite.mcp_server.wire import Wire

CHUNK_BYTES = 65536
MOST_LINE_BYTES = 16 * 1024 * 1024
"""The longest message that is taken; a client that sends more is not followed any further."""

SECONDS_TO_FINISH = 1.5
"""How long calls that are under way may go on when the client has closed its end: it may still read the answers."""


class Lines:
    """The client's messages. A thread of its own waits for them, and never keeps the process from ending."""

    def __init__(self, descriptor: int, is_busy: Callable[[], bool]) -> None:
        self._descriptor = descriptor
        self._is_busy = is_busy

    async def __aiter__(self) -> AsyncIterator[str]:
        send, receive = anyio.create_memory_object_stream[str](16)
        reader = partial(_read, self._descriptor, send, get_running_loop())
        threading.Thread(target=reader, name="ariel-lite stdin", daemon=True).start()
        async with receive:
            async for line in receive:
                yield line
        with anyio.move_on_after(SECONDS_TO_FINISH):
            await anyio.sleep(0.05)
            while self._is_busy():
                await anyio.sleep(0.02)


class Answers:
    """Our messages to the client; writing has a place of its own among the threads."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._place = anyio.CapacityLimiter(1)

    async def write(self, text: str) -> None:
        """Send a text whole."""
        await anyio.to_thread.run_sync(
            _write, self._descriptor, text.encode("utf-8", "replace"), abandon_on_cancel=True, limiter=self._place
        )

    async def flush(self) -> None:
        """Nothing is held back."""


def serve_stdio(logbook_server: LogbookServer, wire: Wire) -> None:
    """Serve until the client has gone or a signal comes."""
    anyio.run(_serve, logbook_server, wire)


async def _serve(logbook_server: LogbookServer, wire: Wire) -> None:
    server = logbook_server.server
    lines = Lines(wire.incoming, lambda: logbook_server.in_flight > 0)
    answers = Answers(wire.outgoing)
    async with anyio.create_task_group() as group:
        group.start_soon(on_signal, group.cancel_scope.cancel)
        try:
            async with stdio_server(cast(Any, lines), cast(Any, answers)) as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())
        except* BrokenPipeError:  # the client went away without a word
            pass
        group.cancel_scope.cancel()


def _read(descriptor: int, send: MemoryObjectSendStream[str], loop: AbstractEventLoop) -> None:
    with suppress(RuntimeError, CancelledError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        for line in _lines(descriptor):
            run_coroutine_threadsafe(send.send(line), loop).result()
        run_coroutine_threadsafe(send.aclose(), loop).result()


def _lines(descriptor: int) -> Any:
    """Lines of UTF-8 text until the end of the input."""
    rest = bytearray()
    while chunk := _chunk(descriptor):
        rest += chunk
        *whole, last = rest.split(b"\n")
        rest = bytearray(last)
        yield from (bytes(line).decode("utf-8", "replace") for line in whole if line.strip())
        if len(rest) > MOST_LINE_BYTES:
            return
    if rest.strip():
        yield bytes(rest).decode("utf-8", "replace")


def _chunk(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, CHUNK_BYTES)
    except OSError:
        return b""


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
