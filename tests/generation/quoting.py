"""Passages and scores in few words."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from logbooks import FIRST, entry

from ariel_lite.generation.passages import Passage, make_passage
from ariel_lite.generation.scoring import Question, ScoredPassage, Term, score_passages
from ariel_lite.text.highlight import Form
from ariel_lite.text.tokenise import Analyzer

UTC = ZoneInfo("UTC")


def passage(entry_id: str, text: str, *, at: str = FIRST.isoformat(), author: str = "Ada", title: str = "") -> Passage:
    """A passage; with a title, its text begins with it."""
    metadata = {"title": title} if title else {}
    whole = f"{title}\n\n{text}" if title else text
    return make_passage(entry(entry_id, whole, at=at, author=author, **metadata), UTC)


def asked(words: str, analyzer: Analyzer, **weights: float) -> Question:
    """A question by its words; each weighs 1 unless said otherwise."""
    return Question(
        tuple(Term(word, (Form(analyzer.word(word.lower())),), weights.get(word, 1.0)) for word in words.split())
    )


def scored(analyzer: Analyzer, question: Question, *passages: Passage) -> list[ScoredPassage]:
    """Passages scored by words alone."""
    return score_passages(question, passages, analyzer)
