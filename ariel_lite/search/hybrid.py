"""Hybrid search: the keyword and the semantic ranking fused, so that words and meaning both count.

The keyword leg holds the entries with all words; when they are few it is filled up with entries that hold some of
them. Fields, exclusions, quoted phrases and filters hold for every entry, whichever leg brought it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anyio.to_thread
import numpy as np
from pydantic import Field

from ariel_lite.backends.base import SearchPlan
from ariel_lite.planning import PlannedQuery
from ariel_lite.query.bind import any_word
from ariel_lite.query.nodes import AnyOf, Exclude, conjunction, text_leaves, without_words
from ariel_lite.ranking.corrections import approximate_rows, can_be_approximate
from ariel_lite.ranking.fusion import RANK_CONSTANT, Leg, fuse, ranks
from ariel_lite.records import SearchDiagnostic
from ariel_lite.search.base import (
    FoundEntry,
    ParameterDescriptor,
    SearchArguments,
    SearchContext,
    SearchOutcome,
    SearchToolDescriptor,
    describe_found,
    index_diagnostics,
    query_diagnostics,
)
from ariel_lite.search.semantic import SemanticLeg, nearest, threshold

DEPTH = 200
ALL_WORDS_WEIGHT = 0.5


class HybridArguments(SearchArguments):
    """Hybrid mode's own parameters.

    `fusion_depth` entries are taken from each leg; the weights scale what a leg's rank counts;
    `similarity_threshold` (cosine, -1 to 1) is the least for an entry that does not hold all words.
    """

    similarity_threshold: float | None = Field(default=None, ge=-1, le=1)
    fusion_depth: int = Field(default=DEPTH, ge=10, le=1000)
    keyword_weight: float = Field(default=1.0, ge=0, le=10)
    semantic_weight: float = Field(default=1.0, ge=0, le=10)
    include_highlights: bool = True
    fuzzy_fallback: bool = True


@dataclass(frozen=True)
class KeywordLeg:
    """Row numbers, best first: those with all words (or words near them), then those with some."""

    all_words: tuple[int, ...]
    some_words: tuple[int, ...]
    is_approximate: bool = False


def run(context: SearchContext, arguments: SearchArguments) -> SearchOutcome:
    """Search by words and meaning; see HybridArguments."""
    options = HybridArguments.model_validate(arguments.model_dump())
    planned = context.plan(options)
    diagnostics = query_diagnostics(planned) + index_diagnostics(context)
    if planned.nothing is not None:
        return SearchOutcome((), tuple(diagnostics), planned.sentence)
    if not planned.meaning:
        hits = context.backend.search(planned.plan(options.max_results, options.offset))
        entries = context.backend.get_entries([hit.entry_id for hit in hits])
        return SearchOutcome(tuple(FoundEntry(e, 0.0) for e in entries), tuple(diagnostics), planned.sentence)
    depth = max(options.fusion_depth, options.max_results + options.offset)
    words = _keyword_leg(context, planned, depth, options)
    meaning = nearest(context, planned, depth)
    fused = _fused(context, planned, words, meaning, options)
    rows = np.array(list(fused), dtype=np.int64)
    best = context.backend.best_rows(rows, np.array(list(fused.values())), options.max_results, options.offset)
    ranked = {hit.row: _ranks(hit.row, words, meaning) for hit in best} if options.explain else {}
    found = describe_found(context, planned, best, highlights=options.include_highlights, ranks=ranked)
    diagnostics += meaning.notes
    if words.is_approximate and found:
        message = "no entry holds all words as typed; words that are nearly the same were taken too"
        diagnostics.append(SearchDiagnostic("info", "hybrid", message, "fuzzy"))
    explanation = planned.explanation() | {"backend": context.backend.name} if options.explain else None
    return SearchOutcome(found, tuple(diagnostics), planned.sentence, meaning.degraded, explanation=explanation)


def _keyword_leg(context: SearchContext, planned: PlannedQuery, depth: int, options: HybridArguments) -> KeywordLeg:
    backend = context.backend
    every = [hit.row for hit in backend.search(planned.plan(depth))]
    is_approximate = False
    if not every and options.fuzzy_fallback and can_be_approximate(planned.text_tree):
        near = approximate_rows(planned.tree, backend.vocabulary(), backend.rows, depth)
        every = [hit.row for hit in backend.best_rows(near.rows, near.scores, depth)]
        is_approximate = bool(every)
    some: list[int] = []
    if len(every) < depth:
        widened = conjunction([any_word(planned.text_tree, context.analyzer), without_words(planned.tree)])
        known = set(every)
        some = [hit.row for hit in backend.search(SearchPlan(widened, depth)) if hit.row not in known]
    return KeywordLeg(tuple(every), tuple(some), is_approximate)


def _fused(
    context: SearchContext, planned: PlannedQuery, words: KeywordLeg, meaning: SemanticLeg, options: HybridArguments
) -> dict[int, float]:
    """Row -> score of the entries worth showing."""
    legs = [
        Leg("keyword", (*words.all_words, *words.some_words), options.keyword_weight),
        Leg("semantic", meaning.rows.tolist(), options.semantic_weight),
        Leg("all words", words.all_words, ALL_WORDS_WEIGHT * options.keyword_weight),
    ]
    fused = fuse(legs, RANK_CONSTANT)
    if meaning.degraded:
        return {row: score for row, score in fused.items() if row in set(words.all_words)}
    least = threshold(context, options.similarity_threshold, "hybrid")
    similar = set(meaning.rows[meaning.similarities >= least].tolist())
    supported = similar | set(words.all_words)
    if not planned.text:
        return fused
    return {row: score for row, score in fused.items() if row in supported or least <= 0}


def _ranks(row: int, words: KeywordLeg, meaning: SemanticLeg) -> dict[str, Any]:
    """Where an entry stood in each leg, and its cosine."""
    keyword = ranks(Leg("keyword", (*words.all_words, *words.some_words)))
    places = np.flatnonzero(meaning.rows == row)
    return {
        "keyword": keyword.get(row),
        "all_words": row in words.all_words,
        "semantic": int(places[0]) + 1 if len(places) else None,
        "similarity": float(meaning.similarities[places[0]]) if len(places) else None,
    }


def _is_structured(planned: PlannedQuery) -> bool:
    """True when the query says more than words: operators, quotes, names, prefixes."""
    tree = planned.text_tree
    if any(leaf.kind != "word" for leaf in text_leaves(tree)) or isinstance(tree, AnyOf | Exclude):
        return True
    return any(isinstance(child, AnyOf | Exclude) for child in getattr(tree, "children", ()))


def format_result(outcome: SearchOutcome) -> dict[str, Any]:
    """A short JSON shape for agents: how many entries, and each one's id, fused score and ranks."""
    entries = [
        {"entry_id": found.entry["entry_id"], "score": found.score, "ranks": found.ranks} for found in outcome.found
    ]
    return {"results_found": len(entries), "entries": entries}


