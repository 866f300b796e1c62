"""The pipeline over a real logbook file: counts, rejects, exit codes, repeated ids, incremental and dry runs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from ingestion_bench import Bench

from ariel_lite.backends.values import SearchPlan
from ariel_lite.errors import IngestionError
from ariel_lite.ingestion import pipeline
from ariel_lite.ingestion.base import IncomingEntry, NewEntry, Reject, SourceFacts, SourceFailure, SourceRecord
from ariel_lite.ingestion.pipeline import ingest
from ariel_lite.ingestion.run_history import incremental_since, open_problems
from ariel_lite.query.bind import bind
from ariel_lite.query.parser import parse
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.text.tokenise import Analyzer

MakeRecord = Callable[..., dict[str, Any]]


def found(bench: Bench, query: str) -> list[str]:
    tree = bind(parse(query), Analyzer(), zone=ZoneInfo("UTC"), now=datetime.now(UTC)).tree
    return sorted(hit.entry_id for hit in bench.backend.search(SearchPlan(tree)))


def test_in06_bad_lines_are_kept_aside_and_the_rest_is_stored(bench: Bench, record: MakeRecord) -> None:
    good, last = json.dumps(record("1")), json.dumps(record("6"))
    report = bench.ingest(f'{good}\n{{"id":2,\n[1]\nnull\n{good}{last}\n{last}')
    assert (report.added, report.rejected, report.exit_code) == (2, 4, 0)
    assert [line["line"] for line in bench.rejects()] == [2, 3, 4, 5]
    assert all(line["reason"] and line["raw"] for line in bench.rejects())
    assert report.rejects_file == str(bench.folder / "logbook.db.rejects.jsonl")


@pytest.mark.parametrize("content", ["<html>login</html>", "null\n[1]\n", "", '{"id":2,'])
def test_in06_a_source_without_a_valid_record_is_an_error(bench: Bench, content: str) -> None:
    report = bench.ingest(content)
    assert report.exit_code == 1
    assert bench.backend.runs()[0].status == "failed"


def test_an_empty_list_is_a_success_with_a_remark(bench: Bench) -> None:
    report = bench.ingest({"entries": []})
    assert (report.exit_code, report.notes) == (0, ["the source holds no entries"])
    assert bench.backend.runs()[0].status == "success"


def test_strict_makes_a_reject_an_error_and_stores_the_rest(bench: Bench, record: MakeRecord) -> None:
    report = bench.ingest([record(), "broken"], strict=True)
    assert (report.exit_code, report.added) == (1, 1)
    assert bench.ingest([record()], strict=True).exit_code == 0


def test_a_cut_list_keeps_what_came_before_and_is_an_error(bench: Bench, record: MakeRecord) -> None:
    text = json.dumps({"entries": [record("1"), record("2"), record("3")]})
    report = bench.ingest(text[:-60], name="cut.json")
    assert (report.added, report.exit_code) == (2, 1)
    assert "could not be read" in (bench.backend.runs()[0].error_message or "")


def test_in25_counts_are_exact_over_three_runs(bench: Bench, record: MakeRecord) -> None:
    lines = [record("1", tags=["rf"]), record("2"), record("3")]
    counts = []
    for _ in range(3):
        report = bench.ingest(lines)
        counts.append((report.added, report.updated, report.unchanged))
    assert counts == [(3, 0, 0), (0, 0, 3), (0, 0, 3)]
    report = bench.ingest([record("1", tags=["vacuum"]), record("2"), record("3", "new text"), record("4")])
    assert (report.added, report.updated, report.unchanged) == (1, 2, 1)
    run = bench.backend.runs()[0]
    assert (run.entries_added, run.entries_updated, run.entries_failed, run.status) == (1, 2, 0, "success")
    assert bench.entry("1")["metadata"]["tags"] == ["vacuum"]


@pytest.mark.parametrize("size", [1, 2, 4000])
@pytest.mark.parametrize("dry_run", [False, True])
def test_an_id_that_comes_again_changes_the_earlier_one(
    bench: Bench, record: MakeRecord, monkeypatch: pytest.MonkeyPatch, size: int, dry_run: bool
) -> None:
    monkeypatch.setattr(pipeline, "BATCH_ENTRIES", size)
    lines = [record("1"), record("2"), record("1"), record("1", "other"), record("2"), record("3")]
    report = bench.ingest(lines, dry_run=dry_run)
    assert (report.added, report.updated, report.unchanged) == (3, 1, 2)
    assert bench.ids() == ([] if dry_run else ["1", "2", "3"])


def test_in01_the_same_id_of_another_source_is_stored_beside_and_reported(bench: Bench, record: MakeRecord) -> None:
    report = bench.ingest(
        [record("42", "RF trip", source_system="als"), record("42", "cooling water", source_system="jlab")]
    )
    assert (report.added, report.renamed) == (2, {"42": "jlab:42"})
    assert bench.ids() == ["42", "jlab:42"]
    assert bench.entry("42")["raw_text"] == "RF trip"
    again = bench.ingest([record("42", "cooling water", source_system="jlab")])
    assert (again.added, again.unchanged) == (0, 1)


def test_in03_an_edit_replaces_the_words_that_are_found(bench: Bench, record: MakeRecord) -> None:
    bench.ingest([record("E1", "kicker misfire at turn 3")])
    assert found(bench, "kicker") == ["E1"]
    bench.ingest([record("E1", "septum water leak")])
    assert (found(bench, "kicker"), found(bench, "septum")) == ([], ["E1"])


def test_in16_in23_what_was_ingested_is_found(bench: Bench, record: MakeRecord) -> None:
    markup = "<p>beam&nbsp;lost</p><script>var secretword=1</script>"
    bench.ingest([record("h", markup, format="html"), record("long", "pump trip \n" * 50_000 + "zirconflex")])
    assert found(bench, "beam lost") == ["h"]
    assert found(bench, "secretword OR nbsp") == []
    assert found(bench, "zirconflex") == ["long"]


def test_in08_in11_marks_and_latin1(bench: Bench, record: MakeRecord) -> None:
    line = json.dumps(record("1", "Perché il Müller ha µA"), ensure_ascii=False)
    for number, data in enumerate((line.encode("utf-8-sig"), line.encode("utf-16"), line.encode("latin-1"))):
        report = bench.ingest(data, name=f"{number}.jsonl")
        assert (report.added + report.unchanged, report.rejected) == (1, 0)
        assert bench.entry("1")["raw_text"] == "Perché il Müller ha µA"
    assert report.notes == ["3 bytes are no UTF-8 and were read as Windows-1252 (Latin-1)"]
    assert [run.metadata["encoding"] for run in bench.backend.runs()] == ["utf-8", "utf-16", "utf-8-sig"]
    assert bench.backend.runs()[0].metadata["repaired_bytes"] == 3


def test_a_dry_run_changes_nothing(bench: Bench, record: MakeRecord) -> None:
    bench.ingest([record("1"), record("2", "old")])
    before = sorted(path.name for path in bench.folder.iterdir())
    runs = len(bench.backend.runs())
    report = bench.ingest([record("2", "new"), record("3"), "broken"], dry_run=True, mirror=True)
    assert (report.added, report.updated, report.rejected) == (1, 1, 1)
    assert bench.ids() == ["1", "2"]
    assert bench.entry("2")["raw_text"] == "old"
    assert len(bench.backend.runs()) == runs
    assert sorted(path.name for path in bench.folder.iterdir()) == before


def test_since_until_and_limit(bench: Bench, record: MakeRecord) -> None:
    lines = [record(str(day), timestamp=f"2026-03-0{day}T00:00:00Z") for day in range(1, 7)]
    low, high = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 5, tzinfo=UTC)
    report = bench.ingest(lines, since=low, until=high, limit=3)
    assert bench.ids() == ["2", "3", "4"]
    assert report.exit_code == 0
    nothing = bench.ingest([*lines, "broken"], since=datetime(2027, 1, 1, tzinfo=UTC))
    assert (nothing.skipped, nothing.exit_code) == (6, 0)


def test_dt13_a_later_entry_of_the_same_second_is_found_by_an_incremental_run(bench: Bench, record: MakeRecord) -> None:
    bench.ingest([record("E1")])
    since = incremental_since(bench.backend.runs("Generic JSON"), 0)
    assert since == datetime(2026, 3, 5, 10, tzinfo=UTC)
    report = bench.ingest([record("E1"), record("E2"), record("old", timestamp="2020-01-01")], since=since)
    assert (report.added, report.unchanged, report.skipped) == (1, 1, 1)
    assert "E2" in bench.ids()


def test_a_missing_source_leaves_no_run_behind(bench: Bench) -> None:
    with pytest.raises(IngestionError):
        bench.ingest(bench.folder / "absent.jsonl")
    assert bench.backend.runs() == []


class WindowedAdapter:
    """A source that is read in ten windows of ten entries over a network; some of it fails."""

    source_system_name = "Windows"
    supports_write = False
    requires_write_auth = False

    def __init__(self, *, failing: bool, stops: bool = False) -> None:
        self.facts = SourceFacts()
        self.failing = failing
        self.stops = stops

    async def fetch_entries(
        self, since: datetime | None = None, until: datetime | None = None, limit: int | None = None
    ) -> AsyncIterator[SourceRecord]:
        for window in range(10):
            start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=window)
            if self.failing and window == 4:
                yield SourceFailure(f"window {start.date()}", "the server answered with a login page", start)
                continue
            if self.stops and window == 4:
                raise IngestionError("the connection was closed")
            for number in range(10):
                name = f"{window}-{number}"
                if self.failing and window == 7 and number < 3:
                    yield Reject(f"page {window}", "its time is unreadable", "{}", name)
                else:
                    yield IncomingEntry(made_entry(name, start + timedelta(hours=number)), f"page {window}")
        self.facts.complete = True

    async def count_entries(self) -> int | None:
        return 100

    async def create_entry(self, request: NewEntry) -> str:
        raise IngestionError("read only")


def made_entry(entry_id: str, moment: datetime) -> EnhancedLogbookEntry:
    entry: Any = {
        "entry_id": entry_id,
        "source_system": "Windows",
        "timestamp": moment,
        "author": "",
        "raw_text": "x",
        "metadata": {},
    }
    made: EnhancedLogbookEntry = entry
    return made


def test_in28_missing_windows_and_rejects_stay_visible_until_resolved(bench: Bench) -> None:
    report = ingest(bench.backend, WindowedAdapter(failing=True), source_label="windows")
    assert (report.added, report.rejected, len(report.failures), report.exit_code) == (87, 3, 1, 1)
    (problem,) = open_problems(bench.backend.runs())
    assert problem["failures"][0]["window"] == "window 2026-01-05"
    assert problem["rejected"] == 3
    assert incremental_since(bench.backend.runs(), 3600) == datetime(2026, 1, 5, tzinfo=UTC)
    assert incremental_since(bench.backend.runs(), 10 * 86400) == datetime(2025, 12, 31, 9, tzinfo=UTC)
    again = ingest(bench.backend, WindowedAdapter(failing=False), source_label="windows")
    assert (again.added, again.unchanged, again.exit_code) == (13, 87, 0)
    assert open_problems(bench.backend.runs()) == []


def test_a_source_that_gives_up_keeps_what_came_before(bench: Bench) -> None:
    report = ingest(bench.backend, WindowedAdapter(failing=False, stops=True), source_label="windows", mirror=True)
    assert (report.added, report.exit_code) == (40, 1)
    assert report.failures[0].reason == "the connection was closed"
    assert incremental_since(bench.backend.runs(), 0) is None


def test_a_clock_that_runs_ahead_does_not_hide_what_comes_next(bench: Bench, record: MakeRecord) -> None:
    bench.ingest([record("future", timestamp="2099-01-01T00:00:00Z")])
    since = incremental_since(bench.backend.runs(), 0)
    assert since is not None
    assert since <= datetime.now(UTC)


def test_a_bounded_run_leaves_no_mark(bench: Bench, record: MakeRecord) -> None:
    bench.ingest([record("1")], limit=1)
    assert incremental_since(bench.backend.runs(), 0) is None
