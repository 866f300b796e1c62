"""The bench: a fresh logbook through the real ingestion, then keyword searches as a user makes them and the floor.

Where vectors are asked for, a second part stores invented ones in the same logbook and measures what is done with them.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from ariel_lite.compose import Logbook, open_logbook
from ariel_lite.errors import InvalidRequestError
from ariel_lite.evaluation.bench_clusters import Clusters
from ariel_lite.evaluation.bench_embedding import measure_embedding, measure_first_search, sample_texts
from ariel_lite.evaluation.bench_figures import CLOCKS, Clock, timed
from ariel_lite.evaluation.bench_floor import Floor
from ariel_lite.evaluation.bench_hybrid import hybrid_service, measure_hybrid
from ariel_lite.evaluation.bench_queries import BenchQuery, Corpus, draw_queries, draw_sentences
from ariel_lite.evaluation.bench_report import BenchReport, Ingested, Sample
from ariel_lite.evaluation.bench_vector_report import SENTENCES, VectorReport
from ariel_lite.evaluation.bench_vectors import first_nearest, measure_nearest, store_clusters
from ariel_lite.evaluation.synthetic import write_synthetic
from ariel_lite.ingestion.base import AdapterOptions
from ariel_lite.ingestion.pipeline import ingest
from ariel_lite.query.nodes import Everything
from ariel_lite.records import ARIELSearchResult
from ariel_lite.registry import ADAPTERS

HITS = 10
ADAPTER = "generic_json"
NEAREST_QUERIES = 200
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
        keep: where the logbook made is put in the end (with the invented vectors, if any); must not exist.
        vectors: measure vectors, hybrid searches and the model too.
        texts: how many texts the model embeds on each side, in the part on vectors.
    """

    entries: int = 135_000
    seed: int = 0
    queries: int = 40
    rounds: int = 2
    clock: Clock = "wall"
    source: Path | None = None
    keep: Path | None = None
    vectors: bool = False
    texts: int = 400


@dataclass(frozen=True)
class _Drawn:
    """What the part on vectors needs of the first: the words of the logbook, and the queries drawn from them."""

    corpus: Corpus
    queries: list[BenchQuery]


def run_bench(options: BenchOptions, notice: Notice = lambda message: None) -> BenchReport:
    """Measure; all files made are gone afterwards, `keep` excepted.

    Raises:
        InvalidRequestError: `keep` exists, or nothing can be read or drawn.
        ConfigurationError: with `vectors`, the model that comes along is absent or damaged.
    """
    if options.keep is not None and options.keep.exists():
        raise InvalidRequestError(f"{options.keep} exists already", hint="name a new file with --keep")
    with TemporaryDirectory(prefix="ariel-lite-bench-", ignore_cleanup_errors=True) as folder:
        logbook = Path(folder, "bench.db")
        ingested = _made(options, Path(folder), logbook, notice)
        report, drawn = _searched(options, ingested, logbook, Path(folder, "floor.db"), notice)
        if options.vectors:
            report = replace(report, vectors=_with_vectors(options, drawn, Path(folder), logbook, notice))
        if options.keep is not None:
            shutil.move(logbook, options.keep)
    return report


def _made(options: BenchOptions, folder: Path, logbook: Path, notice: Notice) -> Ingested:
    source = entries_file(options, folder, notice)
    notice("ingesting")
    begin, busy = time.perf_counter(), time.process_time()
    with open_logbook(logbook) as book:
        entries = read_entries(book, source, str(source))
    wall, busy = time.perf_counter() - begin, time.process_time() - busy
    if not entries:
        raise InvalidRequestError(f"{source} holds no entries", hint="give a generic JSON-lines file")
    return Ingested(entries, busy if options.clock == "cpu" else wall, logbook.stat().st_size)


def entries_file(options: BenchOptions, folder: Path, notice: Notice) -> Path:
    """The file of entries to measure on; synthetic ones are written into the folder first."""
    if options.source is not None:
        return options.source
    notice(f"writing {options.entries:,} synthetic entries")
    source = folder / "entries.jsonl"
    write_synthetic(source, options.entries, options.seed)
    return source


def read_entries(book: Logbook, source: Path, label: str) -> int:
    """Read the file as `ariel-lite ingest` does; the number of entries stored."""
    service = book.service
    adapter = service.registry.load(ADAPTERS, ADAPTER).create_adapter(
        AdapterOptions(source=str(source), zone=service.config.zone, config=service.config.ingestion)
    )
    report = ingest(service.backend, adapter, source_label=label)
    if report.interrupted:
        raise KeyboardInterrupt
    return report.added


