"""Date expressions of queries and filters: every accepted form, every refusal."""

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from ariel_lite.errors import DatabaseQueryError, InvalidRequestError, QuerySyntaxError
from ariel_lite.query.dates import (
    ACCEPTED_FORMS,
    TimeRange,
    parse_bounds,
    parse_date_expression,
    parse_end,
    parse_start,
)
from ariel_lite.query.days import EARLIEST, LATEST, from_storage, to_storage

GMT = ZoneInfo("UTC")
TOKYO = ZoneInfo("Asia/Tokyo")
NOW = datetime(2026, 3, 10, 16, 30, tzinfo=UTC)


def utc(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)


def read(text: str, zone: ZoneInfo = GMT, now: datetime = NOW, position: int = 0) -> TimeRange:
    return parse_date_expression(text, zone=zone, now=now, position=position)


FORMS = [
    ("2026", "2026-01-01", "2026-12-31T23:59:59.999999"),
    ("2026-02", "2026-02-01", "2026-02-28T23:59:59.999999"),
    ("2024-02", "2024-02-01", "2024-02-29T23:59:59.999999"),
    ("2026-12", "2026-12-01", "2026-12-31T23:59:59.999999"),
    ("2026-03-05", "2026-03-05", "2026-03-05T23:59:59.999999"),
    ("  2026-03-05 ", "2026-03-05", "2026-03-05T23:59:59.999999"),
    ("2026-03-05T10", "2026-03-05T10:00", "2026-03-05T10:59:59.999999"),
    ("2026-03-05T10:05", "2026-03-05T10:05", "2026-03-05T10:05:59.999999"),
    ("2026-03-05 10:05", "2026-03-05T10:05", "2026-03-05T10:05:59.999999"),
    ("2026-03-05t10:05:03z", "2026-03-05T10:05:03", "2026-03-05T10:05:03.999999"),
    ("2026-03-05T10:05:03.25", "2026-03-05T10:05:03.250000", "2026-03-05T10:05:03.259999"),
    ("2026-03-05T10:05:03,5", "2026-03-05T10:05:03.500000", "2026-03-05T10:05:03.599999"),
    ("2026-03-05T10:05:03.123456789", "2026-03-05T10:05:03.123456", "2026-03-05T10:05:03.123456"),
    ("2026-03-05T10:05+01:00", "2026-03-05T09:05", "2026-03-05T09:05:59.999999"),
    ("2026-03-05T10:05 -0830", "2026-03-05T18:35", "2026-03-05T18:35:59.999999"),
    ("2026-03-05T10-08", "2026-03-05T18:00", "2026-03-05T18:59:59.999999"),
    ("2026-03-01..2026-03-05", "2026-03-01", "2026-03-05T23:59:59.999999"),
    ("2026-03-01 .. 2026-03-05", "2026-03-01", "2026-03-05T23:59:59.999999"),
    ("2025..2026-03", "2025-01-01", "2026-03-31T23:59:59.999999"),
    ("2026-03-05..2026-03-05", "2026-03-05", "2026-03-05T23:59:59.999999"),
    ("2026-03-05T10:05..2026-03-05T10:05", "2026-03-05T10:05", "2026-03-05T10:05:59.999999"),
    ("2026-03-01..", "2026-03-01", None),
    ("..2026-03-05", None, "2026-03-05T23:59:59.999999"),
    ("2026-03-01..today", "2026-03-01", "2026-03-10T23:59:59.999999"),
    ("yesterday..today", "2026-03-09", "2026-03-10T23:59:59.999999"),
    ("last-7d..yesterday", "2026-03-03T16:30", "2026-03-09T23:59:59.999999"),
    ("..8h", None, "2026-03-10T08:30"),
    (">=2026-03", "2026-03-01", None),
    (">= 2026-03-05", "2026-03-05", None),
    (">2026-03", "2026-04-01", None),
    (">2026-03-05T10:05", "2026-03-05T10:06", None),
    ("<=2026-03", None, "2026-03-31T23:59:59.999999"),
    ("<2026-03", None, "2026-02-28T23:59:59.999999"),
    ("<2026", None, "2025-12-31T23:59:59.999999"),
    (">=8h", "2026-03-10T08:30", None),
    ("<7d", None, "2026-03-03T16:29:59.999999"),
    ("today", "2026-03-10", "2026-03-10T23:59:59.999999"),
    ("Yesterday", "2026-03-09", "2026-03-09T23:59:59.999999"),
    ("last-7d", "2026-03-03T16:30", "2026-03-10T16:30"),
    ("LAST-8H", "2026-03-10T08:30", "2026-03-10T16:30"),
    ("8h", "2026-03-10T08:30", "2026-03-10T16:30"),
    ("7d", "2026-03-03T16:30", "2026-03-10T16:30"),
    ("2w", "2026-02-24T16:30", "2026-03-10T16:30"),
    ("30min", "2026-03-10T16:00", "2026-03-10T16:30"),
    ("0h", "2026-03-10T16:30", "2026-03-10T16:30"),
]


