"""ARIEL's repository: its asynchronous methods by name and signature, over whatever backend holds the logbook.

Deliberate differences: `keyword_search` and `fuzzy_search` take a `SearchPlan` instead of SQL; the filters of
`semantic_search` hold before the nearest are chosen; an id that another source system owns is not overwritten (it is
stored as `<source>:<id>`); a changed text makes an entry's enhancements pending.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal, TypeVar, cast

import anyio.to_thread
import numpy as np

from ariel_lite.attachments import mime_type as type_of
from ariel_lite.backends.base import EntryVectors, PendingText, SearchPlan, StoredAttachment, VectorModel
from ariel_lite.backends.encoding import digest
from ariel_lite.config import ENHANCEMENT_MODULES, EmbeddingConfig, SearchModuleConfig
from ariel_lite.embeddings.base import Vectors, is_storable, model_table
from ariel_lite.errors import (
    ARIELException,
    ConfigurationError,
    EmbeddingGenerationError,
    EntryNotFoundError,
    InvalidRequestError,
    ModuleNotEnabledError,
)
from ariel_lite.query.bind import fold_value
from ariel_lite.query.dates import TimeRange
from ariel_lite.query.nodes import (
    BoundNode,
    Everything,
    Exclude,
    FieldLeaf,
    Nothing,
    conjunction,
    text_leaves,
)
from ariel_lite.ranking.corrections import approximate_rows
from ariel_lite.records import EmbeddingTableInfo, EnhancedLogbookEntry, searchable_text
from ariel_lite.registry import embedding_provider
from ariel_lite.search.base import SearchContext

EMBEDDING = "text_embedding"
FOREIGN = "external"
"""The fingerprint of vectors whose model no provider here knows."""

STORED_FIRST = ("summary", "keywords", "enhancement_status")
"""What a new version of an entry does not set: enhancers do."""

LONGEST_ERROR = 500
MANY = 1_000_000
FuzzyHits = list[tuple[EnhancedLogbookEntry, float, list[str]]]
Given = TypeVar("Given")


class ARIELRepository:
    """A logbook by ARIEL's repository methods; `service.repository` gives it.

    Every method may raise DatabaseConnectionError or DatabaseQueryError.
    """

    def __init__(self, context: SearchContext) -> None:
        self.config = context.config
        self.backend = context.backend
        self._context = context

    async def get_entry(self, entry_id: str) -> EnhancedLogbookEntry | None:
        """The entry of an id."""
        found = await self.get_entries_by_ids([entry_id])
        return found[0] if found else None

    async def get_entries_by_ids(self, entry_ids: list[str]) -> list[EnhancedLogbookEntry]:
        """The entries of these ids that exist, in the order of the ids."""
        return await _in_thread(self.backend.get_entries, entry_ids)

    async def upsert_entry(self, entry: EnhancedLogbookEntry) -> None:
        """Store an entry by its id.

        A stored entry keeps its creation time, its attachments when the new version has none, and what enhancers
        added as long as the text is the same. Times without a zone are in the facility's.
        """
        await _in_thread(self._upsert, entry)

    async def search_by_time_range(
        self,
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int = 100,
        offset: int = 0,
        author: str | None = None,
        source_system: str | None = None,
    ) -> list[EnhancedLogbookEntry]:
        """Entries of a span (both ends included), newest first; author and source are whole names, in any case.

        Raises:
            InvalidRequestError: a blank author or source system.
        """

        def find() -> list[EnhancedLogbookEntry]:
            plan = SearchPlan(self._filters(start, end, author, source_system), limit, offset)
            return self.backend.get_entries([hit.entry_id for hit in self.backend.search(plan)])

        return await _in_thread(find)

    async def count_entries(
        self,
        start: datetime | None = None,
        end: datetime | None = None,
        author: str | None = None,
        source_system: str | None = None,
    ) -> int:
        """How many entries `search_by_time_range` would page through.

        Raises:
            InvalidRequestError: a blank author or source system.
        """
        return await _in_thread(lambda: self.backend.count(self._filters(start, end, author, source_system)))

    async def get_distinct_authors(self) -> list[str]:
        """The authors' names, sorted."""
        return await _in_thread(self._distinct, "author")

    async def get_distinct_source_systems(self) -> list[str]:
        """The source systems' names, sorted."""
        return await _in_thread(self._distinct, "source")

    async def store_attachment(
        self, entry_id: str, attachment_id: str, filename: str, mime_type: str | None, data: bytes, size_bytes: int
    ) -> None:
        """Keep a file of an entry; the same id again replaces it. Without a type, name and content decide.

        Raises:
            InvalidRequestError: `size_bytes` is not the length of `data`.
            EntryNotFoundError: there is no such entry.
        """
        if size_bytes != len(data):
            raise InvalidRequestError(f"{filename} has {len(data):,} bytes, not {size_bytes:,}")
        if not await self.get_entry(entry_id):
            raise EntryNotFoundError(f"there is no entry {entry_id}", hint="store the entry first")
        kind = mime_type or type_of(filename, data)
        await _in_thread(self.backend.store_attachment, entry_id, attachment_id, filename, kind, data)

    async def get_attachment(self, attachment_id: str) -> dict[str, Any] | None:
        """A file: attachment_id, entry_id, filename, mime_type, data, size_bytes, created_at."""
        found = await _in_thread(self.backend.get_attachment, attachment_id)
        return None if found is None else asdict(found)

    async def get_attachments_for_entry(self, entry_id: str) -> list[dict[str, Any]]:
        """The files of an entry, oldest first, as `get_attachment` without data."""
        found = await _in_thread(self.backend.attachments_of, entry_id)
        return [_without_data(file) for file in sorted(found, key=lambda file: file.created_at)]

    async def get_incomplete_entries(
        self, module_name: str | None = None, status: str | None = None, limit: int = 100
    ) -> list[EnhancedLogbookEntry]:
        """Entries that a module (None: any enabled one) is not done with, or of one status; oldest first.

        Raises:
            InvalidRequestError: no such status.
        """
        names = [module_name] if module_name else self.config.get_enabled_enhancement_modules()
        found: dict[str, EnhancedLogbookEntry] = {}
        for name in names:
            entries = await _in_thread(self.backend.incomplete, name, status, limit)
            found |= {entry["entry_id"]: entry for entry in entries}
        ordered = sorted(found.values(), key=lambda entry: (entry["timestamp"], entry["entry_id"]))
        return ordered[:limit]

    async def get_enhancement_stats(self) -> dict[str, Any]:
        """{"total_entries", module: {"complete", "failed", "pending"}}; vectors as the configured model's are."""
        return await _in_thread(self._stats)

    async def mark_enhancement_complete(self, entry_id: str, module_name: str) -> None:
        """Note that a module is done with an entry."""
        await _in_thread(self.backend.mark_complete, module_name, [entry_id])

    async def mark_enhancement_failed(self, entry_id: str, module_name: str, error: str) -> None:
        """Note why a module could not enhance an entry (500 characters of it)."""
        await _in_thread(self.backend.mark_failed, module_name, {entry_id: error[:LONGEST_ERROR]})

    async def get_embedding_tables(self) -> list[EmbeddingTableInfo]:
        """The tables of vectors; the one that searches use is active."""
        active = model_table(self._model_name)
        tables = await _in_thread(self.backend.embedding_tables)
        return [replace(table, is_active=table.table_name == active) for table in tables]

    async def validate_search_model_table(self, model: str) -> None:
        """Check that a model has a table of vectors.

        Raises:
            ConfigurationError: it has none.
        """
        names = [table.table_name for table in await _in_thread(self.backend.embedding_tables)]
        if model_table(model) not in names:
            raise ConfigurationError(
                f"the table {model_table(model)} of the model {model} does not exist", hint="run 'ariel-lite enhance'"
            )

    async def store_text_embedding(self, entry_id: str, embedding: list[float], model_name: str) -> None:
        """Keep a vector of an entry's text as it is now; its table is made when absent.

        Raises:
            ModuleNotEnabledError: text_embedding is switched off.
            EntryNotFoundError: there is no such entry.
            EmbeddingGenerationError: another dimension than the model's, or a vector that is zero or not finite.
        """
        self._require_enhancer(EMBEDDING)
        await _in_thread(self._store_embedding, entry_id, embedding, model_name)

    async def keyword_search(
        self, plan: SearchPlan, include_highlights: bool = True
    ) -> list[tuple[EnhancedLogbookEntry, float, list[str]]]:
        """(entry, BM25, highlights) of a plan's hits, best first.

        Raises:
            ModuleNotEnabledError: keyword search is switched off.
        """
        self._require_mode("keyword")
        return await _in_thread(self._keyword_search, plan, include_highlights)

    async def fuzzy_search(self, plan: SearchPlan, threshold: float = 0.3) -> FuzzyHits:
        """(entry, similarity 0 to 1, []) of entries with words near the plan's, of at least `threshold`, best first.

        Raises:
            ModuleNotEnabledError: keyword search is switched off.
        """
        self._require_mode("keyword")
        return await _in_thread(self._fuzzy_search, plan, threshold)

    async def semantic_search(
        self,
        query_embedding: list[float],
        model_name: str,
        max_results: int = 10,
        similarity_threshold: float = 0.5,
        start_date: datetime | None = None,
        end_date: datetime | None = None,
        author: str | None = None,
        source_system: str | None = None,
    ) -> list[tuple[EnhancedLogbookEntry, float]]:
        """(entry, cosine) of the nearest entries that the filters allow; author is any part of the name.

        Raises:
            ModuleNotEnabledError: semantic search is switched off.
            ConfigurationError: the model has no vectors here.
            EmbeddingGenerationError: another dimension than the model's, or a vector that is zero or not finite.
        """
        self._require_mode("semantic")
        await self.validate_search_model_table(model_name)

        def find() -> list[tuple[EnhancedLogbookEntry, float]]:
            tree = self._filters(start_date, end_date, None, source_system)
            if author:
                tree = conjunction([tree, FieldLeaf("author", fold_value(author), text=author)])
            return self._nearest(query_embedding, model_name, max_results, similarity_threshold, tree)

        return await _in_thread(find)

    async def start_ingestion_run(self, source_system: str) -> int:
        """Note that an ingestion began; its number."""
        return await _in_thread(self.backend.start_run, source_system)

    async def complete_ingestion_run(
        self, run_id: int, entries_added: int, entries_updated: int, entries_failed: int
    ) -> None:
        """Note that an ingestion ended well."""
        counts = {"added": entries_added, "updated": entries_updated, "failed": entries_failed}
        await _in_thread(partial(self.backend.finish_run, run_id, **counts, error=None, metadata={}))

    async def fail_ingestion_run(self, run_id: int, error_message: str) -> None:
        """Note why an ingestion failed (500 characters of it)."""
        counts = {"added": 0, "updated": 0, "failed": 0}
        error = error_message[:LONGEST_ERROR]
        await _in_thread(partial(self.backend.finish_run, run_id, **counts, error=error, metadata={}))

    async def get_last_successful_run(self, source_system: str) -> datetime | None:
        """When the latest ingestion of a source system that succeeded ended."""
        runs = await _in_thread(self.backend.runs, source_system, MANY)
        ends = [run.completed_at for run in runs if run.status == "success" and run.completed_at is not None]
        return max(ends, default=None)

    async def health_check(self) -> tuple[bool, str]:
        """(True, "Database connected"), or False and what is wrong."""
        try:
            await _in_thread(self.backend.status)
        except ARIELException as fault:
            return False, f"Database unreachable: {fault.message}"
        return True, "Database connected"

    @property
    def _model_name(self) -> str:
        return self.config.search_module("semantic").model or self.config.embedding.model

    def _require_mode(self, name: str) -> None:
        if not self.config.is_search_module_enabled(name):
            raise _disabled("search", name)

    def _require_enhancer(self, name: str) -> None:
        if not self.config.is_enhancement_module_enabled(name):
            raise _disabled("enhancement", name)

    def _upsert(self, entry: EnhancedLogbookEntry) -> None:
        version: dict[str, Any] = {"author": "", "metadata": {}, **entry}
        for key in ("timestamp", "created_at", "updated_at"):
            if isinstance(version.get(key), datetime):
                version[key] = self._aware(version[key])
        with self.backend.transaction():
            if self.backend.get_entries([entry["entry_id"]]):
                kept = [
                    "summary",
                    "keywords",
                    "enhancement_status",
                    *([] if entry.get("attachments") else ["attachments"]),
                ]
                version = {key: value for key, value in version.items() if key not in kept}
            self.backend.upsert([cast(EnhancedLogbookEntry, version)])

    def _aware(self, moment: datetime) -> datetime:
        return (moment if moment.tzinfo else moment.replace(tzinfo=self.config.zone)).astimezone(UTC)

    def _filters(
        self, start: datetime | None, end: datetime | None, author: str | None, source_system: str | None
    ) -> BoundNode:
        nodes: list[BoundNode] = [Everything()]
        if start is not None or end is not None:
            span = TimeRange(*(None if moment is None else self._aware(moment) for moment in (start, end)))
            if span.is_empty:
                return Nothing("the span ends before it starts")
            nodes.append(FieldLeaf("date", "", span))
        for name, value in (("author", author), ("source", source_system)):
            if value is not None:
                nodes.append(self._exactly(name, value))
        return conjunction(nodes)

    def _exactly(self, name: str, value: str) -> BoundNode:
        """A field that is a value as a whole: it holds it, and is none of the longer values that do."""
        folded = fold_value(value)
        if not folded:
            raise InvalidRequestError(f"a blank {name} was given", hint="leave it out instead")
        holds = FieldLeaf(name, folded, text=value)
        values = {fold_value(found) for found, _ in self.backend.field_counts(name, holds, MANY)}
        if folded not in values:
            return Nothing(f"no entry has the {name} {value}")
        longer: list[BoundNode] = [Exclude(FieldLeaf(name, other)) for other in sorted(values - {folded})]
        return conjunction([holds, *longer])

    def _distinct(self, field: str) -> list[str]:
        return sorted(value for value, _ in self.backend.field_counts(field, None, MANY) if value)

    def _stats(self) -> dict[str, Any]:
        others = [name for name in self.config.enhancement_modules if name not in ENHANCEMENT_MODULES]
        stats: dict[str, Any] = {"total_entries": self.backend.status().entries, EMBEDDING: self._vector_stats()}
        names = [name for name in (*ENHANCEMENT_MODULES, *others) if name != EMBEDDING]
        return stats | {name: self.backend.enhancement_counts(name) for name in names}

    def _vector_stats(self) -> dict[str, int]:
        try:
            embedder = self._context.embedder
            counts = self.backend.vector_counts(VectorModel(embedder.name, embedder.dimension, embedder.fingerprint))
        except (ConfigurationError, EmbeddingGenerationError):
            return self.backend.enhancement_counts(EMBEDDING)
        return {
            "complete": counts.current + counts.blank,
            "failed": counts.failed,
            "pending": counts.missing + counts.stale,
        }

    def _store_embedding(self, entry_id: str, embedding: Sequence[float], model_name: str) -> None:
        vector = _checked(embedding)
        found = self.backend.get_entries([entry_id])
        if not found:
            raise EntryNotFoundError(f"there is no entry {entry_id}", hint="store the entry first")
        pending = PendingText(-1, entry_id, digest(searchable_text(found[0])), "")
        made = EntryVectors(pending, vector, vector[np.newaxis])
        self.backend.store_vectors(self._vector_model(model_name, len(vector)), [made])

    def _vector_model(self, name: str, dimension: int) -> VectorModel:
        """A model as its vectors know it.

        Raises:
            EmbeddingGenerationError: the configured model has another dimension.
        """
        try:
            if name == self._model_name:
                provider = self._context.embedder
            else:
                semantic = SearchModuleConfig(**{**self.config.search_module("semantic").model_dump(), "model": name})
                embedding = EmbeddingConfig(**{**self.config.embedding.model_dump(), "model": name})
                modules = {**self.config.search_modules, "semantic": semantic}
                settings = self.config.model_copy(update={"search_modules": modules, "embedding": embedding})
                provider = embedding_provider(self._context.registry, settings)
        except ConfigurationError:
            return VectorModel(name, dimension, FOREIGN)
        if name == self._model_name and provider.dimension != dimension:
            raise EmbeddingGenerationError(
                f"the vector has {dimension} numbers, those of {name} have {provider.dimension}",
                hint="make it with that model",
            )
        return VectorModel(name, dimension, provider.fingerprint)

    def _nearest(
        self, query: Sequence[float], model_name: str, limit: int, threshold: float, tree: BoundNode
    ) -> list[tuple[EnhancedLogbookEntry, float]]:
        vector = _checked(query)
        table = next(t for t in self.backend.embedding_tables() if t.table_name == model_table(model_name))
        if table.dimension not in (None, len(vector)):
            raise EmbeddingGenerationError(
                f"the query has {len(vector)} numbers, {table.table_name} holds vectors of {table.dimension}",
                hint=f"make it with the model {model_name}",
            )
        model = self._vector_model(model_name, len(vector))
        allowed = None if isinstance(tree, Everything) else self.backend.rows(tree)
        rows, similarities = self.backend.nearest(model, vector, limit, allowed)
        near = similarities >= threshold
        hits = self.backend.best_rows(rows[near], similarities[near], limit)
        entries = {e["entry_id"]: e for e in self.backend.get_entries([hit.entry_id for hit in hits])}
        return [(entries[hit.entry_id], hit.score) for hit in hits if hit.entry_id in entries]

    def _keyword_search(self, plan: SearchPlan, include_highlights: bool) -> FuzzyHits:
        hits = self.backend.search(plan)
        patterns = [leaf.forms for leaf in text_leaves(plan.tree)] if include_highlights else []
        entries = {e["entry_id"]: e for e in self.backend.get_entries([hit.entry_id for hit in hits])}
        return [
            (entry, hit.score, list(self._context.highlights(searchable_text(entry), patterns)))
            for hit in hits
            if (entry := entries.get(hit.entry_id)) is not None
        ]

    def _fuzzy_search(self, plan: SearchPlan, threshold: float) -> FuzzyHits:
        backend = self.backend
        wanted = plan.limit + plan.offset
        near = approximate_rows(plan.tree, backend.vocabulary(), backend.rows, backend.exists, wanted, threshold)
        kept = near.scores >= threshold
        hits = backend.best_rows(near.rows[kept], near.scores[kept], plan.limit, plan.offset)
        entries = {e["entry_id"]: e for e in backend.get_entries([hit.entry_id for hit in hits])}
        return [(entries[hit.entry_id], hit.score, []) for hit in hits if hit.entry_id in entries]


def _checked(embedding: Sequence[float]) -> Vectors:
    """A vector, shape (dimension,).

    Raises:
        EmbeddingGenerationError: it is empty, zero or not finite.
    """
    vector = np.asarray(embedding, dtype=np.float32)
    if vector.ndim != 1 or not is_storable(vector):
        raise EmbeddingGenerationError("the vector is empty, zero or not finite", hint="check the model")
    return vector


def _without_data(file: StoredAttachment) -> dict[str, Any]:
    return {key: value for key, value in asdict(file).items() if key != "data"}


def _disabled(kind: Literal["search", "enhancement"], name: str) -> ModuleNotEnabledError:
    return ModuleNotEnabledError(
        f"the module {name} is switched off in the configuration", hint=f"enable {kind}_modules.{name}"
    )


async def _in_thread(work: Callable[..., Given], *arguments: Any) -> Given:
    return await anyio.to_thread.run_sync(work, *arguments)
