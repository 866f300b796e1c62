"""What enhancers did to which entry."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from logbooks import FIRST, entries, entry

from ariel_lite.backends.base import Backend
from ariel_lite.errors import InvalidRequestError

MODULE = "semantic_processor"


def status(backend: Backend, entry_id: str, module: str = MODULE) -> Any:
    return backend.get_entries([entry_id])[0]["enhancement_status"].get(module)


def ids(found: list[Any]) -> list[str]:
    return [one["entry_id"] for one in found]


def counts(complete: int, failed: int, pending: int) -> dict[str, int]:
    return {"complete": complete, "failed": failed, "pending": pending}


def test_entries_are_pending_until_marked(backend: Backend) -> None:
    backend.upsert(entries("a", "b", "c", "d"))
    assert backend.enhancement_counts(MODULE) == counts(0, 0, 4)
    assert backend.mark_complete(MODULE, ["E1", "E2", "E1", "none"]) == 2
    assert backend.mark_failed(MODULE, {"E3": "no \x00 answer", "none": "x"}) == 1
    assert backend.enhancement_counts(MODULE) == counts(2, 1, 1)
    assert backend.enhancement_counts("other") == counts(0, 0, 4)
    assert set(status(backend, "E1")) == {"status", "completed_at"}
    failed = status(backend, "E3")
    assert (failed["status"], failed["error"], set(failed)) == (
        "failed",
        "no   answer",
        {"status", "failed_at", "error"},
    )
    assert failed["failed_at"].endswith("Z")
    assert status(backend, "E4") is None


def test_a_new_status_replaces_the_old_one_whole_and_leaves_other_modules(backend: Backend) -> None:
    backend.upsert(entries("a"))
    backend.mark_failed(MODULE, {"E1": "first"})
    backend.mark_complete('od"d', ["E1"])
    backend.mark_complete(MODULE, ["E1"])
    assert set(status(backend, "E1")) == {"status", "completed_at"}
    backend.mark_failed(MODULE, {"E1": "again"})
    assert set(status(backend, "E1")) == {"status", "failed_at", "error"}
    assert status(backend, "E1", 'od"d')["status"] == "complete"
    assert backend.enhancement_counts('od"d') == counts(1, 0, 0)


def test_entries_wait_again(backend: Backend) -> None:
    backend.upsert(entries("a", "b", "c", "d"))
    backend.mark_complete(MODULE, ["E1", "E2"])
    backend.mark_failed(MODULE, {"E3": "x"})
    assert backend.mark_pending(MODULE, "failed") == 1
    assert status(backend, "E3") == {"status": "pending"}
    assert backend.enhancement_counts(MODULE) == counts(2, 0, 2)
    assert backend.mark_pending(MODULE, "pending") == 0
    backend.mark_failed(MODULE, {"E3": "x"})
    assert backend.mark_pending(MODULE) == 3
    assert backend.mark_pending(MODULE) == 0
    assert backend.enhancement_counts(MODULE) == counts(0, 0, 4)
    with pytest.raises(InvalidRequestError, match="no status 'done'"):
        backend.mark_pending(MODULE, "done")


def test_incomplete_entries_oldest_first(backend: Backend) -> None:
    later = FIRST + timedelta(days=1)
    backend.upsert([entry("L1", "late", at=later), entry("B", "b"), entry("A", "a"), entry("C", "c")])
    backend.mark_complete(MODULE, ["C"])
    backend.mark_failed(MODULE, {"L1": "x"})
    assert ids(backend.incomplete(MODULE)) == ["A", "B", "L1"]
    assert ids(backend.incomplete(MODULE, limit=2)) == ["A", "B"]
    assert ids(backend.incomplete(MODULE, "pending")) == ["A", "B"]
    assert ids(backend.incomplete(MODULE, "failed")) == ["L1"]
    assert ids(backend.incomplete(MODULE, "complete")) == ["C"]
    with pytest.raises(InvalidRequestError):
        backend.incomplete(MODULE, "done")


def test_statuses_that_come_with_entries_count(backend: Backend) -> None:
    done, failed = {"status": "complete", "completed_at": "x"}, {"status": "failed", "error": "y"}
    given = entries("a", "b", "c", "d")
    given[0]["enhancement_status"] = {MODULE: done, "other": failed}
    given[1]["enhancement_status"] = {MODULE: failed}
    given[2]["enhancement_status"] = {MODULE: {"status": "pending"}, "other": "odd", "third": None}
    backend.upsert(given)
    assert backend.enhancement_counts(MODULE) == counts(1, 1, 2)
    assert backend.enhancement_counts("other") == counts(0, 1, 3)
    assert backend.delete(["E1", "E2"]) == 2
    assert backend.enhancement_counts(MODULE) == counts(0, 0, 2)
    assert backend.enhancement_counts("other") == counts(0, 0, 2)
    assert backend.check() == []


def test_an_edited_text_is_pending_again(backend: Backend) -> None:
    backend.upsert(entries("a", "b"))
    backend.mark_complete(MODULE, ["E1", "E2"])
    backend.upsert([entry("E1", "a, edited"), entry("E2", "b", author="Jane")])
    assert status(backend, "E1") is None
    assert status(backend, "E2")["status"] == "complete"
    assert backend.enhancement_counts(MODULE) == counts(1, 0, 1)
    assert ids(backend.incomplete(MODULE)) == ["E1"]


def test_many_entries_are_counted_after_many_changes(backend: Backend) -> None:
    backend.upsert(entries(*[f"text {number}" for number in range(700)]))
    wanted = [f"E{number}" for number in range(1, 701)]
    assert backend.mark_complete(MODULE, wanted[:600]) == 600
    assert backend.mark_failed(MODULE, dict.fromkeys(wanted[600:650], "x")) == 50
    assert backend.enhancement_counts(MODULE) == counts(600, 50, 50)
    backend.delete(wanted[:10] + wanted[640:660])
    assert backend.enhancement_counts(MODULE) == counts(590, 40, 40)
    backend.reindex(everything=True)
    assert backend.enhancement_counts(MODULE) == counts(590, 40, 40)
    assert backend.check() == []
