"""`quickstart`: a logbook to play with, and a first search."""

from __future__ import annotations

import shlex
from typing import Any

import click

from ariel_lite.backends.base import Backend
from ariel_lite.bundled import sample_logbook
from ariel_lite.cli.ingesting import Limits, read_source
from ariel_lite.cli.layout import Span, columns, padded
from ariel_lite.cli.report import SearchReport
from ariel_lite.cli.session import Session, json_option, pass_session
from ariel_lite.cli.sources import choose_source
from ariel_lite.errors import InvalidRequestError
from ariel_lite.ingestion.report import IngestReport
from ariel_lite.present import search_document
from ariel_lite.records import MAX_RESULTS, ARIELSearchResult
from ariel_lite.registry import Registry

FIRST_ENTRY = "TP-0001"
ADAPTER = "generic_json"
FIRST_SEARCH = "klystron trip"
SHOWN = 3
NEXT = (
    ("search '\"beam dump\"'", "words side by side"),
    ("search SR06C:BPM4", "a device, as it is written"),
    ("search vacuum author:lindqvist NOT planned", "a field, an exclusion"),
    ("search septum --after 2025", "with a filter"),
    ("search klystrn", "a typo"),
    ("show TP-0465", "an entry in full"),
    ("status", "which logbook this is, and how it does"),
)


@click.command("quickstart")
@json_option
@pass_session
def quickstart(session: Session) -> None:
    """Make a logbook from the bundled sample and search it.

    The sample is two years of an invented light source. Running it again changes nothing.
    """
    source = choose_source(session.config, Registry(), source=str(sample_logbook()), adapter=ADAPTER).opened()
    with session.writing(create=True) as service:
        _refuse_mixing(session, service.backend)
        report = read_source(service.backend, source, Limits())
        result = service.search_now(FIRST_SEARCH, mode="keyword", max_results=SHOWN)
    if session.output.as_json:
        document: dict[str, Any] = {"database": session.name, "ingest": report.to_dict()}
        session.output.document(document | {"search": search_document(FIRST_SEARCH, result, session.zone)})
    else:
        _print_tour(session, report, result)


def _refuse_mixing(session: Session, backend: Backend) -> None:
    """A logbook of real entries is no place for invented ones."""
    if backend.status().entries and not backend.get_entries([FIRST_ENTRY]):
        raise InvalidRequestError(
            f"{session.name} holds other entries already; the sample would mix with them",
            hint="name a file of its own: ariel-lite --db sample.db quickstart",
        )


def _print_tour(session: Session, report: IngestReport, result: ARIELSearchResult) -> None:
    output = session.output
    name = _named(session)
    if report.added:
        output.text(f"Made the logbook {session.name} with {report.added:,} entries of an invented light source.")
    else:
        output.text(f"The sample is in {session.name} already; nothing changed.")
    output.text(f"Times are in the zone {session.config.facility.timezone}, which facility.timezone sets.", "dim")
    output.line()
    output.line(Span(f"$ {name} search {FIRST_SEARCH}", "bold"))
    SearchReport(output, session.zone, result).print(asked=MAX_RESULTS)
    output.line()
    output.line(Span("Try next", "bold"))
    longest = max(columns(f"  {name} {command}") for command, _ in NEXT)
    for command, what in NEXT:
        line = f"  {name} {command}"
        if longest + 2 + max(columns(what) for _, what in NEXT) <= output.width:
            output.line(padded(line, longest + 2), Span(what, "dim"))
        else:
            output.line(line)
            output.line(Span(f"      {what}", "dim"))


def _named(session: Session) -> str:
    """The program as it has to be called to reach this logbook."""
    reason = session.database[1]
    return f"ariel-lite --db {shlex.quote(session.name)}" if reason == "--db" else "ariel-lite"
