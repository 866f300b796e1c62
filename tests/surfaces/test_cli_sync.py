"""`sync`, `watch` and `ingest` of a server on the command line."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from als_server import Logbook, als_server
from commands import Call

NOW = int(time.time())


@pytest.fixture
def book() -> Iterator[Logbook]:
    with als_server() as book:
        for index in range(5):
            book.put(str(index), NOW - index * 3600, f"klystron trip {index}")
        yield book


@pytest.fixture
def config(tmp_path: Path, book: Logbook) -> str:
    """A configuration file that names the server."""
    return configured(tmp_path, book)


def configured(folder: Path, book: Logbook, **block: Any) -> str:
    ingestion = {
        "adapter": "als_logbook", "source_url": book.url, "max_retries": 0, "retry_delay_seconds": 0,
        "chunk_days": 20_000,
    }  # fmt: skip
    path = folder / "config.yml"
    path.write_text(yaml.safe_dump({"ariel": {"ingestion": ingestion, **block}}))
    return str(path)


def test_sync_makes_a_logbook_that_can_be_searched(call: Call, config: str) -> None:
    first = call("--db", "a.db", "--config", config, "sync")
    assert (first.code, first.err) == (0, "")
    assert "ALS eLog: 5 added, 0 updated, 0 unchanged, 0 rejected" in first.out
    assert "semantic_processor: 5 entries done" in first.out
    assert "text_embedding: 5 entries done" in first.out
    found = call("--db", "a.db", "search", "klystron", "--json").document
    assert len(found["entries"]) == 5
    again = call("--db", "a.db", "--config", config, "sync")
    assert "entries from" in again.out
    assert "0 added, 0 updated, 5 unchanged" in again.out


def test_ingest_reads_an_address(call: Call, book: Logbook) -> None:
    done = call("--db", "a.db", "ingest", "--source", book.url, "--adapter", "als_logbook", "--json")
    assert (done.code, done.document["added"]) == (0, 5)
    assert done.document["adapter_chosen_by"] == "--adapter"


def test_ingest_reads_what_is_configured(call: Call, config: str) -> None:
    done = call("--db", "a.db", "--config", config, "ingest", "--json")
    assert (done.document["added"], done.document["adapter_chosen_by"]) == (5, "configuration")


def test_the_format_of_an_address_has_to_be_named(call: Call, book: Logbook) -> None:
    done = call("--db", "a.db", "ingest", "--source", book.url.replace("://", "://me:geheim@"))
    assert done.code == 2
    assert "name it with --adapter: als_logbook" in done.err
    assert "geheim" not in done.err


@pytest.mark.parametrize("adapter", ["generic_json", "jlab_logbook"])
def test_an_adapter_of_files_reads_no_address(call: Call, book: Logbook, adapter: str) -> None:
    done = call("--db", "a.db", "ingest", "--source", book.url, "--adapter", adapter)
    assert done.code == 1
    assert "reads files, not addresses" in done.err


@pytest.mark.parametrize("command", [("sync",), ("watch", "--once"), ("ingest",)])
def test_without_a_source_there_is_nothing_to_do(call: Call, command: tuple[str, ...]) -> None:
    done = call("--db", "a.db", *command)
    assert done.code == 2
    assert "ingestion.source_url" in done.err


@pytest.mark.parametrize("command", [("sync",), ("ingest",), ("watch", "--once")])
def test_the_password_of_an_address_is_never_shown(call: Call, book: Logbook, command: tuple[str, ...]) -> None:
    book.user = "me:geheim"
    source = ("--adapter", "als_logbook", "--source", book.url.replace("://", "://me:geheim@"))
    assert call("--db", "a.db", "ingest", *source).code == 0
    book.always = "login"
    for json in ((), ("--json",)):
        done = call("--db", "a.db", *command, *source, *json)
        assert done.code == 1
        assert "geheim" not in done.out + done.err
    status = call("--db", "a.db", "status", "--json")
    assert "geheim" not in status.out


def test_a_failure_is_one_document_and_stays_in_status_until_it_is_made_good(
    call: Call, book: Logbook, config: str
) -> None:
    book.faults = ["login"]
    failed = call("--db", "a.db", "--config", config, "sync", "--no-enhance", "--json")
    document = failed.document
    assert (failed.code, document["error"]["code"]) == (1, "ingestion_failed")
    assert document["problems"][0]["part"] == "ingest"
    assert document["ingest"]["failures"][0]["reason"].endswith("sends a login page")
    for _ in range(2):
        shown = call("--db", "a.db", "status")
        assert "is missing" in shown.out
        assert (
            call("--db", "a.db", "ingest", "--adapter", "als_logbook", "--source", book.url, "--limit", "1").code == 0
        )
    assert call("--db", "a.db", "--config", config, "sync", "--no-enhance").code == 0
    assert "is missing" not in call("--db", "a.db", "status").out


def test_the_parts_that_failed_are_said(call: Call, book: Logbook, config: str) -> None:
    book.always = "503"
    failed = call("--db", "a.db", "--config", config, "sync")
    assert failed.code == 1
    assert "error: ingest: a part of the source could not be read" in failed.err
    assert "text_embedding: 0 entries done" in failed.out


def test_full_and_mirror(call: Call, book: Logbook, config: str) -> None:
    book.put("old", NOW - 100 * 86_400)
    sync = ("--db", "a.db", "--config", config, "sync", "--no-enhance", "--json")
    assert call(*sync).document["ingest"]["added"] == 6
    book.put("old", NOW - 100 * 86_400, "edited")
    assert call(*sync).document["ingest"]["updated"] == 0
    assert call(*sync, "--full").document["ingest"]["updated"] == 1
    del book.records["old"]
    assert call(*sync, "--dry-run", "--mirror").document["ingest"]["removed"] == 1
    assert call(*sync, "--mirror").document["ingest"]["removed"] == 1


def test_watch_once_prints_a_line(call: Call, book: Logbook, config: str) -> None:
    refused = call("--db", "a.db", "--config", config, "watch", "--once")
    assert (refused.code, refused.out) == (1, "")
    assert "hint: run 'ariel-lite sync' once" in refused.err
    assert call("--db", "a.db", "--config", config, "sync", "--no-enhance").code == 0
    book.put("new", NOW)
    done = call("--db", "a.db", "--config", config, "watch", "--once", "--no-enhance")
    assert (done.code, len(done.out.splitlines())) == (0, 1)
    assert "ALS eLog: 1 added, 0 updated" in done.out
    line = call("--db", "a.db", "--config", config, "watch", "--once", "--no-enhance", "--json").document
    assert (line["cycle"], line["ingest"]["unchanged"], line["next_poll"]) == (1, 6, None)


@pytest.mark.parametrize("interval", ["0", "-1", "soon", "nan", "inf", "1e300"])
def test_an_interval_that_is_none(call: Call, config: str, interval: str) -> None:
    assert call("--db", "a.db", "--config", config, "sync", "--no-enhance").code == 0
    called = call("--db", "a.db", "--config", config, "watch", "--interval", interval)
    assert called.code == 2
    assert "'--interval'" in called.err


@pytest.mark.parametrize(
    "block",
    [
        {"poll_interval_seconds": float("inf")}, {"poll_interval_seconds": 1e300}, {"overlap_seconds": float("nan")},
        {"overlap_seconds": 1e15}, {"chunk_days": 10**12}, {"request_timeout_seconds": 1e12},
        {"retry_delay_seconds": 1e300}, {"watch": {"backoff_multiplier": 1e200}},
        {"watch": {"max_interval_seconds": float("inf")}},
    ],
    ids=str,
)  # fmt: skip
def test_spans_that_no_clock_counts_are_refused(call: Call, tmp_path: Path, block: dict[str, Any]) -> None:
    (tmp_path / "odd.yml").write_text(yaml.safe_dump({"ariel": {"ingestion": block}}))
    called = call("--db", "a.db", "--config", "odd.yml", "sync", "--source", "nothing.json")
    assert called.code == 2
    assert called.err.startswith("error: setting ingestion.")


def test_what_to_do_about_a_source_is_said(call: Call, book: Logbook, config: str) -> None:
    book.always = "login"
    assert "hint: what could be read is stored; the next run" in call("--db", "a.db", "--config", config, "sync").err
    Path("wrong.csv").write_text("date,text\nyesterday,RF trip\n")
    called = call("--db", "a.db", "ingest", "--adapter", "csv", "--source", "wrong.csv")
    assert (called.code, called.err.splitlines()[1]) == (
        1,
        "hint: is this the right --adapter? the reasons tell what was expected",
    )
