"""How sure it is that an entry answers a question, and how well a sentence of it does.

Three things count: the cosine of question and sentence (the entry's title before it), the cosine of question and whole
entry, and the share of the question's words that the entry holds, where rare words weigh more:

    weight(word)  = log(1 + (entries - holding + 1/2) / (holding + 1/2))          words that only ask weigh nothing
    coverage      = sum of weights of the words held / sum of all weights           0..1; author and date count as held
    x(cosine)     = (cosine - recommended threshold) / (1 - recommended threshold)
    confidence    = 1 / (1 + exp(-(BASE + BEST_SENTENCE x(best sentence) + WHOLE_ENTRY x(entry) + COVERAGE coverage)))

The numbers were fitted (logistic regression) to the judged entries of the sample's questions in other words and of its
questions without an answer, without the kept third. An entry that holds all words of a query that names its words
(operators, quotes, names, at most three words; no question) is certain: on the judged queries such entries always were
relevant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ariel_lite.embeddings.base import Vectors
from ariel_lite.generation.passages import Passage
from ariel_lite.generation.sentences import Sentence
from ariel_lite.text.highlight import Pattern, find_spans
from ariel_lite.text.tokenise import Analyzer

BASE = -3.3
BEST_SENTENCE = 4.8
WHOLE_ENTRY = 1.9
COVERAGE = 2.7
"""With cosines."""

WORDS_BASE = -4.0
WORDS_COVERAGE = 6.0
"""Without cosines: by words alone an entry has to hold seven tenths of what the words weigh."""

CERTAIN = 1.0
NEAR_ENOUGH = 0.8
"""An entry with mended words is certain only when it is nearer than this share of the recommended threshold: a word
that the logbook does not know may have been meant."""

ASKING_WORDS = frozenset(
    """
    made make makes happen happened happens happening tell show give list find found explain describe know known
    anything something someone somebody anyone anybody please much many often long ever again reason
    """.split()  # noqa: SIM905 - a list of words reads best as words
)
QUESTION_WORDS = frozenset(
    "what when why who whom whose where how which is are was were did do does has have had can could".split()  # noqa: SIM905
)
MOST_SENTENCES = 80
"""So many sentences of all entries together are compared by meaning; of long entries those that hold most words."""

LEAD_BONUS = 0.2
DANGLING_COST = 0.06
TITLE_COST = 0.05
LEAST_WORDS = 3
LEAST_CHARACTERS = 6
DANGLING = frozenset("it this that these those they he she same so but and because which therefore also then".split())  # noqa: SIM905
"""A sentence that begins so leans on the one before it."""


@dataclass(frozen=True)
class Term:
    """A word, name or phrase of the question: what finds it in a text, and how much it weighs (0 or more)."""

    text: str
    pattern: Pattern
    weight: float


@dataclass(frozen=True)
class Question:
    """What was asked.

    Attributes:
        terms: its words; () when it only filters.
        names_its_words: True when entries with all words are certain to be meant.
        vector: of its meaning, or None.
        threshold: the model's recommended cosine.
        is_approximate: True when words were taken for others that are nearly the same.
    """

    terms: tuple[Term, ...]
    names_its_words: bool = False
    vector: Vectors | None = None
    threshold: float = 0.0
    is_approximate: bool = False


@dataclass(frozen=True)
class ScoredSentence:
    """A sentence that can be quoted: `coverage` 0..1, `cosine` or None, and `score`, by which the best is chosen."""

    sentence: Sentence
    coverage: float
    cosine: float | None
    score: float


@dataclass(frozen=True)
class ScoredPassage:
    """An entry with its quotable sentences in text order; `confidence` 0..1 that it answers the question."""

    passage: Passage
    confidence: float
    coverage: float
    sentences: tuple[ScoredSentence, ...]

    @property
    def best(self) -> ScoredSentence | None:
        """Its best sentence."""
        return max(self.sentences, key=lambda scored: scored.score, default=None)


def is_question(text: str) -> bool:
    """True for a question in words, rather than the words to look for."""
    first = (text.split() or [""])[0].strip("\"'(“¿").lower()
    return text.rstrip("\"')” ").endswith("?") or first in QUESTION_WORDS


def term_weight(text: str, entries: int, holding: int) -> float:
    """What a word weighs: rare ones more, words that only ask nothing."""
    if text.lower() in ASKING_WORDS:
        return 0.0
    return math.log(1 + (entries - holding + 0.5) / (holding + 0.5))


def coverage(terms: Sequence[Term], texts: Sequence[str], analyzer: Analyzer) -> float:
    """The weighted share (0..1) of the terms that stand in any of the texts; 0 without terms."""
    whole = sum(term.weight for term in terms)
    if not whole:
        return 0.0
    patterns = [term.pattern for term in terms]
    held = {span.pattern for text in texts for span in find_spans(analyzer.analyzed(text), patterns)}
    return sum(terms[index].weight for index in held) / whole


def confidence(question: Question, passage: Passage, covered: float, best_cosine: float | None) -> float:
    """How sure it is that an entry answers the question, 0..1."""
    nearest = max((cosine for cosine in (best_cosine, passage.similarity) if cosine is not None), default=1.0)
    is_far = question.is_approximate and nearest < NEAR_ENOUGH * question.threshold
    if not question.terms or (passage.holds_all_words and question.names_its_words and not is_far):
        return CERTAIN
    if best_cosine is None:
        return _logistic(WORDS_BASE + WORDS_COVERAGE * covered)
    entry_cosine = best_cosine if passage.similarity is None else passage.similarity
    return _logistic(
        BASE
        + BEST_SENTENCE * _scaled(best_cosine, question.threshold)
        + WHOLE_ENTRY * _scaled(entry_cosine, question.threshold)
        + COVERAGE * covered
    )


def can_stand_alone(sentence: Sentence) -> bool:
    """True for a sentence that says something by itself: three words or more, no data, no head of a list."""
    if not sentence.is_quotable or (sentence.text.endswith(":") and sentence.kind != "title"):
        return False
    if not any(sign.isalnum() for sign in sentence.text):
        return False
    if len(sentence.text.split()) >= LEAST_WORDS:
        return True
    return not sentence.text.isascii() and len(sentence.text) >= LEAST_CHARACTERS


def score_passages(
    question: Question,
    passages: Sequence[Passage],
    analyzer: Analyzer,
    embed: Callable[[list[str]], Vectors] | None = None,
) -> list[ScoredPassage]:
    """The passages with their sentences scored, in their order.

    Args:
        question: what was asked.
        passages: the retrieved entries.
        analyzer: the one that the index was made with.
        embed: vectors of texts, of the model that the question's vector is of; None: words alone count.
    """
    candidates = [_candidates(question, passage, analyzer) for passage in passages]
    if embed is not None and question.vector is not None:
        room = MOST_SENTENCES // max(len(passages), 1)
        candidates = [_most_covered(found, max(room, 1)) for found in candidates]
        texts = [p.with_title(c.sentence) for p, found in zip(passages, candidates, strict=True) for c in found]
        values = iter((embed(texts) @ question.vector).tolist() if texts else [])
        candidates = [[replace(candidate, cosine=next(values)) for candidate in found] for found in candidates]
    return [_scored(question, passage, found, analyzer) for passage, found in zip(passages, candidates, strict=True)]


def _candidates(question: Question, passage: Passage, analyzer: Analyzer) -> list[ScoredSentence]:
    able = [sentence for sentence in passage.sentences if can_stand_alone(sentence)]
    able = able or [s for s in passage.sentences if s.kind == "title" and any(sign.isalnum() for sign in s.text)]
    return [ScoredSentence(s, coverage(question.terms, [s.text], analyzer), None, 0.0) for s in able]


def _most_covered(found: list[ScoredSentence], room: int) -> list[ScoredSentence]:
    """The `room` sentences that hold most of the question's words, the earlier ones first; in text order again."""
    kept = sorted(found, key=lambda candidate: -candidate.coverage)[:room]
    return sorted(kept, key=lambda candidate: candidate.sentence.start)


def _scored(question: Question, passage: Passage, found: list[ScoredSentence], analyzer: Analyzer) -> ScoredPassage:
    covered = coverage(question.terms, [passage.text, passage.beside], analyzer)
    known = [candidate.cosine for candidate in found if candidate.cosine is not None]
    sure = confidence(question, passage, covered, max(known, default=None))
    sentences = [
        replace(candidate, score=_sentence_score(question, candidate, place)) for place, candidate in enumerate(found)
    ]
    return ScoredPassage(passage, sure, covered, tuple(sentences))


def _sentence_score(question: Question, candidate: ScoredSentence, place: int) -> float:
    """How well a sentence answers, to be compared with others of the same entry; `place` counts from 0."""
    score = COVERAGE / BEST_SENTENCE * candidate.coverage
    score += _scaled(candidate.cosine, question.threshold) if candidate.cosine is not None else 0.0
    score += LEAD_BONUS / (1 + place)
    first = candidate.sentence.text.split()[0].strip("\"'(“«,.").lower()
    score -= DANGLING_COST * (first in DANGLING)
    return score - TITLE_COST * (candidate.sentence.kind == "title")


def _scaled(cosine: float, threshold: float) -> float:
    return (cosine - threshold) / max(1 - threshold, 1e-6)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))
