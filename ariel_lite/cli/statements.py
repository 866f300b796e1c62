"""`sql`."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

import click

from ariel_lite.cli.files import STANDARD
from ariel_lite.cli.layout import safe
from ariel_lite.cli.session import Session, json_option, pass_session
from ariel_lite.cli.tables import print_table
from ariel_lite.errors import InvalidRequestError

ROWS = 100
MOST_ROWS = 200


@click.command("sql")
@click.argument("statement", metavar="STATEMENT|-")
@click.option("--max-rows", type=click.IntRange(min=1), default=ROWS, metavar="N", help="Rows, 1 to 200 (default 100).")
@json_option
@pass_session
def sql(session: Session, statement: str, max_rows: int) -> None:
    """Run one read-only SELECT on enhanced_entries and text_embeddings_*, in PostgreSQL's dialect.

    "-" reads the statement from standard input.
    """
    text = sys.stdin.read() if statement == STANDARD and sys.stdin is not None else statement
    if not text.strip():
        raise InvalidRequestError("the statement is empty", hint="try: SELECT count(*) FROM enhanced_entries")
    with session.reading() as service:
        location, backend = service.backend.location, service.backend.name
    answer = import_module(f"ariel_lite.backends.{backend}.readonly").run_readonly(
        location, text, max_rows=min(max_rows, MOST_ROWS)
    )
    if session.output.as_json:
        session.output.document({"sql": text, **answer})
    elif session.output.is_terminal:
        rows = [[_cell(row[name]) for name in answer["columns"]] for row in answer["rows"]]
        print_table(session.output, answer["columns"], rows)
    else:
        _print_tabbed(session, answer)
    if answer["truncated"] and not session.output.as_json:
        session.output.note(f"only the first {answer['row_count']} rows are shown")


def _print_tabbed(session: Session, answer: dict[str, Any]) -> None:
    """Rows for other programs: cells between tabs, and no tab or line feed inside one."""
    names = answer["columns"]
    lines = [names, *([_cell(row[name]) for name in names] for row in answer["rows"])]
    for cells in lines:
        flat = (safe(cell.replace("\t", " ")).replace("\n", "\\n") for cell in cells)
        session.output.write("\t".join(flat).encode("utf-8", "replace") + b"\n")
    session.output.flush()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
