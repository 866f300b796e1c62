"""5,000 entries and 500 queries on both backends: the same sets, order, scores, similarities, highlights, corrections."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from logbooks import NOW, entry
from twins import twins

from ariel_lite.access import Restriction
from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import SearchPlan, batched
from ariel_lite.compose import Logbook
from ariel_lite.config import ARIELConfig
from ariel_lite.evaluation.bench_clusters import Clusters
from ariel_lite.evaluation.bench_queries import BenchQuery, Corpus, draw_queries
from ariel_lite.evaluation.bench_vectors import fill_with_vectors
from ariel_lite.evaluation.synthetic import synthetic_entries
from ariel_lite.planning import plan_query
from ariel_lite.query.nodes import BoundNode, Everything
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.text.tokenise import Analyzer

pytestmark = pytest.mark.slow

ENTRIES = 5_000
QUERIES_A_CLASS = 42
BEST = 200
CLOSE = 1e-5
NEAREST_QUERIES = 60

Pair = tuple[Logbook, Logbook]


def long_entries() -> list[EnhancedLogbookEntry]:
    """Entries beyond what PostgreSQL keeps of a vector, of ordinary words."""
    maker = random.Random(11)
    some = [token for made in islice(synthetic_entries(300, 5), 300) for token in made["raw_text"].split()]
    distinct = " ".join(f"w{number}" for number in range(120_000))
    return [
        entry("often", "beam vacuum " * 300 + " ".join(some[:200]), at="2012-03-07", author="J. Long"),
        entry("many", " ".join(maker.choice(some) for _ in range(20_000)), at="2013-03-09", author="J. Long"),
        entry("distinct", distinct + " " + " ".join(some[:500]), at="2014-03-10", author="J. Long"),
    ]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """The words of the logbook, to draw queries from."""
    made = Corpus(ENTRIES, 1)
    for _ in made.survey(synthetic_entries(ENTRIES, 1)):
        pass
    return made


@pytest.fixture(scope="module")
def queries(corpus: Corpus) -> list[BenchQuery]:
    """Of every class as many."""
    return draw_queries(corpus, QUERIES_A_CLASS)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """The same logbook on PostgreSQL and on SQLite."""
    batches = batched(synthetic_entries(ENTRIES, 1), 1000)
    with twins(tmp_path_factory.mktemp("twin"), [*batches, long_entries()]) as books:
        yield books


def tree_of(query: str, analyzer: Analyzer) -> BoundNode:
    return plan_query(query, Restriction(), analyzer, zone=ARIELConfig().zone, now=NOW).tree


def ids_of(backend: Backend, rows: Any) -> set[str]:
    """Ids of row numbers."""
    return {hit.entry_id for hit in backend.best_rows(rows, np.zeros(len(rows)), len(rows))}


def test_there_are_500_queries_of_all_classes(queries: list[BenchQuery]) -> None:
    assert len(queries) >= 500
    assert len({query.kind for query in queries}) == 12


def test_sets_order_and_scores_are_the_same(pair: Pair, queries: list[BenchQuery]) -> None:
    server, file = (book.service.backend for book in pair)
    analyzer = Analyzer()
    wrong: list[str] = []
    for query in queries:
        tree = tree_of(query.text, analyzer)
        if ids_of(server, server.rows(tree)) != ids_of(file, file.rows(tree)) or server.count(tree) != file.count(tree):
            wrong.append(f"set: {query.text}")
        ours, theirs = (backend.search(SearchPlan(tree, BEST)) for backend in (server, file))
        if [(hit.entry_id, hit.written) for hit in ours] != [(hit.entry_id, hit.written) for hit in theirs]:
            wrong.append(f"order: {query.text}")
        elif any(abs(one.score - other.score) > CLOSE for one, other in zip(ours, theirs, strict=True)):
            wrong.append(f"scores: {query.text}")
    assert wrong == []


def test_answers_highlights_and_corrections_are_the_same(pair: Pair, queries: list[BenchQuery]) -> None:
    wrong = [query.text for query in queries if shown(pair[0], query.text) != shown(pair[1], query.text)]
    assert wrong == []


def test_typos_are_corrected_and_unheard_words_are_not(pair: Pair, queries: list[BenchQuery]) -> None:
    matches = {
        kind: [pair[0].search(query.text, mode="keyword").entries for query in queries if query.kind == kind]
        for kind in ("typo", "no hit")
    }
    assert all(found and found[0]["_match"] == "fuzzy" for found in matches["typo"])
    assert not any(matches["no hit"])


def shown(book: Logbook, query: str) -> tuple[Any, ...]:
    result = book.search(query, mode="keyword", max_results=50)
    found = [(hit["entry_id"], hit["_match"], hit["_highlights"]) for hit in result.entries]
    return found, [note.message for note in result.diagnostics]


def test_nearest_entries_and_similarities_are_the_same(pair: Pair, corpus: Corpus) -> None:
    clusters, analyzer = Clusters(1), Analyzer()
    backends = [book.service.backend for book in pair]
    for backend in backends:
        fill_with_vectors(backend, clusters, lambda: 0.0)
    # Rows were claimed in order on both, which is the order of storing; so the n-th entries have the same vector.
    orders = [list(backend.entry_ids()) for backend in backends]
    assert orders[0] == orders[1]
    authors = [sampled.author for sampled in corpus.sample[:NEAREST_QUERIES]]
    for query, author in zip(clusters.queries(NEAREST_QUERIES, ENTRIES), authors, strict=True):
        for tree in (Everything(), tree_of(f'author:"{author}"', analyzer), tree_of("beam date:2004", analyzer)):
            near = [nearest(backend, clusters, query, tree) for backend in backends]
            assert [entry_id for entry_id, _ in near[0]] == [entry_id for entry_id, _ in near[1]]
            assert [value for _, value in near[0]] == pytest.approx([value for _, value in near[1]], abs=CLOSE)


def nearest(backend: Backend, clusters: Clusters, query: Any, tree: BoundNode) -> list[tuple[str, float]]:
    rows = None if isinstance(tree, Everything) else backend.rows(tree)
    found, similarities = backend.nearest(clusters.model, query, 20, rows)
    return [(hit.entry_id, hit.score) for hit in backend.best_rows(found, similarities, 20)]
