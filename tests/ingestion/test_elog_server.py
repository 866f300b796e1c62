"""A PSI ELOG server, read and written over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from elog_server import ElogBook, serving
from ingestion_bench import Bench

from ariel_lite.config import IngestionConfig
from ariel_lite.errors import ARIELException, ConfigurationError, IngestionError
from ariel_lite.ingestion.adapters.elog import create_adapter
from ariel_lite.ingestion.base import AdapterOptions, NewEntry
from ariel_lite.ingestion.elog_server import ElogServer
from ariel_lite.ingestion.pipeline import ingest
from ariel_lite.ingestion.report import IngestReport
from ariel_lite.ingestion.sha256_crypt import sha256_crypt

NEW_YEAR = "Wed, 01 Jan 2020 12:00:00 +0100"
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
WRITE = {"enabled": True, "auth_user": "jane", "auth_password": "secret"}
LOGGED_IN = f"unm=jane; upwd={sha256_crypt('secret')}"


@pytest.fixture
def book() -> Iterator[ElogBook]:
    """A logbook with two entries."""
    with serving(ElogBook()) as served:
        served.put(1, NEW_YEAR, "first µ")
        served.put(2, "Sat, 06 Mar 2021 10:00:00 +0100", "second", **{"In reply to": "1"})
        yield served


def opened(book: ElogBook, **config: Any) -> ElogServer:
    settings = IngestionConfig(**{"retry_delay_seconds": 0, "max_retries": 1, **config})
    adapter = create_adapter(AdapterOptions(book.url, config=settings, clock=lambda: NOW))
    assert isinstance(adapter, ElogServer)
    return adapter


def read(bench: Bench, book: ElogBook, *, since: datetime | None = None, **config: Any) -> IngestReport:
    return ingest(bench.backend, opened(book, **config), source_label=book.url, since=since)


def create(book: ElogBook, entry: NewEntry, **config: Any) -> str:
    return asyncio.run(opened(book, **{"write": WRITE, **config}).create_entry(entry))


def test_a_server_gives_what_its_files_would_give(bench: Bench, book: ElogBook) -> None:
    report = read(bench, book)
    assert (report.added, report.failures, report.rejected) == (2, [], 0)
    assert bench.entry("demo/1")["raw_text"] == "first µ\n\nfirst µ"
    assert bench.entry("demo/2")["metadata"]["linked_to"] == "demo/1"
    bench.write(
        "logbooks/demo/200101a.log", "".join(book.raw(number, "\n") for number in book.entries).encode("latin-1")
    )
    again = bench.ingest(bench.folder / "logbooks", "elog")
    assert (again.unchanged, again.added, again.updated) == (2, 0, 0)


def test_windows_cover_every_day_once(bench: Bench, book: ElogBook) -> None:
    for number in range(3, 40):
        book.put(number, f"{datetime(2021, 3, 1 + number % 28, tzinfo=UTC):%a, %d %b %Y} 23:59:59 +0000")
    assert read(bench, book, chunk_days=7).added == 39
    assert read(bench, book, chunk_days=400).unchanged == 39


def test_an_incremental_run_asks_for_the_days_since_and_gives_no_more(bench: Bench, book: ElogBook) -> None:
    report = read(bench, book, since=datetime(2021, 3, 6, 9, tzinfo=UTC))
    assert (report.added, bench.ids()) == (1, ["demo/2"])
    assert "ya=2021&ma=3&da=5" in book.asked[1]


def test_attachments_are_fetched_once_and_their_text_is_searchable(bench: Bench, book: ElogBook) -> None:
    book.files = {"200101_120000_scan 1.txt": b"thermocouple drifts", "200101_120000_x.png": b"\x89PNG\r\n\x1a\n"}
    book.put(1, NEW_YEAR, Attachment="200101_120000_scan 1.txt,200101_120000_x.png,200101_120000_gone.pdf")
    report = read(bench, book)
    text, picture, gone = bench.entry("demo/1")["attachments"]
    assert (text["filename"], text["type"], text["text"]) == ("scan 1.txt", "text/plain", "thermocouple drifts")
    assert picture["type"] == "image/png"
    assert gone["url"] == f"{book.url}200101_120000_gone.pdf"
    assert report.notes[0].startswith("demo/1: attachment gone.pdf: cannot be loaded")
    assert bench.backend.attachments_of("demo/1")[0].filename == "scan 1.txt"
    book.asked.clear()
    assert read(bench, book).unchanged == 2
    assert [path for path in book.asked if "scan" in path or ".png" in path] == []


def test_attachments_can_stay_where_they_are(bench: Bench, book: ElogBook) -> None:
    book.put(1, NEW_YEAR, Attachment="200101_120000_a.txt")
    read(bench, book, settings={"attachments": False})
    assert bench.entry("demo/1")["attachments"] == [
        {"url": f"{book.url}200101_120000_a.txt", "filename": "a.txt"}
    ]  # fmt: skip


def test_a_login_goes_along_as_cookies_also_for_files(bench: Bench, book: ElogBook) -> None:
    book.cookie = LOGGED_IN
    book.files = {"200101_120000_a.txt": b"thermocouple"}
    book.put(1, NEW_YEAR, Attachment="200101_120000_a.txt")
    with pytest.raises(IngestionError, match="login page"):
        read(bench, book)
    assert bench.ids() == []
    assert read(bench, book, write=WRITE).added == 2
    assert bench.entry("demo/1")["attachments"][0]["text"] == "thermocouple"


def test_an_old_server_is_read_entry_by_entry(bench: Bench, book: ElogBook) -> None:
    book.has_raw = False
    assert read(bench, book).added == 2
    assert bench.entry("demo/1")["raw_text"] == "first µ\n\nfirst µ"
    book.put(3, "Sun, 07 Mar 2021 10:00:00 +0100", "third")
    report = read(bench, book, since=datetime(2021, 3, 7, tzinfo=UTC))
    assert (report.added, report.unchanged, report.skipped) == (1, 0, 2)


def test_a_server_that_is_away_is_an_error_that_names_it(bench: Bench, book: ElogBook) -> None:
    book.url = "http://127.0.0.1:9/elog/demo/"
    with pytest.raises(IngestionError, match=r"127\.0\.0\.1:9.*cannot be reached"):
        read(bench, book)
    with pytest.raises(ConfigurationError, match="names no logbook"):
        create_adapter(AdapterOptions("http://127.0.0.1:9/"))


def test_a_new_entry_is_sent_as_the_servers_own_clients_do(bench: Bench, book: ElogBook) -> None:
    entry = NewEntry("RF µ trip", "line 1\nΩ", "Jüe", tags=("RF", "night"), metadata={"Type": "Fault", "n": 3})
    assert (
        create(book, entry, settings={"tags": "Labels", "attributes": {"Type": "Routine", "Shift team": "B"}})
        == "demo/3"
    )
    (form,) = book.posted
    assert int(form.pop("When")) > 1_700_000_000
    assert form == {
        "cmd": b"Submit", "exp": b"demo", "unm": b"jane", "upwd": sha256_crypt("secret").encode(), "Encoding": b"plain",
        "Subject": "RF µ trip".encode("cp1252"), "Author": "Jüe".encode("cp1252"), "Labels": b"RF | night",
        "Text": b"line 1\r\n&#937;", "Type": b"Fault", "Shift_team": b"B",
    }  # fmt: skip


def test_a_new_entry_is_written_in_the_charset_of_the_pages(book: ElogBook) -> None:
    book.charset = "utf-8"
    create(book, NewEntry("Ω", "5 µA", "J"))
    assert (book.posted[0]["Subject"], book.posted[0]["Text"]) == ("Ω".encode(), "5 µA".encode())


@pytest.mark.parametrize(
    ("behaviour", "entry", "message"),
    [
        ({"refusal": "Error: Attribute <b>Type</b> not supplied"}, NewEntry("a", "b", "c"),
         "did not take the entry: Error: Attribute Type not supplied"),
        ({"fails_login": True}, NewEntry("a", "b", "c"), "does not accept the user"),
        ({"cookie": "unm=other"}, NewEntry("a", "b", "c"), "login page"),
        ({}, NewEntry("a", "b", "c", logbook="shift"), "this source is the logbook demo, not shift"),
    ],
)  # fmt: skip
def test_what_the_server_refuses_is_said(
    book: ElogBook, behaviour: dict[str, Any], entry: NewEntry, message: str
) -> None:
    for name, value in behaviour.items():
        setattr(book, name, value)
    with pytest.raises(ARIELException, match=message):
        create(book, entry)


def test_writing_must_be_enabled(book: ElogBook) -> None:
    assert not opened(book).supports_write
    with pytest.raises(ConfigurationError, match="not enabled"):
        create(book, NewEntry("a", "b", "c"), write={"enabled": False})
    assert book.posted == []


@pytest.mark.parametrize(
    ("password", "salt", "digest"),
    [
        ("pw", "", "EPxZX4DoQWu4KoghxUArtr9dmHmQzOXFqq.aJMdG0bA"),
        ("Hello world!", "saltstring", "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"),
    ],
)
def test_passwords_are_encrypted_as_the_system_does(password: str, salt: str, digest: str) -> None:
    assert sha256_crypt(password, salt) == digest
