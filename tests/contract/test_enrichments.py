"""Summaries and keywords: claimed, stored, indexed; dropped when the text they were made of changes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np
import pytest
from logbooks import MakeLogbook, entries, entry, exact

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import Enrichment, EntryVectors, PendingText, VectorModel
from ariel_lite.records import EnhancedLogbookEntry

MODULE = "semantic_processor"
MODEL = VectorModel("tiny", 2, "tiny-1")


def claim(backend: Backend, worker: str = "w1", limit: int = 100) -> list[PendingText]:
    return backend.claim_unenhanced(MODULE, worker, limit)


def claimed(backend: Backend, worker: str = "w1", limit: int = 100) -> list[str]:
    return [pending.entry_id for pending in claim(backend, worker, limit)]


def found_in(pending: PendingText, summary: str = "about septa", *keywords: str) -> Enrichment:
    return Enrichment(pending.entry_id, pending.text_hash, summary, keywords)


def enrich(backend: Backend, summary: str = "about septa", *keywords: str) -> int:
    return backend.store_enrichments(MODULE, [found_in(pending, summary, *keywords) for pending in claim(backend)])


def stored(backend: Backend, entry_id: str = "E1") -> EnhancedLogbookEntry:
    return backend.get_entries([entry_id])[0]


def words(backend: Backend, entry_id: str = "E1") -> tuple[Any, Any]:
    return stored(backend, entry_id).get("summary"), stored(backend, entry_id).get("keywords")


def test_what_is_stored_is_found(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["klystron trip", "beam back"])
    backend = book.service.backend
    before = stored(backend)
    pending = claim(backend)
    assert [one.text for one in pending] == ["klystron trip", "beam back"]
    made = [found_in(pending[0], "the septum sparked", "kicker pulse", "rf"), found_in(pending[1], "")]
    assert backend.store_enrichments(MODULE, made) == 2
    assert words(backend) == ("the septum sparked", ["kicker pulse", "rf"])
    assert words(backend, "E2") == (None, [])
    assert exact(book, "septum") == exact(book, '"kicker pulse"') == ["E1"]
    after = stored(backend)
    assert after["updated_at"] > before["updated_at"]
    assert (after["created_at"], after["raw_text"]) == (before["created_at"], before["raw_text"])
    assert backend.enhancement_counts(MODULE) == {"complete": 2, "failed": 0, "pending": 0}
    assert claimed(backend) == []
    assert backend.check() == []
    assert backend.status().unindexed == 0


def test_the_source_again_is_no_change(backend: Backend) -> None:
    backend.upsert(entries("a"))
    enrich(backend, "made", "x")
    assert backend.upsert(entries("a")).unchanged == 1
    assert words(backend) == ("made", ["x"])


def test_a_text_changed_since_the_claim_stays_pending(backend: Backend) -> None:
    backend.upsert(entries("a", "b"))
    pending = claim(backend)
    backend.upsert([entry("E1", "a, edited")])
    assert backend.store_enrichments(MODULE, [found_in(one) for one in pending]) == 1
    assert words(backend) == (None, [])
    assert claimed(backend) == ["E1"]
    backend.delete(["E1"])
    assert backend.store_enrichments(MODULE, [found_in(pending[0])]) == 0


def test_enhancers_words_go_with_the_text_and_the_sources_own_stay(backend: Backend) -> None:
    backend.upsert([entry("E1", "one"), entry("E2", "two", summary="from the source", keywords=["own"])])
    enrich_first = [found_in(one, "made", "x") for one in claim(backend) if one.entry_id == "E1"]
    backend.store_enrichments(MODULE, enrich_first)
    backend.upsert([entry("E1", "one, edited"), entry("E2", "two, edited")])
    assert words(backend, "E1") == (None, [])
    assert words(backend, "E2") == ("from the source", ["own"])
    assert stored(backend, "E1")["enhancement_status"] == {}


def test_an_edit_of_what_was_read_drops_enhancers_words_too(backend: Backend) -> None:
    backend.upsert([entry("E1", "one")])
    enrich(backend, "made", "x")
    edited = cast(EnhancedLogbookEntry, {**stored(backend), "raw_text": "one, edited"})
    assert backend.upsert([edited]).updated == ["E1"]
    assert words(backend) == (None, [])
    assert stored(backend)["enhancement_status"] == {}
    enrich(backend, "made", "x")
    own = cast(EnhancedLogbookEntry, {**stored(backend), "raw_text": "third", "summary": "by hand"})
    backend.upsert([own])
    assert words(backend) == ("by hand", [])


def test_a_copy_brings_its_words_and_statuses(backend: Backend) -> None:
    backend.upsert([entry("E1", "one")])
    enrich(backend, "made", "x")
    status = {MODULE: {"status": "complete", "completed_at": "2026-01-01T00:00:00.000000Z"}}
    copy = entry("E1", "one, edited", summary="made", keywords=["x"])
    copy["enhancement_status"] = status
    backend.upsert([copy])
    assert words(backend) == ("made", ["x"])
    assert stored(backend)["enhancement_status"] == status


def test_words_leave_vectors_as_they_are(backend: Backend) -> None:
    backend.upsert(entries("a", "b"))
    vector = np.array([1, 0], dtype=np.float32)
    made = [EntryVectors(pending, vector, vector[np.newaxis]) for pending in backend.claim_pending(MODEL, "v", 9)]
    assert backend.store_vectors(MODEL, made) == 2
    pending = claim(backend)
    backend.store_enrichments(MODULE, [found_in(pending[0], "new words"), found_in(pending[1], "")])
    for entry_id in ("E1", "E2"):
        assert stored(backend, entry_id)["enhancement_status"]["text_embedding"]["status"] == "complete"
    assert backend.claim_pending(MODEL, "v", 9) == []
    assert backend.vector_counts(MODEL).current == 2


def test_dropped_vectors_are_pending_where_no_other_model_has_one(backend: Backend) -> None:
    backend.upsert(entries("a", "b"))
    vector = np.array([1, 0], dtype=np.float32)
    other = VectorModel("other", 2, "other-1")
    for model, limit in ((MODEL, 2), (other, 1)):
        made = [EntryVectors(one, vector, vector[np.newaxis]) for one in backend.claim_pending(model, "v", limit)]
        backend.store_vectors(model, made)
    assert backend.drop_vectors(MODEL.name) == 2
    assert stored(backend, "E1")["enhancement_status"]["text_embedding"]["status"] == "complete"
    assert stored(backend, "E2")["enhancement_status"]["text_embedding"] == {"status": "pending"}
    assert backend.drop_vectors(other.name) == 1
    assert backend.enhancement_counts("text_embedding") == {"complete": 0, "failed": 0, "pending": 2}
    assert backend.status().unindexed == 0


def test_nobody_gets_a_claimed_entry_until_it_is_given_back(backend: Backend) -> None:
    backend.upsert(entries("a", "b", "c", "d"))
    assert claimed(backend, "w1", 2) == ["E1", "E2"]
    assert claimed(backend, "w2") == ["E3", "E4"]
    assert claimed(backend, "w1") == claimed(backend, "w3") == []
    assert [p.entry_id for p in backend.claim_unenhanced("other", "w3", 1)] == ["E1"]
    backend.release_claims("w1")
    assert claimed(backend, "w3") == ["E1", "E2"]
    backend.mark_failed(MODULE, {"E1": "x"})
    backend.mark_complete(MODULE, ["E2"])
    backend.release_claims("w3")
    assert claimed(backend, "w3") == []
    backend.mark_pending(MODULE, "failed")
    assert claimed(backend, "w3") == ["E1"]


def test_what_changes_behind_a_worker_is_found_last(backend: Backend) -> None:
    backend.upsert(entries("a", "b", "c"))
    first = claim(backend, limit=2)
    backend.store_enrichments(MODULE, [found_in(one) for one in first])
    backend.upsert([entry("E1", "a, edited")])
    assert claimed(backend, limit=1) == ["E3"]
    assert claimed(backend, limit=1) == ["E1"]
    assert claimed(backend, limit=1) == []


@pytest.mark.parametrize("kind", ["enrichments", "vectors"])
def test_workers_share_a_backlog_without_doing_an_entry_twice(backend: Backend, kind: str) -> None:
    backend.upsert(entries(*[f"text {number}" for number in range(300)]))
    done: list[str] = []
    lock = threading.Lock()
    vector = np.array([1, 0], dtype=np.float32)

    def work(worker: str) -> None:
        while True:
            if kind == "vectors":
                batch = backend.claim_pending(MODEL, worker, 7)
                backend.store_vectors(MODEL, [EntryVectors(one, vector, vector[np.newaxis]) for one in batch])
            else:
                batch = claim(backend, worker, 7)
                backend.store_enrichments(MODULE, [found_in(one) for one in batch])
            with lock:
                done.extend(one.entry_id for one in batch)
            if not batch:
                return

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, ["w1", "w2", "w3"]))
    # A worker may have found nothing free while the last ones were being taken by others.
    work("last")
    assert sorted(done) == sorted(backend.entry_ids())
