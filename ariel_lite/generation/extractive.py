"""The generator that needs no model: the best sentences of the entries, word for word.

Order: the entries by time, the sentences of an entry as they stand in it. A logbook tells a story, in which the fault
comes before the repair; whoever reads the sentences by rank has to sort them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ariel_lite.generation.citations import Statement, content
from ariel_lite.generation.scoring import ScoredPassage, ScoredSentence
from ariel_lite.text.tokenise import Analyzer

NAME = "extractive"
SENTENCES_AN_ENTRY = 3
FURTHER_SHARE = 0.8
"""What a further sentence of an entry must reach of the score of its best."""

SAME_SHARE = 0.85
"""Sentences say the same when the shorter one shares so much of its words, and they have the same numbers."""


@dataclass(frozen=True)
class _Chosen:
    passage: int
    sentence: ScoredSentence
    words: frozenset[str]


def extract(
    scored: Sequence[ScoredPassage], analyzer: Analyzer, *, max_sources: int, max_sentences: int
) -> list[Statement]:
    """The best sentences of the passages, each with its passage as source; [] when no passage has a sentence.

    Args:
        scored: the passages that are sure enough, best first.
        analyzer: tells which sentences say the same.
        max_sources: at most so many passages.
        max_sentences: at most so many sentences.
    """
    ranked = sorted(range(len(scored)), key=lambda index: -scored[index].confidence)
    ranked = [index for index in ranked if scored[index].sentences][:max_sources]
    chosen: list[_Chosen] = []
    for turn in range(SENTENCES_AN_ENTRY):
        for index in ranked:
            if len(chosen) < max_sentences:
                chosen += _next(scored[index], index, chosen, analyzer, is_first=turn == 0)
    del chosen[max_sentences:]
    by_time = sorted(chosen, key=lambda one: _place(scored, one))
    return [
        Statement(one.sentence.sentence.text, (one.passage,), at == 0 or by_time[at - 1].passage != one.passage)
        for at, one in enumerate(by_time)
    ]


def _place(scored: Sequence[ScoredPassage], one: _Chosen) -> tuple[float, str, int]:
    passage = scored[one.passage].passage
    return passage.written.timestamp(), passage.entry_id, one.sentence.sentence.start


def _next(
    scored: ScoredPassage, index: int, chosen: Sequence[_Chosen], analyzer: Analyzer, *, is_first: bool
) -> list[_Chosen]:
    """What a passage says next: its best sentence that is not chosen yet and repeats none that is.

    A title says what it is about, not what happened: where it is the best, the best sentence of the text follows it.
    """
    taken = {one.sentence.sentence.start for one in chosen if one.passage == index}
    if not is_first and not taken:
        return []
    ranked = sorted(scored.sentences, key=lambda one: -one.score)
    found: list[_Chosen] = []
    for sentence in ranked:
        is_title = sentence.sentence.kind == "title"
        if sentence.sentence.start in taken or (is_title and not is_first):
            continue
        if not is_first and sentence.score < FURTHER_SHARE * ranked[0].score:
            break
        words = content(sentence.sentence.text, analyzer)
        if any(_same(words, one.words) for one in (*chosen, *found)):
            continue
        if found and is_title:
            continue
        found.append(_Chosen(index, sentence, words))
        if not is_title:
            break
    return found


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    """True when two sentences repeat each other: most words in common, and the same numbers and names with digits."""
    if not one or not other:
        return one == other
    if _figures(one) != _figures(other):
        return False
    return len(one & other) >= SAME_SHARE * min(len(one), len(other))


def _figures(words: frozenset[str]) -> set[str]:
    return {word for word in words if any(sign.isdigit() for sign in word)}
