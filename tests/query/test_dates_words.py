"""Ranges in words."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from ariel_lite.query.dates import TimeRange, describe_range, parse_date_expression
from ariel_lite.query.days import EARLIEST, LATEST

NOW = datetime(2026, 3, 10, 16, 30, tzinfo=UTC)
PACIFIC = ZoneInfo("America/Los_Angeles")

WORDS = [
    ("2024-03-01..2024-03-05", "from 1 March 2024 to 5 March 2024"),
    ("2024-03-05", "on 5 March 2024"),
    ("today", "on 10 March 2026"),
    ("2024-03-05..2024-03-05", "on 5 March 2024"),
    ("2024-03", "in March 2024"),
    ("2024-03-01..2024-03-31", "in March 2024"),
    ("2024", "in 2024"),
    ("2024..2025", "from 1 January 2024 to 31 December 2025"),
    ("2024-02..2024-03", "from 1 February 2024 to 31 March 2024"),
    ("2024-01..2024-12", "in 2024"),
    ("0987-06", "in June 0987"),
    (">=2024-03-05", "from 5 March 2024 on"),
    (">2024-03-05", "from 6 March 2024 on"),
    ("<2024-03", "until 29 February 2024"),
    ("2026-03-08", "on 8 March 2026"),
    ("2026-11-01", "on 1 November 2026"),
    ("2024-03-05T10:05", "at 5 March 2024 10:05 -08:00"),
    ("2024-03-05T10:05:00", "from 5 March 2024 10:05 -08:00 to 5 March 2024 10:05:00 -08:00"),
    ("2024-03-05T10:05..2024-07-05T11:30:12", "from 5 March 2024 10:05 -08:00 to 5 July 2024 11:30:12 -07:00"),
    ("2024-03-01..2024-03-05T12:00", "from 1 March 2024 to 5 March 2024 12:00 -08:00"),
    ("2024-03-05T10:05:03.25..", "from 5 March 2024 10:05:03.250000 -08:00 on"),
    ("8h", "from 10 March 2026 01:30 -07:00 to 10 March 2026 09:30:00 -07:00"),
    ("2026-11-01T01:30", "from 1 November 2026 01:30 -07:00 to 1 November 2026 01:30 -08:00"),
]


@pytest.mark.parametrize(("text", "words"), WORDS, ids=[case[0] for case in WORDS])
def test_words(text: str, words: str) -> None:
    bounds = parse_date_expression(text, zone=PACIFIC, now=NOW)
    assert describe_range(bounds, PACIFIC) == f"{words} (America/Los_Angeles)"


def test_dt05_both_readings_of_a_repeated_time_show_their_offset() -> None:
    bounds = parse_date_expression("2026-11-01T01:30", zone=PACIFIC, now=NOW)
    assert "01:30 -07:00" in describe_range(bounds, PACIFIC)
    assert "01:30 -08:00" in describe_range(bounds, PACIFIC)


def test_open_and_empty_ranges() -> None:
    assert describe_range(TimeRange(), PACIFIC) == "at any time"
    assert describe_range(TimeRange(LATEST, EARLIEST), PACIFIC) == "at no time"


def test_a_range_of_another_zone_is_shown_in_times() -> None:
    day = parse_date_expression("2024-03-05", zone=ZoneInfo("UTC"), now=NOW)
    assert describe_range(day, PACIFIC) == (
        "from 4 March 2024 16:00 -08:00 to 5 March 2024 15:59 -08:00 (America/Los_Angeles)"
    )


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles", "UTC"])
def test_the_ends_of_time_have_words(zone: str) -> None:
    known = ZoneInfo(zone)
    bounds = parse_date_expression("0001..9999", zone=known, now=NOW)
    assert describe_range(bounds, known) == f"from 1 January 0001 to 31 December 9999 ({zone})"
