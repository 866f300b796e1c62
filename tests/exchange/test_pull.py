"""Taking a server's logbook along: all of it, what is new, what is gone; interrupted and gone on with."""

from __future__ import annotations

import signal
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from logbooks import entry, exact

from ariel_lite.access import restriction
from ariel_lite.attachments import stored_url
from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import VectorModel
from ariel_lite.compose import Logbook
from ariel_lite.exchange.pull import PullOptions, PullReport, pull
from ariel_lite.query.nodes import conjunction
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.registry import ENHANCERS

NAME = "postgresql://server/logbook"
FILE = "att-0123456789ab"


def contents(book: Logbook) -> dict[str, dict[str, Any]]:
    """Entries by id without what is each logbook's own: when a row was made and changed."""
    backend = book.service.backend
    kept = backend.get_entries(list(backend.entry_ids()))
    own = ("created_at", "updated_at", "enhancement_status")
    return {one["entry_id"]: {key: value for key, value in one.items() if key not in own} for one in kept}


def some(count: int, text: str = "klystron trip") -> list[EnhancedLogbookEntry]:
    return [entry(f"E{number:04d}", f"{text} number {number}", author=f"A{number % 3}") for number in range(count)]


def pulled(server: Logbook, file: Logbook, **options: Any) -> PullReport:
    return pull(server.service.backend, file.service.backend, PullOptions(**options), name=NAME)


def embed(book: Logbook) -> VectorModel:
    service = book.service
    enhancer = service.registry.load(ENHANCERS, "text_embedding").create_enhancer(service.config, service.registry)
    enhancer.run(service.backend)
    model: VectorModel = enhancer.model
    return model


def with_file(entry_id: str) -> EnhancedLogbookEntry:
    return entry(entry_id, "see the scope picture", attachments=[{"url": stored_url(FILE), "filename": "scope.png"}])


def test_everything_comes_along_and_then_only_what_is_new(server: Logbook, file: Logbook) -> None:
    there = server.service.backend
    there.upsert([*some(50), entry("S1", "with summary", summary="In short", keywords=["alpha", "beta"], tags=["rf"])])
    first = pulled(server, file)
    assert (first.added, first.updated, first.unchanged) == (51, 0, 0)
    assert contents(file) == contents(server)
    assert exact(file, "alpha") == ["S1"]
    there.upsert([entry("E0001", "klystron repaired", author="B"), entry("N1", "a new one")])
    second = pulled(server, file)
    assert (second.added, second.updated) == (1, 1)
    assert contents(file) == contents(server)
    assert exact(file, "repaired") == ["E0001"]


