"""`status`, `migrate`, `doctor`, `purge`."""

from __future__ import annotations

from typing import Any

import click

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import Problem
from ariel_lite.cli.layout import Span, one_line
from ariel_lite.cli.listing import long_time
from ariel_lite.cli.progress import progress
from ariel_lite.cli.session import Session, json_option, pass_session
from ariel_lite.errors import (
    ARIELException,
    DamagedLogbookError,
    DatabaseConnectionError,
    DatabaseQueryError,
    InvalidRequestError,
)
from ariel_lite.ingestion.run_history import open_problems
from ariel_lite.present import status_document
from ariel_lite.records import ARIELStatusResult

RUNS = 200
"""How far back the history of ingestion is looked at."""

NO_NEW_INDEX = "a new index does not mend this; restore a backup"


@click.command("status")
@json_option
@pass_session
def status(session: Session) -> None:
    """Say which logbook is used and why, what is in it, and how it does."""
    reason = session.database[1]
    try:
        with session.reading() as service:
            found = service.status()
            mode = service.modes.default(service.backend)
            problems = open_problems(service.backend.runs(limit=RUNS))
    except DatabaseConnectionError as fault:
        if not session.output.as_json:
            session.output.text(f"logbook {session.name} (chosen by {reason})")
            raise
        session.output.failure(_unreachable(session, fault))
        raise click.exceptions.Exit(fault.exit_code) from fault
    if session.output.as_json:
        document = status_document(found, reason)
        session.output.document(document | {"default_search_mode": mode, "ingestion_problems": problems})
    else:
        _print_status(session, found, reason, mode)
        _print_ingestion_problems(session, problems)


@click.command("migrate")
@json_option
@pass_session
def migrate(session: Session) -> None:
    """Make the logbook's tables, or bring them up to date."""
    with session.writing(create=True) as service:
        entries = service.backend.status().entries
    if session.output.as_json:
        session.output.document({"database": session.name, "current": True, "entries": entries})
    else:
        session.output.text(f"{session.name} is up to date ({entries:,} entries)")


@click.command("doctor")
@click.option("--repair", is_flag=True, help="Make the index anew from the entries, then check again.")
@json_option
@pass_session
def doctor(session: Session, repair: bool) -> None:
    """Compare entries with the index; say what does not agree, one problem a line. Exit 1 when any remains."""
    repaired, advice = 0, NO_NEW_INDEX
    try:
        with session.writing() as service:
            problems = _check(service.backend)
            if repair and any(problem.repairable for problem in problems):
                repaired = make_index(service.backend, everything=True)
                problems = _check(service.backend)
    except DamagedLogbookError as fault:
        problems, advice = [Problem(fault.message, False)], fault.hint
    if session.output.as_json:
        session.output.document(
            {
                "healthy": not problems,
                "problems": [{"message": one_line(p.message), "repairable": p.repairable} for p in problems],
                "reindexed": repaired,
            }
        )
    else:
        _print_problems(session, problems, repaired, advice)
    if problems:
        raise click.exceptions.Exit(1)


@click.command("purge")
@click.option("--yes", is_flag=True, help="Really do it.")
@click.option("--entries", is_flag=True, help="Also the entries of a database that another program made.")
@json_option
@pass_session
def purge(session: Session, yes: bool, entries: bool) -> None:
    """Empty the logbook: entries, index, attachments, vectors and history."""
    if not yes:
        raise InvalidRequestError(f"this would empty {session.name}", hint="add --yes to do it; 'backup' keeps a copy")
    with session.writing() as service:
        before = service.backend.status().entries
        service.backend.purge(entries=entries)
        left = service.backend.status().entries
    if session.output.as_json:
        session.output.document({"database": session.name, "removed": before - left, "entries": left})
    else:
        session.output.text(f"removed {before - left:,} entries; {left:,} are left")


