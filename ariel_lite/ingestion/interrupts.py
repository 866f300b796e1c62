"""Ctrl-C between batches, not inside one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any


class InterruptShield:
    """While it is entered, a first Ctrl-C during `writing` waits for the end of the write; a second one does not.

    Outside the main thread, where signals never arrive, it does nothing.
    """

    def __init__(self) -> None:
        self._writing = False
        self._pending = False
        self._previous: Any = None
        self._installed = False

    def __enter__(self) -> InterruptShield:
        # A handler of None is one that was not set from Python: it could not be put back.
        self._previous = signal.getsignal(signal.SIGINT)
        ignored = self._previous in (signal.SIG_IGN, None)
        if threading.current_thread() is threading.main_thread() and not ignored:
            signal.signal(signal.SIGINT, self._interrupted)
            self._installed = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, self._previous)
            self._installed = False

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