@pytest.mark.parametrize(("text", "start", "end"), FORMS, ids=[form[0] for form in FORMS])
def test_qs30_accepted_form(text: str, start: str | None, end: str | None) -> None:
    assert read(text) == TimeRange(utc(start), utc(end))


REFUSED = [
    "", "   ", "tomorow", "tomorrow", "2026-13", "2026-00", "2026-02-30", "2026-02-29", "2026-03-00", "0000",
    "0000-01-01",
    "10000", "-2026", "+2026", "26", "20260305", "2026-3-5", "2026-W10", "2026-W10-1", "2026-064", "03/04/2009",
    "2026/03/05", "2026-03-05T", "2026-03-05T24:00", "2026-03-05T10:60", "2026-03-05T10:05:60", "2026-03-05T1005",
    "2026-03-05x10:05", "2026-03-05T10:05+24:00", "2026-03-05T10:05+01:60", "2026-03-05Z", "2026-03-05T10:05:03.",
    "..", "...", "2026..2027..2028", "2026...2027", ">", ">=", "<", "=2026", "=>2026", ">>2026", ">=2026..2027",
    "2026..tomorow", "8", "h", "8m", "8y", "8s", "-8h", "8 h", "1.5h", "last-", "last-7", "last-999999999d",
    "9999999999999h",
    "last 7d", "٢٠٢٦", "２０２６", "2026-0３", "８h", "today\0", "\0", "\ud800", "2026-03-05\ud83d", "yeſterday",
    "9" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED, ids=[f"{number}-{text[:20]!a}" for number, text in enumerate(REFUSED)])
def test_qs30_refused_value_names_the_accepted_forms(text: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        read(text, position=12)
    assert caught.value.hint == ACCEPTED_FORMS
    assert caught.value.position is not None
    assert 12 <= caught.value.position <= 12 + len(text)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 120


@pytest.mark.parametrize("form", ["YYYY-MM-DD", "A..B", ">=A", "today", "yesterday", "last-7d", "8h"])
def test_qs30_hint_lists_the_form(form: str) -> None:
    assert form in ACCEPTED_FORMS


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("2026-13", 0),
        ("  2026-13", 2),
        ("2026-01..2026-13", 9),
        ("2026-01 ..  x", 12),
        (">= 2026-13", 3),
        ("x..2026", 0),
    ],
)
def test_qs30_position_is_that_of_the_faulty_value(text: str, offset: int) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        read(text, position=40)
    assert caught.value.position == 40 + offset


def test_qs30_impossible_and_unknown_are_told_apart() -> None:
    with pytest.raises(QuerySyntaxError, match="impossible date '2026-02-30'"):
        read("2026-02-30")
    with pytest.raises(QuerySyntaxError, match="unknown date 'tomorow'"):
        read("tomorow")


def test_dt11_reversed_range_of_a_field() -> None:
    with pytest.raises(QuerySyntaxError, match="ends before it starts"):
        read("2026-03-10..2026-03-01")


def test_dt11_reversed_bounds() -> None:
    with pytest.raises(InvalidRequestError, match="'2026-03-01' is before the start '2026-03-10'") as caught:
        parse_bounds("2026-03-10", "2026-03-01", zone=GMT, now=NOW)
    assert caught.value.exit_code == 2
    assert caught.value.hint


