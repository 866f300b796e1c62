"""Hybrid search: the keyword and the semantic ranking fused, so that words and meaning both count.

The keyword leg holds the entries with all words; when they are few it is filled up with entries that hold some of
them. Fields, exclusions, quoted phrases and filters hold for every entry, whichever leg brought it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from pydantic import Field, model_validator

from ariel_lite.backends.values import Hit, SearchPlan
from ariel_lite.planning import PlannedQuery
from ariel_lite.query.bind import any_word
from ariel_lite.query.nodes import AnyOf, Exclude, FieldLeaf, conjunction, text_leaves, without_words
from ariel_lite.ranking.corrections import approximate_rows, can_be_approximate
from ariel_lite.ranking.fusion import Leg, fuse
from ariel_lite.records import SearchDiagnostic
from ariel_lite.search.base import (
    ParameterDescriptor,
    SearchArguments,
    SearchContext,
    SearchOutcome,
    SearchToolDescriptor,
    describe_found,
    explained,
    in_thread,
    index_diagnostics,
    listed,
    query_diagnostics,
)
from ariel_lite.search.semantic import SemanticLeg, begin, finish, threshold, threshold_descriptor
from ariel_lite.text.normalise import fold
from ariel_lite.text.tokenise import CHUNK_PUNCTUATION

DEPTH = 200
FEW_WORDS = 3
"""Up to so many plain words, entries that hold all of them come before all others; many may meet by chance."""

ALL_WORDS_BONUS = 0.1
"""Added to the fused score (0..1) of an entry that holds all of more words."""

STRONG = 0.35
"""So far above the model's recommended threshold an entry counts as much as one that holds all words."""

CALIBRATED_AT = 0.25
LEAST_BEST = 0.07
LEAST_FIVE = 0.01
NEAREST_FIVE = 5
ABSENT_COST_BEST = 0.15
ABSENT_COST_FIVE = 0.2
"""A plain query whose words no entry holds is refused when both the best cosine and the mean of the best five are low:
under the model's recommended threshold plus 0.07 and plus 0.01, after 0.15 and 0.2 times the share of the query's
words that occur nowhere in the logbook are taken off. Calibrated on the sample's judged queries: it refuses half of
those that the logbook cannot answer, and three in a hundred of the others. For models whose recommended threshold is
under the 0.25 of the model that this was done with, all of it is scaled down."""

LEAST_APPROXIMATE = 0.75
"""How like each of the query's words its correction must be (0..1) to count as a typo's match here."""


WITHOUT_ALL_WORDS = "an entry that does not hold all words"
"""What the similarity_threshold is for."""


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

    @model_validator(mode="after")
    def _something_counts(self) -> HybridArguments:
        if not self.keyword_weight and not self.semantic_weight:
            raise ValueError("keyword_weight and semantic_weight are both 0, so nothing counts")
        return self


@dataclass(frozen=True)
class KeywordLeg:
    """The ranked keyword leg, and which of its rows hold all words (or, where none does, words nearly the same)."""

    leg: Leg
    all_words: tuple[int, ...]
    corrections: dict[str, str] = field(default_factory=dict)

    @property
    def is_approximate(self) -> bool:
        """True when words were taken for others that are nearly the same."""
        return bool(self.corrections)


def run(context: SearchContext, arguments: SearchArguments) -> SearchOutcome:
    """Search by words and meaning; see HybridArguments."""
    options = HybridArguments.model_validate(arguments.model_dump())
    planned = context.plan(options)
    diagnostics = query_diagnostics(planned) + index_diagnostics(context)
    if planned.nothing is not None:
        explanation = explained(context, planned, options)
        return SearchOutcome((), tuple(diagnostics), planned.sentence, explanation=explanation)
    if not planned.meaning:
        return listed(context, planned, options, diagnostics)
    depth = options.fusion_depth
    begun_leg = begin(context, planned)
    words = _keyword_leg(context, planned, depth, options)
    meaning = finish(context, corrected(planned, words.corrections), begun_leg, depth)
    fused = _fused(context, planned, words, meaning, options)
    if fused and not words.all_words and options.similarity_threshold is None and not is_structured(planned):
        fused, notes = _doubted(context, planned, meaning, fused)
        diagnostics += notes
    rows = np.array(list(fused), dtype=np.int64)
    best = context.backend.best_rows(rows, np.array(list(fused.values())), options.max_results, options.offset)
    ranked = {hit.row: _ranks(hit.row, words, meaning) for hit in best} if options.explain else {}
    found = describe_found(context, planned, best, highlights=options.include_highlights, ranks=ranked)
    diagnostics += meaning.notes
    if words.is_approximate and found:
        taken = ", ".join(f"{right} (for {typed})" for typed, right in words.corrections.items())
        message = f"no entry holds all words as typed. Did you mean {taken}?"
        diagnostics.append(SearchDiagnostic("info", "hybrid", message, "fuzzy"))
    if not found and len(diagnostics) == len(meaning.notes):
        diagnostics.append(
            SearchDiagnostic("info", "hybrid", "no entry holds these words or is near in meaning", "none")
        )
    return SearchOutcome(
        found,
        tuple(diagnostics),
        planned.sentence,
        meaning.degraded,
        explanation=explained(context, planned, options),
        corrections=words.corrections,
    )


