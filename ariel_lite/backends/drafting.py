"""Drafts as both backends keep them: JSON text, and the files that it names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ariel_lite.backends.encoding import cleaned, to_json
from ariel_lite.errors import InvalidRequestError


def draft_json(content: Mapping[str, Any]) -> str:
    """A draft's content as text.

    Raises:
        InvalidRequestError: it holds a number that JSON does not know.
    """
    try:
        return to_json(cleaned(dict(content)))
    except ValueError as fault:
        raise InvalidRequestError(f"the draft cannot be kept: {fault}", hint="use JSON values only") from fault


def names_in(contents: Iterable[str]) -> set[str]:
    """All that drafts (JSON texts) may call a file by: each text in them, and the last part of it where it is a URL."""
    names: set[str] = set()
    waiting: list[Any] = [json.loads(content) for content in contents]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            names |= {value, value.rpartition("/")[2]}
        elif isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value
    return names
