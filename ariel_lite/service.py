"""The search service: a request in, a result out. Asynchronous, with the plain synchronous core beneath it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from functools import partial
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
from pydantic import ValidationError

from ariel_lite.access import restriction
from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import Order, SearchPlan, VectorModel
from ariel_lite.capabilities import SearchModes
from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.base import model_table
from ariel_lite.errors import ConfigurationError, EmbeddingGenerationError, InvalidRequestError, SearchTimeoutError
from ariel_lite.locations import mask_credentials
from ariel_lite.query.nodes import Everything, conjunction
from ariel_lite.records import (
    MAX_RESULTS,
    ARIELSearchRequest,
    ARIELSearchResult,
    ARIELStatusResult,
    EnhancedLogbookEntry,
    SearchDiagnostic,
)
from ariel_lite.registry import Registry
from ariel_lite.repository import ARIELRepository
from ariel_lite.search.base import FoundEntry, SearchArguments, SearchContext, SearchOutcome, SearchToolDescriptor

EMBEDDING_MODULE = "text_embedding"
PROVIDER_SETTINGS = ("embedding_dimension",)
"""Settings of a mode that its embedding provider reads, not the mode."""

TimeRange = tuple[datetime | None, datetime | None]


@dataclass(frozen=True)
class Page:
    """A page of entries, newest first, and how many there are in all."""

    entries: tuple[EnhancedLogbookEntry, ...]
    total: int


class ARIELSearchService:
    """Searches one logbook. Make it with `create_ariel_service`; close it, or use it as a context manager."""

    def __init__(self, config: ARIELConfig, backend: Backend, registry: Registry) -> None:
        self.config = config
        self.backend = backend
        self.registry = registry
        self.modes = SearchModes(registry, config)
        self.context = SearchContext(backend, config, registry)

    def __await__(self) -> Generator[Any, None, ARIELSearchService]:
        """ARIEL's factory is a coroutine: `await create_ariel_service(config)` works here too."""
        return self.__aenter__().__await__()

    async def __aenter__(self) -> ARIELSearchService:
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.close()

    @property
    def repository(self) -> ARIELRepository:
        """The logbook by ARIEL's repository methods."""
        return ARIELRepository(self.context)

    def close(self) -> None:
        """Give back the logbook."""
        self.backend.close()

    async def ainvoke(self, request: ARIELSearchRequest) -> ARIELSearchResult:
        """Run a request; its `facility` limits the search to that source system."""
        if len(request.modes) > 1:
            raise ConfigurationError("a search has one mode", hint=f"asked for: {', '.join(request.modes)}")
        parameters = dict(request.advanced_params)
        if request.facility:
            parameters.setdefault("source_system", request.facility)
        return await self.search(
            request.query,
            max_results=request.max_results,
            time_range=request.time_range,
            mode=request.modes[0] if request.modes else None,
            advanced_params=parameters,
        )

    async def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        time_range: TimeRange | None = None,
        mode: str | None = None,
        advanced_params: dict[str, Any] | None = None,
    ) -> ARIELSearchResult:
        """Search.

        Args:
            query: see the README's query language.
            max_results: 1 to 100; more is clamped and reported.
            time_range: (start, end), aware; either may be None.
            mode: an enabled mode's name; None chooses (see `SearchModes.default`).
            advanced_params: the mode's parameters, and author, source_system, offset, explain, strict.

        Raises:
            ConfigurationError: an unknown or disabled mode.
            InvalidRequestError, QuerySyntaxError: a query or parameter that cannot be run.
            DatabaseConnectionError, DatabaseQueryError: the logbook failed.
        """
        call = self._call(query, max_results, time_range, mode, advanced_params or {})
        limit = _Limit(self.config.search_timeout_seconds)
        try:
            outcome = await self._awaited(call, limit)
        except SearchTimeoutError as fault:
            return call.timed_out(fault)
        return call.result(outcome)

    def search_now(
        self,
        query: str,
        *,
        max_results: int | None = None,
        time_range: TimeRange | None = None,
        mode: str | None = None,
        advanced_params: dict[str, Any] | None = None,
    ) -> ARIELSearchResult:
        """`search` for callers without an event loop."""
        call = self._call(query, max_results, time_range, mode, advanced_params or {})
        try:
            if call.descriptor.run is None:
                with anyio.from_thread.start_blocking_portal() as portal:
                    limit = _Limit(self.config.search_timeout_seconds)
                    return call.result(portal.call(self._awaited, call, limit))
            return call.result(self._run(call, _Limit(self.config.search_timeout_seconds)))
        except SearchTimeoutError as fault:
            return call.timed_out(fault)

    def browse(
        self,
        *,
        start_date: Any = None,
        end_date: Any = None,
        author: str | None = None,
        source_system: str | None = None,
        limit: int = 20,
        offset: int = 0,
        order: Order = "newest",
    ) -> Page:
        """One page of the entries that the filters allow, by time.

        Raises:
            QuerySyntaxError, InvalidRequestError: an impossible date, or an end before its start.
        """
        limits = restriction(
            start_date=start_date,
            end_date=end_date,
            author=author,
            source_system=source_system,
            exclude_entry_ids=(),
            zone=self.config.zone,
            now=self.context.clock(),
        )
        tree = conjunction([Everything(), *limits.conditions()])
        hits = self.backend.search(SearchPlan(tree, limit, offset, order))
        entries = self.backend.get_entries([hit.entry_id for hit in hits])
        return Page(tuple(entries), self.backend.count(tree))

    def status(self) -> ARIELStatusResult:
        """The health of the logbook."""
        counts = self.backend.status()
        problems = [f"{counts.unindexed} entries are not indexed; run 'ariel-lite reindex'"] if counts.unindexed else []
        if not counts.analyzer_current:
            problems.append("the index was made by another version of the analyzer; run 'ariel-lite reindex'")
        vectors, fault = self._vector_details()
        problems += [fault] if fault else []
        tables = self.backend.embedding_tables()
        in_use = model_table(self.config.vector_model)
        tables = [replace(table, is_active=table.table_name == in_use) for table in tables]
        active = next((table.table_name for table in tables if table.is_active), None)
        return ARIELStatusResult(
            healthy=not problems,
            database_connected=True,
            database_uri=mask_credentials(self.backend.location),
            entry_count=counts.entries,
            embedding_tables=tables,
            active_embedding_model=active,
            enabled_search_modules=[descriptor.search_mode for descriptor in self.modes.enabled()],
            enabled_enhancement_modules=self.config.get_enabled_enhancement_modules(),
            last_ingestion=counts.last_ingestion,
            errors=problems,
            details={
                **vectors,
                "enhancement": self._enhancement_counts(vectors),
                "indexed": counts.indexed,
                "unindexed": counts.unindexed,
                "cut": counts.cut,
                "attachments": counts.attachments,
                "size_bytes": counts.size_bytes,
                "backend": self.backend.name,
            },
        )

    async def get_status(self) -> ARIELStatusResult:
        """`status`, from an event loop."""
        return await anyio.to_thread.run_sync(self.status)

    async def health_check(self) -> tuple[bool, str]:
        """(True, "Database connected"), or False and what is wrong."""
        return await self.repository.health_check()

    def _vector_details(self) -> tuple[dict[str, int], str]:
        """Entries by the state of their vector (nothing before the first vector), and what is wrong with the model."""
        if not self.backend.has_vectors():
            return {}, ""
        try:
            embedder = self.context.embedder
            model = VectorModel(embedder.name, embedder.dimension, embedder.fingerprint)
        except (ConfigurationError, EmbeddingGenerationError) as fault:
            return {}, fault.message
        counts = self.backend.vector_counts(model)
        states = ("current", "missing", "stale", "blank", "failed")
        return {f"vectors_{state}": getattr(counts, state) for state in states}, ""

    def _enhancement_counts(self, vectors: dict[str, int]) -> dict[str, dict[str, int]]:
        """Entries by their status, for each enabled enhancer; vectors count as such once there are any."""
        counts = {
            name: self.backend.enhancement_counts(name)
            for name in self.config.get_enabled_enhancement_modules()
            if name != EMBEDDING_MODULE
        }
        if vectors and self.config.is_enhancement_module_enabled(EMBEDDING_MODULE):
            counts[EMBEDDING_MODULE] = {
                "complete": vectors["vectors_current"] + vectors["vectors_blank"],
                "failed": vectors["vectors_failed"],
                "pending": vectors["vectors_missing"] + vectors["vectors_stale"],
            }
        return counts

    def _call(
        self, query: str, max_results: int | None, time_range: TimeRange | None, mode: str | None, extra: dict[str, Any]
    ) -> _Call:
        descriptor = self.modes.get(mode or self.modes.default(self.backend))
        wanted = self.config.default_max_results if max_results is None else max_results
        settings = _mode_settings(descriptor, self.config)
        values: dict[str, Any] = {**settings, **extra, "query": query, "max_results": min(max(wanted, 1), MAX_RESULTS)}
        if time_range is not None:
            values["start_date"], values["end_date"] = time_range
        notes = []
        if wanted != values["max_results"]:
            message = f"{wanted} results were asked for; {values['max_results']} is what one search gives"
            notes.append(SearchDiagnostic("info", "service", message, "limit"))
        return _Call(descriptor, _validated(descriptor, values), tuple(notes))

    async def _awaited(self, call: _Call, limit: _Limit) -> SearchOutcome:
        if call.descriptor.run is not None:
            work: Callable[[], SearchOutcome] = partial(self._run, call, limit)
            try:
                return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
            except anyio.get_cancelled_exc_class():
                limit.stop()
                raise
        try:
            with anyio.fail_after(self.config.search_timeout_seconds):
                return await call.descriptor.execute(self.context, call.arguments)
        except TimeoutError as fault:
            raise SearchTimeoutError("the search took too long and was stopped", hint="narrow the search") from fault

    def _run(self, call: _Call, limit: _Limit) -> SearchOutcome:
        assert call.descriptor.run is not None
        with self.backend.limited(limit.reached):
            return call.descriptor.run(self.context, call.arguments)


