"""Days and times around clock changes, in real zones."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from ariel_lite.query.dates import TimeRange, parse_bounds, parse_date_expression
from ariel_lite.query.days import day_end, day_start

NOW = datetime(2026, 3, 10, 16, 30, tzinfo=UTC)
PACIFIC = ZoneInfo("America/Los_Angeles")
TICK = timedelta(microseconds=1)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def read(text: str, zone: ZoneInfo = PACIFIC) -> TimeRange:
    return parse_date_expression(text, zone=zone, now=NOW)


# Zone, day, its first instant, its length in hours.
DAYS = [
    ("UTC", "2026-03-05", "2026-03-05T00:00", 24),
    ("America/Los_Angeles", "2026-03-07", "2026-03-07T08:00", 24),
    ("America/Los_Angeles", "2026-03-08", "2026-03-08T08:00", 23),
    ("America/Los_Angeles", "2026-11-01", "2026-11-01T07:00", 25),
    ("Europe/Berlin", "2026-03-29", "2026-03-28T23:00", 23),
    ("Europe/Berlin", "2026-10-25", "2026-10-24T22:00", 25),
    ("Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00", 24.5),
    # Midnight skipped: the day starts at 01:00.
    ("America/Sao_Paulo", "2018-11-03", "2018-11-03T03:00", 24),
    ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00", 23),
    ("Asia/Beirut", "2022-03-27", "2022-03-26T22:00", 23),
    ("Africa/Cairo", "2024-04-26", "2024-04-25T22:00", 23),
    # Clocks go back at midnight, to 23:00 of the same day.
    ("America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00", 25),
    ("America/Sao_Paulo", "2018-02-18", "2018-02-18T03:00", 24),
    ("Africa/Cairo", "2024-10-31", "2024-10-30T21:00", 25),
    # Midnight occurs twice: clocks go back from 01:00.
    ("America/Havana", "2024-11-02", "2024-11-02T04:00", 24),
    ("America/Havana", "2024-11-03", "2024-11-03T04:00", 25),
    # Toronto's change of 1919 began at 23:30 and skipped to 00:30.
    ("America/Toronto", "1919-03-30", "1919-03-30T05:00", 23.5),
    ("America/Toronto", "1919-03-31", "1919-03-31T04:30", 23.5),
]


@pytest.mark.parametrize(("zone", "day", "start", "hours"), DAYS)
def test_day_edges(zone: str, day: str, start: str, hours: float) -> None:
    bounds = read(day, ZoneInfo(zone))
    assert bounds.start == utc(start)
    assert bounds.end == utc(start) + timedelta(hours=hours) - TICK
    assert read(f">{day}", ZoneInfo(zone)).start == bounds.end + TICK
    assert read(f"<{day}", ZoneInfo(zone)).end == bounds.start - TICK


def test_a_date_that_comes_back_after_midnight_is_covered() -> None:
    # At 00:01 on 1 November 2009 clocks went back to 23:01 of 31 October.
    zone = ZoneInfo("America/St_Johns")
    returned = utc("2009-11-01T02:45")
    assert returned.astimezone(zone).date() == date(2009, 10, 31)
    assert read("2009-10-31", zone).contains(returned)
    assert read("2009-11-01", zone).contains(utc("2009-11-01T02:30:30"))


@pytest.mark.parametrize(("zone", "day"), [("Pacific/Apia", "2011-12-30"), ("Pacific/Kwajalein", "1993-08-21")])
def test_a_day_that_a_zone_skipped_widens(zone: str, day: str) -> None:
    known, skipped = ZoneInfo(zone), date.fromisoformat(day)
    before, after = read(str(skipped - timedelta(days=1)), known), read(str(skipped + timedelta(days=1)), known)
    assert before.end is not None
    assert before.end + TICK == after.start
    for bounds in (read(day, known), parse_bounds(skipped, skipped, zone=known, now=NOW), read(f"{day}..{day}", known)):
        assert bounds.contains(before.end)
        assert bounds.contains(after.start)
    assert read(f">{day}", known).start == after.start
    assert read(f"<{day}", known).end == before.end


def test_dt05_repeated_hour_covers_both_readings() -> None:
    bounds = parse_bounds("2026-11-01T01:00", "2026-11-01T01:59:59", zone=PACIFIC, now=NOW)
    assert bounds == TimeRange(utc("2026-11-01T08:00"), utc("2026-11-01T09:59:59.999999"))
    assert bounds.contains(utc("2026-11-01T08:30"))
    assert bounds.contains(utc("2026-11-01T09:30"))


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026-11-01T01:30", "2026-11-01T08:30", "2026-11-01T09:30:59.999999"),
        ("2026-11-01T01:30-07:00", "2026-11-01T08:30", "2026-11-01T08:30:59.999999"),
        ("2026-11-01T01:30-08:00", "2026-11-01T09:30", "2026-11-01T09:30:59.999999"),
        ("2026-11-01T01", "2026-11-01T08:00", "2026-11-01T09:59:59.999999"),
    ],
)
def test_dt05_ambiguous_times(text: str, start: str, end: str) -> None:
    assert read(text) == TimeRange(utc(start), utc(end))


def test_dt05_comparisons_with_an_ambiguous_time_widen() -> None:
    assert read(">2026-11-01T01:30").start == utc("2026-11-01T08:31")
    assert read("<2026-11-01T01:30").end == utc("2026-11-01T09:29:59.999999")


def test_dt05_naive_datetimes_widen_too() -> None:
    repeated = datetime(2026, 11, 1, 1, 30)
    assert parse_bounds(repeated, repeated, zone=PACIFIC, now=NOW) == TimeRange(
        utc("2026-11-01T08:30"), utc("2026-11-01T09:30")
    )


def test_dt06_skipped_time_widens() -> None:
    bounds = parse_bounds("2026-03-08T02:30", "2026-03-08T03:59", zone=PACIFIC, now=NOW)
    assert bounds == TimeRange(utc("2026-03-08T09:30"), utc("2026-03-08T10:59:59.999999"))
    assert bounds.contains(utc("2026-03-08T10:30"))
    assert read("2026-03-08T02:30") == TimeRange(utc("2026-03-08T09:30"), utc("2026-03-08T10:30:59.999999"))


def test_dt15_a_week_is_168_hours_across_a_clock_change() -> None:
    now = utc("2026-03-10T16:30")
    start = parse_date_expression("1w", zone=PACIFIC, now=now).start
    assert start == now - timedelta(hours=168)


@pytest.mark.parametrize("zone", ["America/Sao_Paulo", "Asia/Beirut", "Africa/Cairo", "America/Havana", "Pacific/Apia"])
def test_days_of_a_year_follow_each_other(zone: str) -> None:
    known = ZoneInfo(zone)
    for year in (2011, 2018, 2022, 2024):
        day = date(year, 1, 1)
        while day.year == year:
            following = day + timedelta(days=1)
            assert day_end(day, known) + TICK == day_start(following, known), (zone, day)
            day = following


def test_month_and_year_use_local_edges() -> None:
    assert read("2026-03") == TimeRange(utc("2026-03-01T08:00"), utc("2026-04-01T06:59:59.999999"))
    assert read("2026") == TimeRange(utc("2026-01-01T08:00"), utc("2027-01-01T07:59:59.999999"))
