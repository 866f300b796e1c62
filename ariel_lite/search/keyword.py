"""Keyword search: the query language over the full-text index, and a typo-tolerant second look when nothing matched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ariel_lite.backends.values import Hit
from ariel_lite.planning import PlannedQuery
from ariel_lite.query.nodes import BoundNode, text_leaves
from ariel_lite.ranking.corrections import MOST_WORDS, approximate_rows, can_be_approximate
from ariel_lite.records import EnhancedLogbookEntry, SearchDiagnostic
from ariel_lite.search.base import (
    FoundEntry,
    ParameterDescriptor,
    SearchArguments,
    SearchContext,
    SearchOutcome,
    SearchToolDescriptor,
    explained,
    in_thread,
    index_diagnostics,
    query_diagnostics,
)
from ariel_lite.text.highlight import Pattern


class KeywordArguments(SearchArguments):
    """Keyword mode's own parameters besides the common ones."""

    include_highlights: bool = True
    fuzzy_fallback: bool = True


def keyword_search(
    query: str, context: SearchContext, **parameters: Any
) -> list[tuple[EnhancedLogbookEntry, float, list[str]]]:
    """(entry, score, highlights) of the best entries; parameters as in KeywordArguments.

    Raises:
        QuerySyntaxError, InvalidRequestError: see `planning.plan_query`.
    """
    outcome = run(context, KeywordArguments(query=query, **parameters))
    return [(found.entry, found.score, list(found.highlights)) for found in outcome.found]


def run(context: SearchContext, arguments: SearchArguments) -> SearchOutcome:
    """Search by keyword; see KeywordArguments."""
    options = KeywordArguments.model_validate(arguments.model_dump())
    planned = context.plan(options)
    diagnostics = query_diagnostics(planned) + index_diagnostics(context)
    plan = planned.plan(options.max_results, options.offset)
    hits = context.backend.search(plan)
    found = _exact(context, planned, hits, options)
    corrections: dict[str, str] = {}
    if not hits and options.fuzzy_fallback and not options.plain and _nothing_matches(context, planned, options):
        found, notes, corrections = _approximate(context, planned, options)
        diagnostics += notes
    return SearchOutcome(
        tuple(found),
        tuple(diagnostics),
        planned.sentence,
        explanation=explained(context, planned, options, plan),
        corrections=corrections,
    )


def patterns_of(tree: BoundNode) -> list[Pattern]:
    """What to highlight: the forms of every leaf that an entry may have been found by."""
    return [leaf.forms for leaf in text_leaves(tree)]


def _nothing_matches(context: SearchContext, planned: PlannedQuery, options: KeywordArguments) -> bool:
    if planned.nothing is not None:
        return False
    return options.offset == 0 or not context.backend.exists(planned.tree)


def _exact(
    context: SearchContext, planned: PlannedQuery, hits: list[Hit], options: KeywordArguments
) -> list[FoundEntry]:
    patterns = patterns_of(planned.text_tree) if options.include_highlights else []
    entries = {entry["entry_id"]: entry for entry in context.backend.get_entries([hit.entry_id for hit in hits])}
    return [
        FoundEntry(entry, hit.score, "exact", context.highlights(entry, patterns))
        for hit in hits
        if (entry := entries.get(hit.entry_id)) is not None
    ]


def _approximate(
    context: SearchContext, planned: PlannedQuery, options: KeywordArguments
) -> tuple[list[FoundEntry], list[SearchDiagnostic], dict[str, str]]:
    """The best entries for words that are near the query's, and what they were taken for (said, and word for word)."""
    backend = context.backend
    if not can_be_approximate(planned.text_tree):
        return [], _why_not_corrected(planned), {}
    wanted = options.max_results + options.offset
    near = approximate_rows(planned.tree, backend.vocabulary(), _remembering(backend.rows), backend.exists, wanted)
    best = backend.best_rows(near.rows, near.scores, options.max_results, options.offset)
    entries = {entry["entry_id"]: entry for entry in backend.get_entries([hit.entry_id for hit in best])}
    found: list[FoundEntry] = []
    for hit in best:
        entry = entries.get(hit.entry_id)
        if entry is not None:
            patterns = [leaf.forms for leaf in near.reading(hit.row).leaves] if options.include_highlights else []
            fragments = context.highlights(entry, patterns)
            found.append(FoundEntry(entry, hit.score, "fuzzy", fragments))
    if not best:
        return found, [], {}
    corrections = dict(near.reading(best[0].row).corrections)
    return found, [_did_you_mean(corrections)], corrections


def _why_not_corrected(planned: PlannedQuery) -> list[SearchDiagnostic]:
    words = sum(1 for leaf in text_leaves(planned.text_tree) if leaf.kind in ("word", "identifier"))
    if words <= MOST_WORDS:
        return []
    message = (
        f"no entry holds all {words} words; queries of more than {MOST_WORDS} words are not looked through for typos"
    )
    return [SearchDiagnostic("info", "keyword", message, "fuzzy")]


def _did_you_mean(corrections: Mapping[str, str]) -> SearchDiagnostic:
    corrected = ", ".join(f"{right} (for {typed})" for typed, right in corrections.items())
    message = "nothing matched exactly; these are approximate matches"
    if corrected:
        message += f". Did you mean {corrected}?"
    return SearchDiagnostic("info", "keyword", message, "fuzzy")


def _remembering(rows_of: Callable[[BoundNode], Any]) -> Callable[[BoundNode], Any]:
    known: dict[BoundNode, Any] = {}

    def remembered(node: BoundNode) -> Any:
        if node not in known:
            known[node] = rows_of(node)
        return known[node]

    return remembered


def format_result(outcome: SearchOutcome) -> dict[str, Any]:
    """A short JSON shape for agents: how many entries, and each one's id, score and highlights."""
    entries = [
        {"entry_id": f.entry["entry_id"], "score": f.score, "match": f.match, "highlights": list(f.highlights)}
        for f in outcome.found
    ]
    return {"results_found": len(entries), "entries": entries}


execute = in_thread(run)


def get_parameter_descriptors() -> list[ParameterDescriptor]:
    """The parameters a form offers for this mode."""
    return [
        ParameterDescriptor(
            "include_highlights", "Highlights", "Show fragments of the text around the matches", "bool", True
        ),
        ParameterDescriptor(
            "fuzzy_fallback",
            "Forgive typos",
            "When nothing matches, look for words that are nearly the same",
            "bool",
            True,
        ),
    ]


def get_tool_descriptor() -> SearchToolDescriptor:
    """This mode."""
    return SearchToolDescriptor(
        name="keyword_search",
        description=(
            'Search the logbook by words, phrases and fields: AND, OR, NOT, brackets, "exact phrase", prefix*, '
            "author:, date:, source:, logbook:, tag:, id:, has:attachment. Names, PVs and numbers work as written."
        ),
        search_mode="keyword",
        args_schema=KeywordArguments,
        execute=execute,
        format_result=format_result,
        run=run,
    )
