"""Bringing back what was written in a file: once, whole, and never over another entry."""

from __future__ import annotations

from typing import Any

import pytest
from logbooks import entry

from ariel_lite.attachments import stored_url
from ariel_lite.compose import Logbook
from ariel_lite.exchange.push import PushReport, push
from ariel_lite.ingestion.authoring import LOCAL_SOURCES, new_entry
from ariel_lite.records import EnhancedLogbookEntry

NAME = "postgresql://server/logbook"
FILE = "att-0123456789ab"


def written(subject: str, source: str = "ARIEL CLI") -> EnhancedLogbookEntry:
    return new_entry(subject, "details", author="me", source_system=source, tags=["rf"])


def pushed(file: Logbook, server: Logbook, **options: Any) -> PushReport:
    return push(file.service.backend, server.service.backend, name=NAME, **options)


def test_what_was_written_here_is_sent_and_nothing_else(server: Logbook, file: Logbook) -> None:
    local = [written(f"by {source}", source) for source in LOCAL_SOURCES]
    file.service.backend.upsert([*local, entry("T1", "from a source", source="TUNNEL ARIEL CLI copy")])
    report = pushed(file, server)
    assert sorted(report.sent) == sorted(one["entry_id"] for one in local)
    assert sorted(server.service.backend.entry_ids()) == sorted(report.sent)
    there = server.get(local[0]["entry_id"])
    assert there is not None
    assert (there["raw_text"], there["author"], there["metadata"]) == (
        local[0]["raw_text"],
        "me",
        local[0]["metadata"],
    )
    again = pushed(file, server)
    assert (again.sent, again.known, again.conflicts) == ([], 3, [])


def test_files_go_with_their_entry(server: Logbook, file: Logbook) -> None:
    one = written("with a picture")
    one["attachments"] = [{"url": stored_url(FILE), "filename": "scope.png"}]
    file.service.backend.upsert([one])
    file.service.backend.store_attachment(one["entry_id"], FILE, "scope.png", "image/png", b"picture")
    assert pushed(file, server, dry_run=True).files == 1
    assert pushed(file, server).files == 1
    stored = server.service.backend.get_attachment(FILE)
    assert stored is not None
    assert (stored.entry_id, stored.data) == (one["entry_id"], b"picture")


def test_what_the_server_has_differently_is_listed_and_kept(server: Logbook, file: Logbook) -> None:
    one, other = written("first"), written("second")
    file.service.backend.upsert([one, other])
    changed: EnhancedLogbookEntry = {**one, "raw_text": "edited on the server", "author": "them"}
    server.service.backend.upsert([changed])
    report = pushed(file, server)
    assert [(conflict.entry_id, conflict.fields) for conflict in report.conflicts] == [
        (one["entry_id"], ("author", "raw_text"))
    ]
    assert report.sent == [other["entry_id"]]
    kept = server.get(one["entry_id"])
    assert kept is not None
    assert kept["raw_text"] == "edited on the server"


def test_a_dry_run_only_compares(server: Logbook, file: Logbook) -> None:
    file.service.backend.upsert([written("first")])
    assert len(pushed(file, server, dry_run=True).sent) == 1
    assert list(server.service.backend.entry_ids()) == []


def test_an_entry_that_arrives_meanwhile_is_not_overwritten(
    server: Logbook, file: Logbook, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = written("first"), written("second")
    file.service.backend.upsert([one, other])
    there = server.service.backend
    looked = there.get_entries

    def look_and_be_overtaken(entry_ids: list[str]) -> list[EnhancedLogbookEntry]:
        found = looked(entry_ids)
        monkeypatch.setattr(there, "get_entries", looked)
        there.upsert([{**one, "raw_text": "from another push"}])
        return found

    monkeypatch.setattr(there, "get_entries", look_and_be_overtaken)
    report = pushed(file, server)
    assert report.sent == [other["entry_id"]]
    assert [conflict.entry_id for conflict in report.conflicts] == [one["entry_id"]]
    kept = server.get(one["entry_id"])
    assert kept is not None
    assert kept["raw_text"] == "from another push"


def test_how_far_it_is_is_told(server: Logbook, file: Logbook) -> None:
    file.service.backend.upsert([written(f"entry {number}") for number in range(7)])
    done: list[int] = []
    pushed(file, server, progress=done.append)
    assert sum(done) == 7
