"""Entries as what an answer is made from: their sentences, and what stands beside their text (author, time)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from ariel_lite.generation.sentences import Sentence, split_sentences
from ariel_lite.records import EnhancedLogbookEntry, entry_title

LONGEST_TEXT = 100_000
"""Answers are made from so many characters of an entry."""

TITLE_KEYS = ("title", "subject")
BLANK_LINE = re.compile(r"[^\S\n]*\n[^\S\n]*\n")


@dataclass(frozen=True)
class Passage:
    """A retrieved entry.

    Attributes:
        entry_id: the entry's id.
        author: who wrote it.
        written: when, in the facility's zone.
        title: its title, on one line; "" when it has none of its own.
        text: its text, its first 100,000 characters.
        sentences: of the text, in order; the title's is of kind "title" where the text begins with it.
        similarity: cosine of the entry to the question; None when it was not compared.
        holds_all_words: True when all words of the question stand in it.
    """

    entry_id: str
    author: str
    written: datetime
    title: str
    text: str
    sentences: tuple[Sentence, ...] = field(repr=False)
    similarity: float | None = None
    holds_all_words: bool = False

    @property
    def beside(self) -> str:
        """What the entry says beside its text, in words: title, author, and the time in several spellings."""
        at = self.written
        month = f"{at:%B}"
        return (
            f"{self.title} . {self.author} . {at:%Y-%m-%d} {at.day} {month} {month[:3]} {at.year} {at:%A} {at:%H:%M}"
            f" {at.year}-{at.month} {self.entry_id}"
        )

    def with_title(self, sentence: Sentence) -> str:
        """A sentence as it is compared by meaning: what it is about stands before it."""
        is_title = sentence.kind == "title" or not self.title
        return sentence.text if is_title else f"{self.title}. {sentence.text}"


def make_passage(
    entry: EnhancedLogbookEntry, zone: ZoneInfo, *, similarity: float | None = None, holds_all_words: bool = False
) -> Passage:
    """The passage of an entry."""
    text = entry["raw_text"][:LONGEST_TEXT]
    title, sentences = _title_and_sentences(entry, text)
    return Passage(
        entry["entry_id"],
        entry["author"],
        entry["timestamp"].astimezone(zone),
        title,
        text,
        tuple(sentences),
        similarity,
        holds_all_words,
    )


def _title_and_sentences(entry: EnhancedLogbookEntry, text: str) -> tuple[str, list[Sentence]]:
    """The title ("" without one: a first line that runs on is text), and the sentences, its own marked."""
    sentences = split_sentences(text)
    first = text.strip().partition("\n")[0].strip()
    named = any(entry["metadata"].get(key) for key in TITLE_KEYS)
    title = " ".join(entry_title(entry).split())
    if " ".join(first.split()) != title or not sentences or not sentences[0].is_quotable:
        return (title, sentences) if named else ("", sentences)
    start = text.index(first)
    end = start + len(first)
    if not named and not BLANK_LINE.match(text, end):
        return "", sentences
    return title, [Sentence(start, end, title, "title"), *(s for s in sentences if s.end > end)]
