"""Times of records at ingestion: what is read, what is refused."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from ariel_lite.errors import ErrorCategory, InvalidRequestError
from ariel_lite.query.source_times import parse_source_time

GMT = ZoneInfo("UTC")
PACIFIC = ZoneInfo("America/Los_Angeles")
BERLIN = ZoneInfo("Europe/Berlin")


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


EPOCHS = [
    (1772700000, "2026-03-05T08:40"),
    (1772700000000, "2026-03-05T08:40"),
    (1772700000000000, "2026-03-05T08:40"),
    ("1772700000", "2026-03-05T08:40"),
    (" 1772700000 ", "2026-03-05T08:40"),
    ("1772700000000", "2026-03-05T08:40"),
    ("1772700000000000", "2026-03-05T08:40"),
    (1772700000.25, "2026-03-05T08:40:00.250000"),
    ("1772700000.25", "2026-03-05T08:40:00.250000"),
    ("1772700000123", "2026-03-05T08:40:00.123000"),
    (1.7727e9, "2026-03-05T08:40"),
    (0, "1970-01-01T00:00"),
    (-47224800, "1968-07-03T10:00"),
    ("-47224800", "1968-07-03T10:00"),
    (100000000000, "1973-03-03T09:46:40"),
    (100000000000000, "1973-03-03T09:46:40"),
    (-1000000000000, "1938-04-24T22:13:20"),
    (-2208988800, "1900-01-01T00:00"),
    (4133980799, "2100-12-31T23:59:59"),
]


@pytest.mark.parametrize(("value", "moment"), EPOCHS, ids=[repr(case[0]) for case in EPOCHS])
def test_dt08_epochs(value: object, moment: str) -> None:
    assert parse_source_time(value, zone=PACIFIC) == utc(moment)


IMPLAUSIBLE = [
    17727000000, -62135596800, -62135596800000, 4133980800, -2208988801, 99999999999, 10**17, 10**18, 10**40, 1e300,
    "99999999999999999", "0001-01-01T00:00:00Z", "9999-12-31", "1899-12-31", "2101-01-01T00:00:00", date(1, 1, 1),
]  # fmt: skip


@pytest.mark.parametrize("value", IMPLAUSIBLE, ids=repr)
def test_dt08_implausible_years_are_refused(value: object) -> None:
    with pytest.raises(InvalidRequestError, match=r"outside the years 1900 to 2100|too large") as caught:
        parse_source_time(value, zone=GMT)
    assert caught.value.hint


TEXTS = [
    ("2026-03-05T10:00:00Z", "2026-03-05T10:00"),
    ("2026-03-05T10:00:00.123Z", "2026-03-05T10:00:00.123000"),
    ("2026-03-05T10:00:00.123456789Z", "2026-03-05T10:00:00.123456"),
    ("2026-03-05T10:00:00z", "2026-03-05T10:00"),
    ("2026-03-05 10:00:00 UTC", "2026-03-05T10:00"),
    ("2026-03-05 10:00 GMT", "2026-03-05T10:00"),
    ("2026-03-05T10:00:00+01:00", "2026-03-05T09:00"),
    ("2026-03-05 10:00:00 +0100", "2026-03-05T09:00"),
    ("2026-03-05 10:00 -08", "2026-03-05T18:00"),
    ("2026-03-05T10:00:00", "2026-03-05T18:00"),
    ("2026-03-05 10:00", "2026-03-05T18:00"),
    ("  2026-03-05T10:00:00\n", "2026-03-05T18:00"),
    ("2026-03-05", "2026-03-05T08:00"),
    ("2026-07-05T10:00:00", "2026-07-05T17:00"),
    ("Thu, 05 Mar 2026 10:00:00 +0100", "2026-03-05T09:00"),
    ("Thu, 5 Mar 2026 10:00 -0800", "2026-03-05T18:00"),
    ("05 Mar 2026 10:00:00 GMT", "2026-03-05T10:00"),
    ("Thu, 05 Mar 2026 10:00:00 PST", "2026-03-05T18:00"),
    ("thu, 05 mar 2026 10:00:00 +0100 (CET)", "2026-03-05T09:00"),
    ("Thu, 05 Mar 2026 10:00:00", "2026-03-05T18:00"),
]


@pytest.mark.parametrize(("text", "moment"), TEXTS, ids=[case[0] for case in TEXTS])
def test_written_times(text: str, moment: str) -> None:
    result = parse_source_time(text, zone=PACIFIC)
    assert result == utc(moment)
    assert result.tzinfo is UTC


def test_in30_before_1970() -> None:
    assert parse_source_time("1968-07-04T10:00:00", zone=PACIFIC) == utc("1968-07-04T17:00")


def test_in30_declared_format_beside_certain_forms() -> None:
    form = "%d-%b-%y"
    assert parse_source_time("04-JUL-79", zone=PACIFIC, date_format=form) == utc("1979-07-04T07:00")
    assert parse_source_time("1968-07-04T10:00:00", zone=PACIFIC, date_format=form) == utc("1968-07-04T17:00")
    assert parse_source_time(1772700000, zone=PACIFIC, date_format=form) == utc("2026-03-05T08:40")


@pytest.mark.parametrize(("text", "year"), [("04-JUL-69", 1969), ("04-JUL-99", 1999), ("04-JUL-00", 2000)])
def test_in30_two_digit_years_follow_the_posix_rule(text: str, year: int) -> None:
    assert parse_source_time(text, zone=GMT, date_format="%d-%b-%y") == datetime(year, 7, 4, tzinfo=UTC)


FORMATS = [
    ("03/04/2009", "%d/%m/%Y", "2009-04-03T07:00"),
    ("03/04/2009", "%m/%d/%Y", "2009-03-04T08:00"),
    ("03/04/2009 23:30", "%m/%d/%Y %H:%M", "2009-03-05T07:30"),
    ("03/04/2009 23:30 +0100", "%m/%d/%Y %H:%M %z", "2009-03-04T22:30"),
    ("20260305", "%Y%m%d", "2026-03-05T08:00"),
    (20260305, "%Y%m%d", "2026-03-05T08:00"),
    ("2026-03-05", "%Y-%d-%m", "2026-05-03T07:00"),
]


@pytest.mark.parametrize(("value", "form", "moment"), FORMATS)
def test_declared_formats(value: object, form: str, moment: str) -> None:
    assert parse_source_time(value, zone=PACIFIC, date_format=form) == utc(moment)


UNREADABLE = [
    "03/04/2009", "04-JUL-79", "3.4.2009", "junk", "yesterday", "2026-13-01", "2026-02-30", "2026-W10-1",
    "20260305T100000", "2026-03-05T101Z", "2026-03-05T10.5", "2026-03-05T1000", "2026-03-05T10:00:00x",
    "2026-064", "2026-03-05x10:00", "2026-03-05T25:00", "2026-03-05T10:00 CET", "2026-03-05T10:00+24:00", "1.7727e9",
    "Thu, 31 Feb 2026 10:00:00 +0100", "Thu, 05 Mar 2026 10:00:00 CET", "Thu, 05 Mar 2026 10:00:00 +2500",
    "05 Mar 26 10:00",
    "١٧٧٢٧٠٠٠٠٠", "２０２６-03-05", "2026-03-05T10:00:00\0", "\ud800", "inf", "1772700000abc",
    True, False, [], {}, b"2026-03-05",
]  # fmt: skip


@pytest.mark.parametrize("value", UNREADABLE, ids=ascii)
def test_dt10_unreadable_values_are_refused(value: object) -> None:
    with pytest.raises(InvalidRequestError, match="unreadable or ambiguous") as caught:
        parse_source_time(value, zone=GMT)
    assert "--date-format" in caught.value.hint
    assert caught.value.category is ErrorCategory.INGESTION
    assert caught.value.message.isprintable()


@pytest.mark.parametrize(
    "value", [None, "", "  ", "n/a", "N/A", "null", "None", "NaN", "-", float("nan"), float("inf")]
)
def test_dt10_missing_times_are_refused(value: object) -> None:
    with pytest.raises(InvalidRequestError, match="the time is missing"):
        parse_source_time(value, zone=GMT)


@pytest.mark.parametrize(
    "value", ["2026", "202603", "20260305", "202603051000", 2026, 20260305, 20260305.0, "20260305.0"]
)
def test_dt10_numbers_that_look_like_dates_are_refused(value: object) -> None:
    with pytest.raises(InvalidRequestError, match="written date or an epoch"):
        parse_source_time(value, zone=GMT)


@pytest.mark.parametrize(
    ("form", "message"),
    [("%d %b", "names no year"), ("%%Y", "names no year"), ("", "names no year"), ("%Y %Z", "zone names")],
)
def test_formats_that_would_invent_a_time_are_refused(form: str, message: str) -> None:
    with pytest.raises(InvalidRequestError, match=message):
        parse_source_time("05 Mar", zone=GMT, date_format=form)


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%Q %Y", "%Y %", "%Y %Y"])
def test_dt10_a_value_that_does_not_fit_names_the_format(form: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        parse_source_time("04-JUL-79", zone=GMT, date_format=form)
    assert repr(form) in caught.value.message


def test_clock_changes_never_raise() -> None:
    assert parse_source_time("2026-11-01T01:30:00", zone=PACIFIC) == utc("2026-11-01T08:30")
    assert parse_source_time("2026-03-08T02:30:00", zone=PACIFIC) == utc("2026-03-08T10:30")
    assert parse_source_time("2018-11-04", zone=ZoneInfo("America/Sao_Paulo")) == utc("2018-11-04T03:00")
    assert parse_source_time("1919-03-31", zone=ZoneInfo("America/Toronto")) == utc("1919-03-31T04:30")
    assert parse_source_time("31.03.1919", zone=ZoneInfo("America/Toronto"), date_format="%d.%m.%Y") == utc(
        "1919-03-31T04:30"
    )


def test_values_that_a_reader_already_made() -> None:
    assert parse_source_time(datetime(2026, 3, 5, 10), zone=BERLIN) == utc("2026-03-05T09:00")
    assert parse_source_time(datetime(2026, 3, 5, 10, tzinfo=PACIFIC), zone=BERLIN) == utc("2026-03-05T18:00")
    assert parse_source_time(date(2026, 3, 5), zone=BERLIN) == utc("2026-03-04T23:00")
