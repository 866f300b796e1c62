"""Answers with citations: retrieve, fuse, assemble, generate.

Entries are found as hybrid mode finds them (by words alone where there are no vectors), so every field, exclusion and
filter holds. The answer is made of the best sentences of the entries that surely answer, or written by a configured
language model from the same entries and checked against them. When the entries do not answer, it says so.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import Field

from ariel_lite.errors import ConfigurationError, GenerationError
from ariel_lite.generation import extractive
from ariel_lite.generation.base import DEFAULT_TEMPERATURE, Generator
from ariel_lite.generation.citations import Statement, check, numbered
from ariel_lite.generation.passages import Passage
from ariel_lite.generation.prompts import NO_ANSWER, SYSTEM, build_prompt, excerpts
from ariel_lite.generation.scoring import (
    CERTAIN,
    ScoredPassage,
)
from ariel_lite.records import SearchDiagnostic
from ariel_lite.registry import GENERATORS, Registry
from ariel_lite.search.base import (
    FoundEntry,
    ParameterDescriptor,
    SearchArguments,
    SearchContext,
    SearchOutcome,
    SearchToolDescriptor,
    explained,
    in_thread,
)
from ariel_lite.search.hybrid import WITHOUT_ALL_WORDS
from ariel_lite.search.retrieval import CONSIDERED, retrieve, score
from ariel_lite.search.semantic import threshold_descriptor

MODE = "rag"
NOT_SAID = "The logbook does not say."
"""The whole answer when the entries do not answer."""

MAX_SOURCES = 6
MAX_SENTENCES = 6
LEAST_CONFIDENCE = 0.55
BESIDE_CERTAIN = 0.85
"""How sure it must be beside entries that are certain, because they hold all words of a query that names them."""

MAX_CONTEXT_CHARS = 12_000
MAX_CHARS_PER_ENTRY = 2_000
MAX_TOKENS = 700

RESERVE_SECONDS = 1.0
"""Of a search's time, kept back from the language model for what comes after it."""

LEAST_SECONDS = 1.0
"""A language model that has less time than this is not asked."""

SHOWN_SENTENCES = 3
"""Of those that were left out, in a diagnostic."""


class AnswerArguments(SearchArguments):
    """Answer mode's own parameters.

    `generator` is "extractive" or a language model's provider (None: the configured one, else extractive);
    `max_sources` entries and `max_sentences` sentences at most make the answer; `least_confidence` (0..1) is how sure
    it must be that an entry answers, to be cited by the extractive generator; `similarity_threshold` is as in hybrid
    mode. `max_context_chars`, `max_chars_per_entry`, `temperature` and `max_tokens` are for language models.
    """

    generator: str | None = None
    max_sources: int = Field(default=MAX_SOURCES, ge=1, le=20)
    max_sentences: int = Field(default=MAX_SENTENCES, ge=1, le=30)
    least_confidence: float = Field(default=LEAST_CONFIDENCE, ge=0, le=1)
    similarity_threshold: float | None = Field(default=None, ge=-1, le=1)
    max_context_chars: int = Field(default=MAX_CONTEXT_CHARS, ge=1_000, le=50_000)
    max_chars_per_entry: int = Field(default=MAX_CHARS_PER_ENTRY, ge=100, le=10_000)
    temperature: float = Field(default=DEFAULT_TEMPERATURE, ge=0, le=2)
    max_tokens: int = Field(default=MAX_TOKENS, ge=50, le=8_000)
    include_highlights: bool = True
    fuzzy_fallback: bool = True


@dataclass(frozen=True)
class _Composed:
    """An answer's statements; () when the entries do not answer. `generator` made them, of `passages`."""

    statements: tuple[Statement, ...]
    passages: tuple[Passage, ...]
    generator: str
    notes: tuple[SearchDiagnostic, ...] = ()
    degraded: bool = False
    prompt: str | None = None


def run(context: SearchContext, arguments: SearchArguments) -> SearchOutcome:
    """Answer a question; see AnswerArguments."""
    end = time.monotonic() + context.config.search_timeout_seconds - RESERVE_SECONDS
    options = AnswerArguments.model_validate(arguments.model_dump())
    generator = _chosen_generator(context, options)
    planned = context.plan(options)
    retrieved = retrieve(context, planned, options)
    if planned.nothing is not None:
        return replace(retrieved, explanation=explained(context, planned, options))
    scored, faults = score(context, planned, retrieved)
    composed = _compose(context, options, generator, scored, end)
    answer = numbered(composed.statements)
    notes = list(retrieved.diagnostics + faults + composed.notes)
    if not composed.statements:
        notes.append(_why_not_said(scored, options, composed))
    considered = tuple(_with_confidence(entry, one) for entry, one in zip(retrieved.found, scored, strict=False))
    found = considered + retrieved.found[CONSIDERED:]
    explanation = explained(context, planned, options)
    return replace(
        retrieved,
        found=found,
        diagnostics=tuple(notes),
        degraded=retrieved.degraded or bool(faults) or composed.degraded,
        answer=answer.text or NOT_SAID,
        sources=tuple(composed.passages[index].entry_id for index in answer.order),
        explanation=None if explanation is None else _explanation(explanation, found, scored, composed),
    )


