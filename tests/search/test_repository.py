"""ARIEL's repository methods, on every backend."""

from __future__ import annotations

from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import anyio
import pytest
from logbooks import FIRST, MakeLogbook, entry

from ariel_lite.backends.values import SearchPlan
from ariel_lite.compose import Logbook
from ariel_lite.errors import EntryNotFoundError, InvalidRequestError
from ariel_lite.query.nodes import BoundNode
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.repository import ARIELRepository

Answer = TypeVar("Answer")
SMITHS = [
    entry("E1", "vacuum pump tripped", author="Smith", source="ALS eLog", at=FIRST),
    entry("E2", "orbit correction", author="J. Smith", source="JLab Logbook", at=FIRST + timedelta(hours=1)),
    entry("E3", "kicker misfired", author="SMITH", source="ALS eLog", at=FIRST + timedelta(hours=2)),
    entry("E4", "septum water", author="", source="ALS eLog old", at=FIRST + timedelta(hours=3)),
]
KEYS = {
    "entry_id", "source_system", "timestamp", "author", "raw_text", "attachments", "metadata", "created_at", "updated_at",
    "summary", "keywords", "enhancement_status",
}  # fmt: skip


def run(work: Coroutine[Any, Any, Answer]) -> Answer:
    """The answer of a coroutine."""

    async def awaited() -> Answer:
        return await work

    return anyio.run(awaited)


def ids(found: list[EnhancedLogbookEntry]) -> list[str]:
    return [entry["entry_id"] for entry in found]


@pytest.fixture
def book(make_logbook: MakeLogbook) -> Logbook:
    """A logbook with four entries."""
    return make_logbook(SMITHS)


@pytest.fixture
def repository(book: Logbook) -> ARIELRepository:
    """Its repository."""
    return book.service.repository


def test_entries_come_by_id_with_all_keys_and_aware_times(repository: ARIELRepository) -> None:
    one = run(repository.get_entry("E2"))
    assert one is not None
    assert set(one) == KEYS
    assert one["timestamp"] == FIRST + timedelta(hours=1)
    assert one["timestamp"].tzinfo is not None
    assert run(repository.get_entry("nowhere")) is None
    assert ids(run(repository.get_entries_by_ids(["E3", "nowhere", "E1"]))) == ["E3", "E1"]
    assert run(repository.get_entries_by_ids([])) == []


def test_upsert_stores_and_updates_and_keeps_what_enhancers_and_uploads_added(book: Logbook) -> None:
    repository, backend = book.service.repository, book.service.backend
    made = entry("N1", "new text", attachments=[{"url": "a.png"}], summary="told", keywords=["new"], tags=["x"])
    run(repository.upsert_entry(made))
    backend.mark_complete("semantic_processor", ["N1"])
    first = run(repository.get_entry("N1"))
    assert first is not None
    later = entry("N1", "new text", author="Wrona")
    later["created_at"] = FIRST + timedelta(days=9)
    run(repository.upsert_entry(later))
    second = run(repository.get_entry("N1"))
    assert second is not None
    assert (second["author"], second["metadata"]) == ("Wrona", {})
    assert second["attachments"] == [{"url": "a.png"}]
    assert (second["summary"], second["keywords"]) == ("told", ["new"])
    assert second["enhancement_status"]["semantic_processor"]["status"] == "complete"
    assert second["created_at"] == first["created_at"]
    run(repository.upsert_entry({**later, "attachments": [{"url": "b.png"}]}))
    assert (run(repository.get_entry("N1")) or {})["attachments"] == [{"url": "b.png"}]


def test_a_new_text_makes_an_entry_pending_again(book: Logbook) -> None:
    repository = book.service.repository
    run(repository.mark_enhancement_complete("E1", "semantic_processor"))
    run(repository.upsert_entry({**SMITHS[0], "raw_text": "something else"}))
    assert ids(run(repository.get_incomplete_entries("semantic_processor"))) == ["E1", "E2", "E3", "E4"]


