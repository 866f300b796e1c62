"""Finding the entries that an answer is made from: by words and meaning, or by words alone where that cannot run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from ariel_lite.backends.base import SearchPlan
from ariel_lite.planning import PlannedQuery
from ariel_lite.query.bind import any_word
from ariel_lite.query.nodes import conjunction, without_words
from ariel_lite.search import hybrid, keyword
from ariel_lite.search.base import FoundEntry, SearchArguments, SearchContext, SearchOutcome, describe_found


def retrieve(context: SearchContext, planned: PlannedQuery, arguments: SearchArguments) -> SearchOutcome:
    """What hybrid mode finds, each entry with its ranks; by words alone when that is off, or cannot run (degraded).

    Args:
        context: the logbook.
        planned: the query of the arguments.
        arguments: those that hybrid and keyword mode know are handed on; hybrid's own settings hold besides.
    """
    if not context.config.is_search_module_enabled("hybrid"):
        return _by_words(context, planned, arguments)
    settings = context.config.search_module("hybrid").settings
    given = _known(hybrid.HybridArguments, {**settings, **_given(arguments), "explain": True})
    outcome = hybrid.run(context, hybrid.HybridArguments.model_validate(given))
    if not outcome.degraded:
        return replace(outcome, explanation=None)
    words = _by_words(context, planned, arguments)
    notes = [note for note in outcome.diagnostics if note not in words.diagnostics and note.level != "info"]
    return replace(words, diagnostics=(*notes, *words.diagnostics), degraded=True)


def _by_words(context: SearchContext, planned: PlannedQuery, arguments: SearchArguments) -> SearchOutcome:
    """Entries with all words, filled up with those that hold some; words nearly the same only when none does."""
    given = _known(keyword.KeywordArguments, {**_given(arguments), "explain": False})
    options = keyword.KeywordArguments.model_validate(given)
    outcome = keyword.run(context, options)
    every = outcome.found if _is_good(outcome.found) else ()
    more = _with_some(context, planned, options, every)
    found = tuple(
        replace(one, ranks={"keyword": rank, "all_words": rank <= len(every) and bool(planned.meaning)})
        for rank, one in enumerate(every + more, start=1)
    )
    notes = outcome.diagnostics if every or not more else tuple(n for n in outcome.diagnostics if n.category != "fuzzy")
    return replace(outcome, found=found, diagnostics=notes)


def _with_some(
    context: SearchContext, planned: PlannedQuery, options: keyword.KeywordArguments, every: Sequence[FoundEntry]
) -> tuple[FoundEntry, ...]:
    """Entries with some of the words, beside those with all, up to the number wanted."""
    room = options.max_results - len(every)
    if not room or not planned.meaning or planned.nothing is not None:
        return ()
    widened = conjunction([any_word(planned.text_tree, context.analyzer), without_words(planned.tree)])
    known = {found.entry["entry_id"] for found in every}
    hits = context.backend.search(SearchPlan(widened, options.max_results + len(every), options.offset))
    best = [hit for hit in hits if hit.entry_id not in known][:room]
    return describe_found(context, planned, best, highlights=options.include_highlights)


def _is_good(found: Sequence[FoundEntry]) -> bool:
    """True for exact matches, and for approximate ones that are near enough to be a typo's."""
    return bool(found) and (found[0].match == "exact" or found[0].score >= hybrid.LEAST_APPROXIMATE)


def _given(arguments: SearchArguments) -> dict[str, Any]:
    """The arguments that say something: an absent one leaves a setting as it is."""
    return {name: value for name, value in arguments.model_dump().items() if value is not None}


def _known(schema: type[BaseModel], values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in schema.model_fields}
