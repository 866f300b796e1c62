"""Dates of queries and filters: text to inclusive time ranges, ranges to words, instants to stored text.

One value A is one of (ASCII digits, words in any case, blanks around it ignored):

    2026                             the year
    2026-03                          the month
    2026-03-05                       the day, from its first to its last instant
    2026-03-05T10[:05[:03[.25]]]     the hour, minute, second or fraction; "T" or blanks between date and time;
                                     may end in Z, +01, +0100 or +01:00, else it is the facility's local time
    today, yesterday                 the facility's calendar days
    8h, 7d, 2w, 30min, last-7d       that long ago: 1d is 24 h, 1w is 168 h, in any zone

An expression is A, `A..B`, `A..`, `..B`, `>=A`, `>A`, `<=A` or `<A`. A span of time alone (`8h`) reaches until now; as
an end of a range or a bound (`..8h`, `<8h`) it is the instant that long ago. Months are not a span (`m` would be
read as minutes by some), nor are seconds and years.

Both ends of a range are inclusive at a resolution of one microsecond; the end covers the whole unit written. `>A`
starts after the unit, `<A` ends before it.

Clock changes never raise, they widen. A local time that occurs twice is, as a start, its first reading and, as an
end, its second. A local time that was skipped has two readings too (the offsets before and after the change): a
start takes the earlier, an end the later. A day starts at the first and ends at the last instant that bears its
date, so it may have 23 or 25 hours. A calendar day that a zone skipped altogether reaches from the earlier reading of
its first instant to the later reading of its last.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

from ariel_lite.errors import InvalidRequestError, QuerySyntaxError
from ariel_lite.query.days import TICK, day_end, day_start, readings, shift, shown, to_local

DateInput = str | datetime | date
"""What start_date and end_date may be: text, an aware or naive datetime (naive = facility zone), a calendar day."""

ACCEPTED_FORMS = (
    "use YYYY, YYYY-MM, YYYY-MM-DD, YYYY-MM-DDTHH:MM[:SS][Z or offset], A..B, A.., ..B, >=A, >A, <=A, <A, "
    "today, yesterday, last-7d, 8h, 7d, 2w or 30min"
)
"""The hint of every refused value."""

_ONE_DATE = "give one date, such as 2026-03-05"

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_UNITS = {"min": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}

# Digits are spelled out: \d would take the digits of every script.
_COMPARISON = re.compile(r"(>=|<=|>|<)")
_CALENDAR = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
_MOMENT = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})(?:t| +)"
    r"(?P<hour>[0-9]{2})(?::(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]+))?)?)?"
    r" *(?P<offset>z|[+-][0-9]{2}(?::?[0-9]{2})?)?"
)
_AGO = re.compile(r"(?:last-)?([0-9]+)(min|h|d|w)")


@dataclass(frozen=True)
class TimeRange:
    """A span of time; `start` and `end` are aware (UTC) and inclusive, None where the range is open."""

    start: datetime | None = None
    end: datetime | None = None

    @property
    def is_empty(self) -> bool:
        """True when no instant lies in the range."""
        return self.start is not None and self.end is not None and self.end < self.start

    def contains(self, moment: datetime) -> bool:
        """True when the (aware) moment lies in the range, its ends included."""
        return (self.start is None or self.start <= moment) and (self.end is None or moment <= self.end)

    def intersect(self, other: TimeRange) -> TimeRange:
        """The instants of both ranges; empty when they do not meet."""
        starts = [moment for moment in (self.start, other.start) if moment is not None]
        ends = [moment for moment in (self.end, other.end) if moment is not None]
        return TimeRange(max(starts, default=None), min(ends, default=None))


def parse_date_expression(text: str, *, zone: ZoneInfo, now: datetime, position: int = 0) -> TimeRange:
    """Read the value of a `date:` field.

    Args:
        text: an expression as in the module's docstring.
        zone: the facility's zone; it decides what a day is.
        now: the clock, aware (a naive one is read in `zone`).
        position: where `text` starts in the query, for the error.

    Returns a range that is never empty.

    Raises:
        QuerySyntaxError: unknown, impossible or empty value, or a range that ends before it starts; `position` is that
            of the faulty value and `hint` lists the accepted forms.
    """
    clock = _Clock.at(now, zone)
    part = _Part(text, position).piece(0)
    limits = _read_limits(part, clock)
    if limits is not None:
        return limits
    value = _read_value(part, clock)
    if _AGO.fullmatch(part.text.lower()):
        return TimeRange(value.start, clock.now)
    return TimeRange(value.start, value.end)


def parse_start(value: DateInput, *, zone: ZoneInfo, now: datetime) -> datetime:
    """The first instant (UTC) that a start date lets through; also `>=A`, `>A` and `A..`.

    Raises:
        QuerySyntaxError: text that is no such value, or that sets an end.
        InvalidRequestError: neither text, datetime nor date.
    """
    bounds = _read_bound(value, _Clock.at(now, zone), is_start=True)
    if bounds.start is None or bounds.end is not None:
        raise QuerySyntaxError(f"{shown(value)} is not a start: it sets an end", hint=_ONE_DATE)
    return bounds.start


def parse_end(value: DateInput, *, zone: ZoneInfo, now: datetime) -> datetime:
    """The last instant (UTC) that an end date lets through, its whole unit included; also `<=A`, `<A` and `..A`.

    Raises:
        QuerySyntaxError: text that is no such value, or that sets a start.
        InvalidRequestError: neither text, datetime nor date.
    """
    bounds = _read_bound(value, _Clock.at(now, zone), is_start=False)
    if bounds.end is None or bounds.start is not None:
        raise QuerySyntaxError(f"{shown(value)} is not an end: it sets a start", hint=_ONE_DATE)
    return bounds.end


def parse_bounds(start: DateInput | None, end: DateInput | None, *, zone: ZoneInfo, now: datetime) -> TimeRange:
    """The range of start_date and end_date (`--after`, `--before`); None leaves a side open.

    A bound that is itself a range (`A..B`, `<A`) limits both sides as written: nothing of it is dropped.

    Raises:
        QuerySyntaxError: unknown or impossible text (blank text too).
        InvalidRequestError: the end is before the start, or a value is neither text, datetime nor date.
    """
    clock = _Clock.at(now, zone)
    lower = TimeRange() if start is None else _read_bound(start, clock, is_start=True)
    upper = TimeRange() if end is None else _read_bound(end, clock, is_start=False)
    bounds = lower.intersect(upper)
    if bounds.is_empty:
        raise InvalidRequestError(
            f"the end {shown(end)} is before the start {shown(start)}", hint="swap the start and end dates"
        )
    return bounds


def describe_range(bounds: TimeRange, zone: ZoneInfo) -> str:
    """A range in English: "in 2024", "in March 2024", "on 5 March 2024", "from … to …", with the zone in brackets.

    Ends on the edge of a day are shown as days, others as times with their UTC offset; an end that covers a whole
    minute or second is shown to that minute or second. Both ends shown are included.
    """
    if bounds.is_empty:
        return "at no time"
    if bounds.start is None and bounds.end is None:
        return "at any time"
    return f"{_range_words(bounds, zone)} ({zone})"


def _range_words(bounds: TimeRange, zone: ZoneInfo) -> str:
    first = _edge_words(bounds.start, zone, is_start=True) if bounds.start else ""
    last = _edge_words(bounds.end, zone, is_start=False) if bounds.end else ""
    if bounds.start and bounds.end:
        return _calendar_words(bounds.start, bounds.end, zone) or (
            f"at {first}" if first == last else f"from {first} to {last}"
        )
    return f"from {first} on" if first else f"until {last}"


def _calendar_words(start: datetime, end: datetime, zone: ZoneInfo) -> str:
    """Words for exactly one day, month or year, else ""."""
    first, last = to_local(start, zone).date(), to_local(end, zone).date()
    if start != day_start(first, zone) or end != day_end(last, zone):
        return ""
    if first == last:
        return f"on {_day_words(first)}"
    if first.year != last.year or first.day != 1 or last.day != monthrange(last.year, last.month)[1]:
        return ""
    if first.month == last.month:
        return f"in {_MONTHS[first.month - 1]} {first.year:04d}"
    return f"in {first.year:04d}" if (first.month, last.month) == (1, 12) else ""


def _day_words(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year:04d}"


def _edge_words(moment: datetime, zone: ZoneInfo, *, is_start: bool) -> str:
    """A day when the moment is its edge, else a time, without the seconds and fraction that its unit implies."""
    local = to_local(moment, zone)
    if moment == (day_start if is_start else day_end)(local.date(), zone):
        return _day_words(local.date())
    idle = (0, 0) if is_start else (59, 999_999)
    clock = local.isoformat(sep=" ", timespec="microseconds")[11:26]
    if local.microsecond in (0, idle[1]):
        clock = clock[:5] if (local.second, local.microsecond) == idle else clock[:8]
    return f"{_day_words(local.date())} {clock} {local.isoformat(timespec='minutes')[16:]}"


@dataclass(frozen=True)
class _Clock:
    """What a value is read against: the facility's zone and the present instant (UTC)."""

    zone: ZoneInfo
    now: datetime

    @classmethod
    def at(cls, now: datetime, zone: ZoneInfo) -> _Clock:
        return cls(zone, readings(now, zone)[0])

    def day(self, back: int) -> date:
        """The facility's calendar day, `back` days ago."""
        return date.fromordinal(max(to_local(self.now, self.zone).date().toordinal() - back, 1))


