"""How large requests may be."""

from __future__ import annotations

from ariel_lite.attachments import MAX_ATTACHMENT_BYTES

MEGABYTE = 1024 * 1024

MOST_FILES = 10
"""Files of one upload."""

MAX_BODY_BYTES = 4 * MEGABYTE
"""A request without files; an entry's text is a part of it."""

FILE_BODY_BYTES = MAX_ATTACHMENT_BYTES + 64 * 1024
"""A request with one file."""

FILES_BODY_BYTES = 5 * MAX_ATTACHMENT_BYTES + MAX_BODY_BYTES
"""A request with an entry and its files; they are in memory together when they are stored."""

_OF_PATH = {"/api/attachments": FILE_BODY_BYTES, "/api/entries/upload": FILES_BODY_BYTES}


def body_limit(path: str) -> int:
    """The most bytes that the body of a request to an address may have."""
    return _OF_PATH.get(path, MAX_BODY_BYTES)