def _keyword_leg(context: SearchContext, planned: PlannedQuery, depth: int, options: HybridArguments) -> KeywordLeg:
    """Entries with all words; when they are fewer than the depth, entries with any of them, which rank the same way."""
    backend = context.backend
    every = backend.search(planned.plan(depth))
    if len(every) >= depth:
        return KeywordLeg(_leg(every, options), tuple(hit.row for hit in every))
    corrections: dict[str, str] = {}
    if not every and options.fuzzy_fallback and not options.plain and can_be_approximate(planned.text_tree):
        near = approximate_rows(
            planned.tree, backend.vocabulary(), backend.rows, backend.exists, depth, LEAST_APPROXIMATE
        )
        every = backend.best_rows(near.rows, near.scores, depth)
        corrections = dict(near.reading(every[0].row).corrections) if every else {}
    widened = conjunction([any_word(planned.text_tree, context.analyzer), without_words(planned.tree)])
    some = [] if _is_quoted(planned) else backend.search(SearchPlan(widened, depth))
    known = {hit.row for hit in some}
    missed = [hit for hit in every if hit.row not in known]
    if corrections:
        first = max((hit.score for hit in some), default=1.0)
        every_first = [replace(hit, score=first * (1 + hit.score)) for hit in every]
        rows = {hit.row for hit in every}
        merged = every_first + [hit for hit in some if hit.row not in rows]
    else:
        merged = some + missed
    return KeywordLeg(_leg(merged, options), tuple(hit.row for hit in every), corrections)


def _is_quoted(planned: PlannedQuery) -> bool:
    """True when all words stand in quotes: an entry that holds some of them only is not allowed anyway."""
    return all(leaf.kind in ("phrase", "exact") for leaf in text_leaves(planned.text_tree))


def corrected(planned: PlannedQuery, corrections: Mapping[str, str]) -> PlannedQuery:
    """The query with its typos mended in what is compared by meaning."""
    if not corrections:
        return planned
    words = [corrections.get(fold(word.strip(CHUNK_PUNCTUATION)), word) for word in planned.meaning.split()]
    return replace(planned, meaning=" ".join(words))


def _leg(hits: Sequence[Hit], options: HybridArguments) -> Leg:
    return Leg("keyword", [hit.row for hit in hits], [hit.score for hit in hits], options.keyword_weight)


def _fused(
    context: SearchContext, planned: PlannedQuery, words: KeywordLeg, meaning: SemanticLeg, options: HybridArguments
) -> dict[int, float]:
    """Row -> score (0..1) of the entries worth showing: they hold all words, or are near enough in meaning."""
    semantic = Leg("semantic", meaning.rows.tolist(), meaning.similarities.tolist(), options.semantic_weight)
    fused = fuse([words.leg, semantic])
    structured = is_structured(planned)
    if words.is_approximate or structured or len(list(text_leaves(planned.text_tree))) <= FEW_WORDS:
        first = _first_places(words, meaning, _strong(context, meaning, structured=structured))
        scored = {row: (1 + first[row] if row in first else score) / 2 for row, score in fused.items()}
    else:
        holding = frozenset(words.all_words)
        bonus = ALL_WORDS_BONUS
        scored = {row: (score + bonus * (row in holding)) / (1 + bonus) for row, score in fused.items()}
    if meaning.degraded and not meaning.is_partial:
        return {row: score for row, score in scored.items() if row in words.all_words}
    least = threshold(context, options.similarity_threshold)
    if least <= 0:
        return scored
    # Of entries that have no vector yet it is not known whether they are near.
    by_words = words.leg.rows if meaning.is_partial else words.all_words
    worth = {*meaning.rows[meaning.similarities >= least].tolist(), *by_words}
    return {row: score for row, score in scored.items() if row in worth}


