"""Ctrl-C, and the signal to end where a program takes it as one, between batches and not inside one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

STOPPING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name)
)  # SIGBREAK is Ctrl-Break, on Windows only


class InterruptShield:
    """While it is entered, a first Ctrl-C during `writing` waits for the end of the write; a second one does not.

    A signal to end counts as Ctrl-C where it has a handler (see `ending_as_interrupt`); elsewhere it ends the process.
    Outside the main thread, where signals never arrive, it does nothing.
    """

    def __init__(self) -> None:
        self._writing = False
        self._pending = False
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> InterruptShield:
        if threading.current_thread() is threading.main_thread():
            for number in STOPPING:
                # None is a handler that was not set from Python: it could not be put back.
                if callable(signal.getsignal(number)):
                    self._previous[number] = signal.signal(number, self._interrupted)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        previous, self._previous = self._previous, {}
        for number, handler in previous.items():
            signal.signal(number, handler)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A piece of work to be finished first. Raises KeyboardInterrupt at its end when one came in between."""
        self._writing = True
        try:
            yield
        finally:
            self._writing = False
        if self._pending:
            self._pending = False
            raise KeyboardInterrupt

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if self._writing and not self._pending:
            self._pending = True
            return
        self._pending = False
        raise KeyboardInterrupt


@contextmanager
def ending_as_interrupt() -> Iterator[None]:
    """Inside, a signal to end (SIGTERM; Ctrl-Break on Windows) is a KeyboardInterrupt, unless it is ignored."""
    previous: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in STOPPING:
            if signal.getsignal(number) == signal.SIG_DFL:
                previous[number] = signal.signal(number, _raise_interrupt)
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _raise_interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
