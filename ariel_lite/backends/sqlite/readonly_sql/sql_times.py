"""PostgreSQL's dates and times on SQLite, where a moment is the text `2026-03-05T08:00:00.000000Z`.

Pure functions over texts. The session's zone is UTC. Bad text raises ValueError with PostgreSQL's message.
"""

from __future__ import annotations

import calendar
import re
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ariel_lite.backends.readonly_sql.sql_intervals import DAY, SECOND

_MOMENT: Final = re.compile(
    r"\s*(?P<y>\d{4})[-/]?(?P<mo>\d{1,2})[-/]?(?P<d>\d{1,2})"
    r"(?:[T\s]+(?P<h>\d{1,2}):(?P<mi>\d{2})(?::(?P<s>\d{2})(?P<f>\.\d{1,9})?)?)?"
    r"\s*(?P<zone>Z|UTC|GMT|[+-]\d{1,2}(?::?\d{2})?)?\s*",
    re.IGNORECASE,
)
_CLOCK: Final = re.compile(r"\s*(\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,6})?)?\s*")
_EPOCH: Final = datetime(1970, 1, 1)
_MICROSECOND: Final = timedelta(microseconds=1)


def write_moment(moment: datetime) -> str:
    """The stored text of a naive UTC time: fixed width, so that text order is time order."""
    return moment.isoformat(timespec="microseconds") + "Z"


def read_moment(text: str) -> datetime:
    """The naive UTC time of a stored text, a date, or a date and time with or without a zone.

    Raises:
        ValueError: anything else.
    """
    found = _MOMENT.fullmatch(text)
    if found is None:
        raise ValueError(f'invalid input syntax for type timestamp: "{text[:60]}"')
    fraction = round(float(found["f"] or 0) * SECOND)
    try:
        moment = datetime(int(found["y"]), int(found["mo"]), int(found["d"]), int(found["h"] or 0))
        moment += timedelta(minutes=int(found["mi"] or 0), seconds=int(found["s"] or 0), microseconds=fraction)
        return moment - _offset(found["zone"])
    except (ValueError, OverflowError) as error:
        raise ValueError(f'date/time field value out of range: "{text[:60]}"') from error


def to_timestamp(text: str) -> str:
    """Any readable moment as stored text."""
    return write_moment(read_moment(text))


def to_date(text: str) -> str:
    """The day of a moment: `2026-03-05`."""
    return read_moment(text).date().isoformat()


def to_time(text: str) -> str:
    """The time of day of a moment or of a clock text: `08:00:00`."""
    clock = _CLOCK.fullmatch(text)
    if clock is None:
        return read_moment(text).time().isoformat()
    hours, minutes, seconds, fraction = clock.groups()
    tail = (fraction or "").rstrip("0")
    if int(hours) > 24 or int(minutes) > 59 or int(seconds or 0) > 60:
        raise ValueError(f'date/time field value out of range: "{text[:60]}"')
    return f"{int(hours):02}:{minutes}:{seconds or '00'}{'' if tail == '.' else tail}"


def timestamptz_text(text: str) -> str:
    """A moment as PostgreSQL casts a timestamptz to text: `2026-03-05 08:00:00+00`."""
    return f"{timestamp_text(text)}+00"


def timestamp_text(text: str) -> str:
    """A moment as PostgreSQL casts a timestamp to text: `2026-03-05 08:00:00.5`."""
    moment = read_moment(text)
    shown = moment.isoformat(sep=" ")
    return shown.rstrip("0") if moment.microsecond else shown


def add_interval(text: str, months: int, microseconds: int) -> str:
    """A moment, `months` calendar months (the day clipped to the month's last) and `microseconds` later."""
    moment = read_moment(text)
    if months:
        year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
        day = min(moment.day, calendar.monthrange(year, month + 1)[1])
        moment = moment.replace(year=year, month=month + 1, day=day)
    return write_moment(moment + timedelta(microseconds=microseconds))


def add_days(text: str, days: int) -> str:
    """The date `days` days later."""
    return (date.fromisoformat(text[:10]) + timedelta(days=int(days))).isoformat()


def days_between(later: str, earlier: str) -> int:
    """Whole days from one date to another."""
    return (date.fromisoformat(later[:10]) - date.fromisoformat(earlier[:10])).days


def moments_between(later: str, earlier: str) -> int:
    """Microseconds from one moment to another."""
    return (read_moment(later) - read_moment(earlier)) // _MICROSECOND


def from_epoch(seconds: float) -> str:
    """The moment that many seconds after 1970."""
    return write_moment(_EPOCH + timedelta(seconds=seconds))


def make_date(year: int, month: int, day: int) -> str:
    """A date of its numbers."""
    return date(int(year), int(month), int(day)).isoformat()


