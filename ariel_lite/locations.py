"""Where a logbook is: a file's path, or the URL of a database server; and how either may be shown."""

from __future__ import annotations

import re
from pathlib import Path

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
CREDENTIALS = re.compile(r"(?<=://)([^/@:]*):[^@/]*(?=@)")
PASSWORD_PARAMETER = re.compile(r"(?<=[?&]password=)[^&]*", re.IGNORECASE)


def scheme_of(location: str) -> str | None:
    """The scheme of a URL, in small letters; None for a file's path."""
    match = SCHEME.match(location)
    return match[1].lower() if match else None


def is_device(path: Path) -> bool:
    """True for a device, a pipe or a socket: what is written goes into it, and no file may take its place."""
    return path.exists() and not (path.is_file() or path.is_dir())


def mask_credentials(location: str) -> str:
    """A location without its password."""
    return PASSWORD_PARAMETER.sub("***", CREDENTIALS.sub(r"\1:***", location))
