"""Text that every store and reader can hold: no control characters, no half surrogates, one kind of line end."""

from __future__ import annotations

import math
import re
from typing import Any

MAX_NESTING = 100
"""How deep a record's lists and objects may nest; deeper ones break JSON readers."""

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""NUL, C0 aside from tab and line ends, DEL, C1 and lone surrogates."""

_LINE_END = re.compile(r"\r\n?")


def clean_text(text: str) -> tuple[str, bool]:
    """(text with LF line ends and blanks for control characters, True when a control character was replaced)."""
    if "\r" in text:
        text = _LINE_END.sub("\n", text)
    if CONTROL.search(text) is None:
        return text, False
    return CONTROL.sub(" ", text), True


def clean_value(value: Any) -> tuple[Any, bool]:
    """A JSON value with every text and key cleaned and NaN and infinities as None; True when something was replaced.

    The value must not nest deeper than MAX_NESTING (see `nests_too_deep`).
    """
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        pairs = [(clean_text(str(key)), clean_value(item)) for key, item in value.items()]
        return {key[0]: item[0] for key, item in pairs}, any(key[1] or item[1] for key, item in pairs)
    if isinstance(value, list | tuple):
        items = [clean_value(item) for item in value]
        return [item for item, _ in items], any(changed for _, changed in items)
    if isinstance(value, float) and not math.isfinite(value):
        return None, True
    return value, False


def nests_too_deep(value: Any) -> bool:
    """True when lists and objects stand more than MAX_NESTING deep in each other."""
    level = [value]
    for _ in range(MAX_NESTING + 1):
        level = [item for holder in level for item in _items(holder)]
        if not level:
            return False
    return True


def _items(holder: Any) -> list[Any]:
    if isinstance(holder, dict):
        holder = holder.values()
    elif not isinstance(holder, list):
        return []
    return [item for item in holder if isinstance(item, dict | list)]