def extract(field: str, text: str) -> float:
    """EXTRACT(field FROM moment), a float as PostgreSQL's numeric divides.

    Raises:
        ValueError: unknown field.
    """
    moment = read_moment(text)
    iso = moment.isocalendar()
    seconds = moment.second + moment.microsecond / SECOND
    fields: dict[str, int | float] = {
        "century": (moment.year + 99) // 100,
        "day": moment.day,
        "decade": moment.year // 10,
        "dow": moment.isoweekday() % 7,
        "doy": moment.timetuple().tm_yday,
        "epoch": (moment - _EPOCH) / timedelta(seconds=1),
        "hour": moment.hour,
        "isodow": moment.isoweekday(),
        "isoyear": iso.year,
        "microseconds": moment.second * SECOND + moment.microsecond,
        "millennium": (moment.year + 999) // 1000,
        "milliseconds": moment.second * 1000 + moment.microsecond / 1000,
        "minute": moment.minute,
        "month": moment.month,
        "quarter": (moment.month + 2) // 3,
        "second": seconds,
        "timezone": 0,
        "timezone_hour": 0,
        "timezone_minute": 0,
        "week": iso.week,
        "year": moment.year,
    }
    return float(_field(field, fields))


def extract_interval(field: str, microseconds: int) -> float:
    """EXTRACT(field FROM interval) of an interval without months."""
    sign = -1 if microseconds < 0 else 1
    days, rest = divmod(abs(microseconds), DAY)
    hours, rest = divmod(rest, 3600 * SECOND)
    minutes, rest = divmod(rest, 60 * SECOND)
    fields: dict[str, int | float] = {
        "day": sign * days,
        "epoch": microseconds / SECOND,
        "hour": sign * hours,
        "microseconds": sign * rest,
        "milliseconds": sign * rest / 1000,
        "minute": sign * minutes,
        "month": 0,
        "second": sign * rest / SECOND,
        "year": 0,
    }
    return float(_field(field, fields))


def truncate(unit: str, text: str, zone: str = "UTC") -> str:
    """date_trunc(unit, moment, zone)."""
    local = read_moment(text) if zone == "UTC" else read_moment(at_zone(text, zone))
    start = _start(unit.lower().removesuffix("s"), local)
    return write_moment(start) if zone == "UTC" else from_zone(write_moment(start), zone)


def bin_moment(width: int, text: str, origin: str) -> str:
    """date_bin(width in microseconds, moment, origin)."""
    start = read_moment(origin)
    steps = ((read_moment(text) - start) // _MICROSECOND) // width
    return write_moment(start + timedelta(microseconds=steps * width))


def at_zone(text: str, zone: str) -> str:
    """The wall-clock time of a moment in a zone."""
    local = read_moment(text).replace(tzinfo=UTC).astimezone(_zone(zone))
    return write_moment(local.replace(tzinfo=None))


def from_zone(text: str, zone: str) -> str:
    """The moment of a wall-clock time in a zone."""
    local = read_moment(text).replace(tzinfo=_zone(zone))
    return write_moment(local.astimezone(UTC).replace(tzinfo=None))


def _field(name: str, fields: dict[str, int | float]) -> int | float:
    key = name.lower()
    for candidate in (key, key.removesuffix("s"), f"{key}s"):
        if candidate in fields:
            return fields[candidate]
    raise ValueError(f'unit "{name[:40]}" is not recognised')


def _start(unit: str, moment: datetime) -> datetime:
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "week":
        return day - timedelta(days=moment.weekday())
    starts = {
        "microsecond": moment,
        "millisecond": moment.replace(microsecond=moment.microsecond // 1000 * 1000),
        "second": moment.replace(microsecond=0),
        "minute": moment.replace(second=0, microsecond=0),
        "hour": moment.replace(minute=0, second=0, microsecond=0),
        "day": day,
        "month": day.replace(day=1),
        "quarter": day.replace(day=1, month=(moment.month - 1) // 3 * 3 + 1),
        "year": day.replace(day=1, month=1),
        "decade": day.replace(day=1, month=1, year=max(moment.year // 10 * 10, 1)),
        "century": day.replace(day=1, month=1, year=(moment.year - 1) // 100 * 100 + 1),
    }
    if unit not in starts:
        raise ValueError(f'unit "{unit[:40]}" is not recognised')
    return starts[unit]


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone.upper() in ("Z", "UTC", "GMT"):
        return timedelta()
    digits = zone[1:].replace(":", "")
    hours, minutes = (int(digits), 0) if len(digits) < 3 else (int(digits[:-2]), int(digits[-2:]))
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if zone[0] == "-" else offset


def _zone(name: str) -> ZoneInfo | timezone:
    if name.upper() in ("UTC", "GMT", "Z"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f'time zone "{name[:60]}" is not recognised') from error