def test_dt01_bare_end_date_covers_its_day() -> None:
    bounds = parse_bounds("2026-03-01", "2026-03-05", zone=GMT, now=NOW)
    assert bounds.contains(datetime(2026, 3, 5, 9, 31, tzinfo=UTC))
    assert bounds.contains(datetime(2026, 3, 5, 23, 59, 59, 900_000, tzinfo=UTC))
    assert not bounds.contains(datetime(2026, 3, 6, tzinfo=UTC))


def test_dt03_same_day_as_start_and_end() -> None:
    bounds = parse_bounds("2026-03-19", "2026-03-19", zone=GMT, now=NOW)
    assert bounds == read("2026-03-19")
    assert bounds.contains(datetime(2026, 3, 19, 12, tzinfo=UTC))


def test_dt15_spans_do_not_depend_on_the_zone() -> None:
    assert read("8h", TOKYO) == read("8h", GMT)
    assert read("8h", TOKYO).contains(NOW - timedelta(hours=7))
    assert not read("8h", TOKYO).contains(NOW - timedelta(hours=9))
    assert parse_start("8h", zone=TOKYO, now=NOW) == NOW - timedelta(hours=8)


def test_dt15_calendar_words_use_the_facility_zone() -> None:
    # 16:30 UTC is 01:30 of the next day in Tokyo.
    assert read("today", TOKYO) == TimeRange(utc("2026-03-10T15:00"), utc("2026-03-11T14:59:59.999999"))
    assert read("yesterday", TOKYO) == TimeRange(utc("2026-03-09T15:00"), utc("2026-03-10T14:59:59.999999"))


def test_dt15_the_zone_of_the_clock_does_not_matter() -> None:
    elsewhere = NOW.astimezone(timezone(timedelta(hours=-8)))
    for text in ("today", "yesterday", "8h", "last-7d"):
        assert read(text, TOKYO, elsewhere) == read(text, TOKYO, NOW)
    assert read("8h", TOKYO, NOW.astimezone(TOKYO).replace(tzinfo=None)) == read("8h", TOKYO, NOW)


BOUNDS = [
    (None, None, None, None),
    ("2026-03-05", None, "2026-03-05", None),
    (None, "2026-03", None, "2026-03-31T23:59:59.999999"),
    ("8h", None, "2026-03-10T08:30", None),
    ("yesterday", "today", "2026-03-09", "2026-03-10T23:59:59.999999"),
    (date(2026, 3, 5), date(2026, 3, 5), "2026-03-05", "2026-03-05T23:59:59.999999"),
    (datetime(2026, 3, 5, 10), datetime(2026, 3, 5, 10), "2026-03-05T10:00", "2026-03-05T10:00"),
    (datetime(2026, 3, 5, 10, tzinfo=TOKYO), None, "2026-03-05T01:00", None),
    (">2026-03-05", "<2026-03-10", "2026-03-06", "2026-03-09T23:59:59.999999"),
    (">=2026-03-05", "<=2026-03-10", "2026-03-05", "2026-03-10T23:59:59.999999"),
    ("2026-03-01..2026-03-05", None, "2026-03-01", "2026-03-05T23:59:59.999999"),
    ("2026-03-01..2026-03-05", "2026-03-03", "2026-03-01", "2026-03-03T23:59:59.999999"),
    (None, "2026-03-01..", "2026-03-01", None),
]


@pytest.mark.parametrize(("first", "last", "start", "end"), BOUNDS)
def test_bounds(first: str | date | None, last: str | date | None, start: str | None, end: str | None) -> None:
    assert parse_bounds(first, last, zone=GMT, now=NOW) == TimeRange(utc(start), utc(end))


@pytest.mark.parametrize("value", ["", "tomorow", "2026-02-30", "03/04/2009"])
def test_qs30_bounds_refuse_what_fields_refuse(value: str) -> None:
    for first, last in ((value, None), (None, value)):
        with pytest.raises(QuerySyntaxError) as caught:
            parse_bounds(first, last, zone=GMT, now=NOW)
        assert (caught.value.position, caught.value.hint) == (None, ACCEPTED_FORMS)