def test_a_later_pull_looks_only_at_what_was_changed(
    server: Logbook, file: Logbook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ariel_lite.exchange.pull.OVERLAP", timedelta(0))
    server.service.backend.upsert(some(30))
    server.service.backend.upsert([entry("L1", "the last one of the first pull")])
    pulled(server, file)
    server.service.backend.upsert([entry("N1", "written long ago, brought in now", at="2020-01-01")])
    second = pulled(server, file)
    assert (second.added, second.unchanged) == (1, 1)
    assert pulled(server, file, full=True).unchanged == 32


def test_filters_choose_what_comes_along(server: Logbook, file: Logbook) -> None:
    server.service.backend.upsert(some(9))
    service = server.service
    limits = restriction(
        start_date=None,
        end_date=None,
        author="A1",
        source_system=None,
        exclude_entry_ids=(),
        zone=service.config.zone,
        now=service.context.clock(),
    )
    report = pulled(server, file, tree=conjunction(limits.conditions()), scope="author A1")
    assert sorted(contents(file)) == ["E0001", "E0004", "E0007"]
    assert report.added == 3
    assert pulled(server, file).added == 6


def test_vectors_come_along_and_are_found_by(server: Logbook, file: Logbook) -> None:
    server.service.backend.upsert([*some(20), entry("L1", "a long story " + "of the vacuum leak " * 400)])
    model = embed(server)
    report = pulled(server, file, vectors_of=model)
    assert report.vectors == 21
    assert file.service.backend.vector_counts(model) == server.service.backend.vector_counts(model)
    ours, theirs = (
        [
            (hit["entry_id"], round(hit["_score"], 5))
            for hit in book.search("vacuum leak story", mode="semantic").entries
        ]
        for book in (file, server)
    )
    assert ours == theirs
    assert ours[0][0] == "L1"


def test_vectors_that_the_server_makes_later_come_with_the_next_pull(server: Logbook, file: Logbook) -> None:
    server.service.backend.upsert(some(5))
    model = VectorModel("hashing", 256, file.service.context.embedder.fingerprint)
    assert pulled(server, file, vectors_of=model).vectors == 0
    embed(server)
    assert pulled(server, file, vectors_of=model).vectors == 5
    assert file.service.backend.vector_counts(model).current == 5


def test_vectors_of_another_text_stay_there(server: Logbook, file: Logbook) -> None:
    server.service.backend.upsert(some(3))
    model = embed(server)
    server.service.backend.upsert([entry("E0001", "another text altogether", author="A1")])
    assert pulled(server, file, vectors_of=model).vectors == 2


def test_files_come_along_when_asked_for(server: Logbook, file: Logbook) -> None:
    there, here = server.service.backend, file.service.backend
    there.upsert([with_file("E1")])
    there.store_attachment("E1", FILE, "scope.png", "image/png", b"picture")
    assert pulled(server, file).files == 0
    assert pulled(server, file, files=True).files == 1
    stored = here.get_attachment(FILE)
    assert stored is not None
    assert (stored.entry_id, stored.filename, stored.data) == ("E1", "scope.png", b"picture")
    assert pulled(server, file, files=True).files == 0


def test_a_mirror_removes_what_is_gone_but_not_what_was_written_here(server: Logbook, file: Logbook) -> None:
    server.service.backend.upsert(some(4))
    pulled(server, file)
    file.service.backend.upsert([entry("ariel-000000000001", "written here", source="ARIEL CLI")])
    server.service.backend.delete(["E0002"])
    assert pulled(server, file).removed == 0
    assert pulled(server, file, mirror=True).removed == 1
    assert sorted(contents(file)) == ["E0000", "E0001", "E0003", "ariel-000000000001"]


def test_an_id_that_another_source_has_here_is_kept_under_both(server: Logbook, file: Logbook) -> None:
    server.service.backend.upsert([with_file("42")])
    server.service.backend.store_attachment("42", FILE, "scope.png", "image/png", b"picture")
    file.service.backend.upsert([entry("42", "the local one", source="Diary")])
    report = pulled(server, file, files=True, mirror=True)
    assert report.renamed == {"42": "Generic JSON:42"}
    assert (report.files, report.removed) == (1, 0)
    assert sorted(contents(file)) == ["42", "Generic JSON:42"]


class Stopping:
    """A backend that stops after some batches, as a person or a broken network does."""

    def __init__(self, backend: Backend, batches: int, stop: Callable[[], None]) -> None:
        self._backend = backend
        self._left = batches
        self._stop = stop

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def upsert(self, entries: list[EnhancedLogbookEntry]) -> Any:
        if self._left == 0:
            self._stop()
        self._left -= 1
        return self._backend.upsert(entries)


def test_an_interrupted_pull_goes_on_where_it_was(
    server: Logbook, file: Logbook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ariel_lite.exchange.pull.BATCH", 10)
    for number in range(5):
        server.service.backend.upsert([entry(f"E{number}-{i}", f"text {i}") for i in range(10)])
    stopping: Any = Stopping(file.service.backend, 2, lambda: signal.raise_signal(signal.SIGINT))
    report = pull(server.service.backend, stopping, PullOptions(), name=NAME)
    assert report.interrupted
    assert report.added in (20, 30)
    assert report.watermark is not None
    assert pulled(server, file).added == 50 - report.added
    assert contents(file) == contents(server)


def test_how_far_each_part_is_is_told(server: Logbook, file: Logbook) -> None:
    there = server.service.backend
    there.upsert([*some(50), with_file("F1")])
    there.store_attachment("F1", FILE, "scope.png", "image/png", b"picture")
    done: dict[str, list[int]] = {}
    options = PullOptions(files=True)
    pull(there, file.service.backend, options, name=NAME, progress=lambda part: done.setdefault(part, []).append)
    assert {part: sum(counts) for part, counts in done.items()} == {"entries": 51, "files": 1}