@dataclass(frozen=True)
class _Part:
    """A piece of an expression and where it starts in the query (None: it is not part of a query)."""

    text: str
    position: int | None

    def piece(self, first: int, last: int | None = None) -> _Part:
        """The characters from `first` to `last`, without the blanks around them."""
        raw = self.text[first:last]
        blanks = len(raw) - len(raw.lstrip())
        return _Part(raw.strip(), None if self.position is None else self.position + first + blanks)

    def fault(self, message: str) -> QuerySyntaxError:
        return QuerySyntaxError(message, self.position, ACCEPTED_FORMS)


@dataclass(frozen=True)
class _Value:
    """One value A as instants: the bounds when A is included, and those of `>A` (`after`) and `<A` (`before`)."""

    start: datetime
    end: datetime
    after: datetime
    before: datetime


def _read_bound(value: DateInput, clock: _Clock, *, is_start: bool) -> TimeRange:
    if isinstance(value, str):
        part = _Part(value, None).piece(0)
        limits = _read_limits(part, clock)
        if limits is not None:
            return limits
        bound = _read_value(part, clock)
    elif isinstance(value, datetime):
        bound = _moment_value(value, value, clock.zone)
    elif isinstance(value, date):
        bound = _days_value(value, value, clock.zone)
    else:
        raise InvalidRequestError(f"{shown(value)} is not a date", hint=ACCEPTED_FORMS)
    return TimeRange(bound.start, None) if is_start else TimeRange(None, bound.end)


