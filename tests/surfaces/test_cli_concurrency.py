"""Several programs at one logbook."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import apsw
from commands import environment, run, start

from ariel_lite import open_logbook

WRITERS = 2
WRITES = 500
OPENERS = 10

WRITER = """
import sys
from ariel_lite import open_logbook
with open_logbook(sys.argv[1]) as book:
    for number in range(int(sys.argv[3])):
        book.search("entry", max_results=1)
        book.add({"entry_id": f"{sys.argv[2]}-{number}", "raw_text": f"entry {number} of writer {sys.argv[2]}"})
"""


def writer(database: Path, name: str) -> subprocess.Popen[bytes]:
    """A process that reads and then writes, again and again."""
    command = [sys.executable, "-c", WRITER, str(database), name, str(WRITES)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())


def test_so01_two_writers_and_a_reader_do_not_hinder_each_other(tmp_path: Path) -> None:
    database = tmp_path / "book.db"
    open_logbook(database).close()
    writers = [writer(database, str(number)) for number in range(WRITERS)]
    seen = 0
    while any(process.poll() is None for process in writers):
        with open_logbook(database, read_only=True) as book:
            count = book.status().entry_count or 0
            assert count >= seen
            seen = count
    for process in writers:
        _, errors = process.communicate()
        assert process.returncode == 0, errors.decode()
    assert json.loads(run("--db", str(database), "doctor", "--json").stdout) == {
        "healthy": True, "problems": [], "reindexed": 0,
    }  # fmt: skip
    with open_logbook(database) as book:
        assert book.status().entry_count == WRITERS * WRITES


def test_so03_a_reader_sees_what_is_still_in_the_log(sample: str) -> None:
    with open_logbook(sample) as book:
        book.add({"entry_id": "fresh", "raw_text": "zirconflex"})
        assert Path(f"{sample}-wal").stat().st_size > 0
        found = json.loads(run("--db", sample, "search", "zirconflex", "--json").stdout)
    assert [entry["entry_id"] for entry in found["entries"]] == ["fresh"]


def test_so05_a_backup_made_while_others_write_is_whole(tmp_path: Path) -> None:
    database, copy = tmp_path / "book.db", tmp_path / "copy.db"
    with open_logbook(database) as book:
        book.add({"entry_id": "E1", "raw_text": "recent"})
        stop = threading.Event()

        def write() -> None:
            number = 0
            with open_logbook(database) as other:
                while not stop.is_set():
                    number += 1
                    other.add({"entry_id": f"W{number}", "raw_text": f"written meanwhile {number}"})

        thread = threading.Thread(target=write)
        thread.start()
        try:
            done = run("--db", str(database), "backup", str(copy), "--json")
        finally:
            stop.set()
            thread.join()
    assert done.returncode == 0, done.stderr
    assert apsw.Connection(str(copy)).pragma("journal_mode") == "delete"
    assert json.loads(run("--db", str(copy), "doctor", "--json").stdout)["healthy"]
    found = json.loads(run("--db", str(copy), "search", "recent", "--json").stdout)
    assert [entry["entry_id"] for entry in found["entries"]] == ["E1"]
    with open_logbook(copy, read_only=True) as book:
        assert book.status().entry_count == json.loads(done.stdout)["entries"]


def test_so08_ten_programs_open_a_file_without_tables_at_once(tmp_path: Path) -> None:
    database = tmp_path / "old.db"
    database.touch()
    processes = [start("--db", str(database), "migrate", "--json", stdin=subprocess.DEVNULL) for _ in range(OPENERS)]
    for process in processes:
        out, errors = process.communicate(timeout=180)
        assert process.returncode == 0, errors.decode()
        assert json.loads(out)["current"] is True
    names = [name for (name,) in apsw.Connection(str(database)).execute("SELECT name FROM ariel_migrations")]
    assert len(names) == len(set(names)) > 0
    assert json.loads(run("--db", str(database), "doctor", "--json").stdout)["healthy"]
