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
from ariel_lite.evaluation.bench_figures import Clock, Target, Times
from ariel_lite.evaluation.bench_report import BenchReport, Comparison, machine_facts
from ariel_lite.evaluation.bench_server import run_server_bench
from ariel_lite.evaluation.bench_server_report import ServerFigures, ServerReport, ServerVectors
from ariel_lite.evaluation.bench_vector_report import HybridFigures, NearestFigures, VectorReport

NAMED = "--db"
"""What must have named a server for it to be measured; one that the configuration names is never touched."""

NAME_WIDTH = 15
COLUMNS = ("hits", "p50", "p95", "max", "p50", "p95", "max", "p50", "p95")
WIDTHS = (6, 7, 7, 7, 8, 7, 7, 8, 6)
GROUPS = (("", NAME_WIDTH + 6), ("search, ms", 21), ("floor, ms", 22), ("times", 14))
NEAREST_COLUMNS = ("entries", "recall", "p50", "p95", "max")
NEAREST_WIDTHS = (9, 8, 9, 8, 8)
SEARCH_COLUMNS = ("hits", "p50", "p95", "max")
SEARCH_WIDTHS = (9, 9, 8, 8)


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
@click.option("--vectors", is_flag=True, help="Also measure vectors, hybrid search and the embedding model.")
@click.option(
    "--texts",
    type=click.IntRange(min=8),
    default=400,
    show_default=True,
    metavar="N",
    help="How many texts the model embeds for --vectors.",
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
    vectors: bool,
    texts: int,
    keep: Path | None,
) -> None:
    """Measure ingestion and keyword search on a logbook made for it; with --vectors also search by meaning.

    Each query is a whole search call with highlights for the ten best entries. Beside it stands the floor: a bare
    statement on a plain FTS5 index of the same texts. Vectors are invented ones that lie in clusters; hybrid searches
    are whole calls except for embedding the query, which is measured on its own. Your own logbook is not touched.

    With --db postgresql://… it measures on a database server: name an empty database there. The entries stay in it.
    """
    options = BenchOptions(entries, seed, queries, rounds, clock, entries_file, keep, vectors, texts)
    if session.is_server and session.database[1] == NAMED:
        _on_server(session, options)
        return
    report = run_bench(options, session.output.note)
    if session.output.as_json:
        session.output.document(report.to_dict())
    else:
        session.output.lines(report_lines(report))
        if keep is not None:
            session.output.label("kept", str(keep))
    if clock == "wall":
        _say_noise(session.output)


def _on_server(session: Session, options: BenchOptions) -> None:
    report = run_server_bench(options, session.location, session.output.note)
    if session.output.as_json:
        session.output.document(report.to_dict())
    else:
        session.output.lines(server_lines(report))
        session.output.label("kept", f"the entries, in {session.name}; 'purge --yes' removes them")
    _say_noise(session.output, hint="")


def server_lines(report: ServerReport) -> Iterator[Line]:
    """The report on a database server, as a table of at most 80 columns."""
    ingested = report.ingested
    yield [Span(" · ".join((report.server, *_machine(machine_facts()))), "dim")]
    before = " (by an earlier run)" if report.is_reused else ""
    yield [Span(f"{ingested.entries:,} entries in {ingested.seconds:.1f} s: {ingested.rate:,.0f} a second{before}")]
    yield [Span(f"tables {ingested.file_bytes / 1e6:.1f} MB")]
    yield [Span(f"first search {report.first_ms[0]:.0f} ms, first one with a typo {report.first_ms[1]:.0f} ms")]
    yield []
    yield from _search_lines("keyword, ms", (*report.classes, report.matching, report.overall))
    if report.vectors is not None:
        yield from _server_vector_lines(report.vectors)
    for target in report.targets:
        yield _target_line(target)


