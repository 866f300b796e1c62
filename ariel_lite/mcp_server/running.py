"""Starting the server: the logbook it serves, its log on standard error, and its transport."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from ariel_lite.config import ARIELConfig
from ariel_lite.mcp_server.http import Door, serve_http
from ariel_lite.mcp_server.opened import OpenedLogbook, Opener
from ariel_lite.mcp_server.server import LogbookServer
from ariel_lite.mcp_server.stdio import serve_stdio
from ariel_lite.mcp_server.toolkit import Serving
from ariel_lite.mcp_server.wire import Wire
from ariel_lite.registry import Registry


@dataclass(frozen=True)
class ServedLogbook:
    """What is served.

    Attributes:
        config: its settings.
        open_service: opens it.
        path: its file, None when it is on a database server.
        shown_location: its path or URL as it may be shown.
        allow_write: offer the tools that write.
        file_folders: where files may be attached from.
    """

    config: ARIELConfig
    open_service: Opener
    path: str | None
    shown_location: str
    allow_write: bool = False
    file_folders: tuple[str, ...] = ()


def run_stdio(served: ServedLogbook, wire: Wire) -> None:
    """Serve one client over standard input and output until it has gone."""
    _log_to_stderr()
    with closing(OpenedLogbook(served.open_service, served.path)) as logbook:
        serve_stdio(_server(served, logbook), wire)


def run_http(served: ServedLogbook, door: Door, announce: Callable[[str], None]) -> None:
    """Serve clients over HTTP until a signal comes; see `http.serve_http` for what is raised."""
    _log_to_stderr()
    with closing(OpenedLogbook(served.open_service, served.path)) as logbook:
        serve_http(_server(served, logbook), door, announce)


def _server(served: ServedLogbook, logbook: OpenedLogbook) -> LogbookServer:
    return LogbookServer(
        Serving(
            served.config,
            Registry(),
            logbook,
            served.shown_location,
            allow_write=served.allow_write,
            file_folders=served.file_folders,
        )
    )


def _log_to_stderr() -> None:
    level = logging.DEBUG if os.environ.get("ARIEL_LITE_DEBUG") else logging.WARNING
    logging.basicConfig(stream=sys.stderr, level=level, format="%(levelname)s %(name)s: %(message)s")
