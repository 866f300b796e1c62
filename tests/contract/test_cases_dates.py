"""Cases DT01 to DT15 that are searches: what a day, an hour and a span of time are. Filters and fields follow one rule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from logbooks import NOW, MakeLogbook, entry, found

from ariel_lite.errors import InvalidRequestError, QuerySyntaxError

LAST_DAY = (
    entry("E1", "morning of the last day", at="2026-03-05T09:31:00"),
    entry("E2", "one second to midnight", at="2026-03-05T23:59:59.900"),
    entry("E3", "next day", at="2026-03-06T00:00:00"),
)
PACIFIC = "America/Los_Angeles"


def test_dt01_an_end_date_covers_its_whole_day(make_logbook: MakeLogbook) -> None:
    book = make_logbook(LAST_DAY)
    assert found(book, "", start_date="2026-03-01", end_date="2026-03-05") == ["E2", "E1"]
    assert found(book, "date:2026-03-01..2026-03-05") == ["E2", "E1"]
    assert found(book, "date:<=2026-03-05") == ["E2", "E1"]
    assert found(book, "day", end_date="2026-03-05") == ["E1"]
    assert [e["entry_id"] for e in book.browse(start_date="2026-03-01", end_date="2026-03-05").entries] == ["E2", "E1"]


def test_dt01_a_year_and_a_month_as_end_are_whole_too(make_logbook: MakeLogbook) -> None:
    book = make_logbook(LAST_DAY)
    assert found(book, "", end_date="2026-03") == found(book, "", end_date="2026") == ["E3", "E2", "E1"]
    assert found(book, "", end_date="2026-03-05T23:59") == ["E2", "E1"]
    assert found(book, "", end_date="2026-03-05T23:58") == ["E1"]


def test_dt03_start_and_end_on_one_day_are_that_day(make_logbook: MakeLogbook) -> None:
    book = make_logbook(LAST_DAY)
    assert found(book, "", start_date="2026-03-05", end_date="2026-03-05") == ["E2", "E1"]
    assert found(book, "date:2026-03-05..2026-03-05") == ["E2", "E1"]
    assert found(book, "date:2026-03-05") == ["E2", "E1"]


REPEATED = (entry("E1", "first 01:30", at="2026-11-01T08:30:00"), entry("E2", "second 01:30", at="2026-11-01T09:30:00"))


def test_dt05_an_ambiguous_hour_covers_both_readings(make_logbook: MakeLogbook) -> None:
    book = make_logbook(REPEATED, zone=PACIFIC)
    assert found(book, "", start_date="2026-11-01T01:00", end_date="2026-11-01T01:59:59") == ["E2", "E1"]
    assert found(book, "date:2026-11-01T01:00..2026-11-01T01:59:59") == ["E2", "E1"]
    assert found(book, "date:2026-11-01T01:30") == ["E2", "E1"]


def test_dt06_a_skipped_hour_is_no_fault(make_logbook: MakeLogbook) -> None:
    book = make_logbook([entry("E1", "a", at="2026-03-08T10:30:00")], zone=PACIFIC)
    assert found(book, "", start_date="2026-03-08T02:30", end_date="2026-03-08T03:59") == ["E1"]
    assert found(book, "date:2026-03-08T02:30..") == ["E1"]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", PACIFIC])
def test_dt06_a_day_is_the_facilitys(make_logbook: MakeLogbook, zone: str) -> None:
    book = make_logbook([entry("E1", "a", at="2026-03-05T03:00:00")], zone=zone)
    day = "2026-03-04" if zone == PACIFIC else "2026-03-05"
    assert found(book, f"date:{day}") == ["E1"]
    assert found(book, f"NOT date:{day}") == []


def test_dt11_an_end_before_its_start_is_refused(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["a"])
    with pytest.raises((InvalidRequestError, QuerySyntaxError)):
        book.search("", start_date="2026-03-10", end_date="2026-03-01")
    with pytest.raises(QuerySyntaxError):
        book.search("date:2026-03-10..2026-03-01")
    with pytest.raises((InvalidRequestError, QuerySyntaxError)):
        book.browse(start_date="2026-03-10", end_date="2026-03-01")


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", PACIFIC])
def test_dt15_spans_reach_back_from_now_in_any_zone(make_logbook: MakeLogbook, zone: str) -> None:
    given = [entry("E1", "x", at=NOW - timedelta(hours=7)), entry("E2", "y", at=NOW - timedelta(hours=9))]
    book = make_logbook(given, zone=zone)
    for query in ("date:8h", "date:>=8h", "date:8h..", "-date:<8h"):
        assert found(book, query) == ["E1"], query
    assert found(book, "", start_date="8h") == ["E1"]
    assert found(book, "date:last-1d") == ["E1", "E2"]


@pytest.mark.parametrize(("zone", "expected"), [("UTC", ["E2"]), ("Asia/Tokyo", ["E3", "E2"]), (PACIFIC, [])])
def test_dt15_calendar_words_are_the_facilitys(make_logbook: MakeLogbook, zone: str, expected: list[str]) -> None:
    moments = (("E1", 9, 10), ("E2", 10, 2), ("E3", 9, 16))
    given = [entry(name, "x", at=datetime(2026, 3, day, hour, tzinfo=UTC)) for name, day, hour in moments]
    assert sorted(found(make_logbook(given, zone=zone), "date:today")) == sorted(expected)


def test_dates_may_be_datetimes_and_days(make_logbook: MakeLogbook) -> None:
    book = make_logbook(LAST_DAY)
    moment = datetime(2026, 3, 5, 12, tzinfo=UTC)
    assert found(book, "", start_date=moment) == ["E3", "E2"]
    assert found(book, "", end_date=moment.date()) == ["E2", "E1"]
    result = book.service.search_now("day", time_range=(None, moment))
    assert [hit["entry_id"] for hit in result.entries] == ["E1"]
