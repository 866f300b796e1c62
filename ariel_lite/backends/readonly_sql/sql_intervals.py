"""Intervals as PostgreSQL writes them: months, and microseconds of everything shorter."""

from __future__ import annotations

import re
from typing import Final

SECOND: Final = 1_000_000
DAY: Final = 86_400 * SECOND
MONTH_DAYS: Final = 30
"""Days that a month counts for when intervals are compared, as in PostgreSQL."""

_UNITS: Final = {
    "microsecond": 1,
    "us": 1,
    "usec": 1,
    "millisecond": 1_000,
    "ms": 1_000,
    "msec": 1_000,
    "second": SECOND,
    "sec": SECOND,
    "s": SECOND,
    "minute": 60 * SECOND,
    "min": 60 * SECOND,
    "m": 60 * SECOND,
    "hour": 3_600 * SECOND,
    "hr": 3_600 * SECOND,
    "h": 3_600 * SECOND,
    "day": DAY,
    "d": DAY,
    "week": 7 * DAY,
    "w": 7 * DAY,
}
_MONTHS: Final = {"month": 1, "mon": 1, "year": 12, "yr": 12, "y": 12, "decade": 120, "century": 1_200}
_PART: Final = re.compile(
    r"\s*(?:(?P<sign>[+-]?)(?P<h>\d{1,6}):(?P<m>\d\d)(?::(?P<s>\d\d(?:\.\d{1,6})?))?"
    r"|(?P<number>[+-]?(?:\d{1,9}(?:\.\d{1,9})?|\.\d{1,9}))\s*(?P<unit>[a-zA-Z]*))\s*,?"
)


def read_interval(text: str) -> tuple[int, int]:
    """(months, microseconds) of an interval such as `7 days`, `1 year 2 mons`, `1 day 02:03`, `-3 hours ago`.

    Raises:
        ValueError: the text is not an interval of that form.
    """
    body = text.strip().lower()
    ago = body.endswith(" ago")
    body = body[:-4] if ago else body
    months = microseconds = position = 0
    while position < len(body):
        part = _PART.match(body, position)
        if part is None or not body:
            raise ValueError(f'invalid input syntax for type interval: "{text[:60]}"')
        extra = _clock(part) if part["h"] is not None else _amount(part, text)
        months, microseconds, position = months + extra[0], microseconds + extra[1], part.end()
    if not position:
        raise ValueError(f'invalid input syntax for type interval: "{text[:60]}"')
    return (-months, -microseconds) if ago else (months, microseconds)


def write_interval(microseconds: int) -> str:
    """PostgreSQL's text of an interval without months: `3 days 04:05:06`."""
    sign = "-" if microseconds < 0 else ""
    days, rest = divmod(abs(microseconds), DAY)
    hours, rest = divmod(rest, 3_600 * SECOND)
    minutes, rest = divmod(rest, 60 * SECOND)
    seconds, fraction = divmod(rest, SECOND)
    clock = f"{sign}{hours:02}:{minutes:02}:{seconds:02}" + (f".{fraction:06}".rstrip("0") if fraction else "")
    shown = f"{sign}{days} day{'' if days == 1 and not sign else 's'}" if days else ""
    nothing = not (hours or minutes or seconds or fraction)
    return (shown if nothing else f"{shown} {clock}".strip()) or "00:00:00"


def _clock(part: re.Match[str]) -> tuple[int, int]:
    seconds = round(float(part["s"] or 0) * SECOND)
    total = (int(part["h"]) * 3_600 + int(part["m"]) * 60) * SECOND + seconds
    return 0, -total if part["sign"] == "-" else total


def _amount(part: re.Match[str], text: str) -> tuple[int, int]:
    number, unit = float(part["number"]), part["unit"] or "second"
    name = unit if unit in _UNITS or unit in _MONTHS else unit.removesuffix("s")
    name = {"centurie": "century"}.get(name, name)
    if name in _UNITS:
        return 0, round(number * _UNITS[name])
    if name in _MONTHS:
        months = number * _MONTHS[name]
        return int(months), round((months - int(months)) * MONTH_DAYS * DAY)
    raise ValueError(f'invalid input syntax for type interval: "{text[:60]}"')