def _mode_settings(descriptor: SearchToolDescriptor, config: ARIELConfig) -> dict[str, Any]:
    """The parameters that the configuration sets for a mode, checked."""
    mode = descriptor.search_mode
    given = {k: v for k, v in config.search_module(mode).settings.items() if k not in PROVIDER_SETTINGS}
    known = [name for name in descriptor.args_schema.model_fields if name != "query"]
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"it has: {', '.join(known)}"
            raise ConfigurationError(f"search_modules.{mode}.settings has no {name!r}", hint=hint)
    try:
        descriptor.args_schema.model_validate({**given, "query": "check"})
    except ValidationError as fault:
        first = fault.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        message = f"search_modules.{mode}.settings.{name}: {first['msg'].lower()}"
        raise ConfigurationError(message, hint=f"got {first['input']!r}") from fault
    return given


class _Limit:
    """When a search has to stop: its time is up, or its caller went away."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def reached(self) -> bool:
        return self._stopped.is_set() or time.monotonic() > self._end


@dataclass(frozen=True)
class _Call:
    """One search: the mode, its arguments, and what was noted before it ran."""

    descriptor: SearchToolDescriptor
    arguments: SearchArguments
    notes: tuple[SearchDiagnostic, ...]

    def result(self, outcome: SearchOutcome) -> ARIELSearchResult:
        entries = tuple(_presented(found) for found in outcome.found)
        sources = outcome.sources
        return ARIELSearchResult(
            entries=entries,
            answer=outcome.answer,
            sources=tuple(entry["entry_id"] for entry in entries) if sources is None else sources,
            search_modes_used=(self.descriptor.search_mode,),
            reasoning=outcome.sentence,
            diagnostics=self.notes + outcome.diagnostics,
            degraded=outcome.degraded,
            explanation=outcome.explanation,
        )

    def timed_out(self, fault: SearchTimeoutError) -> ARIELSearchResult:
        note = SearchDiagnostic("error", "service", f"{fault.message}; {fault.hint}", "timeout")
        return ARIELSearchResult(
            search_modes_used=(self.descriptor.search_mode,), diagnostics=(*self.notes, note), degraded=True
        )


def _presented(found: FoundEntry) -> dict[str, Any]:
    extra: dict[str, Any] = {"_score": found.score, "_match": found.match, "_highlights": list(found.highlights)}
    if found.ranks:
        extra["_ranks"] = found.ranks
    return {**found.entry, **extra}


def _validated(descriptor: SearchToolDescriptor, values: dict[str, Any]) -> SearchArguments:
    try:
        return descriptor.args_schema.model_validate(values)
    except ValidationError as fault:
        first = fault.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = ", ".join(descriptor.args_schema.model_fields)
            raise InvalidRequestError(
                f"the mode {descriptor.search_mode} has no parameter {name!r}", hint=f"it has: {known}"
            ) from fault
        raise InvalidRequestError(
            f"parameter {name}: {first['msg'].lower()}", hint=f"got {first['input']!r}"
        ) from fault