def _searched(
    options: BenchOptions, ingested: Ingested, logbook: Path, floor_file: Path, notice: Notice
) -> tuple[BenchReport, _Drawn]:
    with open_logbook(logbook) as book:
        notice("indexing the same texts for the floor")
        corpus = Corpus(ingested.entries, options.seed)
        entries = book.service.backend.iterate_entries(Everything())
        with closing(Floor(floor_file, corpus.survey(entries))) as floor:
            queries = draw_queries(corpus, options.queries)
            if not queries:
                raise InvalidRequestError("no query can be made of these entries", hint="measure with more entries")
            clock = CLOCKS[options.clock]
            first = first_searches(logbook, queries, clock)
            notice(f"measuring {len(queries)} queries")
            samples = measured(book, floor, queries, options.rounds, clock)
    report = BenchReport(options.seed, options.rounds, options.clock, ingested, first, tuple(samples))
    return report, _Drawn(corpus, queries)


def _with_vectors(options: BenchOptions, drawn: _Drawn, folder: Path, logbook: Path, notice: Notice) -> VectorReport:
    clock = CLOCKS[options.clock]
    clusters = Clusters(options.seed)
    notice("storing vectors")
    stored, truth = store_clusters(logbook, clusters, clock)
    first = first_nearest(logbook, clusters, clusters.queries(1, stored.vectors)[0], clock)
    asked = asked_of(drawn.corpus, drawn.queries, options.queries)
    with open_logbook(logbook) as book:
        notice(f"measuring the nearest of {NEAREST_QUERIES} queries")
        nearest, cosines = measure_nearest(book, clusters, truth, drawn.corpus.sample, NEAREST_QUERIES, clock)
        notice(f"measuring {len(asked)} hybrid searches")
        service = hybrid_service(book.service.config, book.service.backend, clusters, stored.vectors)
        hybrid = measure_hybrid(service, asked, options.rounds, clock)
    notice(f"embedding {options.texts} texts")
    texts = sample_texts(options.texts, options.seed)
    embedding = measure_embedding(folder, texts, [text for _, text in asked], options.clock)
    query = " ".join(texts[0].split()[:3])
    start = measure_first_search(folder, options.texts, options.seed, query, options.clock)
    return VectorReport(stored, first * 1e3, cosines, tuple(nearest), tuple(hybrid), embedding, start)


def asked_of(corpus: Corpus, queries: Sequence[BenchQuery], count: int) -> list[tuple[str, str]]:
    """What hybrid is asked, as (class, text): the keyword part's queries, and sentences."""
    sentences = [(SENTENCES, text) for text in draw_sentences(corpus, count)]
    return [(query.kind, query.text) for query in queries] + sentences


def first_searches(
    logbook: Path | str, queries: Sequence[BenchQuery], clock: Callable[[], float]
) -> tuple[float, float]:
    """Milliseconds of the first search of a logbook just opened, and of its first one that looks for near words."""
    chosen = [next((query for query in queries if query.kind == kind), queries[0]) for kind in ("AND", "typo")]
    with open_logbook(logbook) as book:
        first, typo = (timed(partial(search, book, query.text), clock) for query in chosen)
    return first * 1e3, typo * 1e3


def measured(
    book: Logbook, floor: Floor, queries: Sequence[BenchQuery], rounds: int, clock: Callable[[], float]
) -> list[Sample]:
    """Every query on both sides: a warm-up pass over all of them, then ours and the floor in turn."""
    answers = [search(book, query.text) for query in queries]
    for query in queries:
        floor.search(query.floor)
    samples: list[Sample] = []
    for query, answer in zip(queries, answers, strict=True):
        pairs = [
            (timed(partial(search, book, query.text), clock), timed(partial(floor.search, query.floor), clock))
            for _ in range(rounds)
        ]
        ours, bare = zip(*pairs, strict=True)
        approximate = any(entry["_match"] == "fuzzy" for entry in answer.entries)
        samples.append(Sample(query.kind, query.text, ours, bare, len(answer.entries), approximate))
    return samples


def search(book: Logbook, text: str) -> ARIELSearchResult:
    """The search call that is measured."""
    return book.search(text, mode="keyword", max_results=HITS)