def test_naive_times_are_the_facilitys(make_logbook: MakeLogbook) -> None:
    repository = make_logbook(zone="Europe/Berlin").service.repository
    naive = {**SMITHS[0], "timestamp": datetime(2026, 7, 1, 12, 0)}
    run(repository.upsert_entry(naive))
    assert (run(repository.get_entry("E1")) or {})["timestamp"] == datetime(2026, 7, 1, 10, 0, tzinfo=UTC)
    assert run(repository.count_entries(datetime(2026, 7, 1, 12, 0), datetime(2026, 7, 1, 12, 0))) == 1


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["E4", "E3", "E2", "E1"]),
        ({"start": FIRST + timedelta(hours=1)}, ["E4", "E3", "E2"]),
        ({"end": FIRST + timedelta(hours=1)}, ["E2", "E1"]),
        ({"start": FIRST, "end": FIRST}, ["E1"]),
        ({"start": FIRST + timedelta(microseconds=1), "end": FIRST + timedelta(hours=1)}, ["E2"]),
        ({"start": FIRST + timedelta(hours=2), "end": FIRST}, []),
        ({"author": "Smith"}, ["E3", "E1"]),
        ({"author": "J. Smith"}, ["E2"]),
        ({"author": "Smit"}, []),
        ({"source_system": "ALS eLog"}, ["E3", "E1"]),
        ({"source_system": "ALS eLog old", "author": "Smith"}, []),
        ({"limit": 2}, ["E4", "E3"]),
        ({"limit": 2, "offset": 3}, ["E1"]),
        ({"author": "Smith", "limit": 1, "offset": 1}, ["E1"]),
    ],
)
def test_a_span_newest_first_with_filters_and_pages(
    repository: ARIELRepository, filters: dict[str, Any], expected: list[str]
) -> None:
    assert ids(run(repository.search_by_time_range(**filters))) == expected
    if not {"limit", "offset"} & set(filters):
        assert run(repository.count_entries(**filters)) == len(expected)


def test_a_blank_author_is_refused(repository: ARIELRepository) -> None:
    with pytest.raises(InvalidRequestError):
        run(repository.count_entries(author=" "))


def test_distinct_names_are_sorted_and_not_blank(repository: ARIELRepository) -> None:
    assert run(repository.get_distinct_authors()) == ["J. Smith", "SMITH", "Smith"]
    assert run(repository.get_distinct_source_systems()) == ["ALS eLog", "ALS eLog old", "JLab Logbook"]


def test_files_go_in_and_come_out(repository: ARIELRepository) -> None:
    run(repository.store_attachment("E1", "att-1", "scope.png", "image/png", b"abc", 3))
    run(repository.store_attachment("E1", "att-2", "notes.txt", None, b"", 0))
    found = run(repository.get_attachment("att-1"))
    assert found is not None
    keys = {"attachment_id", "entry_id", "filename", "mime_type", "size_bytes", "created_at"}
    assert set(found) == {*keys, "data"}
    assert (found["data"], found["size_bytes"], found["mime_type"]) == (b"abc", 3, "image/png")
    listed = run(repository.get_attachments_for_entry("E1"))
    assert [set(file) for file in listed] == [keys, keys]
    assert sorted(file["attachment_id"] for file in listed) == ["att-1", "att-2"]
    assert next(file["mime_type"] for file in listed if file["attachment_id"] == "att-2") == "text/plain"
    assert run(repository.get_attachment("nowhere")) is None
    assert run(repository.get_attachments_for_entry("E2")) == []


def test_files_of_no_entry_or_another_length_are_refused(repository: ARIELRepository) -> None:
    with pytest.raises(EntryNotFoundError):
        run(repository.store_attachment("nowhere", "att-1", "a.txt", None, b"x", 1))
    with pytest.raises(InvalidRequestError):
        run(repository.store_attachment("E1", "att-1", "a.txt", None, b"x", 2))
    assert run(repository.get_attachment("att-1")) is None


