"""A pull or push that is broken off: the server stops, or the process is killed. Nothing is half done; the next one
goes on."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from logbooks import entry
from postgres_server import Server

from ariel_lite.attachments import stored_url
from ariel_lite.compose import Logbook, open_logbook
from ariel_lite.errors import DatabaseConnectionError
from ariel_lite.exchange.pull import PullOptions, pull
from ariel_lite.exchange.push import push
from ariel_lite.ingestion.authoring import new_entry

ENTRIES = 3000
WRITTEN = 1200


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    """A server that a test may stop."""
    server = Server()
    yield server
    server.remove()


def fill(book: Logbook) -> None:
    for start in range(0, ENTRIES, 500):
        book.service.backend.upsert([entry(f"E{n:04d}", f"beam number {n}") for n in range(start, start + 500)])


def all_is_well(book: Logbook) -> bool:
    backend = book.service.backend
    return backend.check() == [] and sorted(backend.entry_ids()) == [f"E{number:04d}" for number in range(ENTRIES)]


def test_a_server_that_stops_in_the_middle(own_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ariel_lite.exchange.pull.BATCH", 200)
    url = own_server.create_database()
    with open_logbook(url, config={}) as server, open_logbook(tmp_path / "logbook.db", config={}) as file:
        fill(server)
        backends = server.service.backend, file.service.backend
        real, written = file.service.backend.upsert, []

        def upsert_until_it_stops(entries: Any, **options: Any) -> Any:
            written.append(len(entries))
            if len(written) == 3:
                own_server.stop()
            return real(entries, **options)

        monkeypatch.setattr(file.service.backend, "upsert", upsert_until_it_stops)
        with pytest.raises(DatabaseConnectionError) as caught:
            pull(*backends, PullOptions(full=True), name="server")
        assert caught.value.is_retriable
        assert file.service.backend.check() == []
        assert file.service.backend.runs("pull server")[0].status == "failed"
        own_server.start()
        pull(*backends, PullOptions(), name="server")
        assert all_is_well(file)


def test_a_push_to_a_server_that_is_gone_sends_the_rest_later(own_server: Server, tmp_path: Path) -> None:
    url = own_server.create_database()
    with open_logbook(url, config={}) as server, open_logbook(tmp_path / "logbook.db", config={}) as file:
        written = [new_entry(f"note {number}", "") for number in range(5)]
        file.service.backend.upsert(written)
        own_server.stop()
        with pytest.raises(DatabaseConnectionError):
            push(file.service.backend, server.service.backend, name="server")
        own_server.start()
        assert len(push(file.service.backend, server.service.backend, name="server").sent) == 5


def test_a_killed_pull_is_gone_on_with(url: str, tmp_path: Path) -> None:
    with open_logbook(url, config={}) as server:
        fill(server)
    path = tmp_path / "logbook.db"
    chance = random.Random(7)
    command = [sys.executable, "-m", "ariel_lite", "pull", url, str(path), "--no-vectors"]
    for _ in range(4):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.3, 1.2))
        process.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        process.wait(60)
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    with open_logbook(path, config={}) as file:
        assert all_is_well(file)


def write_notes(book: Logbook) -> list[str]:
    """Entries of our own, each third with a file; their ids."""
    notes = [new_entry(f"note {number}", "details " * 40) for number in range(WRITTEN)]
    files = {f"att-{number:012x}": notes[number] for number in range(0, WRITTEN, 3)}
    for name, note in files.items():
        note["attachments"] = [{"url": stored_url(name), "filename": "scope.png"}]
    book.service.backend.upsert(notes)
    for name, note in files.items():
        book.service.backend.store_attachment(note["entry_id"], name, "scope.png", "image/png", name.encode() * 500)
    return sorted(note["entry_id"] for note in notes)


def test_a_killed_push_is_gone_on_with(url: str, tmp_path: Path) -> None:
    path = tmp_path / "logbook.db"
    with open_logbook(path, config={}) as file:
        ids = write_notes(file)
    command = [sys.executable, "-m", "ariel_lite", "push", str(path), url]
    with open_logbook(url, config={}) as server:
        there = server.service.backend
        for part in (1, WRITTEN // 2):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while len(list(there.entry_ids())) < part and process.poll() is None:
                time.sleep(0.002)
            process.kill()
            process.wait(60)
        sent = list(there.entry_ids())
        assert 0 < len(sent) < WRITTEN
        assert all(there.attachments_of(name) for name in sent if there.get_entries([name])[0]["attachments"])
        done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        assert (report["known"], len(report["sent"]), report["conflicts"]) == (len(sent), WRITTEN - len(sent), [])
        assert sorted(there.entry_ids()) == ids
        kept = [file.attachment_id for name in ids for file in there.attachments_of(name)]
        assert sorted(kept) == [f"att-{number:012x}" for number in range(0, WRITTEN, 3)]
        assert there.check() == []
