"""`sync` part by part: what is read, indexed and enhanced, and what is said of a part that fails. On every backend."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from als_server import Logbook, als_server

from ariel_lite.backends.base import Backend
from ariel_lite.config import ARIELConfig
from ariel_lite.errors import DatabaseConnectionError, EmbeddingGenerationError, IngestionError
from ariel_lite.ingestion.adapters import als_logbook, generic_json
from ariel_lite.ingestion.base import AdapterOptions, FacilityAdapter
from ariel_lite.ingestion.sync import SyncOptions, SyncReport, SyncSource, sync
from ariel_lite.registry import ENHANCERS, Registry

NOW = int(datetime.now(UTC).timestamp())
DAY = 86_400
KEYWORDS_ONLY = {"text_embedding": {"enabled": False}}


@pytest.fixture
def book() -> Iterator[Logbook]:
    with als_server() as book:
        yield book


def settings(**changes: Any) -> ARIELConfig:
    ingestion = {"retry_delay_seconds": 0, "max_retries": 0, "chunk_days": 10_000}
    return ARIELConfig.from_dict({"ingestion": ingestion, "enhancement_modules": KEYWORDS_ONLY, **changes})


def source_of(book: Logbook, config: ARIELConfig) -> SyncSource:
    def opened() -> FacilityAdapter:
        return als_logbook.create_adapter(AdapterOptions(book.url, config=config.ingestion))

    return SyncSource("als", "ALS eLog", opened)


def run(backend: Backend, book: Logbook, config: ARIELConfig | None = None, **options: Any) -> SyncReport:
    config = config or settings()
    return sync(backend, config, Registry(), source_of(book, config), SyncOptions(**options))


def counts(report: SyncReport) -> tuple[int, int, int]:
    assert report.ingest is not None
    return report.ingest.added, report.ingest.updated, report.ingest.unchanged


def test_a_first_run_reads_all_and_the_next_ones_what_is_new(backend: Backend, book: Logbook) -> None:
    for index in range(10):
        book.put(str(index), NOW - index * 10 * DAY)
    first = run(backend, book)
    assert (counts(first), first.since, first.exit_code) == ((10, 0, 0), None, 0)
    assert [(done.module, done.done) for done in first.enhanced] == [("semantic_processor", 10)]
    book.put("late", NOW - DAY // 2)
    book.put("0", NOW, "edited")
    second = run(backend, book)
    assert counts(second) == (1, 1, 0)
    assert second.since == datetime.fromtimestamp(NOW - DAY, UTC)
    assert [done.done for done in second.enhanced] == [2]
    assert counts(run(backend, book)) == (0, 0, 2)


def test_an_edit_older_than_the_overlap_is_found_by_a_full_run(backend: Backend, book: Logbook) -> None:
    for index in range(3):
        book.put(str(index), NOW - index * 10 * DAY)
    run(backend, book)
    book.put("2", NOW - 20 * DAY, "edited long after")
    assert counts(run(backend, book)) == (0, 0, 1)
    assert counts(run(backend, book, full=True)) == (0, 1, 2)
    (entry,) = backend.get_entries(["2"])
    assert entry["raw_text"].startswith("edited long after")


def test_mirroring_reads_all_and_deletes(backend: Backend, book: Logbook) -> None:
    for index in range(3):
        book.put(str(index), NOW - index * 10 * DAY)
    run(backend, book)
    del book.records["2"]
    report = run(backend, book, mirror=True)
    assert report.ingest is not None
    assert (report.since, report.ingest.removed, sorted(backend.entry_ids())) == (None, 1, ["0", "1"])


def test_a_dry_run_changes_nothing(backend: Backend, book: Logbook) -> None:
    book.put("1", NOW)
    report = run(backend, book, dry_run=True)
    assert (counts(report), report.indexed, report.enhanced) == ((1, 0, 0), None, [])
    assert (list(backend.entry_ids()), backend.runs()) == ([], [])


def test_a_clock_that_runs_ahead_hides_nothing(backend: Backend, book: Logbook) -> None:
    book.put("future", NOW + 3000 * DAY)
    assert counts(run(backend, book)) == (1, 0, 0)
    book.put("now", NOW)
    assert counts(run(backend, book)) == (1, 0, 1)


def test_the_other_parts_run_when_the_source_is_away(backend: Backend, book: Logbook) -> None:
    book.put("1", NOW)
    run(backend, book, enhance=False)
    book.always = "500"
    report = run(backend, book)
    assert [problem.part for problem in report.problems] == ["ingest"]
    assert (report.exit_code, report.is_source_read, report.indexed) == (1, False, 0)
    assert [done.done for done in report.enhanced] == [1]


def test_a_source_that_cannot_be_opened_is_a_problem_of_that_part(backend: Backend) -> None:
    def absent() -> FacilityAdapter:
        raise IngestionError("there is no file x", hint="check --source")

    report = sync(backend, settings(), Registry(), SyncSource("x", "Generic JSON", absent))
    assert [(p.part, p.message, p.hint) for p in report.problems] == [
        ("ingest", "there is no file x", "check --source")
    ]
    assert (report.ingest, report.indexed) == (None, 0)


def test_an_enhancer_without_its_model_is_skipped_and_said(backend: Backend, book: Logbook) -> None:
    book.put("1", NOW)
    config = settings(enhancement_modules={}, embedding={"model": "no-such-model"})
    report = run(backend, book, config)
    assert (report.exit_code, [done.module for done in report.enhanced]) == (0, ["semantic_processor"])
    (note,) = report.notes
    assert note.startswith("text_embedding was skipped: ")


class Failing:
    """An enhancer that cannot work."""

    name = "text_embedding"
    order = 1

    def __init__(self, fault: Exception) -> None:
        self.fault = fault

    def create_enhancer(self, config: ARIELConfig, registry: Registry) -> Failing:
        return self

    def pending(self, backend: Backend) -> int:
        return 1

    def run(self, backend: Backend, **options: Any) -> Any:
        raise self.fault


class OneFailing(Registry):
    """The registry, with an enhancer that fails."""

    def __init__(self, fault: Exception) -> None:
        super().__init__()
        self.fault = fault

    def load(self, kind: Any, name: str) -> Any:
        failing = kind is ENHANCERS and name == "text_embedding"
        return Failing(self.fault) if failing else super().load(kind, name)


@pytest.mark.parametrize(
    ("fault", "problems", "done", "notes"),
    [
        (EmbeddingGenerationError("the server is away"), ["text_embedding"], ["semantic_processor"], 0),
        (DatabaseConnectionError("the logbook is away"), ["text_embedding"], [], 1),
    ],
)
def test_an_enhancer_that_fails(
    backend: Backend, book: Logbook, fault: Exception, problems: list[str], done: list[str], notes: int
) -> None:
    book.put("1", NOW)
    config = settings(enhancement_modules={})
    report = sync(backend, config, OneFailing(fault), source_of(book, config))
    assert [problem.part for problem in report.problems] == problems
    assert [run.module for run in report.enhanced] == done
    assert (len(report.notes), counts(report), report.exit_code) == (notes, (1, 0, 0), 1)


def test_ctrl_c_ends_it_and_is_said(backend: Backend, book: Logbook) -> None:
    book.put("1", NOW)
    config = settings(enhancement_modules={})
    report = sync(backend, config, OneFailing(KeyboardInterrupt()), source_of(book, config))  # type: ignore[arg-type]
    assert (report.interrupted, counts(report), report.enhanced) == (True, (1, 0, 0), [])


def test_a_file_is_read_as_a_whole_each_time(backend: Backend, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"

    def write(*texts: str) -> None:
        times = [datetime.now(UTC) - timedelta(days=10 * index) for index in range(len(texts))]
        lines = [
            {"id": str(index), "timestamp": time.isoformat(), "text": text}
            for index, (time, text) in enumerate(zip(times, texts, strict=True))
        ]
        path.write_text("\n".join(json.dumps(line) for line in lines))

    def synced() -> SyncReport:
        source = SyncSource(str(path), "Generic JSON", lambda: generic_json.create_adapter(AdapterOptions(str(path))))
        return sync(backend, settings(), Registry(), source, SyncOptions(enhance=False))

    write("a", "b", "c")
    assert counts(synced()) == (3, 0, 0)
    write("a", "b", "edited", "d")
    assert synced().since is None
    (entry,) = backend.get_entries(["2"])
    assert entry["raw_text"] == "edited"


def test_runs_of_another_source_say_nothing_of_this_one(backend: Backend, book: Logbook) -> None:
    book.put("old", NOW - 100 * DAY)
    book.put("new", NOW)
    config = settings()
    source = source_of(book, config)
    sync(backend, config, Registry(), SyncSource("export", source.source_system, source.open))
    backend.delete(["old"])
    assert counts(run(backend, book, config)) == (1, 0, 1)
