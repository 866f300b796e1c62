"""Files that commands write or take in: never over the logbook or the source, into devices and pipes, never without end."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest
from commands import Call, environment, lines, run, start

posix = pytest.mark.skipif(sys.platform == "win32", reason="devices and pipes of POSIX")
RECORDS = 'no record\n{"id": "1", "timestamp": "2026-03-05", "text": "RF trip"}\n'


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A source with an entry and a record that is none."""
    path = tmp_path / "source.jsonl"
    path.write_text(RECORDS, encoding="utf-8")
    return path


def ingest(*more: str) -> tuple[str, ...]:
    return ("ingest", "--adapter", "generic_json", "--source", "source.jsonl", *more)


@pytest.mark.parametrize("name", ["logbook.db", "logbook.db-wal", "./logbook.db"])
@pytest.mark.parametrize("command", [ingest("--rejects"), ("export", "--output"), ("backup", "--overwrite")])
def test_no_file_takes_the_place_of_the_logbook(
    call: Call, sample: str, source: Path, command: tuple[str, ...], name: str
) -> None:
    refused = call("--db", sample, *command, name)
    assert (refused.code, lines(refused.err.encode())[0]) == (2, f"error: {Path(name)} is the logbook itself")
    assert call("--db", sample, "doctor").code == 0


def test_rejected_records_take_no_other_files_place(call: Call, source: Path) -> None:
    fresh = call("--db", "new.db", *ingest("--rejects", "new.db"))
    assert (fresh.code, "is the logbook itself" in fresh.err, Path("new.db").exists()) == (2, True, False)
    refused = call("--db", "new.db", *ingest("--rejects", "./source.jsonl"))
    assert (refused.code, "is the source itself" in refused.err) == (2, True)
    assert source.read_text(encoding="utf-8") == RECORDS


@posix
def test_what_is_written_goes_into_a_device(call: Call, sample: str, source: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for arguments, wanted in (
        (ingest("--rejects", "pipe"), b"no record"),
        (("export", "--output", "pipe"), b"raw_text"),
    ):
        process = start("--db", sample, *arguments, cwd=tmp_path)
        written = pipe.read_bytes()
        process.communicate(timeout=120)
        assert (process.returncode, wanted in written) == (0, True)
        assert stat.S_ISFIFO(pipe.stat().st_mode)
    refused = call("--db", sample, "backup", "pipe", "--overwrite")
    assert (refused.code, lines(refused.err.encode())[0]) == (2, "error: pipe is no file")
    assert sorted(path.name for path in tmp_path.iterdir() if "part" in path.name) == []


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [ingest("--rejects", "/dev/full"), ("export", "--output", "/dev/full")])
def test_a_device_that_is_full_is_said(call: Call, sample: str, source: Path, arguments: tuple[str, ...]) -> None:
    full = call("--db", sample, *arguments)
    assert (full.code, "No space left on device" in full.err) == (1, True)
    assert Path("/dev/full").is_char_device()


@posix
def test_a_source_that_cannot_be_read_is_said(call: Call, tmp_path: Path) -> None:
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    refused = call("--db", "new.db", "ingest", "--source", "loop.jsonl")
    assert refused.code == 2
    assert lines(refused.err.encode())[0].startswith("error: cannot read loop.jsonl: ")


@pytest.mark.skipif(not Path("/dev/zero").is_char_device(), reason="no /dev/zero here")
def test_a_file_without_end_is_not_attached(call: Call, sample: str) -> None:
    refused = call("--db", sample, "add", "--title", "x", "--text", "y", "--attach", "/dev/zero")
    assert refused.code == 2
    assert "zero has 10,485,761 bytes" in refused.err


def test_two_readings_of_one_source_at_once_both_keep_what_they_reject(tmp_path: Path) -> None:
    records = [json.dumps({"id": str(n), "timestamp": 1772700000 + n, "text": f"entry {n}"}) for n in range(3000)]
    (tmp_path / "source.jsonl").write_text("\n".join(["no record", *records, "no record"]), encoding="utf-8")
    run("--db", "logbook.db", "migrate", cwd=tmp_path)
    both = [start("--db", "logbook.db", *ingest(), cwd=tmp_path, env=environment()) for _ in range(2)]
    for process in both:
        _, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, b"")
    assert len((tmp_path / "logbook.db.rejects.jsonl").read_text(encoding="ascii").splitlines()) == 2
    assert not list(tmp_path.glob("*.part"))
