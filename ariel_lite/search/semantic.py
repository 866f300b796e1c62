"""Semantic search: entries whose text means something near the query, by the cosine of local embeddings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ariel_lite.backends.values import VectorModel
from ariel_lite.embeddings.base import EmbeddingProvider, Vectors, is_embeddable, is_storable
from ariel_lite.errors import ARIELException, ConfigurationError, DatabaseQueryError, EmbeddingGenerationError
from ariel_lite.planning import PlannedQuery
from ariel_lite.query.nodes import Everything, without_words
from ariel_lite.records import SearchDiagnostic
from ariel_lite.search.base import (
    FoundEntry,
    ParameterDescriptor,
    SearchArguments,
    SearchContext,
    SearchOutcome,
    SearchToolDescriptor,
    begun,
    describe_found,
    explained,
    in_thread,
    index_diagnostics,
    listed,
    query_diagnostics,
)

Rows = NDArray[np.int64]
Similarities = NDArray[np.float64]


class SemanticArguments(SearchArguments):
    """Semantic mode's own parameters: `similarity_threshold` is a cosine, -1 to 1."""

    similarity_threshold: float | None = Field(default=None, ge=-1, le=1)
    include_highlights: bool = True


UNAVAILABLE = (ConfigurationError, EmbeddingGenerationError, DatabaseQueryError)
"""What leaves a search without its semantic leg."""

MANY_MISSING = 0.1
MOST_MISSING = 0.5
"""The shares of entries without a current vector from which on not being near says nothing, and from which on the leg
cannot speak for the logbook: it is degraded then."""


@dataclass(frozen=True)
class SemanticLeg:
    """Rows and cosine similarities, best first; `notes` say why there are none, or not all.

    `is_partial`: many entries have no vector yet, so that not being near says nothing of them.
    """

    rows: Rows
    similarities: Similarities
    notes: tuple[SearchDiagnostic, ...] = ()
    degraded: bool = False
    is_partial: bool = False


@dataclass(frozen=True)
class BegunLeg:
    """A comparison that is on its way: the model and what is to be said of its vectors, and the vector of `meaning`."""

    model: VectorModel
    notes: tuple[SearchDiagnostic, ...]
    missing: float
    meaning: str
    vectors: Callable[[], Vectors]


def begin(context: SearchContext, planned: PlannedQuery) -> BegunLeg | SemanticLeg:
    """Begin to embed a query in another thread; the leg itself where there is nothing to compare.

    Never raises for want of a model or vectors: the leg is degraded then, and its notes name the fix.
    """
    if planned.nothing is not None or not is_embeddable(planned.meaning):
        return _empty()
    try:
        embedder = context.embedder
        model = VectorModel(embedder.name, embedder.dimension, embedder.fingerprint)
        notes, missing = _state(context, model)
    except UNAVAILABLE as fault:
        return _unavailable(fault)
    if missing == 1:
        return _empty(notes, degraded=True)
    return BegunLeg(model, notes, missing, planned.meaning, begun(_embedding(embedder, planned.meaning)))


def finish(context: SearchContext, planned: PlannedQuery, begun_leg: BegunLeg | SemanticLeg, depth: int) -> SemanticLeg:
    """The `depth` entries nearest to a query's meaning among those that its fields, exclusions and filters allow.

    Embeds anew when the meaning was corrected since the leg was begun. Never raises for want of a model, see `begin`.
    """
    if isinstance(begun_leg, SemanticLeg):
        return begun_leg
    model, notes, missing = begun_leg.model, begun_leg.notes, begun_leg.missing
    try:
        is_as_begun = planned.meaning == begun_leg.meaning
        embed = begun_leg.vectors if is_as_begun else _embedding(context.embedder, planned.meaning)
        vector = embed()[0]
        if not is_storable(vector):
            raise EmbeddingGenerationError("the model gave no usable vector for the query", hint="check the model")
        rows, similarities = context.backend.nearest(model, vector, depth, _allowed(context, planned))
        ordered = context.backend.best_rows(rows, similarities, depth)
    except UNAVAILABLE as fault:
        return _unavailable(fault)
    found, scores = np.array([hit.row for hit in ordered], dtype=np.int64), np.array([hit.score for hit in ordered])
    return SemanticLeg(found, scores, notes, missing >= MOST_MISSING, missing >= MANY_MISSING)


def _embedding(embedder: EmbeddingProvider, meaning: str) -> Callable[[], Vectors]:
    return partial(embedder.embed, [meaning], query=True)