async def execute(context: SearchContext, arguments: SearchArguments) -> SearchOutcome:
    """`run` in a thread."""
    return await anyio.to_thread.run_sync(run, context, arguments)


def get_parameter_descriptors() -> list[ParameterDescriptor]:
    """The parameters a form offers for this mode."""
    return [
        ParameterDescriptor(
            "similarity_threshold",
            "Similarity",
            "Least cosine similarity of an entry that does not hold all words; empty: the model's recommendation",
            "float",
            None,
            -1.0,
            1.0,
            0.05,
        ),
        ParameterDescriptor(
            "keyword_weight", "Words", "How much the words count", "float", 1.0, 0.0, 10.0, 0.1, section="Ranking"
        ),
        ParameterDescriptor(
            "semantic_weight", "Meaning", "How much the meaning counts", "float", 1.0, 0.0, 10.0, 0.1, section="Ranking"
        ),
        ParameterDescriptor(
            "fusion_depth", "Depth", "Entries taken from each ranking", "int", DEPTH, 10, 1000, 10, section="Ranking"
        ),
    ]


def get_tool_descriptor() -> SearchToolDescriptor:
    """This mode."""
    return SearchToolDescriptor(
        name="hybrid_search",
        description=(
            "Search the logbook by words and by meaning at once; the best choice for most questions. "
            "Fields, exclusions and quoted phrases in the query are obeyed."
        ),
        search_mode="hybrid",
        args_schema=HybridArguments,
        execute=execute,
        format_result=format_result,
        needs_embedder=True,
        run=run,
    )
