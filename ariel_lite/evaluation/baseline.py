"""The stored baseline: each query's metrics as they once were, to compare with and not to fall below.

The package carries that of the golden set (`baseline.json`); `ariel-lite eval --record` writes it. It holds values by
query rather than means, so that a change can be told from noise by pairing queries, and so that the floor of any class
or part of the set is the mean of its queries.

    {"collection", "fingerprint", "recorded_with", "metrics": [name, ...],
     "modes": {mode: {"unanswered": [id, ...], "queries": {id: [a value for each metric], ...},
                      "answers": {id: [entries cited, relevant ones among them], ...}}}}     (of modes that answer)
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ariel_lite import __version__
from ariel_lite.errors import ConfigurationError, InvalidRequestError
from ariel_lite.evaluation.answers import AnswerScore, summarise_answers
from ariel_lite.evaluation.collections import Collection
from ariel_lite.evaluation.metrics import METRICS, Difference, Scores, compare
from ariel_lite.evaluation.scorecard import NO_ANSWER, OVERALL, ModeScores, Scorecard

BUNDLED = Path(__file__).with_name("baseline.json")
FLOOR_METRICS = ("ndcg@10", "recall@50")
TOLERANCE = 0.02
"""How far the mean of a class may lie below its floor: processors round differently, and neighbours change places."""

NO_ANSWER_TOLERANCE = 0.05

Changes = dict[str, dict[str, dict[str, Difference]]]
"""Mode -> class, or "all" for the whole -> metric -> how it changed."""


@dataclass(frozen=True)
class ModeBaseline:
    """A mode as it was: metrics by query id, the queries without an answer for which nothing was found, answers."""

    scores: Mapping[str, Scores]
    unanswered: frozenset[str]
    answers: Mapping[str, AnswerScore] = field(default_factory=dict)


@dataclass(frozen=True)
class Baseline:
    """What was recorded of a collection; `fingerprint` is the collection's."""

    collection: str
    fingerprint: str
    recorded_with: str
    modes: Mapping[str, ModeBaseline]

    def fits(self, collection: Collection) -> bool:
        """True when it was recorded of exactly these documents, queries and judgements."""
        return self.fingerprint == collection.fingerprint


@dataclass(frozen=True)
class Fall:
    """A class ("all" for the whole) of a mode whose figure is below its floor."""

    mode: str
    group: str
    metric: str
    value: float
    floor: float

    def __str__(self) -> str:
        return f"{self.mode}, {self.group}: {self.metric} is {self.value:.3f}, its floor {self.floor:.3f}"


def read_baseline(path: Path) -> Baseline:
    """The baseline of a file.

    Raises:
        InvalidRequestError: the file cannot be read, or is no baseline.
    """
    hint = "record it with 'ariel-lite eval --record --baseline FILE'"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        places = [document["metrics"].index(metric) for metric in METRICS]
        modes = {mode: _mode(recorded, places) for mode, recorded in document["modes"].items()}
        collection, fingerprint, made = (str(document[key]) for key in ("collection", "fingerprint", "recorded_with"))
        return Baseline(collection, fingerprint, made, modes)
    except OSError as fault:
        raise InvalidRequestError(f"{path} cannot be read: {fault.strerror}", hint=hint) from fault
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as fault:
        raise InvalidRequestError(f"{path} is no baseline: {type(fault).__name__} {fault}", hint=hint) from fault


def require_fit(baseline: Baseline, collection: Collection, path: Path) -> None:
    """Refuse to compare what cannot be compared.

    Raises:
        ConfigurationError: the baseline is of another collection, or of another state of it.
    """
    if not baseline.fits(collection):
        raise ConfigurationError(
            f"{path} was recorded of {baseline.collection} ({baseline.fingerprint[:12]}), not of"
            f" {collection.name} ({collection.fingerprint[:12]})",
            hint="record it anew with --record, or name another with --baseline",
        )


def write_baseline(path: Path, card: Scorecard, model: str) -> None:
    """Record a scorecard of a whole collection; modes that it does not hold stay as the file has them.

    Raises:
        InvalidRequestError: the file there is no baseline.
        OSError: it cannot be written.
    """
    collection = card.collection
    modes: dict[str, ModeBaseline] = {}
    if path.exists():
        before = read_baseline(path)
        modes = dict(before.modes) if before.fits(collection) else {}
    modes |= {scores.mode: ModeBaseline(scores.scores, scores.unanswered, scores.answers) for scores in card.modes}
    document = {
        "collection": collection.name,
        "fingerprint": collection.fingerprint,
        "recorded_with": f"ariel-lite {__version__}, {model}",
        "metrics": list(METRICS),
        "modes": {mode: _mode_dict(modes[mode]) for mode in sorted(modes)},
    }
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_text("\n".join(_layout(document)) + "\n", encoding="utf-8", newline="\n")
    os.replace(unfinished, path)