def _chosen_generator(context: SearchContext, options: AnswerArguments) -> str:
    """The generator's name.

    Raises:
        ConfigurationError: there is none of that name.
    """
    name = options.generator or context.config.search_module(MODE).provider or extractive.NAME
    if name != extractive.NAME and name not in context.registry.names(GENERATORS):
        known = ", ".join([extractive.NAME, *context.registry.names(GENERATORS)])
        raise ConfigurationError(f"unknown generator {name!r}", hint=f"known: {known}")
    return name


def _compose(
    context: SearchContext, options: AnswerArguments, name: str, scored: Sequence[ScoredPassage], end: float
) -> _Composed:
    """The answer by the wanted generator; by the extractive one, and said to be degraded, when that fails."""
    if name == extractive.NAME or not scored:
        return _extracted(context, options, scored)
    try:
        generator = context.registry.load(GENERATORS, name).create_generator(
            context.config, context.config.search_module(MODE).model or ""
        )
        return _written(context, options, generator, scored, end)
    except (GenerationError, ConfigurationError) as fault:
        hint = f"; {fault.hint}" if fault.hint else ""
        message = f"{fault.message}{hint}. The answer was put together from sentences of the entries instead"
        note = SearchDiagnostic("warning", MODE, message, "generation")
        return replace(_extracted(context, options, scored), notes=(note,), degraded=True)


def _extracted(context: SearchContext, options: AnswerArguments, scored: Sequence[ScoredPassage]) -> _Composed:
    sure = [one for one in scored if one.confidence >= options.least_confidence]
    if any(one.confidence == CERTAIN for one in sure):
        sure = [one for one in sure if one.confidence >= BESIDE_CERTAIN]
    statements = extractive.extract(
        sure, context.analyzer, max_sources=options.max_sources, max_sentences=options.max_sentences
    )
    return _Composed(tuple(statements), tuple(one.passage for one in sure), extractive.NAME)


def _written(
    context: SearchContext, options: AnswerArguments, generator: Generator, scored: Sequence[ScoredPassage], end: float
) -> _Composed:
    """The answer of a language model, checked.

    Raises:
        GenerationError: it did not answer in time, or with nothing that the entries support.
    """
    seconds = end - time.monotonic()
    if seconds < LEAST_SECONDS:
        raise GenerationError(f"no time is left to ask {generator.name}", hint="raise search_timeout_seconds")
    passages, texts = excerpts(
        scored[: options.max_sources],
        max_context_chars=options.max_context_chars,
        max_chars_per_entry=options.max_chars_per_entry,
    )
    prompt = build_prompt(options.query, passages, texts, max_sentences=options.max_sentences)
    said = generator.complete(
        SYSTEM, prompt, max_tokens=options.max_tokens, temperature=options.temperature, timeout_seconds=seconds
    )
    if _says_no(said):
        return _Composed((), tuple(passages), generator.name, prompt=prompt)
    checked = check(said, passages, context.analyzer)
    notes = tuple(_check_notes(checked.out_of_range, checked.unsupported, generator.name))
    if not checked.statements:
        raise GenerationError(
            f"nothing that {generator.name} wrote is supported by the entries", hint="use another model"
        )
    return _Composed(checked.statements, tuple(passages), generator.name, notes, prompt=prompt)


def _says_no(said: str) -> bool:
    plain = said.strip(" .\"'*`[]").casefold()
    return plain.startswith((NO_ANSWER.casefold(), NOT_SAID.strip(".").casefold()))


def _check_notes(out_of_range: Sequence[int], unsupported: Sequence[str], name: str) -> list[SearchDiagnostic]:
    notes = []
    if out_of_range:
        numbers = ", ".join(f"[{number}]" for number in out_of_range)
        message = f"{name} cited {numbers}, which is no source; these citations were dropped"
        notes.append(SearchDiagnostic("warning", MODE, message, "citation"))
    if unsupported:
        shown = "; ".join(f"“{text}”" for text in unsupported[:SHOWN_SENTENCES])
        more = f" and {len(unsupported) - SHOWN_SENTENCES} more" if len(unsupported) > SHOWN_SENTENCES else ""
        message = f"left out of what {name} wrote, because the entries do not support it: {shown}{more}"
        notes.append(SearchDiagnostic("warning", MODE, message, "citation"))
    return notes