def _server_vector_lines(report: ServerVectors) -> Iterator[Line]:
    if report.stored is not None:
        stored = report.stored
        sealed = f"index {stored.sealing_seconds:.0f} s; tables {stored.file_bytes / 1e6:.1f} MB"
        yield [Span(f"{stored.vectors:,} vectors stored: {stored.rate:,.0f} a second; {sealed}")]
    yield from _nearest_lines(report.nearest)
    yield from _search_lines("hybrid, ms", report.hybrid)


def _nearest_lines(nearest: Iterable[NearestFigures]) -> Iterator[Line]:
    yield [Span(_columns("nearest ten, ms", NEAREST_COLUMNS, NEAREST_WIDTHS), "bold")]
    for one in nearest:
        cells = (f"{one.allowed:,.0f}", f"{one.recall:.4f}", *_milliseconds(one.times))
        yield [Span(_columns(one.name, cells, NEAREST_WIDTHS))]
    yield []


def _search_lines(title: str, searches: Iterable[ServerFigures | HybridFigures]) -> Iterator[Line]:
    yield [Span(_columns(title, SEARCH_COLUMNS, SEARCH_WIDTHS), "bold")]
    for figures in searches:
        yield [Span(_columns(figures.name, (f"{figures.hits:.1f}", *_milliseconds(figures.times)), SEARCH_WIDTHS))]
    yield []


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
    if report.vectors is not None:
        yield from vector_lines(report.vectors, is_cpu=report.clock == "cpu")
        yield []
    for target in report.targets:
        yield _target_line(target)


def vector_lines(report: VectorReport, *, is_cpu: bool) -> Iterator[Line]:
    """The part on vectors, likewise."""
    stored, embedding, first = report.stored, report.embedding, report.first
    low, _, high = report.neighbours
    second = "second of processor time" if is_cpu else "second"
    yield [
        Span(f"{stored.vectors:,} vectors stored: {stored.rate:,.0f} a {second}; file {stored.file_bytes / 1e6:.1f} MB")
    ]
    yield [Span(f"first nearest {report.first_ms:.0f} ms; cosines of neighbours {low:.2f} to {high:.2f}")]
    yield from _nearest_lines(report.nearest)
    yield from _search_lines("hybrid, ms", (*report.hybrid, report.overall))
    rates = f"{embedding.rate:.1f} texts of {embedding.words:.0f} words a {second}"
    yield [Span(f"embedding {rates}, bare loop {embedding.bare_rate:.1f}")]
    yield [Span(f"a query {embedding.query.p50:.1f} ms, p95 {embedding.query.p95:.1f} ms")]
    yield [Span(f"first search {first.seconds:.2f} s beyond Python's start of {first.bare:.2f} s")]


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


def _milliseconds(times: Times) -> tuple[str, str, str]:
    return f"{times.p50:.2f}", f"{times.p95:.2f}", f"{times.most:.2f}"


def _columns(name: str, cells: Iterable[str], widths: Iterable[int]) -> str:
    return padded(name, NAME_WIDTH) + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))


def _row(name: str, cells: Iterable[str]) -> str:
    return _columns(name, cells, WIDTHS)


def _target_line(target: Target) -> Line:
    side = "at least" if target.at_least else "at most"
    verdict = Span("met", "dim") if target.is_met else Span("missed", "warning")
    figure = f"{_figure(target.value)} {target.unit}".rstrip()
    return [Span(f"{padded(target.name, NAME_WIDTH)}{figure:>18}  {side} {_figure(target.limit)}  "), verdict]


def _figure(value: float) -> str:
    """Enough digits for shares and ratios, none too many for rates."""
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.3f}"


def _say_noise(output: Output, hint: str = "; see --clock cpu") -> None:
    """Other work on the machine makes figures worse; say so where it shows."""
    facts = machine_facts()
    if facts["load"] is not None and facts["load"] > facts["cores"]:
        output.note(f"the machine is busy with other work, which makes every figure worse{hint}")
