"""The Phoebus Olog: JSON exports, and a server read and written over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ingestion_bench import Bench
from olog_server import OlogBook, log, serving

from ariel_lite.config import IngestionConfig
from ariel_lite.errors import ARIELException, ConfigurationError
from ariel_lite.ingestion.adapters.olog import create_adapter
from ariel_lite.ingestion.base import AdapterOptions, NewEntry
from ariel_lite.ingestion.olog_server import OlogServer
from ariel_lite.ingestion.pipeline import ingest
from ariel_lite.ingestion.report import IngestReport
from ariel_lite.web.neighbours import thread_of

AT = datetime(2024, 5, 6, 7, 8, 9, 123000, tzinfo=UTC)
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
WRITE = {"enabled": True, "auth_user": "jane", "auth_password": "secret"}


@pytest.fixture
def book() -> Iterator[OlogBook]:
    """A service with two logs."""
    with serving(OlogBook()) as served:
        served.put(1, AT, "first")
        served.put(2, AT + timedelta(days=300), "second")
        yield served


def opened(book: OlogBook, **config: Any) -> OlogServer:
    settings = IngestionConfig(**{"retry_delay_seconds": 0, "max_retries": 1, **config})
    adapter = create_adapter(AdapterOptions(book.url, config=settings, clock=lambda: NOW))
    assert isinstance(adapter, OlogServer)
    return adapter


def read(bench: Bench, book: OlogBook, *, since: datetime | None = None, **config: Any) -> IngestReport:
    return ingest(bench.backend, opened(book, **config), source_label=book.url, since=since)


def create(book: OlogBook, entry: NewEntry, **config: Any) -> str:
    return asyncio.run(opened(book, **{"write": WRITE, **config}).create_entry(entry))


def full(number: int = 7) -> dict[str, Any]:
    return log(
        number, AT, "Beam *dump*", source="Beam **dump**", level="Problem",
        logbooks=[{"name": "Operations"}, {"name": "RF"}], tags=[{"name": "Fault"}],
        properties=[{"name": "Ticket", "attributes": [{"name": "id", "value": "42"}, {"name": "url", "value": ""}]}],
        events=[{"name": "start", "instant": 1714979289000}],
    )  # fmt: skip


def test_a_log_becomes_an_entry(bench: Bench) -> None:
    bench.ingest({"hitCount": 1, "logs": [full()]}, "olog")
    entry = bench.entry("7")
    assert (entry["source_system"], entry["author"], entry["timestamp"]) == ("Phoebus Olog", "jane", AT)
    assert entry["raw_text"] == "title 7\n\nBeam *dump*"
    assert entry["metadata"] == {
        "title": "title 7", "logbook": ["Operations", "RF"], "tags": ["Fault"], "level": "Problem",
        "properties": {"Ticket": {"id": "42"}}, "events": [{"name": "start", "instant": 1714979289000}],
        "commonmark": "Beam **dump**",
    }  # fmt: skip


def in_thread(name: str) -> dict[str, Any]:
    """What makes a log part of a thread: the service gives it to a reply, and to what that one replies to."""
    others = {"name": "Ticket", "attributes": [{"name": "id", "value": "42"}]}
    return {"properties": [others, {"name": "Log Entry Group", "attributes": [{"name": "id", "value": name}]}]}


def threads(bench: Bench) -> dict[str, list[str]]:
    """Each entry's thread, itself left out."""
    found = bench.backend.get_entries(bench.ids())
    return {one["entry_id"]: [other["entry_id"] for other in thread_of(bench.backend, one)] for one in found}


def test_replies_of_an_export_are_a_thread_in_any_order(bench: Bench) -> None:
    days = [AT + timedelta(days=number) for number in range(5)]
    logs = [log(3, days[3], **in_thread("b")), log(2, days[2], **in_thread("a")), log(4, days[4], **in_thread(""))]
    bench.ingest([*logs, log(1, days[1], **in_thread("a"))], "olog")
    assert threads(bench) == {"1": ["2"], "2": ["1"], "3": [], "4": []}
    assert bench.entry("1")["metadata"]["linked_to"] == "a"
    assert "linked_to" not in bench.entry("4")["metadata"]


def test_a_reply_of_a_server_finds_its_thread_long_after(bench: Bench, book: OlogBook) -> None:
    read(bench, book)
    book.put(1, AT, "first", **in_thread("6f1c"))
    book.put(3, AT + timedelta(days=1), "answer", **in_thread("6f1c"))
    read(bench, book)
    book.put(4, AT + timedelta(days=600), "last word", **in_thread("6f1c"))
    assert read(bench, book, since=AT + timedelta(days=599)).added == 1
    assert threads(bench) == {"1": ["3", "4"], "2": [], "3": ["1", "4"], "4": ["1", "3"]}


@pytest.mark.parametrize("shape", ["list", "wrapped", "lines"])
def test_exports_come_in_three_shapes(bench: Bench, shape: str) -> None:
    logs = [full(1), full(2)]
    content: Any = {"list": None, "wrapped": {"logs": logs}, "lines": logs}[shape]
    if shape == "list":
        content = bench.write("export.json", str(logs).replace("'", '"').replace("None", "null"))
    assert bench.ingest(content, "olog").added == 2


def test_times_may_be_iso_and_what_is_none_is_rejected(bench: Bench) -> None:
    logs = [full(1) | {"createdDate": "2024-05-06T07:08:09Z"}, full(2) | {"createdDate": None}, {"id": 3, "x": 1}]
    bench.ingest(logs, "olog")
    assert bench.ids() == ["1"]
    assert [reject["reason"] for reject in bench.rejects()] == [
        "the time is missing (None)",
        "it has neither title nor description; is this the right adapter?",
    ]


