"""`ingest`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ariel_lite.backends.base import Backend
from ariel_lite.cli.failures import INTERRUPTED
from ariel_lite.cli.files import refuse_logbook, refuse_source
from ariel_lite.cli.output import Output
from ariel_lite.cli.progress import progress
from ariel_lite.cli.session import Session, json_option, pass_session
from ariel_lite.cli.sources import Source, choose_source
from ariel_lite.compose import create_ariel_service
from ariel_lite.errors import IngestionError
from ariel_lite.ingestion.base import MeasuredSource
from ariel_lite.ingestion.pipeline import ingest as run_pipeline
from ariel_lite.ingestion.report import IngestReport
from ariel_lite.query.dates import parse_start
from ariel_lite.registry import Registry

NOTES_SHOWN = 10
REJECTS_SHOWN = 5


@dataclass(frozen=True)
class Limits:
    """What of a source is wanted, and what is done with the rest."""

    since: datetime | None = None
    limit: int | None = None
    mirror: bool = False
    strict: bool = False
    dry_run: bool = False
    rejects: str | None = None


@click.command("ingest")
@click.option(
    "--adapter", metavar="NAME", help="The format (default: the configuration's, else guessed from the file)."
)
@click.option(
    "--source", metavar="FILE|URL|-", help="What to read; - is standard input (default: the configuration's)."
)
@click.option("--since", metavar="DATE", help="Only entries from this day, month, year or span (7d) on.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N entries.")
@click.option("--mirror", is_flag=True, help="Delete entries that the source no longer has.")
@click.option("--strict", is_flag=True, help="Exit 1 when a record is rejected; the others are stored all the same.")
@click.option("--timezone", metavar="ZONE", help="The zone of times that name none (default: the facility's).")
@click.option("--date-format", metavar="FORM", help="How the source writes times, such as %d/%m/%Y.")
@click.option("--rejects", metavar="FILE", help="Where rejected records go (default: beside the logbook).")
@click.option("--dry-run", is_flag=True, help="Only count; store nothing.")
@json_option
@pass_session
def ingest(
    session: Session,
    adapter: str | None,
    source: str | None,
    since: str | None,
    limit: int | None,
    mirror: bool,
    strict: bool,
    timezone: str | None,
    date_format: str | None,
    rejects: str | None,
    dry_run: bool,
) -> None:
    """Read a logbook's entries from a file or a source.

    Entries are stored by id: the same source read again changes only what changed there.
    """
    start = parse_start(since, zone=session.zone, now=datetime.now(UTC)) if since is not None else None
    chosen = choose_source(
        session.config, Registry(), source=source, adapter=adapter, timezone=timezone, date_format=date_format
    )
    if rejects is not None:
        refuse_logbook(Path(rejects), session.location)
        refuse_source(Path(rejects), chosen.options.source)
    opened = chosen.opened()
    limits = Limits(start, limit, mirror, strict, dry_run, rejects)
    with target_backend(session, dry_run=dry_run) as backend:
        report = read_source(backend, opened, limits)
    if session.output.as_json:
        _print_document(session, opened, report)
    else:
        print_report(session.output, opened, report)
    if report.interrupted or report.exit_code:
        raise click.exceptions.Exit(INTERRUPTED if report.interrupted else report.exit_code)


def read_source(backend: Backend, source: Source, limits: Limits) -> IngestReport:
    """Read a source into a logbook, with a bar on terminals.

    Raises:
        IngestionError, DatabaseConnectionError, DatabaseQueryError: see `ingestion.pipeline.ingest`.
    """
    measured = source.adapter if isinstance(source.adapter, MeasuredSource) else None
    with progress("reading", measured.bytes_total if measured else None) as advance:
        return run_pipeline(
            backend,
            source.adapter,
            source_label=source.label,
            since=limits.since,
            limit=limits.limit,
            mirror=limits.mirror,
            strict=limits.strict,
            dry_run=limits.dry_run,
            progress=_by_bytes(measured, advance) if measured else advance,
            rejects_path=limits.rejects,
        )


@contextmanager
def target_backend(session: Session, *, dry_run: bool = False) -> Iterator[Backend]:
    """The logbook to fill, made when it is absent; for a dry run without one, a logbook that is thrown away."""
    absent = not session.is_server and not Path(session.location).exists()
    if not (dry_run and absent):
        with session.writing(create=True) as service:
            yield service.backend
        return
    with tempfile.TemporaryDirectory() as folder:
        passing = create_ariel_service(session.config, location=str(Path(folder) / "dry-run.db"), create=True)
        try:
            yield passing.backend
        finally:
            passing.close()


def print_report(output: Output, source: Source, report: IngestReport) -> None:
    """A source and what a run of it did, for people."""
    output.text(f"read {source.label} with {source.adapter_name} ({source.chosen_by})", "dim")
    print_counts(output, report)
    if report.problem:
        output.failure(_problem(report))


def print_counts(output: Output, report: IngestReport) -> None:
    """What a run did, aside from what went wrong as a whole."""
    would = "would be " if report.dry_run else ""
    counts = f"{report.added:,} {would}added, {report.updated:,} updated, {report.unchanged:,} unchanged"
    removed = f", {report.removed:,} removed" if report.removed else ""
    output.text(f"{report.source_system}: {counts}{removed}, {report.rejected:,} rejected")
    for stored_as in list(report.renamed.items())[:NOTES_SHOWN]:
        output.label("note", "the id {} belongs to another source; stored as {}".format(*stored_as))
    for note in report.notes[:NOTES_SHOWN]:
        output.label("note", note)
    unseen = len(report.notes) - NOTES_SHOWN + report.more_notes
    if unseen > 0:
        output.label("note", f"and {unseen:,} more remarks; --json has them")
    for reject in report.first_rejects[:REJECTS_SHOWN]:
        place = f"line {reject.locator}" if isinstance(reject.locator, int) else reject.locator
        output.label("rejected", f"{place}: {reject.reason}", "warning")
    if report.rejects_file:
        output.label("note", f"all rejected records with their reasons are in {report.rejects_file}")


def _print_document(session: Session, source: Source, report: IngestReport) -> None:
    document = report.to_dict() | {"adapter": source.adapter_name, "adapter_chosen_by": source.chosen_by}
    if report.problem:
        session.output.failure(_problem(report) | document)
    else:
        session.output.document(document)


def _problem(report: IngestReport) -> dict[str, Any]:
    """The error document of a run that did not fully succeed."""
    fault = IngestionError(report.problem or "", hint=report.hint)
    code = {"code": "interrupted"} if report.interrupted else {}
    return {"error": fault.envelope() | code}


def _by_bytes(source: MeasuredSource, advance: Callable[[int], None]) -> Callable[[int], None]:
    """Progress in bytes read, where a source counts them."""
    seen = 0

    def advanced(done: int) -> None:
        nonlocal seen
        advance(source.bytes_read - seen)
        seen = source.bytes_read

    return advanced
