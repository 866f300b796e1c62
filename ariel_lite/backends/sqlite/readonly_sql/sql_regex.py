"""PostgreSQL's regular expressions in the syntax of SQLite's own `regexp` extension.

That extension runs an automaton in linear time, so that no pattern can hang a search, and knows fewer forms than
PostgreSQL: no look-around, no back references. What it lacks is refused. `\\w`, `\\s` and `\\b` know ASCII only.
"""

from __future__ import annotations

import re
from typing import Final

MAX_PATTERN: Final = 500
MAX_STATES: Final = 5_000

_CLASSES: Final = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": " \\t\\n\\r\\f\\v",
    "xdigit": "0-9A-Fa-f",
    "punct": "!-/:-@\\[-`{-~",
    "blank": " \\t",
    "d": "0-9",
    "w": "a-zA-Z0-9_",
    "s": " \\t\\n\\r\\f\\v",
}
_ESCAPES: Final = {"y": "\\b", "m": "\\b", "M": "\\b", "A": "^", "Z": "$", "b": "\\x08"}
_TOKEN: Final = re.compile(
    r"(?P<bad>\(\?(?:[=!]|<[=!])|\\[1-9BYcuUxe0])"
    r"|(?P<group>\(\?:|\(\?)"
    r"|(?P<escape>\\.)"
    r"|(?P<set>\[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\])"
    r"|(?P<count>\{(?P<low>\d+)(?P<comma>,)?(?P<high>\d*)\})"
    r"|(?P<lazy>(?<=[*+?}])\?)"
    r"|(?P<plain>.)",
    re.DOTALL,
)


def sqlite_pattern(pattern: str, *, ignore_case: bool) -> tuple[str, bool]:
    """The pattern for SQLite's regexp, and whether case is to be ignored.

    Raises:
        ValueError: too long, too many repetitions, or a form that SQLite's regexp does not know.
    """
    if pattern.startswith("(?i)"):
        pattern, ignore_case = pattern[4:], True
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"the pattern is longer than {MAX_PATTERN} characters")
    states, parts = len(pattern), []
    for found in _TOKEN.finditer(pattern):
        parts.append(_translated(found, ignore_case))
        if found["count"]:
            states *= max(int(found["high"] or found["low"]), 1)
    if states > MAX_STATES:
        raise ValueError("the pattern repeats too much")
    return "".join(parts), ignore_case


def _translated(found: re.Match[str], ignore_case: bool) -> str:
    text = found.group()
    if found["bad"]:
        raise ValueError(f"{text} in a regular expression has no counterpart on SQLite")
    if found["group"]:
        return "("
    if found["lazy"]:
        return ""
    if found["escape"]:
        return _escape(text[1])
    if found["set"]:
        return _set(text, ignore_case)
    return text.lower() if found["plain"] and ignore_case else text


def _escape(letter: str) -> str:
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    if letter in "dDsSwWntrfv":
        return f"\\{letter}"
    if letter.isalnum():
        raise ValueError(f"\\{letter} in a regular expression has no counterpart on SQLite")
    return f"\\{letter}" if letter in "\\()*.+?[$^{|}]" else letter


def _set(text: str, ignore_case: bool) -> str:
    """A bracket set with its named classes and `\\d`, `\\w`, `\\s` spelled out."""
    negated = text.startswith("[^")
    inner = text[2 if negated else 1 : -1]
    if re.search(r"\\[DWS]", inner):
        raise ValueError(f"{text[:40]} in a regular expression has no counterpart on SQLite")
    inner = re.sub(r"\[:(\w+):\]", lambda name: _named(name[1]), inner.lower() if ignore_case else inner)
    inner = re.sub(r"\\([dws])", lambda name: _CLASSES[name[1]], inner)
    inner = re.sub(r"\\([-^\"'/ ,:;#%&@!<>=~_])", r"\1", inner)
    if inner.endswith("-") and len(inner) > 1:  # SQLite knows a literal minus only as the first member
        inner = f"-{inner[:-1]}"
    return f"[{'^' if negated else ''}{inner}]"


def _named(name: str) -> str:
    if name not in _CLASSES:
        raise ValueError(f"[:{name}:] in a regular expression is not known")
    return _CLASSES[name]
