"""Ending when the process is asked to."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable

import anyio


async def on_signal(end: Callable[[], None]) -> None:
    """Call `end` when Ctrl-C or a request to terminate comes. On Windows Ctrl-C stays a KeyboardInterrupt."""
    if sys.platform == "win32":
        return  # its event loops take no signals
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            end()
            return
