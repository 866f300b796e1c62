"""Hybrid searches over the bench's vectors: the whole call, but for the model, whose vectors are known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from ariel_lite.backends.base import Backend
from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.base import Vectors
from ariel_lite.evaluation.bench_clusters import DIMENSION, Clusters
from ariel_lite.evaluation.bench_figures import timed
from ariel_lite.evaluation.bench_vector_report import HybridSample
from ariel_lite.records import ARIELSearchResult
from ariel_lite.registry import PROVIDERS, Kind, Registry
from ariel_lite.service import ARIELSearchService

HITS = 10


class KnownQueries:
    """An `EmbeddingProvider` for the bench's vectors: a text's query is invented once and then looked up."""

    dimension = DIMENSION
    recommended_threshold = 0.25
    """As of the model that comes along."""

    def __init__(self, clusters: Clusters, members: int) -> None:
        self.name = clusters.model.name
        self.fingerprint = clusters.model.fingerprint
        self._clusters = clusters
        self._members = members
        self._known: dict[str, Vectors] = {}

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """See `EmbeddingProvider.embed`; only queries are embedded here."""
        for text in texts:
            if text not in self._known:
                self._known[text] = self._clusters.query_of(text, self._members)
        return np.array([self._known[text] for text in texts], dtype=np.float32).reshape(-1, DIMENSION)


class BenchRegistry(Registry):
    """All modules as they are, and one embedding provider whatever the configuration names."""

    def __init__(self, provider: KnownQueries) -> None:
        super().__init__()
        self._provider = provider

    def load(self, kind: Kind, name: str) -> Any:
        """The module of a name; see `Registry.load`."""
        if kind is PROVIDERS:
            return SimpleNamespace(create_provider=lambda config, model: self._provider)
        return super().load(kind, name)


def hybrid_service(config: ARIELConfig, backend: Backend, clusters: Clusters, members: int) -> ARIELSearchService:
    """A service over the bench's logbook whose meaning is that of its invented vectors."""
    return ARIELSearchService(config, backend, BenchRegistry(KnownQueries(clusters, members)))


def measure_hybrid(
    service: ARIELSearchService, queries: Iterable[tuple[str, str]], rounds: int, clock: Callable[[], float]
) -> list[HybridSample]:
    """Queries as (class, text): a warm-up pass over all of them, then each `rounds` times."""
    answers = [(kind, text, _search(service, text)) for kind, text in queries]
    return [
        HybridSample(
            kind,
            text,
            tuple(timed(partial(_search, service, text), clock) for _ in range(rounds)),
            len(answer.entries),
            answer.degraded,
        )
        for kind, text, answer in answers
    ]


def _search(service: ARIELSearchService, text: str) -> ARIELSearchResult:
    return service.search_now(text, mode="hybrid", max_results=HITS)
