"""Publishing: an entry becomes its source's, once, whatever fails on the way."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from logbooks import entry
from shelf import SOURCE, Shelf, install

from ariel_lite.backends.base import Backend
from ariel_lite.config import ARIELConfig
from ariel_lite.errors import ConfigurationError, EntryNotFoundError, IngestionError, InvalidRequestError
from ariel_lite.ingestion.authoring import MCP_SOURCE
from ariel_lite.ingestion.base import AdapterOptions
from ariel_lite.ingestion.drafts import EntryContent, new_file, store_entry
from ariel_lite.ingestion.pipeline import ingest
from ariel_lite.ingestion.publishing import NOTE, ORIGIN, Publication, publish_entry, publish_info
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.registry import ADAPTERS, Registry


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A source that takes new entries."""
    monkeypatch.syspath_prepend(str(install(tmp_path / "site")))
    return Shelf(tmp_path)


def written(backend: Backend, subject: str = "Septum sparks", details: str = "every 40 min", **more: Any) -> str:
    """A new local entry's id."""
    content = EntryContent(subject=subject, details=details, author="K. Ferreira", **more)
    return store_entry(backend, content, source_system=MCP_SOURCE)["entry_id"]


def publish(backend: Backend, shelf: Shelf, entry_id: str, **options: Any) -> Publication:
    return publish_entry(backend, shelf.config(), Registry(), entry_id, **options)


def sync(backend: Backend, shelf: Shelf) -> Any:
    """Ingest the source."""
    options = AdapterOptions(str(shelf.path))
    adapter = Registry().load(ADAPTERS, "shelf").create_adapter(options)
    return ingest(backend, adapter, source_label="shelf")


def only(backend: Backend) -> EnhancedLogbookEntry:
    """The one entry of a logbook."""
    [entry_id] = backend.entry_ids()
    return backend.get_entries([entry_id])[0]


def without_patience(backend: Backend, entry_id: str) -> None:
    """Let the last attempt have begun an hour ago."""
    [known] = backend.get_entries([entry_id])
    note = known["metadata"][NOTE]
    long_ago = (datetime.fromisoformat(note["last"]) - timedelta(hours=1)).isoformat()
    backend.upsert([{**known, "metadata": {**known["metadata"], NOTE: {**note, "last": long_ago}}}])


def test_a_published_entry_is_its_sources_and_the_next_ingestion_does_not_make_a_second(
    backend: Backend, shelf: Shelf
) -> None:
    local = written(backend, logbook="Operations", shift="Owl", tags=["septum"])
    done = publish(backend, shelf, local)
    assert done.to_dict() == {
        "entry_id": "1000", "source_system": SOURCE, "sync_status": "synced", "published_from": local,
        "message": f"{local}: published; it is 1000 of {SOURCE} now",
    }  # fmt: skip
    [record] = shelf.records
    assert (record["title"], record["text"], record["author"]) == ("Septum sparks", "every 40 min", "K. Ferreira")
    assert (record["logbook"], record["shift"], record["tags"]) == ("Operations", "Owl", ["septum"])
    kept = only(backend)
    assert (kept["entry_id"], kept["source_system"]) == ("1000", SOURCE)
    assert kept["raw_text"] == "Septum sparks\n\nevery 40 min"
    assert kept["metadata"][ORIGIN] == local
    assert NOTE not in kept["metadata"]
    report = sync(backend, shelf)
    assert (report.added, report.updated) == (0, 1)
    assert only(backend)["metadata"]["shelf"] is True
    assert sync(backend, shelf).unchanged == 1


def test_a_logbook_can_be_named_and_a_title_alone_is_enough(backend: Backend, shelf: Shelf) -> None:
    publish(backend, shelf, written(backend, "only a title", "", logbook="Operations"), logbook="RF")
    [record] = shelf.records
    assert (record["title"], record["text"], record["logbook"]) == ("only a title", "only a title", "RF")


def test_an_id_that_another_source_owns_is_stored_under_the_sources_name(backend: Backend, shelf: Shelf) -> None:
    backend.upsert([entry("1000", "another logbook's entry")])
    assert publish(backend, shelf, written(backend)).entry_id == f"{SOURCE}:1000"
    report = sync(backend, shelf)
    assert (report.added, report.updated) == (0, 1)
    assert sorted(backend.entry_ids()) == ["1000", f"{SOURCE}:1000"]


def test_a_refusal_leaves_the_entry_and_says_so(backend: Backend, shelf: Shelf) -> None:
    local = written(backend)
    shelf.fails("refuse")
    with pytest.raises(IngestionError, match=f"no room on the shelf; it stays here as {local}") as raised:
        publish(backend, shelf, local)
    assert raised.value.hint == "make room"
    kept = only(backend)
    assert (kept["entry_id"], kept["source_system"]) == (local, MCP_SOURCE)
    assert kept["metadata"][NOTE]["error"] == "no room on the shelf"
    shelf.fails()
    assert publish(backend, shelf, local).entry_id == "1000"
    assert len(shelf.records) == 1


@pytest.mark.parametrize("fault", ["lose", "crash"])
def test_what_arrived_without_an_answer_is_found_and_not_sent_again(backend: Backend, shelf: Shelf, fault: str) -> None:
    local = written(backend)
    shelf.fails(fault)
    with pytest.raises((IngestionError, RuntimeError)):
        publish(backend, shelf, local)
    assert only(backend)["entry_id"] == local
    shelf.fails()
    without_patience(backend, local)
    done = publish(backend, shelf, local)
    assert (done.entry_id, done.found) == ("1000", True)
    assert "nothing was sent again" in done.message
    assert len(shelf.records) == 1
    assert only(backend)["entry_id"] == "1000"


