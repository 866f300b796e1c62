"""The bench's vectors in a logbook: how fast they are stored, and how fast and how completely the nearest are found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ariel_lite.access import restriction
from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import EntryVectors
from ariel_lite.compose import Logbook, open_logbook
from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.base import Vectors
from ariel_lite.evaluation.bench_clusters import BLOCK, Clusters
from ariel_lite.evaluation.bench_figures import timed, times_of
from ariel_lite.evaluation.bench_queries import SampledEntry
from ariel_lite.evaluation.bench_vector_report import UNFILTERED, NearestFigures, StoredVectors
from ariel_lite.query.nodes import BoundNode, Everything, conjunction

NEAREST = 10
WEEK = timedelta(days=7)
DIGITS = 1e-6
"""Similarities are compared to six digits; a rounded one may be off by so much."""

WORKER = "bench"

Rows = NDArray[np.int64]
Similarities = NDArray[np.float64]


@dataclass(frozen=True)
class Truth:
    """All vectors of a logbook with their rows, ascending, to find the nearest exactly."""

    rows: Rows
    vectors: Vectors

    def share(self, query: Vectors, found: Rows, allowed: Rows | None) -> float:
        """The share of the exact ten nearest allowed entries (all, when there are fewer) that was found.

        An entry that is as near as the last of them, to six digits, is as good as one of them.
        """
        places = np.arange(len(self.rows)) if allowed is None else np.searchsorted(self.rows, allowed)
        rows = self.rows[places]
        similarities = (self.vectors if allowed is None else self.vectors[places]) @ query
        wanted = min(NEAREST, len(rows))
        if not wanted:
            return 1.0 if not len(found) else 0.0
        last = np.partition(similarities, len(rows) - wanted)[-wanted]
        near = rows[similarities >= last - DIGITS]
        return len(np.intersect1d(found[:NEAREST], near)) / wanted


def store_clusters(logbook: Path, clusters: Clusters, clock: Callable[[], float]) -> tuple[StoredVectors, Truth]:
    """Give every entry of a logbook a vector, in the order of claiming; the file is measured once it is closed."""
    with open_logbook(logbook) as book:
        rows, spent, sealing = fill_with_vectors(book.service.backend, clusters, clock)
    return StoredVectors(len(rows), spent, sealing, logbook.stat().st_size), Truth(rows, clusters.members(0, len(rows)))


def fill_with_vectors(backend: Backend, clusters: Clusters, clock: Callable[[], float]) -> tuple[Rows, float, float]:
    """Give every entry without one a vector: member n goes to the n-th row. The rows; seconds of storing, of sealing.

    Entries are claimed in the order of their rows.
    """
    rows: list[int] = []
    spent = 0.0
    while True:
        begin = clock()
        pending = backend.claim_pending(clusters.model, WORKER, BLOCK)
        spent += clock() - begin
        if not pending:
            break
        vectors = clusters.members(len(rows), len(pending))
        made = [EntryVectors(one, vector, vector[None]) for one, vector in zip(pending, vectors, strict=True)]
        spent += timed(partial(backend.store_vectors, clusters.model, made), clock)
        rows += [one.row for one in pending]
    backend.release_claims(WORKER)
    sealing = timed(partial(backend.seal_vectors, clusters.model), clock)
    return np.array(rows, dtype=np.int64), spent, sealing


def first_nearest(logbook: Path, clusters: Clusters, query: Vectors, clock: Callable[[], float]) -> float:
    """Seconds of the first nearest of a logbook just opened."""
    with open_logbook(logbook) as book:
        return timed(partial(book.service.backend.nearest, clusters.model, query, NEAREST, None), clock)


def measure_nearest(
    book: Logbook,
    clusters: Clusters,
    truth: Truth,
    entries: Sequence[SampledEntry],
    count: int,
    clock: Callable[[], float],
) -> tuple[list[NearestFigures], tuple[float, float, float]]:
    """The nearest of `count` queries without a filter, in a week of the sampled entries, and by one of their authors.

    Also the 5th, 50th and 95th percentile of the cosines of the nearest of all.
    """
    backend, config = book.service.backend, book.service.config
    queries = clusters.queries(count, len(truth.rows))
    chosen = [entries[at * len(entries) // count] for at in range(count)]
    weeks = [_filter(config, entry.timestamp, week=True) for entry in chosen]
    authors = [_filter(config, entry.timestamp, author=entry.author) for entry in chosen]
    found = [backend.nearest(clusters.model, query, NEAREST, None)[1][:NEAREST] for query in queries]
    low, median, high = np.percentile(np.concatenate(found), (5, 50, 95))
    figures = [
        _measured(name, backend, clusters, truth, list(zip(queries, trees, strict=True)), clock)
        for name, trees in ((UNFILTERED, [None] * count), ("one week", weeks), ("author", authors))
    ]
    return figures, (float(low), float(median), float(high))


def _filter(config: ARIELConfig, moment: datetime, *, week: bool = False, author: str | None = None) -> BoundNode:
    """The filters of a call as a tree: a week from a moment on, or an author."""
    limits = restriction(
        start_date=moment if week else None,
        end_date=moment + WEEK if week else None,
        author=author,
        source_system=None,
        exclude_entry_ids=(),
        zone=config.zone,
        now=moment,
    )
    return conjunction([Everything(), *limits.conditions()])


def _measured(
    name: str,
    backend: Backend,
    clusters: Clusters,
    truth: Truth,
    asked: Sequence[tuple[Vectors, BoundNode | None]],
    clock: Callable[[], float],
) -> NearestFigures:
    """Each query once (filters' rows are looked up anew each time), after one that is not counted."""
    finding: list[float] = []
    whole: list[float] = []
    shares: list[float] = []
    sizes: list[int] = []
    for query, tree in (asked[0], *asked):
        begin = clock()
        allowed = None if tree is None else backend.rows(tree)
        between = clock()
        rows, _ = backend.nearest(clusters.model, query, NEAREST, allowed)
        end = clock()
        finding.append(between - begin)
        whole.append(end - begin)
        shares.append(truth.share(query, rows, allowed))
        sizes.append(len(truth.rows) if allowed is None else len(allowed))
    return NearestFigures(
        name=name,
        queries=len(asked),
        allowed=float(np.mean(sizes[1:])),
        recall=float(np.mean(shares[1:])),
        times=times_of(whole[1:]),
        finding=times_of(finding[1:]),
    )
