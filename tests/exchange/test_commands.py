"""`pull` and `push` as commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from logbooks import entry

import ariel_lite
from ariel_lite.compose import open_logbook

CHECKOUT = Path(ariel_lite.__file__).resolve().parent.parent


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def run(*arguments: str | Path) -> Ran:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ARIEL_LITE_")}
    done = subprocess.run(
        [sys.executable, "-m", "ariel_lite", *map(str, arguments)],
        env={**kept, "PYTHONPATH": str(CHECKOUT), "COLUMNS": "80", "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def document(ran: Ran) -> Any:
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


@pytest.fixture
def filled(url: str) -> str:
    """A server's logbook with three entries."""
    with open_logbook(url, config={}) as book:
        book.service.backend.upsert([entry(f"E{number}", f"pump {number}", author=f"A{number}") for number in range(3)])
    return url


def test_there_and_back(filled: str, tmp_path: Path) -> None:
    file = tmp_path / "logbook.db"
    taken = document(run("pull", filled, file, "--json"))
    assert (taken["added"], taken["file"]) == (3, str(file))
    assert document(run("--db", file, "pull", filled, "--json"))["added"] == 0
    added = document(run("--db", file, "add", "--title", "Water in sector 3", "--json"))["entry_id"]
    assert document(run("push", file, filled, "--dry-run", "--json"))["sent"] == [added]
    assert document(run("--db", file, "push", filled, "--json"))["sent"] == [added]
    assert document(run("push", file, filled, "--json"))["known"] == 1
    found = document(run("--db", filled, "search", "water", "--json"))
    assert [hit["entry_id"] for hit in found["entries"]] == [added]


def test_what_is_printed_for_people(filled: str, tmp_path: Path) -> None:
    file = tmp_path / "logbook.db"
    pulled = run("pull", filled, file, "--since", "2026", "--author", "a1")
    assert "1 added, 0 updated, 0 unchanged" in pulled.out.replace("\n  ", " ")
    with open_logbook(file, config={}) as book:
        book.add({"title": "note", "text": "mine", "entry_id": "ariel-0123456789ab"})
    with open_logbook(filled, config={}) as book:
        book.add({"title": "note", "text": "theirs", "entry_id": "ariel-0123456789ab"})
    pushed = run("push", file, filled)
    assert pushed.code == 1
    assert "conflict: ariel-0123456789ab differs there in" in pushed.out
    assert "Traceback" not in pushed.err
    assert all(len(line) <= 80 for line in (pulled.out + pushed.out).splitlines())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pull", "nowhere"), "is no server"),
        (("pull", "postgresql://operator:S3cret@127.0.0.1:1/x", "new.db"), "cannot be reached"),
        (("push", "absent.db", "postgresql://operator:S3cret@127.0.0.1:1/x"), "there is no logbook at absent.db"),
        (("push", "a.db", "b.db", "postgresql://host/x"), "one file and one URL"),
        (("--db", "postgresql://host/a", "pull", "postgresql://host/b"), "no file was named"),
        (("pull", "postgresql://host/a", "postgresql://host/b"), "two servers"),
        (("pull", "mysql://host/a", "new.db"), "there is no backend for mysql://"),
    ],
)
def test_wrong_places_are_said_in_a_line(
    arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run(*arguments)
    assert ran.code in (1, 2)
    assert said in ran.err
    assert "hint:" in ran.err
    assert "S3cret" not in ran.err + ran.out
    assert "Traceback" not in ran.err
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_date_leaves_no_file_behind(filled: str, tmp_path: Path) -> None:
    ran = run("pull", filled, tmp_path / "new.db", "--since", "2026-13")
    assert ran.code == 2
    assert "2026-13" in ran.err
    assert not (tmp_path / "new.db").exists()
