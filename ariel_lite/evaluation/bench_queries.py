"""The bench's queries, drawn from the logbook that is searched: equal for equal logbooks and seeds."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from ariel_lite.evaluation.bench_floor import quoted
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.text.tokenise import Analyzer

SAMPLED_ENTRIES = 4_000
PUNCTUATION = ".,;:!?()[]\"'"
IDENTIFIER = re.compile(
    r"[A-Za-z][A-Za-z]*[:._/-]?(?=[A-Za-z0-9:._/-]*\d)[A-Za-z0-9]+(?:[:._/-][A-Za-z0-9]+)*", re.ASCII
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
UNHEARD_LETTERS = "jkqvwxz"

RAREST_SHARE = 0.05
FREQUENT_SHARE = 0.0005
COMMON_WORDS = 60
TYPO_LETTERS = 6
PREFIX_LETTERS = 4
SENTENCE_WORDS = 8
ATTEMPTS = 50
"""How often a query is drawn anew, for each one wanted, when a drawn one does not do or is known already."""


@dataclass(frozen=True)
class BenchQuery:
    """A query of a class: as a user types it, and the bare FTS5 expression it is compared with."""

    kind: str
    text: str
    floor: str


@dataclass(frozen=True)
class SampledEntry:
    """What queries need of an entry; `words` are its distinct lower-case words of letters, in text order."""

    author: str
    timestamp: datetime
    tokens: tuple[str, ...]
    words: tuple[str, ...]


@dataclass
class Corpus:
    """The words of a logbook with the number of entries that hold each, and a sample of its entries."""

    entries: int
    seed: int
    frequencies: Counter[str] = field(default_factory=Counter)
    sample: list[SampledEntry] = field(default_factory=list)

    def survey(self, entries: Iterable[EnhancedLogbookEntry]) -> Iterator[str]:
        """Take note of entries as their texts pass by."""
        maker = random.Random(f"sample {self.seed}")
        wanted = set(maker.sample(range(self.entries), min(self.entries, SAMPLED_ENTRIES)))
        for number, entry in enumerate(entries):
            tokens = entry["raw_text"].split()
            words = dict.fromkeys(word for token in tokens if (word := _plain(token)))
            self.frequencies.update(words.keys())
            if number in wanted:
                self.sample.append(SampledEntry(entry["author"], entry["timestamp"], tuple(tokens), tuple(words)))
            yield entry["raw_text"]


def draw_queries(corpus: Corpus, count: int, kinds: Sequence[str] = ()) -> list[BenchQuery]:
    """Up to `count` different queries of each class (all classes, when none is named)."""
    drawer = _Drawer(corpus)
    found: list[BenchQuery] = []
    for kind, draw in drawer.kinds().items():
        if not kinds or kind in kinds:
            drawn = (draw() for _ in range(count * ATTEMPTS))
            distinct = _distinct(query for query in drawn if query is not None)
            found += [BenchQuery(kind, text, floor) for text, floor in islice(distinct, count)]
    return found


def draw_sentences(corpus: Corpus, count: int) -> list[str]:
    """Up to `count` different texts as long as a question: eight words of an entry, in their order."""
    maker = random.Random(f"sentences {corpus.seed}")
    found: dict[str, None] = {}
    for _ in range(count * ATTEMPTS):
        words = maker.choice(corpus.sample).words
        if len(words) >= SENTENCE_WORDS and len(found) < count:
            start = maker.randrange(len(words) - SENTENCE_WORDS + 1)
            found[" ".join(words[start : start + SENTENCE_WORDS])] = None
    return list(found)


Drawn = tuple[str, str] | None


class _Drawer:
    """Draws a query of each class: (text, floor), or None when the draw does not do."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._maker = random.Random(f"queries {corpus.seed}")
        self._analyzer = Analyzer()
        frequencies = corpus.frequencies
        heard = sorted(word for word in frequencies if len(word) > 2 and word not in self._analyzer.stop_words)
        heard.sort(key=lambda word: frequencies[word])
        self._rare_words = heard[: max(int(RAREST_SHARE * len(heard)), COMMON_WORDS)]
        self._common_words = heard[-COMMON_WORDS:]
        self._frequent = {word for word in heard if frequencies[word] >= max(FREQUENT_SHARE * corpus.entries, 2)}
        self._stems = {self._analyzer.word(word) for word in frequencies}

    def kinds(self) -> dict[str, Callable[[], Drawn]]:
        """The classes in the order of the report."""
        return {
            "rare": lambda: self._single(self._rare_words),
            "common": lambda: self._single(self._common_words),
            "AND": self._and,
            "OR": self._or,
            "NOT": self._not,
            "phrase": self._phrase,
            "prefix": self._prefix,
            "identifier": self._identifier,
            "author filter": self._author,
            "date filter": self._date,
            "typo": self._typo,
            "no hit": self._no_hit,
        }

    def _single(self, words: Sequence[str]) -> Drawn:
        if not words:
            return None
        word = self._maker.choice(words)
        return word, quoted(word)

    def _and(self) -> Drawn:
        words = self._words_of(self._entry(), self._maker.choice((2, 2, 3)))
        return (" ".join(words), quoted(*words)) if words else None

    def _or(self) -> Drawn:
        words = self._words_of(self._entry(), 2)
        return (" OR ".join(words), " OR ".join(map(quoted, words))) if words else None

    def _not(self) -> Drawn:
        entry = self._entry()
        wanted, unwanted = self._words_of(entry, 1), self._words_of(self._entry(), 1)
        if not (wanted and unwanted) or unwanted[0] in entry.words:
            return None
        return f"{wanted[0]} NOT {unwanted[0]}", f"{quoted(*wanted)} NOT {quoted(*unwanted)}"

    def _phrase(self) -> Drawn:
        tokens = self._entry().tokens
        length = self._maker.choice((2, 2, 3))
        if len(tokens) < length:
            return None
        start = self._maker.randrange(len(tokens) - length + 1)
        words = tokens[start : start + length]
        if not all(word.isascii() and word.isalpha() for word in words):
            return None
        if all(word.lower() in self._analyzer.stop_words for word in words):
            return None
        text = f'"{" ".join(words)}"'
        return text, text

    def _prefix(self) -> Drawn:
        words = [word for word in self._entry().words if len(word) >= TYPO_LETTERS]
        if not words:
            return None
        beginning = self._maker.choice(words)[:PREFIX_LETTERS]
        return f"{beginning}*", f"{quoted(beginning)}*"

    def _identifier(self) -> Drawn:
        tokens = (token.strip(PUNCTUATION) for token in self._entry().tokens)
        names = [token for token in tokens if IDENTIFIER.fullmatch(token)]
        if not names:
            return None
        name = self._maker.choice(names)
        return name, quoted(name)

    def _author(self) -> Drawn:
        entry = self._entry()
        words, names = self._words_of(entry, 1), entry.author.split()
        if not (words and names) or '"' in names[-1]:
            return None
        return f'{words[0]} author:"{names[-1]}"', quoted(*words)

    def _date(self) -> Drawn:
        entry = self._entry()
        words = self._words_of(entry, 1)
        day = entry.timestamp.date()
        week = f"{day - timedelta(days=3)}..{day + timedelta(days=3)}"
        value = self._maker.choice((f"{day:%Y}", f"{day:%Y-%m}", week))
        return (f"{words[0]} date:{value}", quoted(*words)) if words else None

    def _typo(self) -> Drawn:
        entry = self._entry()
        words = [word for word in self._words_of(entry, 2) if len(word) >= TYPO_LETTERS]
        if not words:
            return None
        word = self._maker.choice(words)
        wrong = _mistyped(word, self._maker)
        if wrong in self._corpus.frequencies or self._analyzer.word(wrong) in self._stems:
            return None
        right = [other for other in self._words_of(entry, 1) if other != word and self._maker.random() < 0.5]
        return " ".join([*right, wrong]), quoted(*right, wrong)

    def _no_hit(self) -> Drawn:
        unheard = "".join(self._maker.choice(UNHEARD_LETTERS) for _ in range(self._maker.randint(8, 12)))
        before = self._words_of(self._entry(), self._maker.choice((0, 1)))
        return " ".join([*before, unheard]), quoted(*before, unheard)

    def _entry(self) -> SampledEntry:
        return self._maker.choice(self._corpus.sample)

    def _words_of(self, entry: SampledEntry, count: int) -> list[str]:
        """Different frequent words of an entry, [] when it has too few."""
        words = [word for word in entry.words if word in self._frequent]
        return self._maker.sample(words, count) if len(words) >= count else []


def _plain(token: str) -> str:
    """The word of a token in lower case; "" for what is not a word of ASCII letters."""
    bare = token.strip(PUNCTUATION)
    return bare.lower() if bare.isascii() and bare.isalpha() else ""


def _mistyped(word: str, maker: random.Random) -> str:
    """One slip: a letter left out, doubled or wrong, or two neighbours swapped."""
    at = maker.randrange(1, len(word) - 1)
    before, letter, after = word[:at], word[at], word[at + 1 :]
    slips = (
        before + after,
        before + letter + letter + after,
        before + maker.choice(LETTERS) + after,
        before + after[0] + letter + after[1:],
    )
    return maker.choice(slips)


def _distinct(queries: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for text, floor in queries:
        if text not in seen:
            seen.add(text)
            yield text, floor
