"""Rules that hold for the records of every source: ids, times, authors, odd values."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from ingestion_bench import Bench

MakeRecord = Callable[..., dict[str, Any]]


def test_dt08_epoch_seconds_milliseconds_and_microseconds(bench: Bench, record: MakeRecord) -> None:
    stamps: list[Any] = [1772700000, 1772700000000, 1772700000000000, "1772700000", 58144 * 10**12]
    report = bench.ingest([record(str(n), timestamp=stamp) for n, stamp in enumerate(stamps)])
    assert {bench.entry(str(n))["timestamp"] for n in range(4)} == {datetime(2026, 3, 5, 8, 40, tzinfo=UTC)}
    assert (report.added, report.rejected) == (4, 1)
    assert "outside the years" in report.first_rejects[0].reason


def test_dt10_unreadable_times_are_rejected_never_now(bench: Bench, record: MakeRecord) -> None:
    no_time = record("none")
    del no_time["timestamp"]
    lines = [
        record("odd", timestamp="03/04/2009"),
        no_time,
        record("junk", timestamp="n/a"),
        record("list", timestamp=[1]),
        record("flag", timestamp=True),
        record("good"),
    ]
    report = bench.ingest(lines)
    assert bench.ids() == ["good"]
    assert (report.added, report.rejected, report.exit_code) == (1, 5, 0)
    found = bench.rejects()
    assert [(line["line"], line["entry_id"]) for line in found] == [
        (1, "odd"),
        (2, "none"),
        (3, "junk"),
        (4, "list"),
        (5, "flag"),
    ]
    assert "--date-format" in found[0]["reason"]
    assert "missing" in found[1]["reason"]
    assert json.loads(found[0]["raw"])["timestamp"] == "03/04/2009"


def test_dt10_a_declared_format_makes_them_readable(bench: Bench, record: MakeRecord) -> None:
    bench.ingest([record("odd", timestamp="03/04/2009")], date_format="%d/%m/%Y", zone="America/Los_Angeles")
    assert bench.entry("odd")["timestamp"] == datetime(2009, 4, 3, 7, tzinfo=UTC)


def test_in30_old_logbooks(bench: Bench, record: MakeRecord) -> None:
    lines = [
        record("E1", timestamp="1968-07-04T10:00:00"),
        record("E2", timestamp="04-JUL-79"),
        record("E3", timestamp=-47210400),
    ]
    report = bench.ingest(lines, zone="America/New_York")
    assert bench.entry("E1")["timestamp"] == datetime(1968, 7, 4, 14, tzinfo=UTC)
    assert bench.entry("E3")["timestamp"] == datetime(1968, 7, 3, 14, tzinfo=UTC)
    assert (report.rejected, bench.ids()) == (1, ["E1", "E3"])
    bench.ingest(lines, date_format="%d-%b-%y", zone="America/New_York")
    assert bench.entry("E2")["timestamp"] == datetime(1979, 7, 4, 4, tzinfo=UTC)


def test_a_missing_id_is_made_from_the_content(bench: Bench, record: MakeRecord) -> None:
    lines = [record(id=None, text="a"), record(id="  ", text="b"), record(id={}, text="c"), record(id=None, text="a")]
    first = bench.ingest(lines)
    assert (first.added, first.unchanged) == (3, 1)
    assert all(entry_id.startswith("auto-") and len(entry_id) == 21 for entry_id in bench.ids())
    again = bench.ingest(lines, zone="Asia/Tokyo")
    assert (again.added, again.unchanged) == (0, 4)


def test_an_id_from_content_does_not_move_with_the_day(bench: Bench) -> None:
    line = {"when": {"days_ago": 1}, "text": "x"}
    bench.ingest([line])
    bench.ingest([line])
    assert len(bench.ids()) == 1


@pytest.mark.parametrize(
    ("written", "kept"), [(42, "42"), (42.0, "42"), (" a b ", "a b"), (1.5, "1.5"), (10**20, str(10**20))]
)
def test_ids_are_text(bench: Bench, record: MakeRecord, written: Any, kept: str) -> None:
    bench.ingest([record(id=written)])
    assert bench.ids() == [kept]


@pytest.mark.parametrize(
    ("author", "name"),
    [
        (" A. B ", "A. B"), (None, ""), (17, "17"), ({"name": "N"}, "N"), ({"firstName": "F", "lastName": "L"}, "F L"),
        ({"user_name": "u"}, "u"), (["x", {"username": "y"}, None], "x, y"), ({}, ""), (True, ""),
    ],
)  # fmt: skip
def test_authors_of_any_shape(bench: Bench, record: MakeRecord, author: Any, name: str) -> None:
    bench.ingest([record(author=author)])
    assert bench.entry("1")["author"] == name


def test_in10_no_value_breaks_the_store(bench: Bench) -> None:
    line = (
        '{"id": "1\\u0000", "timestamp": "2026-03-05", "author": "\\ud800", "text": "a\\u0000b\\u001b", "n": 1e400,'
        ' "metadata": {"x": NaN, "\\udfff": ["\\ud83d"], "big": 123456789012345678901234567890}}'
    )
    report = bench.ingest([line])
    entry = bench.entry("1")
    assert (report.added, report.cleaned, report.rejected) == (1, 1, 0)
    assert (entry["raw_text"], entry["author"]) == ("a b ", "")
    assert entry["metadata"]["x"] is None
    json.dumps(entry, allow_nan=False, default=str).encode("utf-8")


def test_fz05_an_empty_body_is_stored_and_a_text_that_is_none_is_not(bench: Bench, record: MakeRecord) -> None:
    report = bench.ingest(
        [record("E1", ""), record("E2", text=["a"]), record("E3", text=12.5), record("E4", text=None, title="only")]
    )
    assert [bench.entry(entry_id)["raw_text"] for entry_id in ("E1", "E3", "E4")] == ["", "12.5", "only"]
    assert [reject.entry_id for reject in report.first_rejects] == ["E2"]


def test_in23_a_five_megabyte_entry_is_stored_whole(bench: Bench, record: MakeRecord) -> None:
    text = "pump trip \n" * 480_000 + "zirconflex"
    report = bench.ingest([record("big", text), record("small")])
    assert report.added == 2
    assert bench.entry("big")["raw_text"] == text


def test_deep_metadata_is_rejected_not_fatal(bench: Bench, record: MakeRecord) -> None:
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    report = bench.ingest([record("deep", deep=deep), record("ok")])
    assert bench.ids() == ["ok"]
    assert "nests too deeply" in report.first_rejects[0].reason
