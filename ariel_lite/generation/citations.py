"""Citations: numbering the sources of an answer, and checking what a language model wrote against what it cites.

A sentence of a model is supported by its sources when, compared by the lexemes of the analyzer (so in any form),
- every number and every name with a digit in it stands in them,
- every word with a capital letter that does not begin the sentence stands in them,
- every negation (not, no, never, without, off) stands in them,
- and at least 60 % of its words that carry content do.
What stands beside an entry's text (title, author, date and time) counts as part of it. A sentence without a citation
is given to the source that supports it best; a sentence that none supports is left out. A cited source that neither
supports it alone nor adds a word to the others is no source of it. What this cannot see: a sentence that turns its
source's words around. One in another language than its source is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ariel_lite.generation.passages import Passage
from ariel_lite.generation.sentences import split_sentences
from ariel_lite.text.tokenise import Analyzer, Part

SUPPORTED_SHARE = 0.6
NEGATIONS = frozenset({"not", "no", "never", "without", "off", "none", "nothing", "cannot"})
MOST_SOURCES = 999

CITATION = re.compile(
    r"\s*[\[【]\s*(?:(?:entry|source|no\.?)\s*|[#^])?(\d{1,4}(?:\s*(?:[,;–-]|and)\s*[#^]?\d{1,4})*)\s*[\]】]",
    re.IGNORECASE,
)
AFTER_STOP = re.compile(rf"([.!?…]+[\"'”’)]*)((?:{CITATION.pattern})+)", re.IGNORECASE)
LOOKS_CITED = re.compile(r"[\[【](\s*\d+(?:\s*[,;–-]\s*\d+)*\s*)[\]】]")
NUMBER = re.compile(r"\d+")
RANGE = re.compile(r"(\d+)\s*[–-]\s*[#^]?(\d+)")
MARKUP = re.compile(r"\*\*|__|^#+\s+|`", re.MULTILINE)
BEFORE_STOP = re.compile(r"\s+([.,;:!?])")


@dataclass(frozen=True)
class Statement:
    """A sentence of an answer and the indices of its passages; `begins_line` puts it on a new line."""

    text: str
    sources: tuple[int, ...]
    begins_line: bool = False


@dataclass(frozen=True)
class Numbered:
    """An answer with its `[n]`, and the passages' indices in the order of n (1, 2, …)."""

    text: str
    order: tuple[int, ...]


@dataclass(frozen=True)
class Checked:
    """What is left of a model's answer: supported statements, citations of nothing, sentences that were left out."""

    statements: tuple[Statement, ...]
    out_of_range: tuple[int, ...] = ()
    unsupported: tuple[str, ...] = ()


def numbered(statements: Sequence[Statement]) -> Numbered:
    """The answer; sources are numbered as they are first cited.

    A `[3]` that a sentence quotes from its entry becomes (3): in brackets of this kind only citations are numbered.
    """
    order = list(dict.fromkeys(index for statement in statements for index in statement.sources))
    numbers = {index: place for place, index in enumerate(order, start=1)}
    text = ""
    for statement in statements:
        marks = "".join(f"[{number}]" for number in sorted(numbers[index] for index in statement.sources))
        separator = ("\n" if statement.begins_line else " ") if text else ""
        quoted = LOOKS_CITED.sub(r"(\1)", statement.text)
        text += f"{separator}{quoted} {marks}"
    return Numbered(text, tuple(order))


def content(text: str, analyzer: Analyzer) -> frozenset[str]:
    """The lexemes of a text that carry content: no stop words."""
    return frozenset(part.lexeme for part in _content_parts(text, analyzer))


def check(answer: str, passages: Sequence[Passage], analyzer: Analyzer) -> Checked:
    """A model's answer, whose [1] is the first passage, sentence by sentence."""
    pools = [_pool(passage, analyzer) for passage in passages]
    statements: list[Statement] = []
    out_of_range: dict[int, None] = {}
    unsupported: list[str] = []
    for text, cited, begins_line in _cited_sentences(answer):
        out_of_range.update(dict.fromkeys(number for number in cited if not 1 <= number <= len(passages)))
        named = tuple(dict.fromkeys(number - 1 for number in cited if 1 <= number <= len(passages)))
        sources = _sources(text, named, pools, analyzer)
        if sources:
            statements.append(Statement(text, sources, begins_line))
        else:
            unsupported.append(text)
    return Checked(tuple(statements), tuple(out_of_range), tuple(unsupported))