def test_enhancements_are_noted_and_counted(repository: ARIELRepository) -> None:
    run(repository.mark_enhancement_complete("E1", "semantic_processor"))
    run(repository.mark_enhancement_failed("E2", "semantic_processor", "x" * 900))
    run(repository.mark_enhancement_complete("nowhere", "semantic_processor"))
    stats = run(repository.get_enhancement_stats())
    assert stats["total_entries"] == 4
    assert stats["semantic_processor"] == {"complete": 1, "failed": 1, "pending": 2}
    assert stats["text_embedding"] == {"complete": 0, "failed": 0, "pending": 4}
    failed = (run(repository.get_entry("E2")) or {})["enhancement_status"]["semantic_processor"]
    assert (failed["status"], failed["error"]) == ("failed", "x" * 500)
    assert datetime.fromisoformat(failed["failed_at"]).tzinfo is not None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("semantic_processor",), ["E2", "E3", "E4"]),
        (("semantic_processor", "failed"), ["E2"]),
        (("semantic_processor", "pending"), ["E3", "E4"]),
        (("semantic_processor", None, 1), ["E2"]),
        (("text_embedding", "failed"), []),
        ((), ["E1", "E2", "E3", "E4"]),
        ((None, "failed"), ["E2"]),
    ],
)
def test_incomplete_entries_oldest_first(
    repository: ARIELRepository, arguments: tuple[Any, ...], expected: list[str]
) -> None:
    run(repository.mark_enhancement_complete("E1", "semantic_processor"))
    run(repository.mark_enhancement_failed("E2", "semantic_processor", "no answer"))
    assert ids(run(repository.get_incomplete_entries(*arguments))) == expected


def test_ingestion_runs_begin_and_end(repository: ARIELRepository) -> None:
    assert run(repository.get_last_successful_run("ALS eLog")) is None
    first, second, third = (run(repository.start_ingestion_run("ALS eLog")) for _ in range(3))
    assert first < second < third
    run(repository.complete_ingestion_run(first, 3, 2, 1))
    ended = run(repository.get_last_successful_run("ALS eLog"))
    assert ended is not None
    run(repository.fail_ingestion_run(second, "e" * 900))
    assert run(repository.get_last_successful_run("ALS eLog")) == ended
    assert run(repository.get_last_successful_run("JLab Logbook")) is None
    runs = {found.run_id: found for found in repository.backend.runs("ALS eLog")}
    assert (runs[first].status, runs[first].entries_added, runs[first].entries_updated) == ("success", 3, 2)
    assert runs[first].entries_failed == 1
    assert (runs[second].status, runs[second].error_message) == ("failed", "e" * 500)
    assert (runs[third].status, runs[third].completed_at) == ("running", None)


def test_health_and_status(book: Logbook) -> None:
    assert run(book.service.repository.health_check()) == (True, "Database connected")
    assert run(book.service.health_check()) == (True, "Database connected")
    assert run(book.service.get_status()).entry_count == 4


def tree(book: Logbook, query: str) -> BoundNode:
    context = book.service.context
    return context.plan(book.service.modes.get("keyword").args_schema(query=query)).tree


def test_keyword_and_fuzzy_search_take_a_plan(book: Logbook) -> None:
    repository = book.service.repository
    (hit,) = run(repository.keyword_search(SearchPlan(tree(book, "pump author:smith"))))
    assert (hit[0]["entry_id"], hit[2]) == ("E1", ["vacuum <b>pump</b> tripped"])
    assert hit[1] > 0
    assert run(repository.keyword_search(SearchPlan(tree(book, "pump")), False))[0][2] == []
    assert run(repository.keyword_search(SearchPlan(tree(book, "pomp")))) == []
    ((near, score, _),) = run(repository.fuzzy_search(SearchPlan(tree(book, "vacuun"))))
    assert near["entry_id"] == "E1"
    assert 0.3 <= score < 1
    assert run(repository.fuzzy_search(SearchPlan(tree(book, "vacuun")), 0.99)) == []
