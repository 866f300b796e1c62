"""Times as sources write them, for ingestion: a value that cannot be read for certain is refused, never guessed.

Read without a date format:

    epoch numbers    int, float or numeric text: seconds below 1e11 in size, milliseconds below 1e14, else microseconds;
                     negative ones are before 1970 (milliseconds and microseconds from 1966-11 to 1973-03 are too
                     small to be told from the unit before; they are refused, or near 1970 read as that unit)
    ISO 8601         2026-03-05, 2026-03-05T10:00[:00[.000]], "T" or blank, with or without Z, UTC or an offset
    RFC 2822         Thu, 05 Mar 2026 10:00:00 +0100 (also the ELOG's)

Numbers that could also be a written date (2026, 202603, 20260305, 202603051000) are refused, and so is every other
form: 03/04/2009 and 04-JUL-79 need a date format. The year must be from 1900 to 2100.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

from ariel_lite.errors import ErrorCategory, InvalidRequestError
from ariel_lite.query.days import day_start

FIRST_YEAR = 1900
LAST_YEAR = 2100

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MISSING = ("", "-", "n/a", "na", "nan", "nat", "none", "null")
_SHOWN_CHARACTERS = 60
_FORMAT_HINT = "name the form with --date-format, such as %d/%m/%Y"

_TOO_LARGE = 10**18

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}(?:\.[0-9]*)?")
_WRITTEN_DATE = re.compile(
    r"(?:19|20)[0-9]{2}(?:(?:0[1-9]|1[0-2])(?:(?:0[1-9]|[12][0-9]|3[01])(?:(?:[01][0-9]|2[0-3])[0-5][0-9])?)?)?"
)
_ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
_ISO_TAIL = re.compile(r" *(?:z|utc|gmt)", re.IGNORECASE | re.ASCII)
_ISO_OFFSET = re.compile(r"(.*[0-9]) *([+-][0-9]{2}(?::?[0-9]{2})?)", re.ASCII)
_MAIL = re.compile(
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun), *)?"
    r"([0-9]{1,2}) +(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) +([0-9]{4})"
    r" +([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?(?: +([+-][0-9]{4}|[a-z]{1,3}))?(?: *\([^()]*\))?"
)
_MAIL_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MAIL_ZONES = {
    "z": 0, "ut": 0, "utc": 0, "gmt": 0,
    "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
}  # fmt: skip


def parse_source_time(value: object, *, zone: ZoneInfo, date_format: str | None = None) -> datetime:
    """Read the time of a source's record.

    Args:
        value: an epoch number, text, or a datetime or date that the source's reader has already made.
        zone: the zone of times that name none; a local time that occurs twice is its first reading, one that was
            skipped is read with the offset before the clock change.
        date_format: a `strptime` form that is tried first (on numbers too); values that it does not fit are still read
            in the certain forms above. A two-digit year (%y) follows the POSIX rule: 69 to 99 are 1969 to 1999,
            00 to 68 are 2000 to 2068.

    Returns an aware datetime in UTC; a bare date is the first instant of that day in `zone`.

    Raises:
        InvalidRequestError: missing, unreadable, ambiguous or implausible value, or a format that names no year.
    """
    if isinstance(value, int) and abs(value) >= _TOO_LARGE:
        raise _refusal("the time is a number too large for any epoch", "correct the time at the source")
    if date_format is None and isinstance(value, str):
        moment = _read_iso(value, zone)
        if moment is not None:
            return moment
    if date_format is not None and isinstance(value, str | int | float) and not isinstance(value, bool):
        moment = _read_declared(str(value).strip(), date_format, zone)
        if moment is not None:
            return moment
    return _read_certain(value, zone, date_format)


def _read_certain(value: object, zone: ZoneInfo, date_format: str | None) -> datetime:
    if isinstance(value, datetime):
        return _in_utc(value, zone, value)
    if isinstance(value, date):
        return _plausible(day_start(value, zone), value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _read_number(value)
    if isinstance(value, str):
        moment = _read_text(value.strip(), zone)
        if moment is not None:
            return moment
    if value is None or (isinstance(value, str) and value.strip().lower() in _MISSING):
        raise _refusal(f"the time is missing ({_shown(value)})", "")
    unfit = f" and does not fit the date format {date_format!r}" if date_format else ""
    raise _refusal(f"the time {_shown(value)} is unreadable or ambiguous{unfit}", _FORMAT_HINT)


def _read_iso(text: str, zone: ZoneInfo) -> datetime | None:
    """The common case. The form is checked first, since fromisoformat also takes T101Z, T10.5, week dates and NULs."""
    if not _ISO.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if len(text) == 10:
        return _plausible(day_start(moment.date(), zone), text)
    return _in_utc(moment, zone, text)


def _read_text(text: str, zone: ZoneInfo) -> datetime | None:
    if _NUMBER.fullmatch(text):
        return _read_number(text)
    mail = _MAIL.fullmatch(text.lower())
    if mail:
        return _read_mail(mail, text, zone)
    tail = _ISO_TAIL.search(text, 11)
    if tail and tail.end() == len(text):
        return _read_iso(f"{text[: tail.start()]}+00:00", zone)
    spaced = _ISO_OFFSET.fullmatch(text)
    if spaced and len(spaced[1]) > 10:
        return _read_iso(spaced[1] + spaced[2], zone)
    return _read_iso(text, zone)


def _read_mail(match: re.Match[str], text: str, zone: ZoneInfo) -> datetime | None:
    day, month, year, hour, minute, second, offset = match.groups()
    number = _MAIL_MONTHS.index(month) + 1
    try:
        moment = datetime(int(year), number, int(day), int(hour), int(minute), int(second or 0))
        if offset is not None:
            moment = moment.replace(tzinfo=_mail_zone(offset))
    except (ValueError, KeyError):
        return None
    return _in_utc(moment, zone, text)


def _mail_zone(text: str) -> timezone:
    """An offset of a mail date. Raises KeyError for an unknown name, ValueError for an offset of a day or more."""
    if text[0] not in "+-":
        return timezone(timedelta(hours=_MAIL_ZONES[text]))
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[3:5]))
    return timezone(-offset if text[0] == "-" else offset)


def _read_number(value: float | str) -> datetime:
    """An epoch number, its unit told by its size."""
    if isinstance(value, float) and not math.isfinite(value):
        raise _refusal(f"the time is missing ({value})", "")
    if _WRITTEN_DATE.fullmatch(str(value).removesuffix(".0")):
        raise _refusal(f"the time {value} may be a written date or an epoch number", _FORMAT_HINT)
    number = Decimal(str(value) if isinstance(value, float) else value)
    size = abs(number)
    microseconds = number * (1_000_000 if size < 10**11 else 1_000 if size < 10**14 else 1)
    try:
        moment = _EPOCH + timedelta(microseconds=round(microseconds))
    except OverflowError as fault:
        raise _implausible(value) from fault
    return _plausible(moment, value)


def _read_declared(text: str, date_format: str, zone: ZoneInfo) -> datetime | None:
    """A value in the declared form, None when it does not fit."""
    directives = set(re.findall(r"%(.)", date_format))
    if not directives & set("YyGcx"):
        raise _refusal(f"the date format {date_format!r} names no year", "add %Y or %y")
    if "Z" in directives:
        raise _refusal("a date format cannot read zone names (%Z)", "use %z for offsets, or --timezone")
    try:
        moment = datetime.strptime(text, date_format)
    except (ValueError, OverflowError, re.error):
        return None
    if not directives & set("HIcXsfMS"):
        return _plausible(day_start(moment.date(), zone), text)
    return _in_utc(moment, zone, text)


def _in_utc(moment: datetime, zone: ZoneInfo, value: object) -> datetime:
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise _implausible(value)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    return moment.astimezone(UTC)


def _plausible(moment: datetime, value: object) -> datetime:
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise _implausible(value)
    return moment


def _implausible(value: object) -> InvalidRequestError:
    return _refusal(
        f"the time {_shown(value)} is outside the years {FIRST_YEAR} to {LAST_YEAR}", "correct the time at the source"
    )


def _refusal(message: str, hint: str) -> InvalidRequestError:
    return InvalidRequestError(message, ErrorCategory.INGESTION, hint=hint)


def _shown(value: object) -> str:
    text = str(value) if isinstance(value, datetime | date) else repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
