"""What happens when the reader goes away, the disk is full, or Ctrl-C or a signal to end comes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import lines, run, start, until

from ariel_lite import open_logbook
from ariel_lite.errors import DatabaseConnectionError

CLOSED_PIPE = 141
INTERRUPTED = 130
PADDING = "and what went on then " * 20
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and devices of POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc to know what the process is doing")


@pytest.mark.parametrize(
    "command", ["search rf --limit 100", "search rf --limit 100 --json", "browse", "export", "status", "sql --help"]
)
def test_a_closed_pipe_ends_the_command_quietly(sample: str, command: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = start("--db", sample, *command.split(), stdout=writer, stdin=subprocess.DEVNULL)
    os.close(writer)
    _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (CLOSED_PIPE, b"")


@posix
@pytest.mark.parametrize("option", [(), ("--json",)], ids=["people", "json"])
def test_a_full_disk_is_an_error_line(sample: str, option: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        process = start("--db", sample, "search", "rf", *option, stdout=full, stdin=subprocess.DEVNULL)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert lines(errors)[0].startswith("error: cannot write the output:")
    assert len(lines(errors)) == 2


def interrupt(process: subprocess.Popen[bytes], name: str = "SIGINT") -> tuple[bytes, bytes]:
    process.send_signal(getattr(signal, name))
    return process.communicate(timeout=120)


@linux
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_during_a_statement_is_one_line(sample: str, name: str) -> None:
    slow = (
        "SELECT count(*) FROM enhanced_entries a, enhanced_entries b, enhanced_entries c WHERE a.raw_text < b.raw_text"
    )
    process = start("--db", sample, "sql", slow, "--json", stdin=subprocess.DEVNULL)
    until_running(process)
    out, errors = interrupt(process, name)
    assert process.returncode == INTERRUPTED
    assert lines(errors) == ["error: interrupted"]
    assert json.loads(out)["error"]["code"] == "interrupted"


@posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_during_ingest_keeps_and_reports_what_was_stored(tmp_path: Path, name: str) -> None:
    database = tmp_path / "new.db"
    records = [
        json.dumps({"id": str(number), "timestamp": 1772700000 + number, "text": f"entry {number} {PADDING}"}) + "\n"
        for number in range(9000)
    ]
    command = ("--db", str(database), "ingest", "--adapter", "generic_json", "--source", "-", "--json")
    process = start(*command)
    assert process.stdin is not None
    process.stdin.write("".join(records[:8500]).encode())
    process.stdin.flush()
    until(lambda: count(database) >= 4000)
    out, errors = interrupt(process, name)
    document = json.loads(out)
    assert process.returncode == INTERRUPTED
    assert document["error"]["code"] == "interrupted"
    assert "Traceback" not in errors.decode()
    stored = count(database)
    assert document["added"] == stored
    done = json.loads(run(*command, stdin="".join(records).encode()).stdout)
    assert (done["added"], done["unchanged"]) == (9000 - stored, stored)


@linux
def test_ctrl_c_while_the_text_is_awaited_adds_nothing(tmp_path: Path) -> None:
    database = tmp_path / "new.db"
    process = start("--db", str(database), "add", "--title", "x")
    until_waiting(process)
    _, errors = interrupt(process)
    assert process.returncode == INTERRUPTED
    assert lines(errors) == ["error: interrupted"]
    assert not database.exists()


def count(database: Path) -> int:
    try:
        with open_logbook(database, read_only=True) as book:
            return book.status().entry_count or 0
    except DatabaseConnectionError:
        return 0


def until_waiting(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process uses no processor time: it waits for what its standard input will say."""
    used: list[int] = [-1, -2]

    def is_still() -> bool:
        time.sleep(0.5)
        used.append(processor_ticks(process.pid))
        return used[-1] == used[-2] == used[-3] and used[-1] > 0

    until(is_still)


def until_running(process: subprocess.Popen[bytes]) -> None:
    """Wait until the program has come to its statement: the SQL parser is loaded last, and then it computes on."""
    until(lambda: "apsw" in Path(f"/proc/{process.pid}/maps").read_text())
    begin = processor_ticks(process.pid)
    until(lambda: processor_ticks(process.pid) > begin + 100)


def processor_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
