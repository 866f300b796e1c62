"""Where a logbook is: a file's path, or the URL of a database server; and how either may be shown."""

from __future__ import annotations

import re

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
CREDENTIALS = re.compile(r"(?<=://)([^/@:]*):[^@/]*(?=@)")
PASSWORD_PARAMETER = re.compile(r"(?<=[?&]password=)[^&]*", re.IGNORECASE)


def scheme_of(location: str) -> str | None:
    """The scheme of a URL, in small letters; None for a file's path."""
    match = SCHEME.match(location)
    return match[1].lower() if match else None


def mask_credentials(location: str) -> str:
    """A location without its password."""
    return PASSWORD_PARAMETER.sub("***", CREDENTIALS.sub(r"\1:***", location))
