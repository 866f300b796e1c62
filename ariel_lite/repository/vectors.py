"""The repository's vectors: one by one into a model's table, counted, and the nearest of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ariel_lite.backends.encoding import digest
from ariel_lite.backends.values import EntryVectors, PendingText, VectorModel
from ariel_lite.embeddings.base import Vectors, is_storable, model_table
from ariel_lite.errors import ConfigurationError, EmbeddingGenerationError, EntryNotFoundError
from ariel_lite.query.nodes import BoundNode, Everything
from ariel_lite.records import EnhancedLogbookEntry, own_text
from ariel_lite.registry import embedding_provider
from ariel_lite.repository.finding import entries_of
from ariel_lite.search.base import SearchContext

EMBEDDING = "text_embedding"
FOREIGN = "external"
"""The fingerprint of vectors whose model no provider here knows."""


def vector_stats(context: SearchContext) -> dict[str, int]:
    """{"complete", "failed", "pending"}: entries by the configured model's vectors; without it, by what is noted."""
    try:
        embedder = context.embedder
        model = VectorModel(embedder.name, embedder.dimension, embedder.fingerprint)
        counts = context.backend.vector_counts(model)
    except (ConfigurationError, EmbeddingGenerationError):
        return context.backend.enhancement_counts(EMBEDDING)
    return {
        "complete": counts.current + counts.blank,
        "failed": counts.failed,
        "pending": counts.missing + counts.stale,
    }


def store_vector(context: SearchContext, entry_id: str, embedding: Sequence[float], model_name: str) -> None:
    """Keep a vector of an entry's text as it is now.

    Raises:
        EntryNotFoundError: there is no such entry.
        EmbeddingGenerationError: another dimension than the model's, or a vector that is zero or not finite.
    """
    vector = _checked(embedding)
    found = context.backend.get_entries([entry_id])
    if not found:
        raise EntryNotFoundError(f"there is no entry {entry_id}", hint="store the entry first")
    pending = PendingText(-1, entry_id, digest(own_text(found[0])), "")
    made = EntryVectors(pending, vector, vector[np.newaxis])
    context.backend.store_vectors(_vector_model(context, model_name, len(vector)), [made])


def nearest_entries(
    context: SearchContext, query: Sequence[float], model_name: str, limit: int, threshold: float, tree: BoundNode
) -> list[tuple[EnhancedLogbookEntry, float]]:
    """(entry, cosine) of the nearest among the entries that a tree matches, best first.

    Raises:
        EmbeddingGenerationError: another dimension than the table's, or a vector that is zero or not finite.
    """
    backend, vector = context.backend, _checked(query)
    for table in backend.embedding_tables():
        if table.table_name == model_table(model_name) and table.dimension not in (None, len(vector)):
            raise EmbeddingGenerationError(
                f"the query has {len(vector)} numbers, {table.table_name} holds vectors of {table.dimension}",
                hint=f"make it with the model {model_name}",
            )
    allowed = None if isinstance(tree, Everything) else backend.rows(tree)
    rows, similarities = backend.nearest(_vector_model(context, model_name, len(vector)), vector, limit, allowed)
    near = similarities >= threshold
    return entries_of(backend, backend.best_rows(rows[near], similarities[near], limit))


def _vector_model(context: SearchContext, name: str, dimension: int) -> VectorModel:
    """A model as its vectors know it.

    Raises:
        EmbeddingGenerationError: the configured model has another dimension.
    """
    is_configured = name == context.config.vector_model
    try:
        provider = (
            context.embedder
            if is_configured
            else embedding_provider(context.registry, context.config.with_vector_model(name))
        )
    except ConfigurationError:
        return VectorModel(name, dimension, FOREIGN)
    if is_configured and provider.dimension != dimension:
        raise EmbeddingGenerationError(
            f"the vector has {dimension} numbers, those of {name} have {provider.dimension}",
            hint="make it with that model",
        )
    return VectorModel(name, dimension, provider.fingerprint)


def _checked(embedding: Sequence[float]) -> Vectors:
    """A vector, shape (dimension,).

    Raises:
        EmbeddingGenerationError: it is empty, zero or not finite.
    """
    vector = np.asarray(embedding, dtype=np.float32)
    if vector.ndim != 1 or not is_storable(vector):
        raise EmbeddingGenerationError("the vector is empty, zero or not finite", hint="check the model")
    return vector