def test_a_server_gives_what_its_export_gives(bench: Bench, book: OlogBook) -> None:
    book.logs[7] = full()
    assert read(bench, book).added == 3
    assert bench.ingest({"logs": list(book.logs.values())}, "olog").unchanged == 3


@pytest.mark.parametrize("old", [False, True])
def test_every_log_is_read_once_however_many_an_answer_holds(bench: Bench, book: OlogBook, old: bool) -> None:
    book.is_old, book.most = old, 7
    for number in range(3, 60):
        book.put(number, AT + timedelta(minutes=number * number))
    report = read(bench, book, settings={"max_records": 7})
    assert (report.added, report.unchanged, report.failures) == (59, 0, [])


def test_a_server_that_holds_back_more_than_it_was_asked_for_is_seen_through(bench: Bench, book: OlogBook) -> None:
    book.most = 5
    for number in range(3, 40):
        book.put(number, AT + timedelta(hours=number))
    assert read(bench, book).added == 39


def test_more_logs_in_a_second_than_an_answer_holds_are_paged(bench: Bench, book: OlogBook) -> None:
    for number in range(3, 20):
        book.put(number, AT + timedelta(milliseconds=number))
    report = read(bench, book, settings={"max_records": 4})
    assert (report.added, report.failures) == (19, [])


def test_an_old_server_cannot_page_a_second_and_that_is_a_failure(bench: Bench, book: OlogBook) -> None:
    book.is_old = True
    for number in range(3, 20):
        book.put(number, AT + timedelta(milliseconds=number))
    report = read(bench, book, settings={"max_records": 4})
    assert [failure.reason.split(" ", 1)[1] for failure in report.failures] == [
        "does not give all entries of one second"
    ]
    assert report.exit_code == 1


def test_logs_that_arrive_while_a_reading_goes_on_move_nothing(bench: Bench, book: OlogBook) -> None:
    for number in range(3, 30):
        book.put(number, AT + timedelta(hours=number))
    book.arriving = [log(100 + number, AT + timedelta(minutes=number)) for number in range(9)]
    read(bench, book, settings={"max_records": 5})
    assert {str(number) for number in range(1, 30)} <= set(bench.ids())


@pytest.mark.parametrize("hours", [-11, 9, 14])
def test_a_server_that_takes_times_for_local_ones_hides_nothing(bench: Bench, book: OlogBook, hours: int) -> None:
    book.ignores_zone = hours
    report = read(bench, book, since=AT + timedelta(days=299, hours=23))
    assert (report.added, bench.ids()) == (1, ["2"])


def test_attachments_are_fetched_once_by_their_id_or_by_their_name(bench: Bench, book: OlogBook) -> None:
    book.files = {"/attachment/a-1": b"thermocouple drifts", "/logs/attachments/1/old name.txt": b"vacuum gauge"}
    book.put(1, AT, attachments=[{"id": "a-1", "filename": "new.txt"}, {"id": "b", "filename": "old name.txt"}])
    read(bench, book)
    assert [file["text"] for file in bench.entry("1")["attachments"]] == ["thermocouple drifts", "vacuum gauge"]
    book.asked.clear()
    assert read(bench, book).unchanged == 2
    assert not any("attachment" in path for path in book.asked)


def test_a_server_that_is_none_is_a_failure_not_an_empty_logbook(bench: Bench, book: OlogBook) -> None:
    book.url = book.url.removesuffix("/Olog") + "/elsewhere"
    report = read(bench, book)
    assert report.exit_code == 1
    assert "answers 404" in report.failures[0].reason


@pytest.mark.parametrize("forms", [False, True])
def test_a_new_entry_is_put_with_the_authors_login(bench: Bench, book: OlogBook, forms: bool) -> None:
    book.takes_forms_only = forms
    entry = NewEntry("RF µ", "tripped", "Jane", "Operations", tags=("Fault",), metadata={"level": "Problem"})
    assert create(book, entry) == "3"
    new = book.logs[3]
    assert (new["title"], new["description"], new["level"]) == ("RF µ", "tripped", "Problem")
    assert (new["logbooks"], new["tags"]) == ([{"name": "Operations"}], [{"name": "Fault"}])
    read(bench, book)
    assert bench.entry("3")["raw_text"] == "RF µ\n\ntripped"


@pytest.mark.parametrize(
    ("entry", "config", "message"),
    [
        (NewEntry("a", "b", "c", "Operations"), {"write": WRITE | {"auth_password": "no"}}, "wants other credentials"),
        (NewEntry("a", "b", "c", "Operations"), {"write": {"enabled": True}}, "wants a user and a password"),
        (NewEntry("a", "b", "c"), {}, "wants a logbook"),
        (NewEntry("a", "b", "c", "Gardening"), {}, "did not take the entry"),
        (NewEntry("a", "b", "c", "Operations"), {"write": {}}, "not enabled"),
    ],
)
def test_what_keeps_a_new_entry_out_is_said(
    book: OlogBook, entry: NewEntry, config: dict[str, Any], message: str
) -> None:
    with pytest.raises(ARIELException, match=message):
        create(book, entry, **config)
    assert len(book.logs) == 2


def test_addresses_and_settings_are_checked(book: OlogBook) -> None:
    book.url += "/logs/search?size=3"
    assert create(book, NewEntry("a", "b", "c"), settings={"logbook": "Operations"}) == "3"
    with pytest.raises(ConfigurationError, match="unknown setting"):
        opened(book, settings={"max_record": 3})