def test_what_an_ingestion_found_first_is_not_doubled(backend: Backend, shelf: Shelf) -> None:
    local = written(backend)
    shelf.fails("lose")
    with pytest.raises(IngestionError):
        publish(backend, shelf, local)
    sync(backend, shelf)
    assert len(list(backend.entry_ids())) == 2
    shelf.fails()
    assert publish(backend, shelf, local).entry_id == "1000"
    assert only(backend)["metadata"] == {"title": "Septum sparks", "shelf": True}


def test_an_equal_entry_from_before_is_not_taken_for_this_one(backend: Backend, shelf: Shelf) -> None:
    shelf.add("Septum sparks", "every 40 min")
    sync(backend, shelf)
    publish(backend, shelf, written(backend))
    local = written(backend)
    shelf.fails("refuse")
    with pytest.raises(IngestionError):
        publish(backend, shelf, local)
    shelf.fails()
    assert publish(backend, shelf, local).entry_id == "1002"
    assert [record["id"] for record in shelf.records] == ["1000", "1001", "1002"]


def test_nothing_is_sent_while_it_is_not_known_whether_it_arrived(backend: Backend, shelf: Shelf) -> None:
    local = written(backend)
    shelf.fails("refuse")
    with pytest.raises(IngestionError):
        publish(backend, shelf, local)
    shelf.fails("unreadable")
    with pytest.raises(IngestionError, match=f"not known whether {local} arrived.*the shelf is locked"):
        publish(backend, shelf, local)
    assert shelf.records == []
    assert only(backend)["entry_id"] == local


def test_two_at_the_same_time_send_once(backend: Backend, shelf: Shelf) -> None:
    local = written(backend)

    def attempt(_: int) -> str:
        try:
            return publish(backend, shelf, local).entry_id
        except (IngestionError, EntryNotFoundError) as fault:
            return type(fault).__name__

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(attempt, range(4)))
    assert answers.count("1000") == 1
    assert len(shelf.records) == 1
    assert only(backend)["entry_id"] == "1000"


def test_what_cannot_be_published_is_refused_before_anything_is_sent(backend: Backend, shelf: Shelf) -> None:
    backend.upsert([entry("E1", "from a source")])
    content = EntryContent(subject="with a file")
    with_file = store_entry(backend, content, source_system=MCP_SOURCE, files=[new_file("a.txt", b"a")])["entry_id"]
    with pytest.raises(EntryNotFoundError, match="no entry 'absent'"):
        publish(backend, shelf, "absent")
    with pytest.raises(InvalidRequestError, match="E1 is an entry of Generic JSON already"):
        publish(backend, shelf, "E1")
    with pytest.raises(InvalidRequestError, match="has 1 attachments"):
        publish(backend, shelf, with_file)
    assert shelf.records == []


def test_a_source_may_ask_who_writes(backend: Backend, shelf: Shelf) -> None:
    shelf.asks_who_writes()
    first, second = written(backend), written(backend, "another")
    assert publish_info(shelf.config(), Registry()).requires_auth
    with pytest.raises(InvalidRequestError, match="wants to know who writes"):
        publish(backend, shelf, first)
    publish(backend, shelf, first, auth_user="kf", auth_password="secret")
    configured = shelf.config(auth_user="ops", auth_password="secret")
    assert not publish_info(configured, Registry()).requires_auth
    publish_entry(backend, configured, Registry(), second)
    assert [record["user"] for record in shelf.records] == ["kf", "ops"]
    assert "secret" not in json.dumps([*shelf.records, *map(str, backend.get_entries(["1000", "1001"]))])


@pytest.mark.parametrize(
    ("ingestion", "reason"),
    [
        ({}, "no source to publish to is configured"),
        ({"adapter": "shelf"}, "publishing is switched off"),
        ({"adapter": "generic_json", "source_url": "{folder}/shelf.json", "write": {"enabled": True}}, "only reads"),
        ({"adapter": "nowhere", "write": {"enabled": True}}, "unknown adapter 'nowhere'"),
        ({"adapter": "generic_json", "source_url": "/absent.json", "write": {"enabled": True}}, "absent.json"),
    ],
)
def test_publish_info_says_why_not(tmp_path: Path, shelf: Shelf, ingestion: dict[str, Any], reason: str) -> None:
    if "source_url" in ingestion:
        ingestion = {**ingestion, "source_url": ingestion["source_url"].format(folder=tmp_path)}
    config = ARIELConfig.from_dict({"ingestion": ingestion})
    info = publish_info(config, Registry())
    assert (info.writable, info.adapter) == (False, ingestion.get("adapter"))
    assert reason in info.reason
    with pytest.raises((ConfigurationError, IngestionError)):
        publish_entry(None, config, Registry(), "x")  # type: ignore[arg-type]


def test_publish_info_names_the_source(shelf: Shelf) -> None:
    assert publish_info(shelf.config(), Registry()).to_dict() == {
        "writable": True, "adapter": "shelf", "source_system": SOURCE, "requires_auth": False, "reason": "",
    }  # fmt: skip


def test_the_note_keeps_when_the_first_attempt_began(backend: Backend, shelf: Shelf) -> None:
    local = written(backend)
    shelf.fails("refuse")
    before = datetime.now(UTC)
    notes = []
    for _ in range(2):
        with pytest.raises(IngestionError):
            publish(backend, shelf, local)
        notes.append(only(backend)["metadata"][NOTE])
    assert notes[0]["since"] == notes[1]["since"] >= before.isoformat()
    assert notes[1]["last"] > notes[0]["last"]