def _doubted(
    context: SearchContext, planned: PlannedQuery, meaning: SemanticLeg, fused: dict[int, float]
) -> tuple[dict[int, float], list[SearchDiagnostic]]:
    """Say which words occur nowhere, and show nothing when nothing is near enough to be an answer."""
    leaves = list(dict.fromkeys(text_leaves(any_word(planned.text_tree, context.analyzer))))
    absent = [leaf.text for leaf in leaves if not context.backend.exists(leaf)]
    notes = []
    if absent:
        message = f"these words occur nowhere in the logbook: {', '.join(absent)}"
        notes.append(SearchDiagnostic("info", "hybrid", message, "absent"))
    if meaning.is_partial:
        return fused, notes
    share = len(absent) / max(len(leaves), 1)
    least = context.embedder.recommended_threshold if len(meaning.rows) else 0.0
    best = float(meaning.similarities[0]) if len(meaning.rows) else 0.0
    five = float(meaning.similarities[:NEAREST_FIVE].mean()) if len(meaning.rows) else 0.0
    scale = min(least / CALIBRATED_AT, 1.0)
    is_near = best - scale * ABSENT_COST_BEST * share >= least + scale * LEAST_BEST
    if is_near or five - scale * ABSENT_COST_FIVE * share >= least + scale * LEAST_FIVE:
        return fused, notes
    message = (
        f"no entry seems to be about this (best similarity {best:.2f}); "
        "give a similarity_threshold to see the nearest ones all the same"
    )
    return {}, [*notes, SearchDiagnostic("info", "hybrid", message, "threshold")]


def _strong(context: SearchContext, meaning: SemanticLeg, *, structured: bool) -> float:
    """The cosine from which on an entry comes first by meaning alone; never, for a query that says more than words."""
    unreachable = 2.0
    if structured or not len(meaning.rows):
        return unreachable
    return context.embedder.recommended_threshold + STRONG


def _first_places(words: KeywordLeg, meaning: SemanticLeg, strong_from: float) -> dict[int, float]:
    """Row -> 1..0 of what comes before all else: entries with all words as keyword mode orders them, and between them
    those that mean nearly the same."""
    strong = meaning.rows[meaning.similarities >= strong_from].tolist()
    places = {row: 1 - place / len(strong) for place, row in enumerate(strong)}
    places.update({row: 1 - place / len(words.all_words) for place, row in enumerate(words.all_words)})
    return places


def _ranks(row: int, words: KeywordLeg, meaning: SemanticLeg) -> dict[str, Any]:
    """Where an entry stood in each leg, and its cosine."""
    places = np.flatnonzero(meaning.rows == row)
    return {
        "keyword": words.leg.ranks().get(row),
        "all_words": row in words.all_words,
        "semantic": int(places[0]) + 1 if len(places) else None,
        "similarity": float(meaning.similarities[places[0]]) if len(places) else None,
    }


def is_structured(planned: PlannedQuery) -> bool:
    """True when the query says more than words: operators, quotes, names, prefixes, fields."""
    tree = planned.text_tree
    if any(leaf.kind != "word" for leaf in text_leaves(tree)):
        return True
    return any(isinstance(node, AnyOf | Exclude | FieldLeaf) for node in (tree, *getattr(tree, "children", ())))


def format_result(outcome: SearchOutcome) -> dict[str, Any]:
    """A short JSON shape for agents: how many entries, and each one's id, fused score and ranks."""
    entries = [
        {"entry_id": found.entry["entry_id"], "score": found.score, "ranks": found.ranks} for found in outcome.found
    ]
    return {"results_found": len(entries), "entries": entries}


execute = in_thread(run)


def get_parameter_descriptors() -> list[ParameterDescriptor]:
    """The parameters a form offers for this mode."""
    return [
        threshold_descriptor(WITHOUT_ALL_WORDS),
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
