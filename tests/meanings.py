"""A model whose vectors a test can work out in its head, and logbooks that use it or the hashing provider.

`compass` knows a few groups of words; each group is a direction, and a text points where its known words point, each
word counting once a time. Words of one group mean the same: "vacuum" and "pressure" have cosine 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from logbooks import NOW, Brief, entries

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import VectorModel
from ariel_lite.compose import Logbook
from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.base import EmbeddingProvider, Vectors, is_embeddable, make_fingerprint, model_settings
from ariel_lite.enhancement.base import EnhancementReport
from ariel_lite.enhancement.text_embedding import create_enhancer
from ariel_lite.errors import EmbeddingGenerationError
from ariel_lite.registry import PROVIDERS, Kind, Registry, embedding_provider
from ariel_lite.search.base import SearchContext
from ariel_lite.service import ARIELSearchService

GROUPS = (
    ("vacuum", "pressure", "gauge"),
    ("klystron", "rf", "arc"),
    ("kicker", "misfire"),
    ("septum", "cooling", "water"),
    ("cafeteria", "holiday"),
    ("orbit", "beam"),
    ("dose", "radiation"),
)
DIRECTIONS = {word: place for place, group in enumerate(GROUPS) for word in group}
ELSEWHERE = len(GROUPS)
"""The direction of texts without a known word."""

DIMENSION = ELSEWHERE + 1
WINDOW_MARK = "|"

OpenEmpty = Callable[[], Backend]


class CompassProvider:
    """An `EmbeddingProvider` with windows of its own: a text is cut at "|".

    The words "nan", "nothing", "refused" give a vector of NaN, a zero vector, and a failure of the whole call.
    """

    recommended_threshold = 0.3

    def __init__(self, name: str = "compass", dimension: int = DIMENSION, revision: int = 1) -> None:
        self.name = name
        self.dimension = dimension
        self.fingerprint = make_fingerprint("compass", {"revision": revision})
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """See `EmbeddingProvider.embed`."""
        self.embedded += texts
        return np.array([self._vector(text) for text in texts], dtype=np.float32).reshape(-1, self.dimension)

    def windows(self, text: str) -> list[str]:
        """See `Chunker.windows`."""
        return [part for part in text.split(WINDOW_MARK) if is_embeddable(part)]

    def _vector(self, text: str) -> Vectors:
        words = text.lower().replace(",", " ").replace(".", " ").split()
        if "refused" in words:
            raise EmbeddingGenerationError("the model refused a text", hint="take it out")
        vector = np.zeros(self.dimension, dtype=np.float32)
        for word in words:
            if word in DIRECTIONS:
                vector[DIRECTIONS[word]] += 1
        if not vector.any():
            vector[ELSEWHERE] = 1
        vector /= np.linalg.norm(vector)
        if "nan" in words:
            vector[0] = np.nan
        return vector * 0 if "nothing" in words else vector


def create_provider(config: ARIELConfig, model: str) -> CompassProvider:
    """The provider; `max_input_tokens` of the configuration plays the model's revision."""
    settings = model_settings(config, model)
    return CompassProvider(model, settings.dimension or DIMENSION, settings.max_input_tokens or 1)


class MeaningRegistry(Registry):
    """The registry with the provider `compass` in it."""

    def load(self, kind: Kind, name: str) -> Any:
        """See `Registry.load`."""
        if kind is PROVIDERS and name == "compass":
            return CompassModule
        return super().load(kind, name)


class CompassModule:
    """What a provider's module has."""

    create_provider = staticmethod(create_provider)


def configuration(provider: str = "compass", model: str = "", **settings: Any) -> ARIELConfig:
    """A configuration with a provider; other keywords are top-level settings."""
    embedding = {"provider": provider} | ({"model": model} if model or provider != "onnx" else {})
    if embedding.get("model") == "":
        embedding["model"] = provider
    return ARIELConfig.from_dict({"embedding": embedding, **settings})


def book_over(backend: Backend, config: ARIELConfig) -> Logbook:
    """A logbook over a backend, whose clock stands at NOW."""
    registry = MeaningRegistry()
    service = ARIELSearchService(config, backend, registry)
    service.context = SearchContext(backend, config, registry, lambda: NOW)
    return Logbook(service)


def meaning_book(
    open_empty: OpenEmpty, given: Iterable[Brief] = (), config: ARIELConfig | None = None, *, embed: bool = True
) -> Logbook:
    """A fresh logbook with vectors (`embed=False`: without), of the provider `compass` unless configured otherwise."""
    book = book_over(open_empty(), config or configuration())
    book.service.backend.upsert(entries(*given))
    if embed:
        enhance(book)
    return book


def enhance(book: Logbook, **options: Any) -> EnhancementReport:
    """Make the vectors that are missing."""
    return create_enhancer(book.service.config, book.service.registry).run(book.service.backend, **options)


def provider_of(book: Logbook) -> EmbeddingProvider:
    """The provider that a logbook's searches use."""
    return book.service.context.embedder


def model_of(book: Logbook) -> VectorModel:
    """The model whose vectors a logbook uses."""
    provider = embedding_provider(book.service.registry, book.service.config)
    return VectorModel(provider.name, provider.dimension, provider.fingerprint)


def ids(book: Logbook, query: str, mode: str = "semantic", **options: Any) -> list[str]:
    """Ids of what a search finds, in order."""
    return [hit["entry_id"] for hit in book.search(query, mode=mode, **{"max_results": 100, **options}).entries]


def scores(book: Logbook, query: str, mode: str = "semantic", **options: Any) -> dict[str, float]:
    """Id -> score of what a search finds."""
    found = book.search(query, mode=mode, **{"max_results": 100, **options}).entries
    return {hit["entry_id"]: hit["_score"] for hit in found}


def notes(book: Logbook, query: str, mode: str = "semantic", **options: Any) -> str:
    """All that a search has to say about itself, lines joined."""
    return "\n".join(note.message for note in book.search(query, mode=mode, **options).diagnostics)


def similarity(hit: Mapping[str, Any]) -> float:
    """The cosine of a hybrid hit that was explained."""
    return float(hit["_ranks"]["similarity"])
