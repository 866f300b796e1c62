"""Days and instants: where a day begins and ends in a zone, and instants as stored text.

Nothing here raises for a clock change or the ends of the calendar: readings widen, instants are clamped.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from ariel_lite.errors import DatabaseQueryError, InvalidRequestError

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)

TICK = timedelta(microseconds=1)
SHOWN_CHARACTERS = 60


def day_start(day: date, zone: ZoneInfo) -> datetime:
    """The first instant (UTC) that bears this date in the zone, or, for a skipped day, a later date."""
    midnight = datetime.combine(day, time())
    before, after = readings(midnight, zone)
    if before <= after:
        return before
    # Midnight was skipped, so the day starts at the clock change, which lies between the readings on a whole second.
    low, high = 0, round((before - after).total_seconds())
    while low < high:
        middle = (low + high) // 2
        if to_local(after + timedelta(seconds=middle), zone).replace(tzinfo=None) < midnight:
            low = middle + 1
        else:
            high = middle
    return after + timedelta(seconds=low)


def day_end(day: date, zone: ZoneInfo) -> datetime:
    """The last microsecond (UTC) that bears this date in the zone, or, for a skipped day, an earlier date."""
    if day == date.max:
        return max(readings(datetime.max, zone))
    following = day + timedelta(days=1)
    latest = shift(max(readings(datetime.combine(following, time()), zone)), -TICK)
    # Where clocks go back across midnight (America/St_Johns until 2011) the old date returns after the new one began.
    if to_local(latest, zone).date() <= day:
        return latest
    return shift(day_start(following, zone), -TICK)


def month_starts(earliest: datetime, latest: datetime, zone: ZoneInfo) -> tuple[list[str], list[datetime]]:
    """(months as YYYY-MM, when each starts in the zone): all that hold an instant from `earliest` to `latest`."""
    begin, end = (12 * moment.year + moment.month - 1 for moment in (to_utc(earliest), to_utc(latest)))
    numbers = range(max(begin - 1, 12), min(end + 1, 12 * date.max.year + 11) + 1)
    days = [date(number // 12, number % 12 + 1, 1) for number in numbers]
    return [day.isoformat()[:7] for day in days], [day_start(day, zone) for day in days]


def to_storage(moment: datetime) -> str:
    """Fixed-width UTC text, "2026-03-05T08:00:00.000000Z" (27 characters), whose order is the order in time.

    Raises:
        InvalidRequestError: a naive datetime.
    """
    if moment.utcoffset() is None:
        raise InvalidRequestError(f"the time {moment.isoformat()} has no zone", hint="give an aware datetime")
    return to_utc(moment).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def from_storage(text: str) -> datetime:
    """The aware (UTC) datetime of `to_storage` text.

    Raises:
        DatabaseQueryError: text that `to_storage` did not write.
    """
    try:
        return datetime.fromisoformat(text)
    except ValueError as fault:
        raise DatabaseQueryError(f"stored time {shown(text)} is damaged", hint="run ariel-lite doctor") from fault


def readings(moment: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """A naive local time with the offset before and after a clock change near it, as UTC; equal if there is none."""
    if moment.utcoffset() is None:
        return to_utc(moment.replace(tzinfo=zone, fold=0)), to_utc(moment.replace(tzinfo=zone, fold=1))
    return to_utc(moment), to_utc(moment)


def to_utc(moment: datetime) -> datetime:
    """An aware time as UTC, clamped at the ends of the calendar."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return EARLIEST if moment.year == 1 else LATEST


def to_local(moment: datetime, zone: ZoneInfo) -> datetime:
    """An aware time in a zone, clamped at the ends of the calendar."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment.replace(tzinfo=zone)


def shift(moment: datetime, by: timedelta) -> datetime:
    """A time moved, or as it was where that would leave the calendar."""
    try:
        return moment + by
    except OverflowError:
        return moment


def shown(value: object) -> str:
    """A value for a message, cut to a readable length."""
    text = str(value) if isinstance(value, datetime | date) else repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
