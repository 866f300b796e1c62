"""to_char(moment, pattern) and to_char(number, pattern) in PostgreSQL's patterns."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from ariel_lite.backends.sqlite.readonly_sql.sql_times import read_moment

_MONTHS: Final = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_DAYS: Final = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905

_TOKEN: Final = re.compile(
    r'"([^"]*)"|(FM)?(HH24|HH12|HH|MI|SS|MS|US|SSSS|Y,YYY|YYYY|YYY|YY|Y|IYYY|IYY|IW|IDDD|ID|MONTH|Month|month'
    r"|MON|Mon|mon|MM|DAY|Day|day|DY|Dy|dy|DDD|DD|D|WW|W|Q|CC|J|AM|PM|am|pm|A\.M\.|P\.M\.|TZ|tz|OF"
    r"|hh24|hh12|hh|mi|ss|ms|us|yyyy|yyy|yy|y|mm|ddd|dd|d|iyyy|iw|ww|w|q|cc|j)(TH|th)?"
)


def format_moment(text: str, pattern: str) -> str:
    """A moment in the pattern; letters that mean nothing stay as they are."""
    moment = read_moment(text)
    return _TOKEN.sub(lambda found: _part(found, moment), pattern)


def format_number(value: float, pattern: str) -> str:
    """A number in a pattern of 9, 0, `.`, `,` and FM.

    Raises:
        ValueError: another pattern.
    """
    fill = not pattern.upper().startswith("FM")
    body = pattern if fill else pattern[2:]
    if not re.fullmatch(r"[90,]+(?:\.[90]*)?", body):
        raise ValueError(f"the number pattern {pattern[:40]!r} has no counterpart on SQLite")
    whole, _, decimals = body.partition(".")
    number = Decimal(repr(value)).quantize(Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP)
    digits, _, fraction = f"{abs(number):f}".partition(".")
    places = whole.replace(",", "")
    if len(digits.lstrip("0")) > len(places):
        return ("" if not fill else " ") + re.sub("[90]", "#", body)
    first_zero = places.find("0")
    least = len(places) - first_zero if first_zero >= 0 else 0 if decimals else 1
    shown = digits.lstrip("0").rjust(least, "0").rjust(len(places))
    grouped = _grouped(shown, whole)
    sign = "-" if number < 0 else " "
    result = grouped.lstrip(" ").rjust(len(grouped)) if fill else grouped.strip()
    tail = f".{fraction}" if "." in body else ""
    if not fill:
        optional = len(decimals) - len(decimals.rstrip("9"))
        kept = len(fraction) - optional
        tail = f".{fraction[:kept]}{fraction[kept:].rstrip('0')}" if "." in body else ""
        return f"{sign.strip()}{result}{tail}"
    stripped = result.lstrip(" ")
    return f"{sign}{stripped}".rjust(len(result) + 1) + tail


def _grouped(digits: str, pattern: str) -> str:
    remaining, out = list(digits), ""
    for character in pattern:
        if character == ",":
            out += "," if out.strip() else " "
        else:
            out += remaining.pop(0)
    return out


def _part(found: re.Match[str], moment: datetime) -> str:
    quoted, fill, token, ordinal = found.groups()
    if quoted is not None:
        return quoted
    text = _TEXTS[token](moment) if token in _TEXTS else _NUMBERS[token.upper()](moment)
    if fill:
        text = text.rstrip() if token in _TEXTS else text.lstrip("0") or "0"
    return text + (_suffix(text, ordinal) if ordinal else "")


def _suffix(text: str, ordinal: str) -> str:
    number = int(text) if text.isdigit() else 0
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return suffix.upper() if ordinal == "TH" else suffix


def _half(upper: bool, dotted: bool = False) -> Callable[[datetime], str]:
    def half(moment: datetime) -> str:
        text = "AM" if moment.hour < 12 else "PM"
        text = f"{text[0]}.{text[1]}." if dotted else text
        return text if upper else text.lower()

    return half


_TEXTS: Final[dict[str, Callable[[datetime], str]]] = {
    "MONTH": lambda moment: _MONTHS[moment.month - 1].upper().ljust(9),
    "Month": lambda moment: _MONTHS[moment.month - 1].ljust(9),
    "month": lambda moment: _MONTHS[moment.month - 1].lower().ljust(9),
    "MON": lambda moment: _MONTHS[moment.month - 1][:3].upper(),
    "Mon": lambda moment: _MONTHS[moment.month - 1][:3],
    "mon": lambda moment: _MONTHS[moment.month - 1][:3].lower(),
    "DAY": lambda moment: _DAYS[moment.weekday()].upper().ljust(9),
    "Day": lambda moment: _DAYS[moment.weekday()].ljust(9),
    "day": lambda moment: _DAYS[moment.weekday()].lower().ljust(9),
    "DY": lambda moment: _DAYS[moment.weekday()][:3].upper(),
    "Dy": lambda moment: _DAYS[moment.weekday()][:3],
    "dy": lambda moment: _DAYS[moment.weekday()][:3].lower(),
    "AM": _half(True),
    "PM": _half(True),
    "am": _half(False),
    "pm": _half(False),
    "A.M.": _half(True, True),
    "P.M.": _half(True, True),
    "TZ": lambda moment: "UTC",
    "tz": lambda moment: "utc",
    "OF": lambda moment: "+00",
}

_NUMBERS: Final[dict[str, Callable[[datetime], str]]] = {
    "HH24": lambda moment: f"{moment.hour:02}",
    "HH12": lambda moment: f"{(moment.hour + 11) % 12 + 1:02}",
    "HH": lambda moment: f"{(moment.hour + 11) % 12 + 1:02}",
    "MI": lambda moment: f"{moment.minute:02}",
    "SS": lambda moment: f"{moment.second:02}",
    "SSSS": lambda moment: str(moment.hour * 3600 + moment.minute * 60 + moment.second),
    "MS": lambda moment: f"{moment.microsecond // 1000:03}",
    "US": lambda moment: f"{moment.microsecond:06}",
    "Y,YYY": lambda moment: f"{moment.year // 1000},{moment.year % 1000:03}",
    "YYYY": lambda moment: f"{moment.year:04}",
    "YYY": lambda moment: f"{moment.year % 1000:03}",
    "YY": lambda moment: f"{moment.year % 100:02}",
    "Y": lambda moment: str(moment.year % 10),
    "IYYY": lambda moment: f"{moment.isocalendar().year:04}",
    "IYY": lambda moment: f"{moment.isocalendar().year % 1000:03}",
    "IW": lambda moment: f"{moment.isocalendar().week:02}",
    "IDDD": lambda moment: f"{(moment.isocalendar().week - 1) * 7 + moment.isoweekday():03}",
    "ID": lambda moment: str(moment.isoweekday()),
    "MM": lambda moment: f"{moment.month:02}",
    "DDD": lambda moment: f"{moment.timetuple().tm_yday:03}",
    "DD": lambda moment: f"{moment.day:02}",
    "D": lambda moment: str(moment.isoweekday() % 7 + 1),
    "WW": lambda moment: f"{(moment.timetuple().tm_yday - 1) // 7 + 1:02}",
    "W": lambda moment: str((moment.day - 1) // 7 + 1),
    "Q": lambda moment: str((moment.month + 2) // 3),
    "CC": lambda moment: f"{(moment.year + 99) // 100:02}",
    "J": lambda moment: str(moment.toordinal() + 1721425),
}
