"""`sync` and `watch`: keep a logbook like its source."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

from ariel_lite.cli.failures import INTERRUPTED
from ariel_lite.cli.ingesting import print_counts, target_backend
from ariel_lite.cli.layout import Span, one_line
from ariel_lite.cli.listing import long_time
from ariel_lite.cli.output import Output
from ariel_lite.cli.progress import progress
from ariel_lite.cli.session import Decorated, Session, json_option, pass_session, with_options
from ariel_lite.cli.sources import ChosenSource, choose_source
from ariel_lite.config import YEAR_SECONDS
from ariel_lite.errors import IngestionError
from ariel_lite.ingestion.sync import SyncOptions, SyncProblem, SyncReport, sync, unseen
from ariel_lite.ingestion.watch import Cycle, Pace, Watcher, require_initial_ingest
from ariel_lite.registry import Registry
from ariel_lite.strict_json import json_text


class _Seconds(click.FloatRange):
    """A wait that a clock can count; not a number ("nan") is none."""

    def __init__(self) -> None:
        super().__init__(min=0, max=YEAR_SECONDS, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return seconds


def source_options(command: Decorated) -> Decorated:
    """`--adapter` and `--source`."""
    return with_options(
        command,
        click.option("--adapter", metavar="NAME", help="The format (default: the configuration's)."),
        click.option("--source", metavar="FILE|URL", help="What to read (default: ingestion.source_url)."),
    )


def run_options(command: Decorated) -> Decorated:
    """`--no-enhance`, `--dry-run` and `--json`."""
    return with_options(
        command,
        click.option("--no-enhance", is_flag=True, help="Leave vectors, summaries and keywords for later."),
        click.option("--dry-run", is_flag=True, help="Only count what the source would add or change."),
        json_option,
    )


@click.command("sync")
@source_options
@click.option("--full", is_flag=True, help="Read the source from its beginning: finds every edit and late entry.")
@click.option("--mirror", is_flag=True, help="Read it all and delete entries that it no longer has.")
@run_options
@pass_session
def sync_command(
    session: Session, adapter: str | None, source: str | None, full: bool, mirror: bool, no_enhance: bool, dry_run: bool
) -> None:
    """Bring the logbook up to date with its source.

    Makes or updates the tables, reads what is new at the source, indexes what other programs wrote, and enhances. The
    reading begins one overlap (ingestion.overlap_seconds, a day) before the newest entry known. Exit 1 when a part
    failed; the other parts are done all the same.
    """
    chosen = choose_source(session.config, Registry(), source=source, adapter=adapter)
    options = SyncOptions(full=full, mirror=mirror, enhance=not no_enhance, dry_run=dry_run)
    with target_backend(session, dry_run=dry_run) as backend:
        report = sync(backend, session.config, Registry(), chosen.to_sync(), options, stage=progress)
    if session.output.as_json:
        _print_document(session, report)
    else:
        _print_sync(session, chosen, report)
    if report.interrupted or report.exit_code:
        raise click.exceptions.Exit(INTERRUPTED if report.interrupted else report.exit_code)


@click.command("watch")
@source_options
@click.option("--interval", type=_Seconds(), metavar="SECONDS", help="Wait so long between two runs.")
@click.option("--once", is_flag=True, help="Run once and end.")
@run_options
@pass_session
def watch_command(
    session: Session,
    adapter: str | None,
    source: str | None,
    interval: float | None,
    once: bool,
    no_enhance: bool,
    dry_run: bool,
) -> None:
    """Follow the source: sync, wait, and again; a line for each run (with --json a JSON object a line).

    Ctrl-C or a signal to end stops it at once; what is stored stays. The wait grows after failures, and after too many
    in a row (ingestion.watch) it ends with 1. One watcher a logbook.
    """
    registry, config = Registry(), session.config
    chosen = choose_source(config, registry, source=source, adapter=adapter)
    followed, options = chosen.to_sync(), SyncOptions(enhance=not no_enhance, dry_run=dry_run)
    with target_backend(session, dry_run=dry_run) as backend:
        if config.ingestion.watch.require_initial_ingest and not dry_run:
            require_initial_ingest(backend, followed)

        def run() -> SyncReport:
            return sync(backend, config, registry, followed, options, stage=unseen)

        watcher = Watcher(
            backend, run, Pace.of(config.ingestion, interval), tell=_teller(session, followed.source_system)
        )
        last = watcher.once() if once else watcher.follow()
    if last is None:
        session.output.note("stopped; what is stored stays")
        return
    if not once:
        session.output.note(f"gave up after {last.failures} failures in a row")
    if last.report.interrupted or last.report.exit_code:
        raise click.exceptions.Exit(INTERRUPTED if last.report.interrupted else last.report.exit_code)


def _teller(session: Session, source_system: str) -> Callable[[Cycle], None]:
    """Prints a line for each run."""
    output = session.output

    def tell(cycle: Cycle) -> None:
        if output.as_json:
            output.write(json_text(cycle.to_dict()).encode("utf-8") + b"\n")
            output.flush()
            return
        when = long_time(cycle.started_at, session.zone)
        following = f"; next at {long_time(cycle.next_poll, session.zone)}" if cycle.next_poll else ""
        failed = f" (failure {cycle.failures} in a row)" if cycle.failures else ""
        output.line(Span(f"{when}  ", "dim"), f"{source_system}: {_in_short(cycle.report)}{failed}{following}")
        for problem in cycle.report.problems:
            output.label(problem.part, problem.message, "warning")

    return tell


def _in_short(report: SyncReport) -> str:
    """What a run did, on one line."""
    parts: list[str] = []
    if report.ingest is not None:
        would = "would be " if report.ingest.dry_run else ""
        parts.append(f"{report.ingest.added:,} {would}added, {report.ingest.updated:,} updated")
        parts += [f"{report.ingest.rejected:,} rejected"] if report.ingest.rejected else []
    parts += [f"{report.indexed:,} indexed"] if report.indexed else []
    parts += [f"{run.module} {run.done:,}" for run in report.enhanced if run.done]
    parts += ["stopped"] if report.interrupted else []
    return ", ".join(parts) or "nothing was read"


def _print_sync(session: Session, chosen: ChosenSource, report: SyncReport) -> None:
    output = session.output
    since = f", entries from {long_time(report.since, session.zone)} on" if report.since else ""
    output.text(f"read {chosen.label} with {chosen.adapter_name} ({chosen.chosen_by}){since}", "dim")
    if report.ingest is not None:
        print_counts(output, report.ingest)
    if report.indexed:
        output.text(f"indexed {report.indexed:,} entries that other programs wrote")
    for run in report.enhanced:
        blank = f", {run.blank:,} without text" if run.blank else ""
        output.text(f"{run.module}: {run.done:,} entries done{blank}")
    for note in report.notes:
        output.label("note", note)
    for problem in report.problems:
        _print_problem(output, problem)
    if report.interrupted:
        output.note("interrupted; what is stored stays, and the same command goes on from there")


def _print_problem(output: Output, problem: SyncProblem) -> None:
    fault = IngestionError(one_line(f"{problem.part}: {problem.message}"), hint=problem.hint)
    output.failure({"error": fault.envelope()})


def _print_document(session: Session, report: SyncReport) -> None:
    document: dict[str, Any] = {"database": session.name, **report.to_dict()}
    if report.interrupted:
        envelope = IngestionError("interrupted; what is stored stays").envelope() | {"code": "interrupted"}
    elif report.problems:
        first = report.problems[0]
        message = f"{first.part}: {first.message}"
        envelope = IngestionError(message, hint=first.hint).envelope() | {"code": first.code}
    else:
        session.output.document(document)
        return
    session.output.failure({"error": envelope} | document)
