"""Keywords: the words, names and terms of an entry that tell it from the other entries of its logbook.

A term is a name with letters and digits or signs in it (`SR09C:BPM2`, `KLY-3`), or up to three plain words that stand
side by side in other entries too ("ion pump"). Spelling, signs and units stay as the entry writes them. Numbers alone,
words of speech, and scripts that are written without blanks make no keywords.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources

from ariel_lite.enhancement.extraction.frequencies import Frequencies
from ariel_lite.text.normalise import fold, is_single
from ariel_lite.text.tokenise import WRITTEN, Analyzer, Part

MOST_KEYWORDS = 8
WORDS_A_KEYWORD = 4
"""An entry gets a keyword for so many of its candidate words: a short one is its own best label."""

LONGEST_TERM = 3
LONGEST_KEYWORD = 60
LEAST_LETTERS = 3
TITLE_BONUS = 1.5
NAME_BONUS = 1.2
STRAY = 0.5
"""What a plain word is worth that no other entry holds and this one only once: seldom what the entry is about."""

MOST_TIMES = 4
TERM_BONUS = 0.25
SHORTEST_NAME = 3
NAME = re.compile(r"(?=.*[^\W\d_])(?=.*\d).+|\w+(?:[:_@]\w+)+|(?:[\w.]*/){2,}[\w./-]+")
"""Letters and digits; a process variable or an address; a path."""

COUNT = re.compile(r"\d+[a-zA-Z×%]{1,2}|\d+(?:st|nd|rd|th)")
"""How many, not what: 30x, 10k, 2nd."""

HYPHENED = re.compile(r"[^\W\d_]{2,}(?:-[^\W\d_]{2,}){1,3}")
ACRONYM = re.compile(r"[A-Z][A-Z0-9]{1,7}")


@dataclass
class Term:
    """A candidate: its parts' lexemes, how the entry writes it, how often, and what one occurrence is worth."""

    lexemes: tuple[str, ...]
    written: str
    worth: float
    is_name: bool
    is_stray: bool
    times: int = 1

    @property
    def score(self) -> float:
        """Worth, growing slowly with the first few occurrences."""
        stray = STRAY if self.is_stray and self.times == 1 else 1
        return self.worth * stray * (1 + math.log(min(self.times, MOST_TIMES)))


@dataclass(frozen=True)
class _Word:
    """A part, or the parts of a name, in the text: lexemes, the form that is counted, offsets."""

    lexemes: tuple[str, ...]
    counted: str
    start: int
    end: int
    is_name: bool


