"""Vectors for entries: claim a batch, embed its windows, store them. Any number of workers may do so at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import EntryVectors, PendingText, VectorModel
from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.base import EmbeddingProvider, Vectors, entry_vector, is_storable, windows_of
from ariel_lite.enhancement.backlog import batches, worker_name
from ariel_lite.enhancement.base import EnhancementReport, Progress
from ariel_lite.errors import EmbeddingGenerationError
from ariel_lite.registry import Registry, embedding_provider

BATCH = 128


class TextEmbedding:
    """The enhancer that makes vectors."""

    name = "text_embedding"
    order = 20

    def __init__(self, provider: EmbeddingProvider) -> None:
        self._provider = provider

    @property
    def model(self) -> VectorModel:
        """The model whose vectors are made."""
        return VectorModel(self._provider.name, self._provider.dimension, self._provider.fingerprint)

    def pending(self, backend: Backend) -> int:
        """How many entries have no current vector: new, edited or stale, and those that failed."""
        counts = backend.vector_counts(self.model)
        return counts.missing + counts.stale + counts.failed

    def run(
        self, backend: Backend, *, limit: int | None = None, force: bool = False, progress: Progress = lambda done: None
    ) -> EnhancementReport:
        """Embed entries that have no current vector, those that failed last; with `force` every entry anew.

        Raises:
            ConfigurationError, EmbeddingGenerationError: the model as a whole cannot be used.
        """
        report = EnhancementReport(self.name)
        worker = worker_name()
        if force:
            backend.drop_vectors(self.model.name)
        waiting = batches(
            lambda count: backend.claim_pending(self.model, worker, count),
            lambda: backend.forget_failed(self.model),
            lambda tried: self._give_up(backend, tried, report),
            report.failed,
            size=BATCH,
            limit=limit,
        )
        try:
            for batch in waiting:
                backend.store_vectors(self.model, self._embed(batch, report))
                progress(len(batch))
        finally:
            backend.release_claims(worker)
        backend.seal_vectors(self.model)
        return report

    def _give_up(self, backend: Backend, tried: Sequence[PendingText], report: EnhancementReport) -> None:
        """Note again as failed what failed in this run."""
        failed = [EntryVectors(pending, None, None, report.failed[pending.entry_id]) for pending in tried]
        backend.store_vectors(self.model, failed)

    def _embed(self, batch: Sequence[PendingText], report: EnhancementReport) -> list[EntryVectors]:
        """The vectors of a batch; when the model refuses it, of each entry for itself."""
        try:
            return self._embed_together(batch, report)
        except EmbeddingGenerationError as fault:
            if len(batch) == 1:
                if not report.done:
                    raise
                report.failed[batch[0].entry_id] = fault.message
                return [EntryVectors(batch[0], None, None, fault.message)]
        made: list[EntryVectors] = []
        refused: list[tuple[PendingText, EmbeddingGenerationError]] = []
        for pending in batch:
            try:
                made += self._embed_together([pending], report)
            except EmbeddingGenerationError as fault:
                refused.append((pending, fault))
        if not made and not report.done:
            raise refused[0][1]
        report.failed.update({pending.entry_id: fault.message for pending, fault in refused})
        return made + [EntryVectors(pending, None, None, fault.message) for pending, fault in refused]

    def _embed_together(self, batch: Sequence[PendingText], report: EnhancementReport) -> list[EntryVectors]:
        windows = [windows_of(self._provider, pending.text) for pending in batch]
        flat = [window for cut in windows for window in cut]
        vectors = self._provider.embed(flat) if flat else np.empty((0, self.model.dimension), dtype=np.float32)
        made: list[EntryVectors] = []
        at = 0
        for pending, cut in zip(batch, windows, strict=True):
            own = vectors[at : at + len(cut)]
            at += len(cut)
            made.append(_entry(pending, own, report))
        return made


def _entry(pending: PendingText, windows: Vectors, report: EnhancementReport) -> EntryVectors:
    """An entry's vectors; blank text and vectors that nothing can be compared with leave only the fact."""
    if not len(windows):
        report.blank += 1
        return EntryVectors(pending, None, None)
    if not all(is_storable(window) for window in windows):
        reason = "the model gave a vector that is zero or not finite"
        report.failed[pending.entry_id] = reason
        return EntryVectors(pending, None, None, reason)
    report.done += 1
    whole = windows[0] if len(windows) == 1 else entry_vector(windows)
    return EntryVectors(pending, whole, windows)


def create_enhancer(config: ARIELConfig, registry: Registry) -> TextEmbedding:
    """The enhancer of a configuration.

    Raises:
        ConfigurationError: unknown provider or model, or a model's file is absent.
    """
    return TextEmbedding(embedding_provider(registry, config))
