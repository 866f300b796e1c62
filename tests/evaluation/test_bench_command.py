"""`ariel-lite bench`: one JSON document, or a table of at most 80 columns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ariel_lite.cli.bench import bench, report_lines
from ariel_lite.cli.layout import columns, plain
from ariel_lite.cli.output import Output
from ariel_lite.cli.session import Session
from ariel_lite.errors import InvalidRequestError
from ariel_lite.evaluation.bench_report import BenchReport, Ingested, Sample

SMALL = ("--entries", "150", "--queries", "2", "--rounds", "1")


def _run(*arguments: str, as_json: bool) -> None:
    bench.main(list(arguments), standalone_mode=False, obj=Session(Output(as_json=as_json)))


def test_json_is_one_document_and_nothing_else(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    _run(*SMALL, "--seed", "4", "--json", as_json=True)
    document = json.loads(capfdbinary.readouterr().out)
    assert (document["entries"], document["seed"], document["clock"]) == (150, 4, "wall")
    assert len(document["classes"]) == 12


def test_the_table_names_every_class_and_target(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kept = tmp_path / "kept.db"
    _run(*SMALL, "--clock", "cpu", "--keep", str(kept), as_json=False)
    lines = capsys.readouterr().out.splitlines()
    for name in ("rare", "common", "identifier", "author filter", "no hit", "all", "all that match"):
        assert sum(line.startswith(f"{name} ") for line in lines) >= 1, name
    assert sum(line.endswith((" met", " missed")) for line in lines) == 6
    assert any("of processor time" in line for line in lines)
    assert kept.exists()


def test_the_table_keeps_80_columns_however_slow_the_machine_is() -> None:
    samples = tuple(
        Sample(kind, "q", (98.7654, 123.4567), (12.3456, 9.8765), 10, False) for kind in ("author filter", "typo")
    )
    report = BenchReport(0, 2, "wall", Ingested(1_000_000, 9_999.9, 10**10), (9_999.9, 9_999.9), samples)
    lines = list(map(plain, report_lines(report)))
    assert max(map(columns, lines)) <= 80
    row = next(line for line in lines if line.startswith("author filter"))
    assert row.split()[2:] == ["10.0", "111111", "122222", "123457", "11111", "12222", "12346", "10.0", "10.0"]


def test_an_existing_file_to_keep_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match="exists already"):
        _run("--keep", str(tmp_path), as_json=False)
