"""A file that a disk or a copy has damaged: every way in says so, says what to do, and leaves it as it is."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from commands import Call, write_entries

from ariel_lite import open_logbook
from ariel_lite.errors import DamagedLogbookError

PAGE = 4096
Harm = Callable[[bytes], bytes]


def noise(size: int) -> bytes:
    return random.Random(7).randbytes(size)


HARMED: dict[str, Harm] = {
    "cut inside a page": lambda data: data[: len(data) // 2 // PAGE * PAGE + 1000],
    "cut between pages": lambda data: data[: len(data) // 2 // PAGE * PAGE],
    "cut by one page": lambda data: data[:-PAGE],
    "cut to one page": lambda data: data[:PAGE],
    "cut to its header": lambda data: data[:100],
    "another first page": lambda data: data[:100] + noise(PAGE - 100) + data[PAGE:],
    "another header": lambda data: data[:16] + noise(84) + data[100:],
}


@pytest.fixture(params=list(HARMED))
def harmed(request: pytest.FixtureRequest, sample: str) -> bytes:
    """The bytes of a damaged logbook; it stands where the sample stood."""
    path = Path(sample)
    with open_logbook(sample):
        pass
    data = HARMED[request.param](path.read_bytes())
    path.write_bytes(data)
    return data


def test_a_damaged_file_is_called_damaged_and_a_backup_advised(call: Call, sample: str, harmed: bytes) -> None:
    write_entries(Path("more.jsonl"), [{"text": "one more"}])
    for command in (["search", "beam"], ["status"], ["ingest", "--source", "more.jsonl"], ["add", "--title", "x"]):
        called = call("--db", sample, *command)
        assert called.code == 1, command
        said = " ".join(called.err.split())
        assert f"error: {sample} is damaged: " in said, command
        assert "nothing was changed" in said
        assert "restore a backup" in said
        assert Path(sample).read_bytes() == harmed, command


def test_doctor_reports_the_damage_as_a_problem_that_no_repair_mends(call: Call, sample: str, harmed: bytes) -> None:
    for options in ([], ["--repair"]):
        called = call("--db", sample, "doctor", *options)
        assert called.code == 1
        said = " ".join(called.out.split())
        assert said.startswith(f"problem: {sample} is damaged: ")
        assert "nothing was changed" in said
        assert "restore a backup" in said
        assert called.err == ""
    document = call("--db", sample, "doctor", "--json").document
    assert (document["healthy"], document["reindexed"]) == (False, 0)
    assert [problem["repairable"] for problem in document["problems"]] == [False]
    assert Path(sample).read_bytes() == harmed


def test_open_logbook_refuses_a_damaged_file_for_good(sample: str, harmed: bytes) -> None:
    for read_only in (True, False):
        with (
            pytest.raises(DamagedLogbookError, match="is damaged") as refused,
            open_logbook(sample, read_only=read_only),
        ):
            pass
        assert not refused.value.is_retriable
        assert "restore a backup" in refused.value.hint


def harm_page_of(path: str, table: str) -> None:
    """Overwrite a page that holds a table, so that the file still opens."""
    connection = apsw.Connection(path)
    connection.pragma("journal_mode", "delete")
    sql = "SELECT max(pageno) FROM dbstat WHERE name = ? AND pagetype = 'leaf'"
    page = int(connection.execute(sql, (table,)).get)
    connection.close()
    with open(path, "r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(noise(PAGE))


@pytest.mark.parametrize("table", ["enhanced_entries", "entry_index_data", "enhanced_entries_timestamp", "vocabulary"])
def test_damage_that_shows_later_is_found_by_doctor_and_never_copied(call: Call, sample: str, table: str) -> None:
    harm_page_of(sample, table)
    for options in ([], ["--repair"]):
        found = call("--db", sample, "doctor", *options)
        assert found.code == 1
        assert "damaged" in found.out
        assert "restore a backup" in " ".join(found.out.split())
        assert "doctor --repair" not in found.out
    if table == "enhanced_entries":
        asked = call("--db", sample, "sql", "SELECT max(raw_text) FROM enhanced_entries")
        assert asked.code == 1
        assert "is damaged" in asked.err
        assert "restore a backup" in " ".join(asked.err.split())
    for command in (["backup", "copy.db"], ["--db", "new.db", "restore", sample]):
        refused = call("--db", sample, *command)
        assert refused.code == 1
        assert f"{sample} is damaged" in " ".join(refused.err.split())
        assert "internal error" not in refused.err
    assert not Path("copy.db").exists()
    assert not Path("new.db").exists()
