"""What a search mode is: arguments, context, outcome, descriptors."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Literal, TypeVar

import anyio
from pydantic import BaseModel, ConfigDict, Field

from ariel_lite.access import Restriction, restriction
from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import Hit, SearchPlan
from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.base import EmbeddingProvider
from ariel_lite.planning import PlannedQuery, plan_query, plan_words
from ariel_lite.query.nodes import text_leaves
from ariel_lite.records import MAX_RESULTS, EnhancedLogbookEntry, SearchDiagnostic
from ariel_lite.registry import Registry, embedding_provider
from ariel_lite.text.highlight import FRAGMENTS, Pattern, find_spans, highlight
from ariel_lite.text.tokenise import Analyzer

Result = TypeVar("Result")
ParameterType = Literal["float", "int", "bool", "select", "date", "text", "dynamic_select"]


class SearchArguments(BaseModel):
    """What every mode accepts. Dates: see the README's date forms; they are read in the facility's zone."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    query: str = ""
    max_results: int = Field(default=10, ge=1, le=MAX_RESULTS)
    offset: int = Field(default=0, ge=0)
    start_date: str | datetime | date | None = None
    end_date: str | datetime | date | None = None
    author: str | None = None
    source_system: str | None = None
    exclude_entry_ids: list[str] = Field(default_factory=list)
    strict: bool = False
    explain: bool = False
    plain: bool = Field(default=False, description="read the query as mere words: no operators, no fields, no limit")


@dataclass
class _Shared:
    """What all threads of a context share."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    embedder: EmbeddingProvider | None = None


@dataclass(frozen=True)
class FoundEntry:
    """An entry of an answer: `match` is "exact" or "fuzzy"; `highlights` are HTML-escaped fragments with <b>.

    `ranks` maps a leg ("keyword", "semantic") to the entry's rank in it (1 is best) and what else explains its place.
    """

    entry: EnhancedLogbookEntry
    score: float
    match: Literal["exact", "fuzzy"] = "exact"
    highlights: tuple[str, ...] = ()
    ranks: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchOutcome:
    """What a mode found. `sentence` says how the query was read; `degraded` that some leg could not run.

    `corrections` are the folded words of the query that were taken for others, and what they were taken for.
    """

    found: tuple[FoundEntry, ...] = ()
    diagnostics: tuple[SearchDiagnostic, ...] = ()
    sentence: str = ""
    degraded: bool = False
    answer: str | None = None
    sources: tuple[str, ...] | None = None
    explanation: dict[str, Any] | None = None
    corrections: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchContext:
    """What a mode works with. `clock` gives the aware present moment."""

    backend: Backend
    config: ARIELConfig
    registry: Registry
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    _local: threading.local = field(default_factory=threading.local, repr=False, compare=False)
    _shared: _Shared = field(default_factory=lambda: _Shared(), repr=False, compare=False)

    @property
    def analyzer(self) -> Analyzer:
        """This thread's analyzer."""
        if not hasattr(self._local, "analyzer"):
            self._local.analyzer = Analyzer()
        analyzer: Analyzer = self._local.analyzer
        return analyzer

    @property
    def embedder(self) -> EmbeddingProvider:
        """The embedding provider; made at its first use.

        Raises:
            ConfigurationError: unknown provider or model, or a model's file is absent.
        """
        with self._shared.lock:
            if self._shared.embedder is None:
                self._shared.embedder = embedding_provider(self.registry, self.config)
            return self._shared.embedder

    def plan(self, arguments: SearchArguments) -> PlannedQuery:
        """Read the query and the filters of a call."""
        now = self.clock()
        zone = self.config.zone
        limits: Restriction = restriction(
            start_date=arguments.start_date,
            end_date=arguments.end_date,
            author=arguments.author,
            source_system=arguments.source_system,
            exclude_entry_ids=arguments.exclude_entry_ids,
            zone=zone,
            now=now,
        )
        if arguments.plain:
            return plan_words(arguments.query, limits, self.analyzer, zone=zone)
        return plan_query(arguments.query, limits, self.analyzer, zone=zone, now=now, strict=arguments.strict)

    def highlights(self, entry: EnhancedLogbookEntry, patterns: Sequence[Pattern]) -> tuple[str, ...]:
        """Fragments of an entry around the matches: of its text; where that lacks a match, of files and added words."""
        left, fragments = list(patterns), list[str]()
        for label, text in _sections(entry):
            if not left or len(fragments) == FRAGMENTS:
                break
            analyzed = self.analyzer.analyzed(text)
            found = {span.pattern for span in find_spans(analyzed, left)}
            fragments += [label + fragment for fragment in highlight(text, analyzed, left)]
            left = [pattern for place, pattern in enumerate(left) if place not in found]
        return tuple(fragments[:FRAGMENTS])


