"""What answers are worth: whether they cite what the judges found relevant, quote word for word, and keep silent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ariel_lite.records import ARIELSearchResult

QUOTED = re.compile(r"(.+?) ((?:\[\d+\])+)(?: |$)")
NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class AnswerScore:
    """One answer: entries cited, relevant ones among them; sentences, and those that stand so in a source of theirs."""

    cited: int
    relevant: int
    sentences: int = 0
    verbatim: int = 0

    @property
    def is_answered(self) -> bool:
        """False when it was said that the logbook does not say."""
        return self.cited > 0


@dataclass(frozen=True)
class AnswerSummary:
    """Many answers: `answered` is a share of the queries, `precision` of the citations, `verbatim` of the sentences.

    The last two are 1.0 when there are none.
    """

    queries: int
    answered: float
    cited: int
    precision: float
    verbatim: float

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "queries": self.queries,
            "answered": self.answered,
            "cited": self.cited,
            "citation_precision": self.precision,
            "verbatim": self.verbatim,
        }


def score_answer(result: ARIELSearchResult, relevant: Mapping[str, int]) -> AnswerScore:
    """The score of a result that has an answer; `relevant` maps entry ids to grades of 1 or more."""
    texts = {entry["entry_id"]: " ".join(entry["raw_text"].split()) for entry in result.entries}
    sentences = list(cited_sentences(result.answer or ""))
    verbatim = [
        any(text in texts.get(result.sources[number - 1], "") for number in numbers if number <= len(result.sources))
        for text, numbers in sentences
    ]
    return AnswerScore(
        len(result.sources), sum(1 for key in result.sources if key in relevant), len(sentences), sum(verbatim)
    )


def cited_sentences(answer: str) -> Iterable[tuple[str, tuple[int, ...]]]:
    """(sentence, numbers of its sources) of an answer."""
    for line in answer.splitlines():
        for match in QUOTED.finditer(line):
            yield match[1], tuple(int(number) for number in NUMBER.findall(match[2]))


def summarise_answers(scores: Iterable[AnswerScore]) -> AnswerSummary:
    """Shares over all answers; over their citations and sentences, not means of shares."""
    known = list(scores)
    cited = sum(score.cited for score in known)
    sentences = sum(score.sentences for score in known)
    return AnswerSummary(
        len(known),
        sum(score.is_answered for score in known) / len(known) if known else 0.0,
        cited,
        sum(score.relevant for score in known) / cited if cited else 1.0,
        sum(score.verbatim for score in known) / sentences if sentences else 1.0,
    )