def changes(card: Scorecard, baseline: Baseline) -> Changes:
    """How the metrics of the modes that the baseline holds changed."""
    return {scores.mode: _changes(scores, recorded) for scores, recorded in _both(card, baseline)}


def falls(card: Scorecard, baseline: Baseline) -> list[Fall]:
    """What lies below its floor by more than the tolerance."""
    return [fall for scores, recorded in _both(card, baseline) for fall in _falls(scores, recorded)]


def _both(card: Scorecard, baseline: Baseline) -> Iterator[tuple[ModeScores, ModeBaseline]]:
    return ((scores, baseline.modes[scores.mode]) for scores in card.modes if scores.mode in baseline.modes)


def _changes(scores: ModeScores, baseline: ModeBaseline) -> dict[str, dict[str, Difference]]:
    found = {OVERALL: compare(scores.scores, baseline.scores)}
    found |= {group: compare(scores.of_group(group), baseline.scores) for group in scores.groups}
    return {group: change for group, change in found.items() if change}


def _falls(scores: ModeScores, baseline: ModeBaseline) -> Iterator[Fall]:
    for group, change in _changes(scores, baseline).items():
        own = scores.scores if group == OVERALL else scores.of_group(group)
        shared = [query for query in own if query in baseline.scores]
        for metric in FLOOR_METRICS:
            floor = sum(baseline.scores[query][metric] for query in shared) / len(shared)
            if change[metric].change < -TOLERANCE:
                yield Fall(scores.mode, group, metric, floor + change[metric].change, floor)
    asked = scores.without_answer
    if asked:
        share, floor = len(scores.unanswered) / len(asked), len(baseline.unanswered & set(asked)) / len(asked)
        if share < floor - NO_ANSWER_TOLERANCE:
            yield Fall(scores.mode, NO_ANSWER, "unanswered", share, floor)
    yield from _answer_falls(scores, baseline)


def _answer_falls(scores: ModeScores, baseline: ModeBaseline) -> Iterator[Fall]:
    """Less precise citations, fewer answers in a class, or more answers where there is none."""
    shared = [key for key in scores.answers if key in baseline.answers]
    if not shared:
        return
    value = summarise_answers(scores.answers[key] for key in shared).precision
    floor = summarise_answers(baseline.answers[key] for key in shared).precision
    if value < floor - TOLERANCE:
        yield Fall(scores.mode, OVERALL, "citation precision", value, floor)
    silent = set(scores.without_answer)
    groups = {query.query_id: NO_ANSWER if query.query_id in silent else query.group for query in scores.queries}
    for group in dict.fromkeys(groups[key] for key in shared):
        members = [key for key in shared if groups[key] == group]
        value, floor = (
            summarise_answers(of[key] for key in members).answered for of in (scores.answers, baseline.answers)
        )
        name = "answered"
        if group == NO_ANSWER:
            name, value, floor = "refused", 1 - value, 1 - floor
        if value < floor - NO_ANSWER_TOLERANCE:
            yield Fall(scores.mode, group, name, value, floor)


def _mode(recorded: Mapping[str, Any], places: Sequence[int]) -> ModeBaseline:
    scores = {
        query: {metric: float(values[place]) for metric, place in zip(METRICS, places, strict=True)}
        for query, values in recorded["queries"].items()
    }
    answers = {
        query: AnswerScore(int(cited), int(right)) for query, (cited, right) in recorded.get("answers", {}).items()
    }
    return ModeBaseline(scores, frozenset(recorded["unanswered"]), answers)


def _mode_dict(mode: ModeBaseline) -> dict[str, Any]:
    answers = {query: [score.cited, score.relevant] for query, score in sorted(mode.answers.items())}
    return {
        "queries": {query: [scores[metric] for metric in METRICS] for query, scores in sorted(mode.scores.items())},
        "unanswered": sorted(mode.unanswered),
    } | ({"answers": answers} if answers else {})


def _layout(document: Mapping[str, Any]) -> Iterator[str]:
    """JSON with a line for each query, so that a change shows where it is."""
    head = {key: value for key, value in document.items() if key != "modes"}
    yield _json(head)[:-1] + ',\n"modes": {'
    yield ",\n".join(
        f'{_json(mode)}: {{"unanswered": {_json(recorded["unanswered"])}, "queries": {{\n'
        + ",\n".join(f" {_json(query)}: {_json(values)}" for query, values in recorded["queries"].items())
        + "\n}"
        + (f', "answers": {_json(recorded["answers"])}' if "answers" in recorded else "")
        + "}"
        for mode, recorded in document["modes"].items()
    )
    yield "}}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
