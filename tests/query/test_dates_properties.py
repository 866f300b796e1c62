"""What holds for every text, every day and every instant."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar
from zoneinfo import ZoneInfo

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ariel_lite.errors import ARIELException, InvalidRequestError, QuerySyntaxError
from ariel_lite.query.dates import TimeRange, describe_range, parse_bounds, parse_date_expression
from ariel_lite.query.days import from_storage, to_storage
from ariel_lite.query.source_times import FIRST_YEAR, LAST_YEAR, parse_source_time

ZONES = [
    ZoneInfo(name)
    for name in (
        "UTC", "America/Los_Angeles", "Europe/Berlin", "Asia/Tokyo", "America/Sao_Paulo", "Asia/Beirut", "Africa/Cairo",
        "America/Havana", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Kwajalein",
        "Africa/Monrovia",
    )
]  # fmt: skip
zones = st.sampled_from(ZONES)
instants = st.datetimes(timezones=st.just(UTC))
recent = st.datetimes(datetime(1900, 1, 2), datetime(2037, 1, 1), timezones=st.just(UTC))
pieces = st.sampled_from(
    ["2026", "0000", "9999", "0001", "-", "03", "02", "30", "05", "T", " ", "10", ":", ".", "..", "Z", "+", "01:00",
     "+14:00", ">=", ">", "<", "<=", "today", "yesterday", "last-", "8h", "7d", "2w", "999999999", "d", "٣",
     "\0", "\ud800", "W10"]
)  # fmt: skip
surrogates = st.characters(categories=["Cs"])
texts = st.one_of(
    st.lists(pieces, max_size=9).map("".join),
    st.text(st.one_of(st.characters(), surrogates), max_size=30),
    st.dates().map(str),
    st.datetimes(timezones=st.none() | st.timezones()).map(str),
)
values = st.one_of(texts, st.dates(), st.datetimes(timezones=st.none() | st.timezones()), st.none())


Answer = TypeVar("Answer")


def attempt(call: Callable[[], Answer]) -> Answer | ARIELException:
    """The answer of a call, or the error of ours that it raised; any other exception fails the test."""
    try:
        return call()
    except ARIELException as fault:
        return fault


def is_well_formed(bounds: TimeRange) -> bool:
    ends = [moment for moment in (bounds.start, bounds.end) if moment is not None]
    return not bounds.is_empty and bool(ends) and all(moment.tzinfo is UTC for moment in ends)


@given(texts, zones, instants, st.integers(0, 1000))
@example("9999-12-31T23:59:59.999999-23:59", ZONES[0], datetime.max.replace(tzinfo=UTC), 0)
@example("9" * 5000 + "h", ZONES[0], datetime.min.replace(tzinfo=UTC), 0)
@settings(max_examples=600, deadline=None)
def test_any_text_is_a_range_or_a_syntax_error(text: str, zone: ZoneInfo, now: datetime, position: int) -> None:
    outcome = attempt(lambda: parse_date_expression(text, zone=zone, now=now, position=position))
    if isinstance(outcome, QuerySyntaxError):
        assert outcome.hint
        assert outcome.position is not None
        assert position <= outcome.position <= position + len(text)
        assert outcome.message.isprintable()
    else:
        assert isinstance(outcome, TimeRange)
        assert is_well_formed(outcome)
        assert describe_range(outcome, zone)


@given(values, values, zones, instants)
@settings(max_examples=400, deadline=None)
def test_any_bounds_are_a_range_or_an_error(
    start: str | date | None, end: str | date | None, zone: ZoneInfo, now: datetime
) -> None:
    outcome = attempt(lambda: parse_bounds(start, end, zone=zone, now=now))
    if isinstance(outcome, ARIELException):
        assert outcome.hint
    elif start is None and end is None:
        assert outcome == TimeRange()
    else:
        assert is_well_formed(outcome)


@given(recent, zones)
@settings(deadline=None)
def test_an_instant_lies_in_its_local_day_month_and_year(moment: datetime, zone: ZoneInfo) -> None:
    local = moment.astimezone(zone)
    for text in (
        f"{local:%Y-%m-%d}",
        f"{local:%Y-%m}",
        f"{local:%Y}",
        f"{local:%Y-%m-%dT%H:%M}",
        f"{local:%Y-%m-%d %H}",
    ):
        assert parse_date_expression(text, zone=zone, now=moment).contains(moment), text


@given(recent, zones)
@settings(deadline=None)
def test_a_moment_outside_a_day_bears_another_date(moment: datetime, zone: ZoneInfo) -> None:
    bounds = parse_date_expression(f"{moment.astimezone(zone):%Y-%m-%d}", zone=zone, now=moment)
    assert bounds.start is not None
    assert bounds.end is not None
    day = moment.astimezone(zone).date()
    tick = timedelta(microseconds=1)
    assert bounds.start.astimezone(zone).date() == bounds.end.astimezone(zone).date() == day
    assert (bounds.start - tick).astimezone(zone).date() < day < (bounds.end + tick).astimezone(zone).date()


@given(recent, zones)
@settings(deadline=None)
def test_comparisons_split_time_at_a_day(moment: datetime, zone: ZoneInfo) -> None:
    day = f"{moment.astimezone(zone):%Y-%m-%d}"
    inside, below, above = (parse_date_expression(text, zone=zone, now=moment) for text in (day, f"<{day}", f">{day}"))
    for probe in (moment, moment - timedelta(days=2), moment + timedelta(days=2)):
        assert [bounds.contains(probe) for bounds in (below, inside, above)].count(True) == 1


@given(recent, zones)
@settings(deadline=None)
def test_a_time_written_with_its_offset_is_exact(moment: datetime, zone: ZoneInfo) -> None:
    written = moment.astimezone(zone)
    if written.utcoffset() is not None and written.utcoffset() % timedelta(minutes=1):  # type: ignore[operator]
        return
    bounds = parse_date_expression(written.isoformat(timespec="microseconds"), zone=zone, now=moment)
    assert bounds == TimeRange(moment, moment)
    assert parse_source_time(written.isoformat(), zone=zone) == moment


@given(st.datetimes(timezones=st.timezones()), st.datetimes(timezones=st.timezones()))
@settings(deadline=None)
def test_stored_text_keeps_instant_and_order(first: datetime, second: datetime) -> None:
    texts_ = [to_storage(moment) for moment in (first, second)]
    assert {len(text) for text in texts_} == {27}
    moments = [from_storage(text) for text in texts_]
    assert (texts_[0] < texts_[1]) == (moments[0] < moments[1])
    if 1 < first.year < 9999:
        assert moments[0] == first.astimezone(UTC)


@given(recent)
@settings(deadline=None)
def test_epoch_seconds_round_trip(moment: datetime) -> None:
    whole = moment.replace(microsecond=0)
    seconds = int(whole.timestamp())
    text = f"{seconds}.000"
    if abs(seconds) >= 10**8:
        assert parse_source_time(seconds, zone=ZONES[1]) == whole
        assert parse_source_time(text, zone=ZONES[1]) == whole


source_values = st.one_of(
    texts, st.none(), st.booleans(), st.integers(), st.floats(), st.integers(-(10**18), 10**18), st.dates(),
    st.integers(-(10**18), 10**18).map(str), st.floats().map(str), st.lists(st.integers(), max_size=2),
    st.datetimes(timezones=st.none() | st.timezones()),
)  # fmt: skip
formats = st.one_of(
    st.none(),
    st.sampled_from(["%d/%m/%Y", "%d-%b-%y", "%Y%m%d", "%d %b", "%Q", "%", "%Y %Y", "%s", "%c", "%Y %Z"]),
    st.text(),
)  # fmt: skip


@given(source_values, zones, formats)
@example(10**5000, ZONES[0], None)
@example(-(10**5000), ZONES[0], "%Y")
@settings(max_examples=600, deadline=None)
def test_any_source_value_is_a_plausible_time_or_refused(
    value: object, zone: ZoneInfo, date_format: str | None
) -> None:
    outcome = attempt(lambda: parse_source_time(value, zone=zone, date_format=date_format))
    if isinstance(outcome, ARIELException):
        assert isinstance(outcome, InvalidRequestError)
        assert outcome.message.isprintable()
    else:
        assert outcome.tzinfo is UTC
        # A local time of the first or last year may be in the next year in UTC.
        assert FIRST_YEAR - 1 <= outcome.year <= LAST_YEAR + 1
