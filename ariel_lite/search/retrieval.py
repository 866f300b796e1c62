"""Finding the entries that an answer is made from, by words and meaning or words alone, and scoring what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError

from ariel_lite.backends.values import SearchPlan
from ariel_lite.embeddings.base import is_embeddable, is_storable
from ariel_lite.errors import ConfigurationError, EmbeddingGenerationError
from ariel_lite.generation.passages import make_passage
from ariel_lite.generation.scoring import (
    Question,
    ScoredPassage,
    Term,
    is_question,
    score_passages,
    term_weight,
)
from ariel_lite.planning import PlannedQuery
from ariel_lite.query.bind import any_word
from ariel_lite.query.nodes import TextLeaf, conjunction, text_leaves, without_words
from ariel_lite.records import SearchDiagnostic
from ariel_lite.search import hybrid, keyword
from ariel_lite.search.base import FoundEntry, SearchArguments, SearchContext, SearchOutcome, describe_found
from ariel_lite.text.highlight import Form

CONSIDERED = 10
"""An answer is made of the best ten entries found, however many are listed."""


def retrieve(context: SearchContext, planned: PlannedQuery, arguments: SearchArguments) -> SearchOutcome:
    """What hybrid mode finds, each entry with its ranks; by words alone when that is off, or cannot run (degraded).

    Args:
        context: the logbook.
        planned: the query of the arguments.
        arguments: those that hybrid and keyword mode know are handed on; hybrid's own settings hold besides.

    Raises:
        ConfigurationError: a setting of hybrid mode that it cannot use.
    """
    if not context.config.is_search_module_enabled("hybrid"):
        return _by_words(context, planned, arguments)
    settings = context.config.search_module("hybrid").settings
    given = _known(hybrid.HybridArguments, {**settings, **_given(arguments), "explain": True})
    outcome = hybrid.run(context, _hybrid_arguments(given))
    if not outcome.degraded:
        return replace(outcome, explanation=None)
    words = _by_words(context, planned, arguments)
    notes = [note for note in outcome.diagnostics if note not in words.diagnostics and note.level != "info"]
    return replace(words, diagnostics=(*notes, *words.diagnostics), degraded=True)


def score(
    context: SearchContext, planned: PlannedQuery, retrieved: SearchOutcome
) -> tuple[list[ScoredPassage], tuple[SearchDiagnostic, ...]]:
    """The best of the found entries with their sentences scored; and why the model could not help, where it should."""
    passages = [
        make_passage(
            one.entry,
            context.config.zone,
            similarity=one.ranks.get("similarity"),
            holds_all_words=bool(one.ranks.get("all_words")),
        )
        for one in retrieved.found[:CONSIDERED]
    ]
    terms = _terms(context, planned, retrieved.corrections)
    names_words = not is_question(planned.text) and (hybrid.is_structured(planned) or len(terms) <= hybrid.FEW_WORDS)
    question = Question(terms, names_words, is_approximate=bool(retrieved.corrections))
    if all(passage.similarity is None for passage in passages) or not is_embeddable(planned.meaning):
        return score_passages(question, passages, context.analyzer), ()
    try:
        embedder = context.embedder
        vector = embedder.embed([hybrid.corrected(planned, retrieved.corrections).meaning], query=True)[0]
        if not is_storable(vector):
            raise EmbeddingGenerationError("the model gave no usable vector for the question", hint="check the model")
        aware = replace(question, vector=vector, threshold=embedder.recommended_threshold)
        return score_passages(aware, passages, context.analyzer, embedder.embed), ()
    except EmbeddingGenerationError as fault:
        message = f"sentences were chosen by words alone: {fault.message}; {fault.hint}"
        note = SearchDiagnostic("warning", "semantic", message, str(fault.category))
        return score_passages(question, passages, context.analyzer), (note,)


def _terms(context: SearchContext, planned: PlannedQuery, corrections: Mapping[str, str]) -> tuple[Term, ...]:
    """The question's words, names and phrases, mended, each with what it weighs in this logbook."""
    leaves = list(dict.fromkeys(text_leaves(any_word(planned.text_tree, context.analyzer))))
    mended = [_mended(context, leaf, corrections) for leaf in leaves]
    entries = context.backend.statistics().entries
    return tuple(
        Term(leaf.text, leaf.forms, term_weight(leaf.text, entries, context.backend.count(leaf))) for leaf in mended
    )


def _mended(context: SearchContext, leaf: TextLeaf, corrections: Mapping[str, str]) -> TextLeaf:
    """A leaf whose words are those that they were taken for."""
    if leaf.kind not in ("word", "identifier") or not any(word in corrections for word in leaf.words):
        return leaf
    words = tuple(corrections.get(word, word) for word in leaf.words)
    forms = tuple(Form(context.analyzer.word(word)) for word in words)
    return replace(leaf, forms=forms, text=" ".join(words), words=words, written=())


def _by_words(context: SearchContext, planned: PlannedQuery, arguments: SearchArguments) -> SearchOutcome:
    """Entries with all words, filled up with those that hold some; words nearly the same only when none does."""
    given = _known(keyword.KeywordArguments, {**_given(arguments), "explain": False})
    options = keyword.KeywordArguments.model_validate(given)
    outcome = keyword.run(context, options)
    every = tuple(one for one in outcome.found if _is_good(one))
    more = _with_some(context, planned, options, every)
    found = tuple(
        replace(one, ranks={"keyword": rank, "all_words": rank <= len(every) and bool(planned.meaning)})
        for rank, one in enumerate(every + more, start=1)
    )
    if every or not more:
        return replace(outcome, found=found)
    notes = tuple(note for note in outcome.diagnostics if note.category != "fuzzy")
    return replace(outcome, found=found, diagnostics=notes, corrections={})


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


def _is_good(found: FoundEntry) -> bool:
    """True for an exact match, and for an approximate one that is near enough to be a typo's."""
    return found.match == "exact" or found.score >= hybrid.LEAST_APPROXIMATE


def _hybrid_arguments(given: dict[str, Any]) -> hybrid.HybridArguments:
    try:
        return hybrid.HybridArguments.model_validate(given)
    except ValidationError as fault:
        first = fault.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "settings"
        raise ConfigurationError(
            f"search_modules.hybrid.settings.{name}: {first['msg'].lower()}", hint=f"got {first['input']!r}"
        ) from fault


def _given(arguments: SearchArguments) -> dict[str, Any]:
    """The arguments that say something: an absent one leaves a setting as it is."""
    return {name: value for name, value in arguments.model_dump().items() if value is not None}


def _known(schema: type[BaseModel], values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in schema.model_fields}
