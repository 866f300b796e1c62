"""The rules of the code base that a machine can check."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "ariel_lite"
SOURCES = sorted(PACKAGE.rglob("*.py"))
SQL = re.compile(
    r"^\s*(SELECT\s.+\sFROM|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE)\b", re.S
)
LONGEST_FILE = 450
SQL_ELSEWHERE = {"evaluation/bench_floor.py"}
"""The bench's floor is a bare FTS5 query by design."""

STATE_ALLOWED = {"osprey/factory.py"}
"""Osprey expects one service behind all its capabilities."""


def relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def test_imports_point_down_only() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_sql_only_below_backends(path: Path) -> None:
    if relative(path).startswith("backends/") or relative(path) in SQL_ELSEWHERE:
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    found = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
        and SQL.match(node.value)
    ]
    assert not found


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_no_global_statement_and_no_import_inside_functions(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        assert relative(path) in STATE_ALLOWED or not isinstance(node, ast.Global), f"line {node.lineno}"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = [child for child in ast.walk(node) if isinstance(child, ast.Import | ast.ImportFrom)]
            assert not inner, f"line {inner[0].lineno}"