def _read_limits(part: _Part, clock: _Clock) -> TimeRange | None:
    """Read `A..B` and comparisons; None for a value alone."""
    comparison = _COMPARISON.match(part.text)
    if comparison:
        operator = comparison.group()
        value = _read_value(part.piece(len(operator)), clock)
        return {
            ">=": TimeRange(value.start, None),
            ">": TimeRange(value.after, None),
            "<=": TimeRange(None, value.end),
            "<": TimeRange(None, value.before),
        }[operator]
    if ".." in part.text:
        return _read_range(part, part.text.index(".."), clock)
    return None


def _read_range(part: _Part, dots: int, clock: _Clock) -> TimeRange:
    first, last = part.piece(0, dots), part.piece(dots + 2)
    if not first.text and not last.text:
        raise part.fault("the range '..' has neither start nor end")
    start = _read_value(first, clock).start if first.text else None
    end = _read_value(last, clock).end if last.text else None
    bounds = TimeRange(start, end)
    if bounds.is_empty:
        raise part.fault(f"the range {shown(part.text)} ends before it starts")
    return bounds


def _read_value(part: _Part, clock: _Clock) -> _Value:
    text = part.text.lower()
    if not text:
        raise part.fault("a date is missing")
    if text in ("today", "yesterday"):
        day = clock.day(back=int(text == "yesterday"))
        return _days_value(day, day, clock.zone)
    for pattern, read in ((_CALENDAR, _read_calendar), (_MOMENT, _read_moment), (_AGO, _read_ago)):
        match = pattern.fullmatch(text)
        if match:
            try:
                return read(match, clock)
            except (ValueError, OverflowError) as fault:
                raise part.fault(f"impossible date {shown(part.text)}") from fault
    raise part.fault(f"unknown date {shown(part.text)}")


def _read_calendar(match: re.Match[str], clock: _Clock) -> _Value:
    year, month, day = (int(digits) if digits else None for digits in match.groups())
    first = date(year or 0, 1 if month is None else month, 1 if day is None else day)
    if month is None:
        last = first.replace(month=12, day=31)
    elif day is None:
        last = first.replace(day=monthrange(first.year, first.month)[1])
    else:
        last = first
    return _days_value(first, last, clock.zone)


def _read_moment(match: re.Match[str], clock: _Clock) -> _Value:
    # Digits after the sixth are below the resolution.
    fraction = (match["fraction"] or "")[:6]
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    clock_time = time(hour, minute, second, int(fraction.ljust(6, "0")))
    first = datetime.combine(date.fromisoformat(match["day"]), clock_time)
    if match["fraction"]:
        unit = timedelta(microseconds=10 ** (6 - len(fraction)))
    elif match["second"]:
        unit = timedelta(seconds=1)
    else:
        unit = timedelta(minutes=1) if match["minute"] else timedelta(hours=1)
    offset = _read_offset(match["offset"]) if match["offset"] else None
    return _moment_value(first.replace(tzinfo=offset), (first + (unit - TICK)).replace(tzinfo=offset), clock.zone)


def _read_offset(text: str) -> timezone:
    if text == "z":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if minutes > 59:
        raise ValueError(text)
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if text[0] == "-" else offset)


def _read_ago(match: re.Match[str], clock: _Clock) -> _Value:
    digits, unit = match.groups()
    if len(digits) > 12:
        raise OverflowError(digits)
    moment = clock.now - int(digits) * _UNITS[unit]
    return _moment_value(moment, moment, clock.zone)


def _moment_value(first: datetime, last: datetime, zone: ZoneInfo) -> _Value:
    starts, ends = readings(first, zone), readings(last, zone)
    return _Value(min(starts), max(ends), shift(min(ends), TICK), shift(max(starts), -TICK))


def _days_value(first: date, last: date, zone: ZoneInfo) -> _Value:
    start, end = day_start(first, zone), day_end(last, zone)
    after, before = shift(end, TICK), shift(start, -TICK)
    if end < start:
        start = min(readings(datetime.combine(first, time.min), zone))
        end = max(readings(datetime.combine(last, time.max), zone))
    return _Value(start, end, after, before)
