"""Summaries: the one or two sentences of a long entry that say most, as the entry writes them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from ariel_lite.enhancement.extraction.keywords import KeywordFinder
from ariel_lite.text.tokenise import Analyzer

LONGEST_SUMMARY = 300
SHORTEST_ENTRY = 400
"""Characters under which an entry is its own summary."""

LEAST_SENTENCE = 25
LEAST_LETTERS, MOST_CAPITALS = 0.7, 0.5
"""Shares of a sentence's characters and words."""

LEAD_BONUS = 0.15
"""What the first sentence is worth more than one at the end: logbooks say first what happened."""

SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"')\]]*\s+(?=[\"'(\[]*[^\W_a-z])|\n\s*\n|\n(?=\s*(?:[-*•|#>]|\d+[.)]\s))")
ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|approx|ca|cf|dept|dr|etc|fig|mr|mrs|ms|nr|no|resp|sec|st|vs|z\.B)\.$", re.I
)
NOT_PROSE = re.compile(r"^\s*(?:[|>#`$]|[-*•]\s|at |File \"|Traceback|\d+[.)]\s)")


class Sentence(NamedTuple):
    """A sentence of an entry: its text on one line, and its place among the sentences."""

    text: str
    place: int


class Summariser:
    """Chooses sentences by the words that are rare in the logbook. One instance a thread."""

    def __init__(self, finder: KeywordFinder, analyzer: Analyzer, longest: int = LONGEST_SUMMARY) -> None:
        self._finder = finder
        self._analyzer = analyzer
        self._longest = longest

    def summary(self, text: str) -> str:
        """At most `longest` characters, in the entry's order; "" for an entry that is short or has no prose."""
        if len(text) < SHORTEST_ENTRY:
            return ""
        sentences = list(sentences_of(_body(text)))
        if len(sentences) < 3:
            return ""
        ranked = sorted(sentences, key=lambda sentence: -self._score(sentence, len(sentences)))
        best = next((sentence for sentence in ranked if len(sentence.text) <= self._longest), None)
        if best is None:
            return shortened(ranked[0].text, self._longest)
        room = self._longest - len(best.text) - 1
        second = next((s for s in ranked[: len(ranked) // 2 + 1] if s != best and len(s.text) <= room), None)
        chosen = sorted((best, second) if second else (best,), key=lambda sentence: sentence.place)
        return " ".join(sentence.text for sentence in chosen)

    def _score(self, sentence: Sentence, count: int) -> float:
        lexemes = {part.lexeme for part in self._analyzer.analyzed(sentence.text).parts}
        worth = sum(self._finder.worth(lexeme) for lexeme in lexemes)
        return worth / math.sqrt(max(len(lexemes), 4)) * (1 + LEAD_BONUS * (1 - sentence.place / count))


def sentences_of(text: str) -> Iterator[Sentence]:
    """The sentences of a text that are prose: no tables, lists, quotations or program output."""
    place = 0
    for piece in _pieces(text):
        line = " ".join(piece.split())
        if len(line) >= LEAST_SENTENCE and not NOT_PROSE.match(piece) and _is_prose(line):
            yield Sentence(line, place)
            place += 1


def shortened(text: str, longest: int) -> str:
    """A text cut at a word, with an ellipsis; at most `longest` characters."""
    if len(text) <= longest:
        return text
    cut = text[: longest - 1]
    at = cut.rfind(" ")
    return (cut[:at] if at > longest // 2 else cut).rstrip(" ,;:-") + "…"


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for match in SENTENCE_END.finditer(text):
        piece = text[start : match.start()]
        if ABBREVIATED.search(piece):
            continue
        yield piece
        start = match.end()
    yield text[start:]


def _body(text: str) -> str:
    """The text without its first line when that is a title: it is shown beside the summary anyway."""
    title, gap, body = text.partition("\n\n")
    return body if gap and "\n" not in title.strip() else text


def _is_prose(line: str) -> bool:
    """Mostly letters, and no list of names."""
    letters = sum(character.isalpha() or character.isspace() for character in line)
    words = line.split()
    capitals = sum(word[:1].isupper() for word in words)
    return letters >= LEAST_LETTERS * len(line) and (line.isupper() or capitals <= MOST_CAPITALS * len(words))
