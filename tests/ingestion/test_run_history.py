"""What the log of earlier runs says: where the next one starts, and what is missing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from ariel_lite.backends.values import IngestionRun
from ariel_lite.ingestion.run_history import incremental_since, open_problems

DAY = timedelta(days=1)


def day(number: int) -> datetime:
    return datetime(2026, 3, 1, tzinfo=UTC) + number * DAY


def history(*runs: dict[str, Any]) -> list[IngestionRun]:
    """Runs as the log gives them, newest first; days as numbers, oldest first here."""
    made = []
    for number, run in enumerate(runs):
        run = dict(run)
        metadata: dict[str, Any] = {
            key: day(run.pop(key)).isoformat() for key in ("since", "until", "watermark", "newest") if key in run
        }
        metadata["failures"] = [
            {"window": f"day {missing}", "reason": "x", "since": day(missing).isoformat()}
            for missing in run.pop("missing", ())
        ]
        error, status = run.pop("error", None), run.pop("status", "success")
        made.append(IngestionRun(number, day(number), day(number), "S", 0, 0, 0, status, error, {**metadata, **run}))
    return made[::-1]


def start(*runs: dict[str, Any]) -> datetime | None:
    return incremental_since(history(*runs), DAY.total_seconds())


def missing(*runs: dict[str, Any]) -> list[str]:
    return [failure["window"] for problem in open_problems(history(*runs)) for failure in problem["failures"]]


def test_the_next_run_starts_an_overlap_before_the_newest_entry() -> None:
    assert start() is None
    assert start({"watermark": 5, "newest": 5}) == day(4)
    assert start({"watermark": 5, "newest": 5}, {"since": 4, "watermark": 8, "newest": 8}) == day(7)


def test_or_where_something_is_missing() -> None:
    assert start({"watermark": 2, "newest": 9, "missing": [2]}) == day(2)
    assert start({"watermark": 9, "newest": 9, "missing": [9]}) == day(8)


def test_a_part_that_fails_again_and_again_does_not_move_the_start() -> None:
    runs: list[dict[str, Any]] = [{"watermark": 2, "newest": 9, "missing": [2]}]
    for _ in range(5):
        assert start(*runs) == day(2)
        runs.append({"since": 2, "watermark": 2, "newest": 9, "missing": [2]})


def test_a_run_behind_a_gap_moves_nothing() -> None:
    first = {"watermark": 5, "newest": 5}
    assert start(first, {"since": 20, "watermark": 25, "newest": 25}) == day(4)
    assert start(
        first, {"since": 20, "watermark": 25, "newest": 25}, {"since": 4, "watermark": 25, "newest": 25}
    ) == day(24)
    assert start({"since": 20, "watermark": 25, "newest": 25}) == day(24)


def test_runs_without_a_watermark_move_nothing() -> None:
    assert start({"watermark": 5, "newest": 5}, {"interrupted": True}, {"status": "running"}) == day(4)


def test_a_missing_part_stays_until_a_run_has_read_it() -> None:
    first = {"missing": [2, 7], "error": "a part of the source could not be read"}
    assert missing(first) == ["day 2", "day 7"]
    for other in (
        {"since": 3, "until": 4},
        {"limited": True},
        {"interrupted": True, "error": "interrupted"},
        {"error": "it stopped before its end"},
        {"status": "running"},
        {"since": 8},
    ):
        assert missing(first, other) == ["day 2", "day 7"]
    assert missing(first, {"since": 3}) == ["day 2"]
    assert missing(first, {"since": 2}) == []
    assert missing(first, {"since": 2, "missing": [7], "error": "x"}) == ["day 7"]
    assert missing(first, {}) == []
