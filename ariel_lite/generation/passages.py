"""Entries as what an answer is made from: their sentences, and what stands beside their text (author, time)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from ariel_lite.generation.sentences import Sentence, split_sentences
from ariel_lite.records import EnhancedLogbookEntry, entry_title


@dataclass(frozen=True)
class Passage:
    """A retrieved entry.

    Attributes:
        entry_id: the entry's id.
        author: who wrote it.
        written: when, in the facility's zone.
        title: its title, on one line.
        text: its text.
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
    text = entry["raw_text"]
    title = " ".join(entry_title(entry).split())
    return Passage(
        entry["entry_id"],
        entry["author"],
        entry["timestamp"].astimezone(zone),
        title,
        text,
        tuple(_with_title_marked(text, title)),
        similarity,
        holds_all_words,
    )


def _with_title_marked(text: str, title: str) -> list[Sentence]:
    first_line = text.strip().partition("\n")[0].strip()
    sentences = split_sentences(text)
    if not title or " ".join(first_line.split()) != title:
        return sentences
    end = text.index(first_line) + len(first_line)
    body = [sentence for sentence in sentences if sentence.end > end]
    whole = Sentence(end - len(first_line), end, title, "title")
    return [whole, *body]
