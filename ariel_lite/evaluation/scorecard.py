"""The scorecard: a logbook of a judged collection, its queries through search modes, and what the answers are worth.

A mode that cannot run as it should (no vectors, no model, out of time) ends the evaluation: it is not scored as if it
had found nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ariel_lite.backends.values import batched
from ariel_lite.compose import create_ariel_service
from ariel_lite.config import ARIELConfig, FacilityConfig
from ariel_lite.enhancement.base import Enhancer
from ariel_lite.errors import EmbeddingGenerationError, InvalidRequestError, SearchExecutionError
from ariel_lite.evaluation.answers import AnswerScore, AnswerSummary, score_answer, summarise_answers
from ariel_lite.evaluation.collections import Collection, JudgedQuery
from ariel_lite.evaluation.metrics import Scores, Summary, score_rankings, summarise
from ariel_lite.records import MAX_RESULTS, ARIELSearchResult
from ariel_lite.registry import ENHANCERS
from ariel_lite.service import ARIELSearchService

MODES = ("keyword", "semantic", "hybrid")
"""What `--mode all` means."""

OVERALL = "all"
NO_ANSWER = "no_answer"

THRESHOLD = "similarity_threshold"
ENHANCER = "text_embedding"
STORED_AT_ONCE = 1000
Progress = Callable[[int], None]
"""Told how many more documents or queries are done."""


def no_progress(done: int) -> None:
    """Shows nothing."""


@dataclass(frozen=True)
class ModeScores:
    """What a mode gave.

    Attributes:
        mode: its name.
        queries: those asked.
        scores: metrics of each query that has an answer, by query id.
        unanswered: ids of the queries without an answer for which nothing was found, as is right.
        approximate: ids of those for which only approximate matches were found, and said to be so.
        answers: of a mode that answers, each query's answer, by query id.
    """

    mode: str
    queries: tuple[JudgedQuery, ...]
    scores: Mapping[str, Scores]
    unanswered: frozenset[str] = frozenset()
    approximate: frozenset[str] = frozenset()
    answers: Mapping[str, AnswerScore] = field(default_factory=dict)

    @cached_property
    def summary(self) -> Summary | None:
        """Over all queries that have an answer; None without any."""
        return summarise(self.scores) if self.scores else None

    @cached_property
    def groups(self) -> dict[str, Summary]:
        """By class of query, in the order of the queries."""
        names = dict.fromkeys(query.group for query in self.queries if query.relevant and query.group)
        return {name: summarise(self.of_group(name)) for name in names}

    @property
    def without_answer(self) -> tuple[str, ...]:
        """Ids of the queries that nothing answers."""
        return tuple(query.query_id for query in self.queries if not query.relevant)

    def of_group(self, name: str) -> dict[str, Scores]:
        """The metrics of a class's queries."""
        return {q.query_id: self.scores[q.query_id] for q in self.queries if q.group == name and q.relevant}

    @cached_property
    def answered(self) -> dict[str, AnswerSummary]:
        """Answers by class of query; "all" are those to queries that have one, "no_answer" those to the others.

        {} for a mode that does not answer. The precision of "all" counts every citation, those of "no_answer" too.
        """
        if not self.answers:
            return {}
        silent = set(self.without_answer)
        able = summarise_answers(score for key, score in self.answers.items() if key not in silent)
        whole = summarise_answers(self.answers.values())
        found = {OVERALL: replace(able, cited=whole.cited, precision=whole.precision, verbatim=whole.verbatim)}
        for name in self.groups:
            members = [query.query_id for query in self.queries if query.group == name and query.relevant]
            found[name] = summarise_answers(self.answers[key] for key in members)
        return found | ({NO_ANSWER: summarise_answers(self.answers[key] for key in silent)} if silent else {})

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape of a mode: metrics, number of queries, intervals, classes, queries without answer, answers."""
        document: dict[str, Any] = _summary_dict(self.summary) if self.summary else {"queries": 0}
        document["classes"] = {name: _summary_dict(summary) for name, summary in self.groups.items()}
        asked = len(self.without_answer)
        if asked:
            document["no_answer"] = {
                "queries": asked,
                "unanswered": len(self.unanswered) / asked,
                "approximate": len(self.approximate) / asked,
            }
        if self.answers:
            document["answers"] = {name: summary.to_dict() for name, summary in self.answered.items()}
        return document


@dataclass(frozen=True)
class Scorecard:
    """The modes' scores on a collection."""

    collection: Collection
    modes: tuple[ModeScores, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "collection": self.collection.name,
            "documents": self.collection.documents,
            "fingerprint": self.collection.fingerprint,
            "notes": list(self.collection.notes),
            "modes": {scores.mode: scores.to_dict() for scores in self.modes},
        }


@contextmanager
def judged_logbook(
    collection: Collection, config: ARIELConfig, folder: Path | None = None
) -> Iterator[ARIELSearchService]:
    """A logbook for a collection, in its time zone; `store` and `embed` fill it.

    Args:
        collection: what it is for.
        config: the settings of searches and embeddings.
        folder: where the logbook is kept and found again; None: it is gone afterwards.

    Raises:
        InvalidRequestError: `folder` cannot be used.
    """
    settings = config.model_copy(update={"facility": FacilityConfig(timezone=collection.zone)})
    with ExitStack() as stack:
        if folder is None:
            temporary = TemporaryDirectory(prefix="ariel-lite-eval-", ignore_cleanup_errors=True)
            folder = Path(stack.enter_context(temporary))
        path = _logbook_path(folder, collection)
        service = create_ariel_service(settings, location=str(path), create=True)
        stack.callback(service.close)
        yield service