def is_supported(text: str, pool: frozenset[str], analyzer: Analyzer) -> bool:
    """True when a sentence is supported by a text of which `pool` holds all forms; see the head of this file."""
    parts = list(_content_parts(text, analyzer))
    if not parts:
        return False
    if any(_must_stand(part, text) and not _stands(part, pool) for part in parts):
        return False
    return _share(parts, pool) >= SUPPORTED_SHARE


def _sources(text: str, named: tuple[int, ...], pools: Sequence[frozenset[str]], analyzer: Analyzer) -> tuple[int, ...]:
    """The passages that support a sentence, of those it names; of all, when it names none."""
    parts = list(_content_parts(text, analyzer))
    if not named:
        able = [index for index, pool in enumerate(pools) if is_supported(text, pool, analyzer)]
        return (max(able, key=lambda index: _share(parts, pools[index])),) if able else ()
    if not is_supported(text, frozenset().union(*(pools[index] for index in named)), analyzer):
        return ()
    return tuple(_contributing(text, parts, named, pools, analyzer))


def _contributing(
    text: str, parts: Sequence[Part], named: tuple[int, ...], pools: Sequence[frozenset[str]], analyzer: Analyzer
) -> Iterator[int]:
    """The named sources that support a sentence alone, or add to it what the better ones do not hold."""
    kept = {index for index in named if is_supported(text, pools[index], analyzer)}
    held = frozenset[str]().union(*(pools[index] for index in kept))
    for index in sorted(named, key=lambda index: -_share(parts, pools[index])):
        if any(_stands(part, pools[index]) and not _stands(part, held) for part in parts):
            kept.add(index)
            held |= pools[index]
    return iter(index for index in named if index in kept)


def _cited_sentences(answer: str) -> Iterator[tuple[str, list[int], bool]]:
    """Each sentence without its citations, their numbers, and whether it begins a line; tables and code are none."""
    moved = AFTER_STOP.sub(lambda match: f"{match[2]}{match[1]}", MARKUP.sub("", answer))
    end = 0
    for sentence in split_sentences(moved):
        cited = [number for match in CITATION.finditer(sentence.text) for number in _numbers(match[1])]
        text = BEFORE_STOP.sub(r"\1", " ".join(CITATION.sub(" ", sentence.text).split()))
        if sentence.is_quotable and any(sign.isalnum() for sign in text):
            yield text, cited, "\n" in moved[end : sentence.start]
        end = sentence.end


def _numbers(written: str) -> list[int]:
    found = [int(number) for number in NUMBER.findall(written)]
    for first, last in RANGE.findall(written):
        found += range(int(first), min(int(last), MOST_SOURCES) + 1)
    return sorted(dict.fromkeys(found))


def _content_parts(text: str, analyzer: Analyzer) -> Iterator[Part]:
    """The parts that carry content; their offsets count in the whole text."""
    for placed in analyzer.parts(text):
        if placed.part.written[1:] not in analyzer.stop_words:
            yield placed.part._replace(start=placed.start, end=placed.end)


def _must_stand(part: Part, text: str) -> bool:
    written = part.written[1:]
    if written in NEGATIONS or any(sign.isdigit() for sign in written):
        return True
    return bool(text[: part.start].strip()) and any(sign.isupper() for sign in text[part.start : part.end])


def _stands(part: Part, pool: frozenset[str]) -> bool:
    return part.lexeme in pool or part.written in pool


def _share(parts: Sequence[Part], pool: frozenset[str]) -> float:
    return sum(1 for part in parts if _stands(part, pool)) / len(parts) if parts else 0.0


def _pool(passage: Passage, analyzer: Analyzer) -> frozenset[str]:
    placed = analyzer.parts(passage.text) + analyzer.parts(passage.beside)
    return frozenset(form for one in placed for form in one.part.forms)