@pytest.mark.parametrize("value", [20260305, 1772700000.0, True, b"2026", ["2026"]])
def test_bounds_refuse_other_types(value: object) -> None:
    with pytest.raises(InvalidRequestError, match="is not a date"):
        parse_bounds(value, None, zone=GMT, now=NOW)  # type: ignore[arg-type]


def test_start_and_end_alone() -> None:
    assert parse_start("2026-03", zone=TOKYO, now=NOW) == utc("2026-02-28T15:00")
    assert parse_end("2026-03", zone=TOKYO, now=NOW) == utc("2026-03-31T14:59:59.999999")
    assert parse_start("2026-03..", zone=GMT, now=NOW) == utc("2026-03-01")
    assert parse_end("<2026-03", zone=GMT, now=NOW) == utc("2026-02-28T23:59:59.999999")
    naive = datetime(2026, 3, 5, 10)
    assert parse_start(naive, zone=TOKYO, now=NOW) == parse_end(naive, zone=TOKYO, now=NOW) == utc("2026-03-05T01:00")


@pytest.mark.parametrize("value", ["<2026", "..2026", "2025..2026"])
def test_a_start_that_sets_an_end_is_refused(value: str) -> None:
    with pytest.raises(QuerySyntaxError, match="not a start"):
        parse_start(value, zone=GMT, now=NOW)


@pytest.mark.parametrize("value", [">2026", "2026..", "2025..2026"])
def test_an_end_that_sets_a_start_is_refused(value: str) -> None:
    with pytest.raises(QuerySyntaxError, match="not an end"):
        parse_end(value, zone=GMT, now=NOW)


def test_ranges_meet() -> None:
    march, day, open_end = read("2026-03"), read("2026-03-05"), read("2026-03-04..")
    assert march.intersect(day) == day
    assert march.intersect(open_end) == TimeRange(utc("2026-03-04"), march.end)
    assert march.intersect(TimeRange()) == march
    assert day.intersect(read("2026-03-06")).is_empty
    assert not march.is_empty
    assert not TimeRange().is_empty
    assert TimeRange().contains(NOW)


def test_the_ends_of_time_are_clamped() -> None:
    east, west = ZoneInfo("Pacific/Kiritimati"), ZoneInfo("America/Los_Angeles")
    for zone in (east, west):
        assert read("0001..9999", zone).contains(NOW)
        assert read("9999-12-31", zone).start is not None
    assert read("0001", TOKYO).start == EARLIEST
    assert read("9999", west).end == LATEST
    assert read("9999", east).end == utc("9999-12-31T09:59:59.999999")
    assert read("<0001", TOKYO).end == EARLIEST
    assert read(">9999", west).start == LATEST
    assert read("0001-01-01T00:00+14:00").start == EARLIEST
    assert read("today", west, EARLIEST).start is not None
    assert read("yesterday", TOKYO, EARLIEST).start == EARLIEST
    assert read("today", east, LATEST).end == LATEST.replace(hour=9)


STORED = [
    (datetime(2026, 3, 5, 8, tzinfo=UTC), "2026-03-05T08:00:00.000000Z"),
    (datetime(2026, 3, 5, 8, 0, 0, 1, tzinfo=TOKYO), "2026-03-04T23:00:00.000001Z"),
    (EARLIEST, "0001-01-01T00:00:00.000000Z"),
    (LATEST, "9999-12-31T23:59:59.999999Z"),
    (datetime(1, 1, 1, tzinfo=TOKYO), "0001-01-01T00:00:00.000000Z"),
    (datetime(987, 6, 5, tzinfo=UTC), "0987-06-05T00:00:00.000000Z"),
]


@pytest.mark.parametrize(("moment", "text"), STORED)
def test_stored_text(moment: datetime, text: str) -> None:
    assert to_storage(moment) == text
    assert to_storage(from_storage(text)) == text
    assert from_storage(text).utcoffset() == timedelta(0)


def test_stored_text_needs_a_zone() -> None:
    with pytest.raises(InvalidRequestError, match="has no zone"):
        to_storage(datetime(2026, 3, 5))


def test_damaged_stored_text() -> None:
    with pytest.raises(DatabaseQueryError, match="damaged") as caught:
        from_storage("yesterday")
    assert "doctor" in caught.value.hint
