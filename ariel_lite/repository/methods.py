"""The repository's methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal, TypeVar, cast

import anyio.to_thread

from ariel_lite.attachments import mime_type as type_of
from ariel_lite.backends.values import SearchPlan, StoredAttachment
from ariel_lite.config import ENHANCEMENT_MODULES
from ariel_lite.embeddings.base import model_table
from ariel_lite.errors import (
    ARIELException,
    ConfigurationError,
    EntryNotFoundError,
    InvalidRequestError,
    ModuleNotEnabledError,
)
from ariel_lite.query.nodes import BoundNode
from ariel_lite.records import EmbeddingTableInfo, EnhancedLogbookEntry
from ariel_lite.repository.finding import (
    ALL_VALUES,
    Found,
    aware,
    filter_tree,
    search_approximately,
    search_by_keyword,
)
from ariel_lite.repository.vectors import EMBEDDING, nearest_entries, store_vector, vector_stats
from ariel_lite.search.base import SearchContext

STORED_FIRST = ("summary", "keywords", "enhancement_status")
"""What a new version of an entry does not set: enhancers do."""

LONGEST_ERROR = 500
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
        active = model_table(self.config.vector_model)
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
        await _in_thread(store_vector, self._context, entry_id, embedding, model_name)

    async def keyword_search(self, plan: SearchPlan, include_highlights: bool = True) -> Found:
        """(entry, BM25, highlights) of a plan's hits, best first.

        Raises:
            ModuleNotEnabledError: keyword search is switched off.
        """
        self._require_mode("keyword")
        return await _in_thread(partial(search_by_keyword, self._context, plan, include_highlights=include_highlights))

    async def fuzzy_search(self, plan: SearchPlan, threshold: float = 0.3) -> Found:
        """(entry, similarity 0 to 1, []) of entries with words near the plan's, of at least `threshold`, best first.

        Raises:
            ModuleNotEnabledError: keyword search is switched off.
        """
        self._require_mode("keyword")
        return await _in_thread(search_approximately, self.backend, plan, threshold)

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
            tree = filter_tree(
                self.backend,
                self.config.zone,
                start=start_date,
                end=end_date,
                author_part=author,
                source_system=source_system,
            )
            return nearest_entries(self._context, query_embedding, model_name, max_results, similarity_threshold, tree)

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
        runs = await _in_thread(self.backend.runs, source_system, ALL_VALUES)
        ends = [run.completed_at for run in runs if run.status == "success" and run.completed_at is not None]
        return max(ends, default=None)

    async def health_check(self) -> tuple[bool, str]:
        """(True, "Database connected"), or False and what is wrong."""
        try:
            await _in_thread(self.backend.status)
        except ARIELException as fault:
            return False, f"Database unreachable: {fault.message}"
        return True, "Database connected"

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
                version[key] = aware(version[key], self.config.zone)
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

    def _filters(
        self, start: datetime | None, end: datetime | None, author: str | None, source_system: str | None
    ) -> BoundNode:
        zone = self.config.zone
        return filter_tree(self.backend, zone, start=start, end=end, author=author, source_system=source_system)

    def _distinct(self, field: str) -> list[str]:
        return sorted(value for value, _ in self.backend.field_counts(field, None, ALL_VALUES) if value)

    def _stats(self) -> dict[str, Any]:
        others = [name for name in self.config.enhancement_modules if name not in ENHANCEMENT_MODULES]
        names = [name for name in (*ENHANCEMENT_MODULES, *others) if name != EMBEDDING]
        stats: dict[str, Any] = {"total_entries": self.backend.status().entries, EMBEDDING: vector_stats(self._context)}
        return stats | {name: self.backend.enhancement_counts(name) for name in names}


def _without_data(file: StoredAttachment) -> dict[str, Any]:
    return {key: value for key, value in asdict(file).items() if key != "data"}


def _disabled(kind: Literal["search", "enhancement"], name: str) -> ModuleNotEnabledError:
    return ModuleNotEnabledError(
        f"the module {name} is switched off in the configuration", hint=f"enable {kind}_modules.{name}"
    )


async def _in_thread(work: Callable[..., Given], *arguments: Any) -> Given:
    return await anyio.to_thread.run_sync(work, *arguments)
