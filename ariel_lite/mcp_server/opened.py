"""The logbook while the server runs: opened at its first use, opened anew when its file has been replaced.

A logbook that is away (no file yet, a database server that is down) is a failure of the calls that need it, each of
which tries again; the server itself starts and stays.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread

from ariel_lite.service import ARIELSearchService

Opener = Callable[[], ARIELSearchService]
FileIdentity = tuple[int, int] | None

SECONDS_TO_STOP = 1.0
"""How long the thread of a cancelled call may still use the logbook."""


class OpenedLogbook:
    """One logbook for all calls.

    Args:
        open_service: opens it; what it raises, `use` raises.
        path: its file, None when it is on a database server.
    """

    def __init__(self, open_service: Opener, path: str | None) -> None:
        self._open = open_service
        self._path = path
        self._lock = threading.Lock()
        self._current: _Opened | None = None

    @asynccontextmanager
    async def use(self) -> AsyncIterator[ARIELSearchService]:
        """The service, for one call.

        Raises:
            ConfigurationError, DatabaseConnectionError: it cannot be opened.
        """
        # Never abandoned: a call that is cancelled while the logbook opens still gives back what it took.
        opened = await anyio.to_thread.run_sync(self._take)
        try:
            yield opened.service
        except anyio.get_cancelled_exc_class():
            opened.abandoned = time.monotonic()
            raise
        finally:
            self._give_back(opened)

    def close(self) -> None:
        """Close the logbook; calls that are under way keep it until they end."""
        with self._lock:
            current, self._current = self._current, None
            is_idle = current is not None and current.users == 0
        if current is not None and is_idle:
            current.close()

    def _take(self) -> _Opened:
        identity = self._identity()
        with self._lock:
            outdated = self._current if self._current and self._current.identity != identity else None
            if outdated is not None:
                self._current = None
                if outdated.users == 0:
                    outdated.close()
            if self._current is None:
                self._current = _Opened(self._open(), identity)
            self._current.users += 1
            return self._current

    def _give_back(self, opened: _Opened) -> None:
        with self._lock:
            opened.users -= 1
            is_last = opened.users == 0 and opened is not self._current
        if is_last:
            opened.close()

    def _identity(self) -> FileIdentity:
        """Which file the path names now; a restored backup is another one. None: no file, or a database server."""
        if self._path is None:
            return None
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_dev, found.st_ino


class _Opened:
    """An open service and how many calls are using it."""

    def __init__(self, service: ARIELSearchService, identity: FileIdentity) -> None:
        self.service = service
        self.identity = identity
        self.users = 0
        self.abandoned = 0.0

    def close(self) -> None:
        """Close it, when the threads of calls that were just cancelled are done with it."""
        time.sleep(max(self.abandoned + SECONDS_TO_STOP - time.monotonic(), 0))
        self.service.close()
