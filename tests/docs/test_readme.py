"""The README is held to the code: its queries parse, its commands run, its places exist."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from ariel_lite.cli.lazy import COMMANDS
from ariel_lite.query.bind import bind
from ariel_lite.query.fields import FIELDS
from ariel_lite.query.parser import parse
from ariel_lite.text.tokenise import Analyzer

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return README.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def first_cells(title: str) -> list[str]:
    rows = [line for line in section(title).splitlines() if line.startswith("|")][2:]
    return [code for row in rows for code in re.findall(r"`([^`]+)`", row.split(" | ")[0])]


@pytest.mark.parametrize("query", first_cells("The query language"))
def test_every_query_of_the_table_is_read_without_a_problem(query: str) -> None:
    parsed = parse(query, strict=True)
    bound = bind(parsed, Analyzer(), zone=ZoneInfo("UTC"), now=datetime(2026, 1, 1, tzinfo=UTC))
    assert [problem for problem in bound.problems if problem.level == "warning"] == []


def test_the_table_shows_every_field() -> None:
    shown = " ".join(first_cells("The query language"))
    assert [name for name in FIELDS if f"{name}:" not in shown] == []


def test_every_command_is_in_the_table_and_no_other() -> None:
    assert sorted(first_cells("Commands")) == sorted(COMMANDS)


def test_places_exist() -> None:
    rows = [line for line in section("Where things are").splitlines() if line.startswith("|")][2:]
    places = [place for row in rows for place in re.findall(r"`([^`]+)`", row)]
    assert places
    assert [place for place in places if not (ROOT / place).exists()] == []


def test_the_tour_runs(tmp_path: Path) -> None:
    """The commands of the tour, in its order; what it shows of their output is what they print."""
    tour = re.search(r"```console\n(.*?)```", section("In 60 seconds"), re.DOTALL)
    assert tour
    blocks = re.split(r"^\$ ", tour.group(1), flags=re.MULTILINE)[1:]
    for block in blocks[:3]:
        command, _, shown = block.partition("\n")
        arguments = shlex.split(command, comments=True)[1:]
        done = subprocess.run(
            [sys.executable, "-m", "ariel_lite", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, "COLUMNS": "80", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
            check=False,
        )
        assert done.returncode == 0, done.stderr
        for line in shown.strip("…\n ").splitlines():
            assert line in (done.stdout + done.stderr), line
