"""`bench`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from ariel_lite.cli.layout import Line, Span, padded
from ariel_lite.cli.output import Output
from ariel_lite.cli.session import Session, json_option, pass_session
from ariel_lite.evaluation.bench import BenchOptions, run_bench
from ariel_lite.evaluation.bench_report import BenchReport, Clock, Comparison, Target, machine_facts

NAME_WIDTH = 15
COLUMNS = ("hits", "p50", "p95", "max", "p50", "p95", "max", "p50", "p95")
WIDTHS = (6, 7, 7, 7, 8, 7, 7, 8, 6)
GROUPS = (("", NAME_WIDTH + 6), ("search, ms", 21), ("floor, ms", 22), ("times", 14))


@click.command("bench")
@click.option("--entries", type=click.IntRange(min=100), default=135_000, show_default=True, metavar="N")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N")
@click.option(
    "--queries",
    type=click.IntRange(min=1, max=1000),
    default=40,
    show_default=True,
    metavar="N",
    help="How many queries of each class.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1, max=100),
    default=2,
    show_default=True,
    metavar="N",
    help="How often each query is measured.",
)
@click.option(
    "--clock",
    type=click.Choice(["wall", "cpu"]),
    default="wall",
    show_default=True,
    help="Elapsed time, or processor time where other programs disturb it.",
)
@click.option(
    "--entries-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Measure on the entries of a generic JSON-lines file instead of invented ones.",
)
@click.option("--keep", type=click.Path(path_type=Path), metavar="FILE", help="Keep the logbook made.")
@json_option
@pass_session
def bench(
    session: Session,
    entries: int,
    seed: int,
    queries: int,
    rounds: int,
    clock: Clock,
    entries_file: Path | None,
    keep: Path | None,
) -> None:
    """Measure ingestion and keyword search on a logbook made for it.

    Each query is a whole search call with highlights for the ten best entries. Beside it stands the floor: a bare
    statement on a plain FTS5 index of the same texts. Your own logbook is not touched.
    """
    options = BenchOptions(entries, seed, queries, rounds, clock, entries_file, keep)
    report = run_bench(options, session.output.note)
    if session.output.as_json:
        session.output.document(report.to_dict())
    else:
        session.output.lines(report_lines(report))
        if keep is not None:
            session.output.label("kept", str(keep))
    if clock == "wall":
        _say_noise(session.output)


def report_lines(report: BenchReport) -> Iterator[Line]:
    """The report as a table of at most 80 columns."""
    ingested = report.ingested
    yield [Span(" · ".join(_machine(machine_facts())), "dim")]
    took = f"{ingested.seconds:.1f} s{' of processor time' if report.clock == 'cpu' else ''}"
    yield [Span(f"{ingested.entries:,} entries in {took}: {ingested.rate:,.0f} a second")]
    yield [Span(f"file {ingested.file_bytes / 1e6:.1f} MB")]
    yield [Span(f"first search {report.first_ms[0]:.0f} ms, first one with a typo {report.first_ms[1]:.0f} ms")]
    yield []
    yield [Span("".join(f"{name:>{width}}" if name else " " * width for name, width in GROUPS), "dim")]
    yield [Span(_row("queries", COLUMNS), "bold")]
    for comparison in (*report.classes, report.matching, report.overall):
        yield [Span(_row(f"{comparison.name}", _cells(comparison)))]
    yield []
    for target in report.targets:
        yield _target_line(target)


def _machine(facts: dict[str, Any]) -> Iterator[str]:
    yield f"{facts['cores']} cores"
    if facts["load"] is not None:
        yield f"load {facts['load']:.1f}"
    yield f"Python {facts['python']}"
    yield f"SQLite {facts['sqlite']}"
    yield str(facts["processor"])


def _cells(comparison: Comparison) -> list[str]:
    ours, floor = comparison.ours, comparison.floor
    milliseconds = (ours.p50, ours.p95, ours.most, floor.p50, floor.p95, floor.most)
    return [
        f"{comparison.hits:.1f}",
        *(f"{value:.2f}" if value < 1000 else f"{value:.0f}" for value in milliseconds),
        *(f"{ratio:.1f}" for ratio in comparison.ratios),
    ]


def _row(name: str, cells: Iterable[str]) -> str:
    return padded(name, NAME_WIDTH) + "".join(f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS, strict=True))


def _target_line(target: Target) -> Line:
    side = "at least" if target.at_least else "at most"
    verdict = Span("met", "dim") if target.is_met else Span("missed", "warning")
    figure = f"{target.value:,.1f} {target.unit}"
    return [Span(f"{padded(target.name, NAME_WIDTH)}{figure:>18}  {side} {target.limit:,.1f}  "), verdict]


def _say_noise(output: Output) -> None:
    """Other work on the machine makes figures worse; say so where it shows."""
    facts = machine_facts()
    if facts["load"] is not None and facts["load"] > facts["cores"]:
        output.note("the machine is busy with other work, which makes every figure worse; see --clock cpu")
