"""Embeddings from a server: what Ollama and OpenAI-compatible endpoints share.

A `Dialect` holds what differs (path, request, where the vectors stand in the answer); ollama.py and openai.py are
one each. Requests are sent in batches and repeated with growing pauses when the server is busy or unreachable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ariel_lite import model_servers
from ariel_lite.config import ARIELConfig, EmbeddingModelConfig
from ariel_lite.embeddings.base import (
    DEFAULT_THRESHOLD,
    Vectors,
    clean_text,
    is_storable,
    make_fingerprint,
    normalised,
    require_embeddable,
)
from ariel_lite.embeddings.windows import CHUNKER_VERSION, WORD_OVERLAP, WORD_WINDOW, word_windows
from ariel_lite.errors import EmbeddingGenerationError
from ariel_lite.model_servers import ModelServer, Server, ServerKind

BATCH_TEXTS = 32
MOST_WINDOW_TOKENS = 512
PROBE = "beam"


@dataclass(frozen=True)
class Dialect:
    """How one kind of server is spoken to.

    Attributes:
        kind: what holds for whatever it is asked.
        method: the path of embeddings below the kind's root.
        request: the JSON body from model name and texts.
        vectors: the list of vectors, in the order of the texts, from the answer's JSON.
    """

    kind: ServerKind
    method: str
    request: Callable[[str, list[str]], dict[str, Any]]
    vectors: Callable[[Any], list[Any]]


class HttpProvider:
    """An `EmbeddingProvider` over HTTP, with windows by estimated tokens."""

    recommended_threshold = DEFAULT_THRESHOLD

    def __init__(self, dialect: Dialect, server: Server, settings: EmbeddingModelConfig) -> None:
        self.name = settings.name
        self._dialect = dialect
        self._settings = settings
        self._dimension = settings.dimension
        self._window = min(settings.max_input_tokens or WORD_WINDOW, MOST_WINDOW_TOKENS)
        self._server = ModelServer(
            dialect.kind.asked(self.name, "an embedding model", EmbeddingGenerationError), server
        )

    @property
    def dimension(self) -> int:
        """The configured dimension, else that of the first vector; asks the server when there was none yet."""
        if self._dimension is None:
            return int(self.embed([PROBE]).shape[1])
        return self._dimension

    @property
    def fingerprint(self) -> str:
        """Differs when model, prefixes, windows or the way of cutting differ; not with the server's address."""
        parts = {
            "model": self.name,
            "prefixes": [self._settings.query_prefix, self._settings.document_prefix],
            "window": [self._window, WORD_OVERLAP],
            "chunker": CHUNKER_VERSION,
        }
        return make_fingerprint(self._dialect.kind.provider, parts)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """See `EmbeddingProvider.embed`. A query is tried once more, entries as often as the server's settings say."""
        require_embeddable(texts)
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        prefix = self._settings.query_prefix if query else self._settings.document_prefix
        ready = [prefix + clean_text(text) for text in texts]
        most = self._server.server.retries
        retries = min(most, 1) if query else most
        found = [
            self._vectors(ready[start : start + BATCH_TEXTS], retries) for start in range(0, len(ready), BATCH_TEXTS)
        ]
        return normalised(np.concatenate(found))

    def windows(self, text: str) -> list[str]:
        """See `Chunker.windows`; sizes are estimated tokens."""
        return word_windows(text, self._window, WORD_OVERLAP)

    def _vectors(self, texts: list[str], retries: int) -> Vectors:
        url = self._dialect.kind.endpoint(self._server.server.url, self._dialect.method)
        answer = self._server.post(url, self._dialect.request(self.name, texts), retries=retries)
        try:
            vectors = np.array(self._dialect.vectors(answer), dtype=np.float32)
        except (ValueError, TypeError, KeyError, AttributeError) as fault:
            raise self._server.fault("gave an answer that holds no vectors") from fault
        self._check(vectors, len(texts))
        return vectors

    def _check(self, vectors: Vectors, count: int) -> None:
        if vectors.ndim != 2 or len(vectors) != count:
            raise self._server.fault(f"gave {len(vectors)} vectors for {count} texts")
        if not all(is_storable(vector) for vector in vectors):
            raise self._server.fault("gave a vector that is zero or not finite")
        dimension = vectors.shape[1]
        if self._dimension not in (None, dimension):
            raise self._server.fault(
                f"gives {dimension} dimensions, {self._dimension} are expected",
                hint=f"set the model's dimension to {dimension} and run 'ariel-lite reembed'",
            )
        self._dimension = dimension


def configured_server(config: ARIELConfig, dialect: Dialect) -> Server:
    """A dialect's server from `api.providers.<provider>`, else from `embedding`, else where it usually listens.

    Raises:
        ConfigurationError: no address, an address that is not http(s), or a key that no header can carry.
    """
    embedding = config.embedding
    own = embedding.base_url if embedding.provider == dialect.kind.provider else ""
    return model_servers.configured_server(config, dialect.kind, own, embedding.timeout_seconds)