def _why_not_said(scored: Sequence[ScoredPassage], options: AnswerArguments, composed: _Composed) -> SearchDiagnostic:
    count = len(scored)
    if not count:
        return SearchDiagnostic("info", MODE, "no entry was found to answer from", "no_answer")
    entries = "the entry found answers" if count == 1 else f"any of the {count} entries found answers"
    if composed.generator != extractive.NAME:
        return SearchDiagnostic("info", MODE, f"{composed.generator} does not see that {entries} this", "no_answer")
    best = max(one.confidence for one in scored)
    if best >= options.least_confidence:
        message = f"{'the entry' if count == 1 else 'the entries'} found hold no sentence that can be quoted"
    else:
        message = (
            f"it is not sure enough that {entries} this (confidence {best:.2f}, {options.least_confidence:.2f} is "
            "needed; least_confidence in search_modules.rag.settings sets it)"
        )
    return SearchDiagnostic("info", MODE, message, "no_answer")


def _with_confidence(found: FoundEntry, scored: ScoredPassage) -> FoundEntry:
    return replace(found, ranks={**found.ranks, "confidence": round(scored.confidence, 4)})


def _explanation(
    explanation: dict[str, Any],
    found: Sequence[FoundEntry],
    scored: Sequence[ScoredPassage],
    composed: _Composed,
) -> dict[str, Any]:
    """An explanation with each entry's ranks, each sentence's score, and the prompt where there was one."""
    used = {statement.text for statement in composed.statements}
    entries = [
        {"entry_id": one.entry["entry_id"], **{name: _short(value) for name, value in one.ranks.items()}}
        for one in found
    ]
    sentences = [
        {
            "entry_id": one.passage.entry_id,
            "score": round(sentence.score, 3),
            "coverage": round(sentence.coverage, 3),
            "cosine": None if sentence.cosine is None else round(sentence.cosine, 3),
            "used": sentence.sentence.text in used,
            "text": sentence.sentence.text,
        }
        for one in scored
        for sentence in sorted(one.sentences, key=lambda sentence: -sentence.score)
    ]
    made = {"generator": composed.generator, "entries": entries, "sentences": sentences}
    prompt = {"prompt": composed.prompt} if composed.prompt else {}
    return explanation | made | prompt


def _short(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value


def format_result(outcome: SearchOutcome) -> dict[str, Any]:
    """A short JSON shape for agents: the answer, its sources in the order of [n], and the entries found."""
    entries = [
        {"entry_id": found.entry["entry_id"], "score": found.score, "ranks": found.ranks} for found in outcome.found
    ]
    sources = list(outcome.sources or ())
    return {"answer": outcome.answer, "sources": sources, "results_found": len(entries), "entries": entries}


execute = in_thread(run)


def get_parameter_descriptors() -> list[ParameterDescriptor]:
    """The parameters a form offers for this mode."""
    names = [extractive.NAME, *Registry().names(GENERATORS)]
    answer, retrieval, context, model = "Answer", "Retrieval", "Context Assembly", "LLM Processing"
    return [
        ParameterDescriptor(
            "generator",
            "Written by",
            "extractive quotes sentences; the others are language models and must be configured",
            "select",
            None,
            options=tuple({"value": name, "label": name.capitalize()} for name in names),
            section=answer,
        ),
        ParameterDescriptor(
            "max_sources", "Sources", "At most so many entries are cited", "int", MAX_SOURCES, 1, 20, 1, section=answer
        ),
        ParameterDescriptor(
            "max_sentences", "Sentences", "The longest answer", "int", MAX_SENTENCES, 1, 30, 1, section=answer
        ),
        ParameterDescriptor(
            "least_confidence",
            "Confidence",
            "How sure it must be that an entry answers, to be cited (0 to 1)",
            "float",
            LEAST_CONFIDENCE,
            0.0,
            1.0,
            0.05,
            section=answer,
        ),
        threshold_descriptor(WITHOUT_ALL_WORDS, retrieval),
        ParameterDescriptor(
            "max_context_chars",
            "Max context chars",
            "Characters of entries that a language model gets",
            "int",
            MAX_CONTEXT_CHARS,
            1_000,
            50_000,
            1_000,
            section=context,
        ),
        ParameterDescriptor(
            "max_chars_per_entry",
            "Max chars/entry",
            "Characters of one entry that a language model gets",
            "int",
            MAX_CHARS_PER_ENTRY,
            100,
            10_000,
            100,
            section=context,
        ),
        ParameterDescriptor(
            "temperature",
            "Temperature",
            "0: a language model always takes the likeliest word",
            "float",
            DEFAULT_TEMPERATURE,
            0.0,
            2.0,
            0.05,
            section=model,
        ),
    ]


def get_tool_descriptor() -> SearchToolDescriptor:
    """This mode."""
    return SearchToolDescriptor(
        name="answer_question",
        description=(
            "Answer a question from the logbook, with citations [n] of the entries it comes from; says so when the "
            "logbook does not say. Fields, exclusions and filters in the query are obeyed."
        ),
        search_mode=MODE,
        args_schema=AnswerArguments,
        execute=execute,
        format_result=format_result,
        needs_embedder=True,
        run=run,
        label="Answer",
    )