@dataclass(frozen=True)
class ParameterDescriptor:
    """A parameter of a mode, as a form or an agent sees it."""

    name: str
    label: str
    description: str
    param_type: ParameterType
    default: Any = None
    min_value: float | None = None
    max_value: float | None = None
    step: float | None = None
    options: tuple[dict[str, str], ...] = ()
    section: str = "General"
    placeholder: str | None = None
    options_endpoint: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """ARIEL's JSON shape; keys without a value are left out, name to section always stand."""
        shape: dict[str, Any] = {
            "name": self.name,
            "label": self.label,
            "description": self.description,
            "type": self.param_type,
            "default": self.default,
            "section": self.section,
        }
        optional = {
            "min": self.min_value,
            "max": self.max_value,
            "step": self.step,
            "options": list(self.options) or None,
            "placeholder": self.placeholder,
            "options_endpoint": self.options_endpoint,
        }
        return shape | {key: value for key, value in optional.items() if value is not None}


@dataclass(frozen=True)
class SearchToolDescriptor:
    """A search mode, as the service, the CLI, the page and agents see it.

    `execute(context, arguments)` is what the service awaits; a mode may also give `run`, the same without a loop,
    which the service calls in a thread and scripts call directly. `label` is for forms, where the mode's name is none.
    """

    name: str
    description: str
    search_mode: str
    args_schema: type[SearchArguments]
    execute: Callable[[SearchContext, SearchArguments], Awaitable[SearchOutcome]]
    format_result: Callable[[SearchOutcome], dict[str, Any]]
    needs_embedder: bool = False
    run: Callable[[SearchContext, SearchArguments], SearchOutcome] | None = None
    label: str = ""


def _sections(entry: EnhancedLogbookEntry) -> Iterator[tuple[str, str]]:
    """(what it is, text): the parts that a keyword search looks at; no fragment runs from one into another."""
    yield "", entry["raw_text"]
    yield from (("", file["text"]) for file in entry["attachments"] if file.get("text"))
    if entry.get("summary"):
        yield "summary: ", str(entry["summary"])
    if entry.get("keywords"):
        yield "keywords: ", ", ".join(entry["keywords"])


def describe_found(
    context: SearchContext,
    planned: PlannedQuery,
    best: Sequence[Hit],
    *,
    highlights: bool,
    ranks: Mapping[int, dict[str, Any]] | None = None,
) -> tuple[FoundEntry, ...]:
    """Hits with their entries, the query's words highlighted where they occur, and what explains their places."""
    patterns = [leaf.forms for leaf in text_leaves(planned.text_tree)] if highlights else []
    entries = {entry["entry_id"]: entry for entry in context.backend.get_entries([hit.entry_id for hit in best])}
    return tuple(
        FoundEntry(
            entry,
            hit.score,
            "exact",
            context.highlights(entry, patterns),
            dict((ranks or {}).get(hit.row, {})),
        )
        for hit in best
        if (entry := entries.get(hit.entry_id)) is not None
    )


Run = Callable[[SearchContext, SearchArguments], SearchOutcome]
"""A mode's search without a loop."""


def in_thread(run: Run) -> Callable[[SearchContext, SearchArguments], Awaitable[SearchOutcome]]:
    """What the service awaits: `run` in a thread."""

    async def execute(context: SearchContext, arguments: SearchArguments) -> SearchOutcome:
        return await anyio.to_thread.run_sync(run, context, arguments)

    return execute


def begun(work: Callable[[], Result]) -> Callable[[], Result]:
    """Begin some work that needs no logbook in a thread of its own; what is given back waits for its result or error.

    The thread ends with the work.
    """
    ahead = ThreadPoolExecutor(1, thread_name_prefix="ariel-lite work ahead")
    future = ahead.submit(work)
    ahead.shutdown(wait=False)
    return future.result


def listed(
    context: SearchContext, planned: PlannedQuery, arguments: SearchArguments, diagnostics: Sequence[SearchDiagnostic]
) -> SearchOutcome:
    """The answer to a query without words: what its fields and filters allow, newest first, unscored."""
    plan = planned.plan(arguments.max_results, arguments.offset)
    entries = context.backend.get_entries([hit.entry_id for hit in context.backend.search(plan)])
    return SearchOutcome(
        tuple(FoundEntry(entry, 0.0) for entry in entries),
        tuple(diagnostics),
        planned.sentence,
        explanation=explained(context, planned, arguments, plan),
    )


def explained(
    context: SearchContext, planned: PlannedQuery, arguments: SearchArguments, plan: SearchPlan | None = None
) -> dict[str, Any] | None:
    """How a query was read, and what the backend ran for a plan, where that was asked for."""
    if not arguments.explain:
        return None
    explanation = planned.explanation() | {"backend": context.backend.name}
    if plan is not None:
        ran = context.backend.statements(plan)
        explanation["statements"] = [{"sql": one.sql, "parameters": list(one.parameters)} for one in ran]
    return explanation


def query_diagnostics(planned: PlannedQuery) -> list[SearchDiagnostic]:
    """What was mended, ignored or impossible in a query."""
    found = [
        SearchDiagnostic(problem.level, "query", f"{problem.message} (character {problem.position + 1})", "query")
        for problem in planned.problems
    ]
    if planned.nothing is not None:
        found.append(SearchDiagnostic("warning", "query", planned.nothing, "query"))
    return found


def index_diagnostics(context: SearchContext) -> list[SearchDiagnostic]:
    """A warning when the index does not cover the logbook."""
    gap = context.backend.index_gap()
    if not gap:
        return []
    return [SearchDiagnostic("warning", "index", f"{gap}; run 'ariel-lite reindex'", "index")]