class KeywordFinder:
    """Finds keywords. One instance a thread: the analyzer is not shared."""

    def __init__(self, frequencies: Frequencies, analyzer: Analyzer, most: int = MOST_KEYWORDS) -> None:
        self._frequencies = frequencies
        self._analyzer = analyzer
        self._most = most
        self._ignored = analyzer.stop_words | analyzer.state_words | function_words()

    def keywords(self, text: str) -> tuple[str, ...]:
        """The keywords of a text, the most telling first; none repeats words of another."""
        terms = self._terms(text)
        wanted = min(self._most, math.ceil(sum(term.times for term in terms) / WORDS_A_KEYWORD))
        return tuple(term.written for term in _chosen(terms, wanted))

    def worth(self, lexeme: str) -> float:
        """What a lexeme says about an entry: its rarity; 0 for a common word or one of speech."""
        if lexeme.removeprefix(WRITTEN) in self._ignored or self._frequencies.is_common(lexeme):
            return 0.0
        return self._frequencies.rarity(lexeme)

    def _terms(self, text: str) -> list[Term]:
        terms: dict[tuple[str, ...], Term] = {}
        title_end = len(text.partition("\n")[0])
        shouts = text.isupper()
        for run in _runs(text, self._words(text, shouts=shouts)):
            for words in self._cut(run):
                self._note(terms, text, words, in_title=words[0].start < title_end)
        return list(terms.values())

    def _note(self, terms: dict[tuple[str, ...], Term], text: str, words: Sequence[_Word], *, in_title: bool) -> None:
        lexemes = tuple(lexeme for word in words for lexeme in word.lexemes)
        known = terms.get(lexemes)
        if known is not None:
            known.times += 1
            return
        worth = sum(self._frequencies.rarity(word.counted) for word in words) / len(words)
        worth *= (1 + TERM_BONUS * (len(words) - 1)) * (TITLE_BONUS if in_title else 1)
        written = " ".join(text[words[0].start : words[-1].end].split())
        is_name = any(word.is_name for word in words)
        worth *= NAME_BONUS if is_name else 1
        is_stray = not is_name and all(self._frequencies.is_stray(word.counted) for word in words)
        terms[lexemes] = Term(lexemes, written, worth, is_name, is_stray)

    def _cut(self, run: Sequence[_Word]) -> Iterator[Sequence[_Word]]:
        """A run of neighbouring words as terms: as long as each pair of them recurs in the logbook."""
        first = 0
        while first < len(run):
            end = first + 1
            while end < len(run) and end - first < LONGEST_TERM and self._belong(run[end - 1], run[end]):
                end += 1
            yield run[first:end]
            first = end

    def _belong(self, left: _Word, right: _Word) -> bool:
        return self._frequencies.is_term(left.lexemes[-1], right.lexemes[0])

    def _words(self, text: str, *, shouts: bool) -> Iterator[_Word]:
        """The words and names of a text that may be keywords, in order."""
        analyzed = self._analyzer.analyzed(text)
        for first, end in _groups(analyzed.parts):
            start, stop = analyzed.span(first, end - 1)
            start -= text[start - 1 : start] == "/"
            written, parts = text[start:stop], analyzed.parts[first:end]
            if len(written) > LONGEST_KEYWORD:
                continue
            if _is_name(written, parts):
                yield _word(parts, start, stop, is_name=True)
            elif HYPHENED.fullmatch(written) or (
                len(parts) == 1 and self._is_telling(parts[0], written, shouts=shouts)
            ):
                yield _word(parts, start, stop, is_name=False)

    def _is_telling(self, part: Part, written: str, *, shouts: bool) -> bool:
        if (
            not written.isalpha()
            or _plain(part) in self._ignored
            or is_single(written[0])
            or self._frequencies.is_common(part.lexeme)
        ):
            return False
        return len(written) >= LEAST_LETTERS or (not shouts and ACRONYM.fullmatch(written) is not None)


def function_words() -> frozenset[str]:
    """Words of speech in a few languages, folded."""
    lines = resources.files(__package__).joinpath("function_words.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(fold(line.strip()) for line in lines if line.strip() and not line.startswith("#"))


def _chosen(terms: Sequence[Term], wanted: int) -> list[Term]:
    """The best terms; names fill at most half of the places, rounded up, as long as there is anything else."""
    chosen: list[Term] = []
    spare: list[Term] = []
    names = 0
    used: set[str] = set()
    for term in sorted(terms, key=lambda term: -term.score):
        if len(chosen) == wanted or used.issuperset(term.lexemes):
            continue
        if term.is_name and names >= math.ceil(wanted / 2):
            spare.append(term)
            continue
        names += term.is_name
        used.update(term.lexemes)
        chosen.append(term)
    return chosen + spare[: wanted - len(chosen)]


def _groups(parts: Sequence[Part]) -> Iterator[tuple[int, int]]:
    """Index ranges of parts that are written together."""
    first = 0
    for index in range(1, len(parts) + 1):
        if index == len(parts) or not parts[index].joined:
            yield first, index
            first = index


def _runs(text: str, words: Iterator[_Word]) -> Iterator[list[_Word]]:
    """Words with nothing but one blank between them."""
    run: list[_Word] = []
    for word in words:
        if run and text[run[-1].end : word.start] != " ":
            yield run
            run = []
        run.append(word)
    if run:
        yield run


def _word(parts: Sequence[Part], start: int, end: int, *, is_name: bool) -> _Word:
    return _Word(tuple(part.lexeme for part in parts), parts[0].compound or parts[0].lexeme, start, end, is_name)


def _is_name(written: str, parts: Sequence[Part]) -> bool:
    """A device, signal, permit, address: not a count, and not a number with its unit, a time or a rate."""
    if (
        len(written) < SHORTEST_NAME
        or any(map(is_single, written))
        or not NAME.fullmatch(written)
        or COUNT.fullmatch(written)
    ):
        return False
    words = [_plain(part) for part in parts]
    if not words[0].lstrip("-")[:1].isdigit():
        return True
    return any(word[:1].isalpha() and (len(word) > 3 or any(map(str.isdigit, word))) for word in words)


def _plain(part: Part) -> str:
    """The folded word of a part."""
    return part.written.removeprefix(WRITTEN)
