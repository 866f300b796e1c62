"""`watch` as a process: it ends when it is told to, and one that is killed has lost nothing and repeats nothing."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from als_server import Logbook, als_server

from ariel_lite.backends.base import Backend
from ariel_lite.backends.sqlite.backend import open_backend
from ariel_lite.config import ARIELConfig

POSIX_ONLY = pytest.mark.skipif(os.name == "nt", reason="a process gets no such signals there")
NOW = int(time.time())


@pytest.fixture
def book() -> Iterator[Logbook]:
    with als_server() as book:
        for index in range(20):
            book.put(str(index), NOW - index * 60)
        yield book


def configured(folder: Path, book: Logbook, **ingestion: Any) -> Path:
    """A configuration file that names the server."""
    block = {
        "adapter": "als_logbook", "source_url": book.url, "max_retries": 0, "retry_delay_seconds": 0,
        "chunk_days": 20_000, "watch": {"require_initial_ingest": False}, **ingestion,
    }  # fmt: skip
    path = folder / "config.yml"
    path.write_text(yaml.safe_dump({"ariel": {"ingestion": block}}))
    return path


def command(config: Path, database: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "ariel_lite", "--config", str(config), "--db", database, *arguments]


def start(config: Path, database: str, *arguments: str) -> subprocess.Popen[str]:
    """A watcher that leaves enhancing for later."""
    whole = command(config, database, "watch", "--no-enhance", "--json", *arguments)
    return subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def next_line(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    line: dict[str, Any] = json.loads(process.stdout.readline())
    return line


def opened(database: Path) -> Backend:
    return open_backend(str(database), ARIELConfig())


@POSIX_ONLY
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_a_wait_at_once(tmp_path: Path, book: Logbook, name: str) -> None:
    config, database = configured(tmp_path, book), tmp_path / "logbook.db"
    process = start(config, str(database), "--interval", "100000")
    line = next_line(process)
    assert (line["ingest"]["added"], line["problems"]) == (20, [])
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "stopped; what is stored stays\n")


@POSIX_ONLY
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("fault", ["stall", "500"])
def test_a_signal_ends_a_request_and_a_pause_between_two_at_once(
    tmp_path: Path, book: Logbook, name: str, fault: str
) -> None:
    config = configured(tmp_path, book, request_timeout_seconds=500, max_retries=9, retry_delay_seconds=500)
    book.always = fault
    process = start(config, str(tmp_path / "logbook.db"))
    while not book.requests:
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=60)
    line = json.loads(out)
    assert (process.returncode, line["interrupted"], line["failures_in_a_row"]) == (0, True, 0)
    assert err == "stopped; what is stored stays\n"
    backend = opened(tmp_path / "logbook.db")
    (run,) = backend.runs()
    assert run.error_message is not None
    assert "interrupted" in run.error_message
    backend.close()


def test_too_many_failures_end_it_with_1(tmp_path: Path, book: Logbook) -> None:
    watch = {"require_initial_ingest": False, "max_consecutive_failures": 3, "max_interval_seconds": 0.02}
    config = configured(tmp_path, book, watch=watch)
    book.always = "login"
    process = start(config, str(tmp_path / "logbook.db"), "--interval", "0.01")
    out, err = process.communicate(timeout=60)
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["failures_in_a_row"] for line in lines] == [1, 2, 3]
    assert lines[-1]["next_poll"] is None
    assert (process.returncode, err) == (1, "gave up after 3 failures in a row\n")


def test_a_second_watcher_is_refused_and_the_first_goes_on(tmp_path: Path, book: Logbook) -> None:
    config, database = configured(tmp_path, book), str(tmp_path / "logbook.db")
    first = start(config, database, "--interval", "0.05")
    next_line(first)
    second = subprocess.run(
        command(config, database, "watch", "--once"), capture_output=True, text=True, timeout=60, check=False
    )
    assert second.returncode == 1
    assert f"error: another watch of {database} runs already (process {first.pid}" in second.stderr
    book.put("later", NOW)
    while next_line(first)["ingest"]["added"] != 1:
        pass
    first.kill()
    first.communicate()
    third = start(config, database, "--once")
    assert next_line(third)["problems"] == []
    assert third.wait(60) == 0
    third.communicate()


def test_once_without_an_initial_ingest_says_what_to_do(tmp_path: Path, book: Logbook) -> None:
    config = configured(tmp_path, book, watch={})
    process = start(config, str(tmp_path / "logbook.db"), "--once")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert json.loads(out)["error"]["code"] == "ingestion_failed"
    assert "run 'ariel-lite sync' once" in err
    assert book.requests == []


def test_a_dry_run_makes_no_logbook(tmp_path: Path, book: Logbook) -> None:
    process = start(configured(tmp_path, book, watch={}), str(tmp_path / "logbook.db"), "--once", "--dry-run")
    assert next_line(process)["ingest"]["added"] == 20
    assert process.wait(60) == 0
    process.communicate()
    assert not (tmp_path / "logbook.db").exists()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")
@pytest.mark.parametrize(("kills", "seed"), [(3, 1), pytest.param(40, 2, marks=pytest.mark.slow)])
def test_kill_9_at_any_moment_loses_nothing_and_repeats_nothing(
    tmp_path: Path, book: Logbook, backend: Backend, kills: int, seed: int
) -> None:
    config, chance = configured(tmp_path, book), random.Random(seed)
    book.grows = 5
    acknowledged = 0
    for _ in range(kills):
        process = start(config, backend.location, "--interval", "0.001")
        if chance.random() < 0.7:
            # So that most die in the middle of a run, and some before their first one.
            acknowledged += sum(next_line(process)["ingest"]["added"] for _ in range(chance.randrange(1, 4)))
        time.sleep(chance.uniform(0, 0.3))
        process.kill()
        out, _ = process.communicate(timeout=60)
        acknowledged += sum(json.loads(line)["ingest"]["added"] for line in out.splitlines() if line.endswith("}"))
        stored = set(backend.entry_ids())
        assert len(stored) >= acknowledged
        assert stored <= book.records.keys()
        assert backend.check() == []
    book.grows = 0
    process = start(config, backend.location, "--once")
    line = next_line(process)
    assert (process.wait(60), line["ingest"]["updated"]) == (0, 0)
    process.communicate()
    assert sorted(backend.entry_ids()) == sorted(book.records)
    assert backend.check() == []
