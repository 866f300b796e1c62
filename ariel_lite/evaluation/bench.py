"""The bench: a fresh logbook through the real ingestion, then keyword searches as a user makes them and the floor."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from ariel_lite.compose import Logbook, open_logbook
from ariel_lite.errors import InvalidRequestError
from ariel_lite.evaluation.bench_floor import Floor
from ariel_lite.evaluation.bench_queries import BenchQuery, Corpus, draw_queries
from ariel_lite.evaluation.bench_report import BenchReport, Clock, Ingested, Sample
from ariel_lite.evaluation.synthetic import write_synthetic
from ariel_lite.ingestion.base import AdapterOptions
from ariel_lite.ingestion.pipeline import ingest
from ariel_lite.query.nodes import Everything
from ariel_lite.records import ARIELSearchResult
from ariel_lite.registry import ADAPTERS

HITS = 10
ADAPTER = "generic_json"
CLOCKS: Mapping[Clock, Callable[[], float]] = MappingProxyType({"wall": time.perf_counter, "cpu": time.thread_time})
Notice = Callable[[str], None]
"""Told what the bench is about to do."""


@dataclass(frozen=True)
class BenchOptions:
    """What to measure.

    Attributes:
        entries: how many synthetic entries; without meaning when `source` is given.
        seed: of entries and queries.
        queries: how many of each class.
        rounds: how often each query is measured, ours and the floor in turn.
        clock: "wall", or "cpu": the processor's time of the measuring thread, for machines that do other work too.
        source: a generic JSON-lines file to measure on instead.
        keep: where the logbook made is put in the end; must not exist.
    """

    entries: int = 135_000
    seed: int = 0
    queries: int = 40
    rounds: int = 2
    clock: Clock = "wall"
    source: Path | None = None
    keep: Path | None = None


def run_bench(options: BenchOptions, notice: Notice = lambda message: None) -> BenchReport:
    """Measure; all files made are gone afterwards, `keep` excepted.

    Raises:
        InvalidRequestError: `keep` exists, or nothing can be read or drawn.
    """
    if options.keep is not None and options.keep.exists():
        raise InvalidRequestError(f"{options.keep} exists already", hint="name a new file with --keep")
    with TemporaryDirectory(prefix="ariel-lite-bench-", ignore_cleanup_errors=True) as folder:
        logbook = Path(folder, "bench.db")
        ingested = _made(options, Path(folder), logbook, notice)
        report = _searched(options, ingested, logbook, Path(folder, "floor.db"), notice)
        if options.keep is not None:
            shutil.move(logbook, options.keep)
    return report


def _made(options: BenchOptions, folder: Path, logbook: Path, notice: Notice) -> Ingested:
    source = options.source
    if source is None:
        notice(f"writing {options.entries:,} synthetic entries")
        source = folder / "entries.jsonl"
        write_synthetic(source, options.entries, options.seed)
    notice("ingesting")
    begin, busy = time.perf_counter(), time.process_time()
    with open_logbook(logbook) as book:
        entries = _ingest(book, source)
    wall, busy = time.perf_counter() - begin, time.process_time() - busy
    if not entries:
        raise InvalidRequestError(f"{source} holds no entries", hint="give a generic JSON-lines file")
    return Ingested(entries, busy if options.clock == "cpu" else wall, logbook.stat().st_size)


def _ingest(book: Logbook, source: Path) -> int:
    """Read the file as `ariel-lite ingest` does; the number of entries stored."""
    service = book.service
    adapter = service.registry.load(ADAPTERS, ADAPTER).create_adapter(
        AdapterOptions(source=str(source), zone=service.config.zone, config=service.config.ingestion)
    )
    report = ingest(service.backend, adapter, source_label=str(source))
    if report.interrupted:
        raise KeyboardInterrupt
    return report.added


def _searched(
    options: BenchOptions, ingested: Ingested, logbook: Path, floor_file: Path, notice: Notice
) -> BenchReport:
    with open_logbook(logbook) as book:
        notice("indexing the same texts for the floor")
        corpus = Corpus(ingested.entries, options.seed)
        entries = book.service.backend.iterate_entries(Everything())
        with closing(Floor(floor_file, corpus.survey(entries))) as floor:
            queries = draw_queries(corpus, options.queries)
            if not queries:
                raise InvalidRequestError("no query can be made of these entries", hint="measure with more entries")
            clock = CLOCKS[options.clock]
            first = _first_searches(logbook, queries, clock)
            notice(f"measuring {len(queries)} queries")
            samples = measured(book, floor, queries, options.rounds, clock)
    return BenchReport(options.seed, options.rounds, options.clock, ingested, first, tuple(samples))


def _first_searches(logbook: Path, queries: Sequence[BenchQuery], clock: Callable[[], float]) -> tuple[float, float]:
    """Milliseconds of the first search of a logbook just opened, and of its first one that looks for near words."""
    chosen = [next((query for query in queries if query.kind == kind), queries[0]) for kind in ("AND", "typo")]
    with open_logbook(logbook) as book:
        first, typo = (_timed(partial(_search, book, query.text), clock) for query in chosen)
    return first * 1e3, typo * 1e3


def measured(
    book: Logbook, floor: Floor, queries: Sequence[BenchQuery], rounds: int, clock: Callable[[], float]
) -> list[Sample]:
    """Every query on both sides: a warm-up pass over all of them, then ours and the floor in turn."""
    answers = [_search(book, query.text) for query in queries]
    for query in queries:
        floor.search(query.floor)
    samples: list[Sample] = []
    for query, answer in zip(queries, answers, strict=True):
        pairs = [
            (_timed(partial(_search, book, query.text), clock), _timed(partial(floor.search, query.floor), clock))
            for _ in range(rounds)
        ]
        ours, bare = zip(*pairs, strict=True)
        approximate = any(entry["_match"] == "fuzzy" for entry in answer.entries)
        samples.append(Sample(query.kind, query.text, ours, bare, len(answer.entries), approximate))
    return samples


def _search(book: Logbook, text: str) -> ARIELSearchResult:
    return book.search(text, mode="keyword", max_results=HITS)


def _timed(call: Callable[[], object], clock: Callable[[], float]) -> float:
    begin = clock()
    call()
    return clock() - begin
