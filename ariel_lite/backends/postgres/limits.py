"""Time limits: one thread watches the statements of all others and cancels those that have to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg

from ariel_lite.errors import SearchTimeoutError

POLL_SECONDS = 0.05
CANCEL_SECONDS = 2.0


@dataclass
class _Watched:
    """A thread's limit; `connection` is what it uses now."""

    should_stop: Callable[[], bool]
    connection: psycopg.Connection[Any] | None = None
    is_stopped: bool = False


class Limits:
    """The limits of all threads that use one database."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._watched: dict[int, _Watched] = {}
        self._running: dict[int, psycopg.Connection[Any]] = {}
        self._watcher: threading.Thread | None = None
        self._is_closed = False

    @contextmanager
    def watching(self, should_stop: Callable[[], bool]) -> Iterator[None]:
        """Inside, this thread's statements are cancelled when `should_stop()` is true."""
        key = threading.get_ident()
        with self._condition:
            outer = self._watched.get(key)
            self._watched[key] = _Watched(should_stop)
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="ariel-lite limits", daemon=True)
                self._watcher.start()
            self._condition.notify()
        try:
            yield
        finally:
            with self._condition:
                if outer is None:
                    del self._watched[key]
                else:
                    self._watched[key] = outer

    @contextmanager
    def running(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """Inside, this thread runs statements on a connection. One that was cancelled is closed afterwards.

        Raises:
            SearchTimeoutError: this thread has to stop already.
        """
        key = threading.get_ident()
        with self._condition:
            watched = self._watched.get(key)
            if watched is not None and (watched.is_stopped or watched.should_stop()):
                raise SearchTimeoutError("the search took too long and was stopped", hint="narrow the search")
            self._running[key] = connection
            if watched is not None:
                watched.connection = connection
        try:
            yield
        finally:
            with self._condition:
                self._running.pop(key, None)
                if watched is not None:
                    watched.connection = None
                    if watched.is_stopped:
                        connection.close()

    def interrupt(self) -> None:
        """Cancel what every thread runs now."""
        with self._condition:
            running = list(self._running.values())
        for connection in running:
            _cancel(connection)

    def close(self) -> None:
        """End the watching thread."""
        with self._condition:
            self._is_closed = True
            self._condition.notify()
        if self._watcher is not None:
            self._watcher.join()

    def _watch(self) -> None:
        with self._condition:
            while not self._is_closed:
                self._condition.wait(POLL_SECONDS if self._watched else None)
                for watched in list(self._watched.values()):
                    if not watched.is_stopped and watched.should_stop():
                        watched.is_stopped = True
                        if watched.connection is not None:
                            _cancel(watched.connection)


def _cancel(connection: psycopg.Connection[Any]) -> None:
    try:
        connection.cancel_safe(timeout=CANCEL_SECONDS)
    except psycopg.Error:
        return
