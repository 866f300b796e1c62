"""Answers made smaller for clients that take it: a phone far from the next antenna is slow, not the processor."""

from __future__ import annotations

from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

LEAST_BYTES = 2000
LEVEL = 4
FILES = "/api/attachments/"
"""Files are sent as they are: most are compressed already, and a compressed one would have to be kept in memory."""


class Compressing:
    """Sends everything but files through gzip where the client accepts it."""

    def __init__(self, app: ASGIApp) -> None:
        self._plain = app
        self._compressed = GZipMiddleware(app, minimum_size=LEAST_BYTES, compresslevel=LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        is_file = scope["type"] == "http" and scope["path"].startswith(FILES)
        await (self._plain if is_file else self._compressed)(scope, receive, send)
