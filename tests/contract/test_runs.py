"""The history of ingestion: what a run is told at its end goes over what it began with, key by key."""

from __future__ import annotations

from ariel_lite.backends.base import Backend


def finish(backend: Backend, run: int, metadata: dict[str, object], error: str | None = None) -> None:
    backend.finish_run(run, added=1, updated=2, failed=3, error=error, metadata=metadata)


def test_metadata_is_replaced_key_by_key(backend: Backend) -> None:
    run = backend.start_run("ALS eLog", {"kept": 1, "gone": 2, "range": {"from": "a", "to": "b"}})
    finish(backend, run, {"gone": None, "range": {"to": None}, "parts": [{"since": None}]})
    (found,) = backend.runs()
    assert found.metadata == {"kept": 1, "range": {"to": None}, "parts": [{"since": None}]}
    assert (found.status, found.entries_added, found.entries_updated, found.entries_failed) == ("success", 1, 2, 3)


def test_texts_that_no_database_can_store_do_not_lose_the_run(backend: Backend) -> None:
    run = backend.start_run("ALS\x00eLog", {"source": "caf\udce9"})
    finish(backend, run, {"failures": [{"reason": "bad byte \x00"}]}, error="no \udce9 \x00 file")
    (found,) = backend.runs()
    assert found.status == "failed"
    assert found.source_system == "ALS eLog"
    assert found.error_message is not None
    for text in (found.error_message, found.metadata["source"], found.metadata["failures"][0]["reason"]):
        text.encode()
        assert "\x00" not in text