def store(service: ARIELSearchService, collection: Collection, progress: Progress = no_progress) -> None:
    """Store the documents that are not there yet, and bring the index up to date.

    Raises:
        InvalidRequestError: the logbook holds other entries than the collection's.
    """
    backend = service.backend
    status = backend.status()
    if status.entries and not (status.analyzer_current and not status.unindexed):
        backend.reindex(everything=True)
    if status.entries == collection.documents:
        return
    for batch in batched(collection.entries(), STORED_AT_ONCE):
        backend.upsert(batch)
        progress(len(batch))
    stored = backend.status().entries
    if stored != collection.documents:
        raise InvalidRequestError(
            f"{backend.location} holds {stored} entries, the collection {collection.documents}", hint="delete that file"
        )


def embedder(service: ARIELSearchService) -> Enhancer:
    """What makes the vectors of the service's model.

    Raises:
        ConfigurationError: unknown provider or model, or a model's file is absent.
    """
    enhancer: Enhancer = service.registry.load(ENHANCERS, ENHANCER).create_enhancer(service.config, service.registry)
    return enhancer


def embed(service: ARIELSearchService, progress: Progress = no_progress) -> None:
    """Give every document its vector.

    Raises:
        ConfigurationError, EmbeddingGenerationError: the model cannot be used, or failed on a document.
    """
    report = embedder(service).run(service.backend, progress=progress)
    for entry_id, reason in report.failed.items():
        raise EmbeddingGenerationError(
            f"{len(report.failed)} documents have no vector, {entry_id} for one: {reason}", hint="check the model"
        )


def needs_vectors(service: ARIELSearchService, modes: Sequence[str]) -> bool:
    """True when one of the modes searches by meaning.

    Raises:
        ConfigurationError: an unknown or disabled mode.
    """
    descriptors = [service.modes.get(mode) for mode in modes]
    return any(descriptor.needs_embedder for descriptor in descriptors)


def evaluate(
    service: ARIELSearchService,
    queries: Sequence[JudgedQuery],
    mode: str,
    *,
    plain: bool,
    depth: int = MAX_RESULTS,
    progress: Progress = no_progress,
) -> ModeScores:
    """Send queries through a mode and judge the rankings.

    Args:
        service: the logbook of the queries' collection.
        queries: what to ask.
        mode: an enabled mode's name.
        plain: True sends mere words, without threshold; False sends them as a user's.
        depth: how many results to ask for, 1 to 100.
        progress: told how many more queries are done.

    Raises:
        ConfigurationError: an unknown or disabled mode, or ir-measures is not installed.
        SearchExecutionError: a query could not be run as it should (no vectors, no model, out of time).
    """
    parameters = _parameters(service, mode, plain=plain)
    rankings: dict[str, list[str]] = {}
    approximate: set[str] = set()
    answers: dict[str, AnswerScore] = {}
    for query in queries:
        result = service.search_now(query.text, max_results=depth, mode=mode, advanced_params=parameters)
        _require_whole(result, query, mode)
        rankings[query.query_id] = [entry["entry_id"] for entry in result.entries]
        if result.entries and all(entry["_match"] == "fuzzy" for entry in result.entries):
            approximate.add(query.query_id)
        if result.answer is not None:
            answers[query.query_id] = score_answer(result, query.relevant)
        progress(1)
    judged = {query.query_id: query.relevant for query in queries if query.relevant}
    unjudged = {query.query_id for query in queries if not query.relevant}
    return ModeScores(
        mode,
        tuple(queries),
        score_rankings(rankings, judged),
        frozenset(key for key in unjudged if not rankings[key]),
        frozenset(approximate & unjudged),
        answers,
    )


def _summary_dict(summary: Summary) -> dict[str, Any]:
    intervals = {metric: list(interval) for metric, interval in summary.intervals.items()}
    return {**summary.means, "queries": summary.queries, "intervals": intervals}


def _parameters(service: ARIELSearchService, mode: str, *, plain: bool) -> dict[str, Any]:
    known = service.modes.get(mode).args_schema.model_fields
    wanted: dict[str, Any] = {"include_highlights": False}
    if plain:
        wanted |= {"plain": True, THRESHOLD: 0.0}
    return {name: value for name, value in wanted.items() if name in known}


def _require_whole(result: ARIELSearchResult, query: JudgedQuery, mode: str) -> None:
    """A search that could not run is no search that found nothing."""
    grave = [note.message for note in result.diagnostics if note.level == "error"]
    if not result.degraded and not grave:
        return
    reasons = grave or [note.message for note in result.diagnostics if note.level == "warning"]
    raise SearchExecutionError(
        f"the mode {mode} could not run query {query.query_id} in full: {'; '.join(reasons)}",
        hint="nothing was scored; mend that and run it again",
    )


def _logbook_path(folder: Path, collection: Collection) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise InvalidRequestError(f"{folder} cannot be used: {fault.strerror}", hint="name another folder") from fault
    name = "".join(sign if sign.isalnum() else "_" for sign in collection.name)
    return folder / f"{name}-{collection.documents_hash[:12]}.db"