def _empty(notes: tuple[SearchDiagnostic, ...] = (), *, degraded: bool = False) -> SemanticLeg:
    return SemanticLeg(np.array([], dtype=np.int64), np.array([], dtype=np.float64), notes, degraded)


def _unavailable(fault: ARIELException) -> SemanticLeg:
    note = SearchDiagnostic("warning", "semantic", f"{fault.message}; {fault.hint}", str(fault.category))
    return _empty((note,), degraded=True)


def threshold(context: SearchContext, wanted: float | None) -> float:
    """The least cosine of a hit: the call's (or the configuration's, which fills it in), else the model's."""
    return context.embedder.recommended_threshold if wanted is None else wanted


def run(context: SearchContext, arguments: SearchArguments) -> SearchOutcome:
    """Search by meaning; see SemanticArguments."""
    options = SemanticArguments.model_validate(arguments.model_dump())
    planned = context.plan(options)
    diagnostics = query_diagnostics(planned) + index_diagnostics(context)
    if planned.nothing is None and not planned.meaning:
        return listed(context, planned, options, diagnostics)
    leg = finish(context, planned, begin(context, planned), options.max_results + options.offset)
    diagnostics += leg.notes
    found: tuple[FoundEntry, ...] = ()
    if len(leg.rows):
        least = threshold(context, options.similarity_threshold)
        near = leg.similarities >= least
        if not near.any():
            best = float(leg.similarities[0])
            message = f"the nearest entry has similarity {best:.2f}, under the threshold of {least:.2f}"
            diagnostics.append(SearchDiagnostic("info", "semantic", message, "threshold"))
        best_rows = context.backend.best_rows(
            leg.rows[near], leg.similarities[near], options.max_results, options.offset
        )
        found = describe_found(context, planned, best_rows, highlights=options.include_highlights)
    explanation = explained(context, planned, options)
    if explanation is not None:
        explanation["meaning"] = planned.meaning
    return SearchOutcome(found, tuple(diagnostics), planned.sentence, leg.degraded, explanation=explanation)


def _state(context: SearchContext, model: VectorModel) -> tuple[tuple[SearchDiagnostic, ...], float]:
    """What to say of the vectors, and the share of entries that have none (1: no search makes sense)."""
    counts = context.backend.vector_counts(model)
    if not counts.current:
        if counts.stale:
            message = f"the vectors were made by another version of {model.name}; run 'ariel-lite reembed'"
        else:
            message = f"no entry has a vector of {model.name} yet; run 'ariel-lite enhance'"
        return (SearchDiagnostic("warning", "semantic", message, "embedding"),), 1.0
    missing = counts.missing + counts.stale
    if not missing:
        return (), 0.0
    message = f"{missing} of {missing + counts.current} entries have no current vector; run 'ariel-lite enhance'"
    return (SearchDiagnostic("warning", "semantic", message, "embedding"),), missing / (missing + counts.current)


def _allowed(context: SearchContext, planned: PlannedQuery) -> Rows | None:
    """Row numbers that the query's fields, exclusions, phrases and the call's filters leave; None for all."""
    conditions = without_words(planned.tree)
    return None if isinstance(conditions, Everything) else context.backend.rows(conditions)


def format_result(outcome: SearchOutcome) -> dict[str, Any]:
    """A short JSON shape for agents: how many entries, and each one's id and similarity."""
    entries = [{"entry_id": found.entry["entry_id"], "score": found.score} for found in outcome.found]
    return {"results_found": len(entries), "entries": entries}


execute = in_thread(run)


def threshold_descriptor(of: str, section: str = "General") -> ParameterDescriptor:
    """The similarity that a form offers: the least one `of` what it says."""
    description = f"Least cosine similarity of {of}; empty: the model's recommendation"
    return ParameterDescriptor(
        "similarity_threshold", "Similarity", description, "float", None, -1.0, 1.0, 0.05, section=section
    )


def get_parameter_descriptors() -> list[ParameterDescriptor]:
    """The parameters a form offers for this mode."""
    return [threshold_descriptor("a hit")]


def get_tool_descriptor() -> SearchToolDescriptor:
    """This mode."""
    return SearchToolDescriptor(
        name="semantic_search",
        description=(
            "Search the logbook by meaning, for questions and descriptions in other words than the entries use. "
            "Fields (author:, date:, …) and exclusions in the query are obeyed."
        ),
        search_mode="semantic",
        args_schema=SemanticArguments,
        execute=execute,
        format_result=format_result,
        needs_embedder=True,
        run=run,
    )
