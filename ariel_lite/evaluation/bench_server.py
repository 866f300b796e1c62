"""The bench on a database server: the same entries, queries and vectors, in an empty database that the user names.

The entries stay there, so that a second run with the same numbers need not store them again. A database that holds
anything else is refused before anything in it is touched.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import IngestionRun
from ariel_lite.compose import Logbook, open_logbook
from ariel_lite.errors import InvalidRequestError, NoLogbookError
from ariel_lite.evaluation.bench import (
    NEAREST_QUERIES,
    BenchOptions,
    Notice,
    asked_of,
    entries_file,
    first_searches,
    read_entries,
    search,
)
from ariel_lite.evaluation.bench_clusters import Clusters
from ariel_lite.evaluation.bench_figures import timed
from ariel_lite.evaluation.bench_hybrid import hybrid_service, measure_hybrid
from ariel_lite.evaluation.bench_queries import BenchQuery, Corpus, draw_queries
from ariel_lite.evaluation.bench_report import Ingested
from ariel_lite.evaluation.bench_server_report import ServerReport, ServerSample, ServerVectors
from ariel_lite.evaluation.bench_vector_report import StoredVectors
from ariel_lite.evaluation.bench_vectors import Truth, fill_with_vectors, measure_nearest
from ariel_lite.ingestion.authoring import LOCAL_SOURCES
from ariel_lite.locations import mask_credentials
from ariel_lite.query.nodes import Everything

BENCH = "ariel-lite bench"
"""The source system of the runs by which a database is known as the bench's own."""

MOST_RUNS = 10_000
CLOCK = time.perf_counter
"""A server's work is not in the processor time of this process."""


def run_server_bench(options: BenchOptions, location: str, notice: Notice = lambda message: None) -> ServerReport:
    """Measure on a database server; the entries stay in the database.

    Raises:
        InvalidRequestError: the database holds something else, an option is for files only, or nothing can be drawn.
        DatabaseConnectionError: the server cannot be reached.
    """
    _check_options(options)
    known = _known(location, options)
    ingested = known or _filled(options, location, notice)
    with open_logbook(location) as book:
        notice("drawing queries")
        corpus = Corpus(ingested.entries, options.seed)
        for _ in corpus.survey(book.service.backend.iterate_entries(Everything())):
            pass
        queries = draw_queries(corpus, options.queries)
        if not queries:
            raise InvalidRequestError("no query can be made of these entries", hint="measure with more entries")
        first = first_searches(location, queries, CLOCK)
        notice(f"measuring {len(queries)} queries")
        samples = _measured(book, queries, options.rounds)
        vectors = _with_vectors(options, book, corpus, queries, notice) if options.vectors else None
        server = str(getattr(book.service.backend, "server", ""))
    name = mask_credentials(location)
    is_reused = known is not None
    return ServerReport(name, server, options.seed, options.rounds, ingested, is_reused, first, samples, vectors)


def _check_options(options: BenchOptions) -> None:
    if options.keep is not None:
        raise InvalidRequestError("--keep is for a file", hint="the entries stay in the database; remove them by purge")
    if options.clock != "wall":
        raise InvalidRequestError("--clock cpu cannot see what a server does", hint="leave it out")


def _known(location: str, options: BenchOptions) -> Ingested | None:
    """What an earlier run stored there, when it is just what this one needs; None when the database is to be filled.

    Raises:
        InvalidRequestError: it holds what the bench did not make.
    """
    try:
        book = open_logbook(location, read_only=True)
    except NoLogbookError:
        return None
    with book:
        runs = book.service.backend.runs(limit=MOST_RUNS)
        _check_own(book.service.backend, runs, mask_credentials(location))
    made = next((run for run in runs if run.source_system == BENCH), None)
    if made is None or made.status != "success" or _wanted(options) != made.metadata.get("wanted"):
        return None
    return Ingested(made.entries_added, float(made.metadata["seconds"]), int(made.metadata["bytes"]))


def _check_own(backend: Backend, runs: Sequence[IngestionRun], name: str) -> None:
    """Refuse a database in which anything is not the bench's."""
    entries = backend.count(Everything())
    made = next((run for run in runs if run.source_system == BENCH), None)
    foreign = any(run.source_system != BENCH and run.metadata.get("source") != BENCH for run in runs)
    written_here = {source for source, _ in backend.field_counts("source")} & set(LOCAL_SOURCES)
    is_whole = made is not None and (made.status != "success" or made.entries_added == entries)
    if backend.attached or foreign or written_here or backend.drafts(1) or (entries and not is_whole):
        raise InvalidRequestError(
            f"{name} holds a logbook that is not the bench's", hint="make an empty database and name it with --db"
        )


def _wanted(options: BenchOptions) -> dict[str, Any]:
    """What decides which entries are stored; a file's entries are never taken for known."""
    if options.source is not None:
        return {"file": str(options.source), "at": time.time()}
    return {"entries": options.entries, "seed": options.seed}


def _filled(options: BenchOptions, location: str, notice: Notice) -> Ingested:
    """Store the entries, in place of what an earlier run left."""
    with TemporaryDirectory(prefix="ariel-lite-bench-", ignore_cleanup_errors=True) as folder:
        source = entries_file(options, Path(folder), notice)
        with open_logbook(location) as book:
            backend = book.service.backend
            backend.purge(entries=True)
            run = backend.start_run(BENCH, {"wanted": _wanted(options)})
            notice("ingesting")
            begin = CLOCK()
            entries = read_entries(book, source, BENCH)
            seconds = CLOCK() - begin
            error = None if entries else f"{source} holds no entries"
            size = backend.status().size_bytes
            figures = {"seconds": seconds, "bytes": size}
            backend.finish_run(run, added=entries, updated=0, failed=0, error=error, metadata=figures)
    if error:
        raise InvalidRequestError(error, hint="give a generic JSON-lines file")
    return Ingested(entries, seconds, size)


def _measured(book: Logbook, queries: Sequence[BenchQuery], rounds: int) -> tuple[ServerSample, ...]:
    """A warm-up pass over all queries, then each `rounds` times."""
    answers = [search(book, query.text) for query in queries]
    return tuple(
        ServerSample(
            query.kind,
            query.text,
            tuple(timed(partial(search, book, query.text), CLOCK) for _ in range(rounds)),
            len(answer.entries),
            any(entry["_match"] == "fuzzy" for entry in answer.entries),
        )
        for query, answer in zip(queries, answers, strict=True)
    )


def _with_vectors(
    options: BenchOptions, book: Logbook, corpus: Corpus, queries: Sequence[BenchQuery], notice: Notice
) -> ServerVectors:
    backend, clusters = book.service.backend, Clusters(options.seed)
    rows = backend.rows(Everything())
    stored = None
    if backend.vector_counts(clusters.model).current < len(rows):
        notice("storing vectors")
        backend.drop_vectors(clusters.model.name)
        rows, spent, sealing = fill_with_vectors(backend, clusters, CLOCK)
        stored = StoredVectors(len(rows), spent, sealing, backend.status().size_bytes)
    truth = Truth(rows, clusters.members(0, len(rows)))
    notice(f"measuring the nearest of {NEAREST_QUERIES} queries")
    nearest, cosines = measure_nearest(book, clusters, truth, corpus.sample, NEAREST_QUERIES, CLOCK)
    asked = asked_of(corpus, queries, options.queries)
    notice(f"measuring {len(asked)} hybrid searches")
    service = hybrid_service(book.service.config, backend, clusters, len(rows))
    return ServerVectors(stored, cosines, tuple(nearest), tuple(measure_hybrid(service, asked, options.rounds, CLOCK)))
