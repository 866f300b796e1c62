"""The forms of the query language stand in one place; the README's table is that place."""

from __future__ import annotations

from pathlib import Path

from ariel_lite.query.syntax_table import SYNTAX

README = Path(__file__).parent.parent.parent / "README.md"


def test_the_readmes_table_is_the_programs() -> None:
    shown = README.read_text(encoding="utf-8").split("\n## The query language\n", 1)[1].split("\n## ", 1)[0]
    rows = [line for line in shown.splitlines() if line.startswith("|")][2:]
    lines = (f"| {', '.join(f'`{query}`' for query in line.queries)} | {line.meaning} |" for line in SYNTAX)
    assert rows == list(lines)