def _unreachable(session: Session, fault: ARIELException) -> dict[str, Any]:
    reason = session.database[1]
    unknown = ARIELStatusResult(
        healthy=False,
        database_connected=False,
        database_uri=session.name,
        entry_count=None,
        embedding_tables=[],
        active_embedding_model=None,
        enabled_search_modules=session.config.get_enabled_search_modules(),
        enabled_enhancement_modules=session.config.get_enabled_enhancement_modules(),
        last_ingestion=None,
        errors=[fault.message],
    )
    return {"error": fault.envelope()} | status_document(unknown, reason) | {"status": "error"}


def _print_status(session: Session, found: ARIELStatusResult, reason: str, mode: str) -> None:
    details = found.details
    facts = {
        "logbook": found.database_uri,
        "chosen by": reason,
        "size": f"{details['size_bytes'] / 1e6:.1f} MB",
        "entries": f"{found.entry_count:,}, of which {details['indexed']:,} indexed",
        "attachments": f"{details['attachments']:,}",
        "last ingest": long_time(found.last_ingestion, session.zone) if found.last_ingestion else "never",
        "zone": session.config.facility.timezone,
        "search modes": ", ".join(name + " (default)" * (name == mode) for name in found.enabled_search_modules),
        "enhancers": ", ".join(found.enabled_enhancement_modules),
    }
    if found.entry_count:
        facts["enhanced"] = "; ".join(
            f"{name} {', '.join(f'{count:,} {status}' for status, count in counts.items() if count)}"
            for name, counts in details["enhancement"].items()
        )
    if "vectors_current" in details:
        states = ("current", "missing", "stale", "failed")
        shown = [f"{details[f'vectors_{state}']:,} {state}" for state in states if details[f"vectors_{state}"]]
        facts["vectors"] = ", ".join(shown) or "none"
    if details["cut"]:
        facts["long texts"] = f"{details['cut']} entries are indexed up to their first million characters"
    if found.embedding_tables:
        facts["vector tables"] = "; ".join(
            f"{table.table_name} {table.entry_count:,} entries{', in use' if table.is_active else ''}"
            for table in found.embedding_tables
        )
    for name, value in facts.items():
        session.output.fact(name, value)
    for error in found.errors:
        session.output.label("warning", error, "warning")


def _print_ingestion_problems(session: Session, problems: list[dict[str, Any]]) -> None:
    """What the last run of each source could not read or store, until a later run of it does."""
    for problem in problems:
        name = f"ingest of {problem['source_system']}"
        for failure in problem["failures"]:
            session.output.label("warning", f"{name}: {failure['window']} is missing ({failure['reason']})", "warning")
        if problem["rejected"]:
            where = f", see {problem['rejects_file']}" if problem["rejects_file"] else ""
            session.output.label("warning", f"{name}: {problem['rejected']:,} records were rejected{where}", "warning")
        if problem["error"] and not problem["failures"]:
            session.output.label("warning", f"{name}: {problem['error']}", "warning")


def _check(backend: Backend) -> list[Problem]:
    """What `check` finds; an index too damaged to be read is a problem that a new index mends."""
    try:
        with progress("checking", backend.status().entries) as advance:
            return backend.check(advance)
    except DamagedLogbookError:
        raise
    except DatabaseQueryError as fault:
        return [Problem(fault.message, True)]


def make_index(backend: Backend, *, everything: bool) -> int:
    """Index what is not indexed, or everything; the number of entries indexed."""
    with progress("indexing", None) as advance:
        return backend.reindex(everything=everything, progress=advance)


def _print_problems(session: Session, problems: list[Problem], repaired: int, advice: str) -> None:
    """The problems, and what to do next: `advice` where no new index helps."""
    if repaired:
        session.output.text(f"made a new index of {repaired:,} entries")
    for problem in problems:
        session.output.line(Span(f"problem: {one_line(problem.message)}", "warning"))
    if not problems:
        session.output.text("entries and index agree")
    elif not any(problem.repairable for problem in problems):
        session.output.label("hint", advice)
    elif not repaired:
        session.output.label("hint", "'ariel-lite doctor --repair' makes a new index from the entries")
