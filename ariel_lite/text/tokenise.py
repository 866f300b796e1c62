"""The analyzer: text -> lexemes with positions. Both backends store what it makes, so both find the same.

Steps (contract section 10): NFKC; units and numbers, where case counts; case and marks; scripts; words.

At each position stand
- the lexeme that bare words match: the stem, or `=word` for words that are never stemmed (numbers, parts with a
  digit, stop and state words, other scripts);
- the written word `=word`, which exact words and prefixes match;
- at the first part of an identifier its written form `=br-qf-12`, which ranks exact spelling first.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import resources
from itertools import accumulate, chain
from typing import NamedTuple, TypeVar

import Stemmer

from ariel_lite.text.normalise import fold, is_emoji, is_single, normalise, script
from ariel_lite.text.units import UNITS, is_unit, unit_at

ANALYZER_VERSION = 1
INDEXED_CHARACTERS = 1_000_000
"""How much of an entry's text is indexed; the rest is stored and counted."""

LONGEST_LEXEME = 180
WRITTEN = "="
CACHED_CHUNKS = 300_000

BREAKS = frozenset(',;!?"()[]{}<>|«»“”„‟‹›、。，；！？「」『』（）')
PLAIN_PUNCTUATION = ".,;:!?()[]{}<>\"'/-_*=+~"
CHUNK_PUNCTUATION = " .,;:!?()[]"
SIGN_CONTEXT = frozenset("([{<=:\"'«“„ ")
DOTTED = re.compile(r"\d+(?:\.\d+){2,}", re.ASCII)
POWER = re.compile(r"(?:(\d+(?:\.\d+)?)[x×·*])?10\^([+-]?\d{1,4})(?![0-9A-Za-z])", re.ASCII)
PLAIN_WORD = re.compile(r"[A-Za-z0-9]+(?:(?<=[A-Za-z])'(?=[A-Za-z])[A-Za-z0-9]+)*")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
CHUNK = re.compile(r"\S*[0-9]\s+[%°](?![^\W\d_])\S*|\S+")


Made = TypeVar("Made")


class Part(NamedTuple):
    """One position of a chunk (a run of characters without blanks).

    `start` and `end` are character offsets in the chunk; `joined` is True when only joining characters (no comma or
    bracket) stand between this part and the one before; `forms` are the distinct forms that stand at the position.
    """

    start: int
    end: int
    lexeme: str
    written: str
    compound: str
    joined: bool
    forms: tuple[str, ...]


class Placed(NamedTuple):
    """A part and the offset of its chunk in the text."""

    shift: int
    part: Part

    @property
    def start(self) -> int:
        """Offset of the part's first character in the text."""
        return self.shift + self.part.start

    @property
    def end(self) -> int:
        """Offset behind the part's last character in the text."""
        return self.shift + self.part.end


class AnalyzedText:
    """The positions of a text in order; where they stand in it is worked out when it is asked for."""

    def __init__(self, text: str, chunks: list[tuple[Part, ...]]) -> None:
        self._text = text
        self._chunks = chunks
        self.parts = list(chain.from_iterable(chunks))

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Character offsets [start, end) of the positions from index `first` to `last`, both included."""
        starts, ends = self._chunk_starts, self._chunk_ends
        start = starts[bisect_right(ends, first)] + self.parts[first].start
        return start, starts[bisect_right(ends, last)] + self.parts[last].end

    @cached_property
    def _chunk_starts(self) -> list[int]:
        return [match.start() for match in CHUNK.finditer(self._text)]

    @cached_property
    def _chunk_ends(self) -> list[int]:
        """For each chunk the index of the position behind its last one."""
        return list(accumulate(map(len, self._chunks)))


class Analyzer:
    """Makes lexemes. One instance a thread: the stemmer and the cache are not shared."""

    def __init__(self) -> None:
        self.stop_words = _word_list("stop_words.txt")
        self.state_words = _word_list("state_words.txt")
        self._never_stemmed = self.stop_words | self.state_words
        self._stemmer = Stemmer.Stemmer("english")
        self._parts = _ChunkCache(lambda chunk: tuple(self.chunk(chunk)))
        self._forms = _ChunkCache(self._forms_of)
        self._new_words: set[str] = set()

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same text could give other lexemes."""
        parts = (
            ANALYZER_VERSION,
            unicodedata.unidata_version,
            sorted(self.stop_words),
            sorted(self.state_words),
            sorted(UNITS),
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    def parts(self, text: str) -> list[Placed]:
        """All positions of a text in order."""
        cached = self._parts
        return [
            Placed(match.start(), part)
            for match in CHUNK.finditer(text[:INDEXED_CHARACTERS])
            for part in cached[match.group()]
        ]

    def analyzed(self, text: str) -> AnalyzedText:
        """All positions of a text, for finding some of them in it."""
        indexed = text[:INDEXED_CHARACTERS]
        return AnalyzedText(indexed, list(map(self._parts.__getitem__, self.chunks(indexed))))

    def chunks(self, text: str) -> list[str]:
        """The runs of characters that are analysed each for itself."""
        found = text[:INDEXED_CHARACTERS].split()
        if "%" in text or "°" in text:
            return _with_blank_units(found)
        return found

    def positions(self, text: str) -> Iterator[tuple[str, ...]]:
        """What an index stores: for each position of the text, the forms that stand there."""
        return chain.from_iterable(map(self._forms.__getitem__, self.chunks(text)))

    def words(self, text: str) -> set[str]:
        """The distinct written words of a text, folded, without identifiers' compounds."""
        return {_written(forms) for forms in self.positions(text)}

    def take_new_words(self) -> set[str]:
        """Words that `positions` met for the first time since the last call; a word may come again, none is missing."""
        words, self._new_words = self._new_words, set()
        return words

    def _forms_of(self, chunk: str) -> tuple[tuple[str, ...], ...]:
        forms = tuple(part.forms for part in self.chunk(chunk))
        self._new_words.update(map(_written, forms))
        return forms

    def word(self, written: str) -> str:
        """The lexeme that a folded word is found by."""
        if (
            not (written.isascii() and written.isalpha())
            or written in self._never_stemmed
            or len(written) > LONGEST_LEXEME
        ):
            return WRITTEN + shorten(written)
        stem = self._stemmer.stemWord(written)
        return WRITTEN + written if stem in self._never_stemmed else str(stem)

    def chunk(self, chunk: str) -> list[Part]:
        """The positions of one run of characters without blanks (a number and a lone % excepted)."""
        if chunk.isascii():
            bare = chunk.strip(PLAIN_PUNCTUATION)
            if bare.isalpha():
                start = chunk.index(bare)
                return [self._part(start, start + len(bare), bare.lower(), False)]
        text, offsets = normalise(chunk)
        bare = text.strip(CHUNK_PUNCTUATION)
        if not text.isascii() and is_unit(bare):
            start = text.index(bare)
            found = [(start, start + len(bare), lexeme) for lexeme in UNITS[bare]]
        else:
            found = _scan(text)
        return self._assemble(text, offsets, found)

    def _assemble(self, text: str, offsets: list[int], found: list[tuple[int, int, str]]) -> list[Part]:
        parts: list[Part] = []
        for index, (start, end, written) in enumerate(found):
            between = text[found[index - 1][1] : start] if index else ""
            joined = bool(index) and not any(character in BREAKS for character in between)
            parts.append(self._part(offsets[start], offsets[end], written, joined))
        first = 0
        for index in range(1, len(parts) + 1):
            if index == len(parts) or not parts[index].joined:
                if index - first > 1:
                    compound = _compound(text, found[first:index])
                    parts[first] = _with_compound(parts[first], compound)
                first = index
        return parts

    def _part(self, start: int, end: int, written: str, joined: bool) -> Part:
        lexeme, exact = self.word(written), WRITTEN + shorten(written)
        return Part(start, end, lexeme, exact, "", joined, (lexeme, exact) if lexeme != exact else (exact,))


class _ChunkCache(dict[str, Made]):
    """Chunk -> what `make` makes of it; bounded in chunks and in their length."""

    def __init__(self, make: Callable[[str], Made]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, chunk: str) -> Made:
        if len(self) > CACHED_CHUNKS:
            self.clear()
        made = self._make(chunk)
        if len(chunk) <= LONGEST_LEXEME:
            self[chunk] = made
        return made


def _with_blank_units(chunks: list[str]) -> list[str]:
    """Join a number and the % or ° that stands behind a blank, as CHUNK does."""
    joined: list[str] = []
    is_open = False
    for chunk in chunks:
        if is_open and chunk[0] in "%°" and not chunk[1:2].isalpha() and joined[-1][-1] in "0123456789":
            joined[-1] += " " + chunk
            is_open = False
        else:
            joined.append(chunk)
            is_open = True
    return joined


def _written(forms: tuple[str, ...]) -> str:
    """The written word among the forms of a position: the first of the written kind."""
    return next(form[1:] for form in forms if form[0] == WRITTEN)


def shorten(word: str) -> str:
    """Words over 180 characters keep 160 and a digest of the whole: never equal by their beginning alone."""
    if len(word) <= LONGEST_LEXEME:
        return word
    return f"{word[:160]}#{hashlib.sha256(word.encode('utf-8', 'replace')).hexdigest()[:16]}"


def _word_list(name: str) -> frozenset[str]:
    lines = resources.files("ariel_lite.text").joinpath(name).read_text(encoding="utf-8").splitlines()
    return frozenset(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def _compound(text: str, found: list[tuple[int, int, str]]) -> str:
    """The written form of an identifier; a run of single characters has none of its own."""
    whole = text[found[0][0] : found[-1][1]]
    if all(is_single(character) or is_emoji(character) for character in whole):
        return ""
    signed = found[0][2] if found[0][2].startswith("-") else ""
    folded = fold(whole)
    return WRITTEN + shorten(("-" if signed and not folded.startswith("-") else "") + "".join(folded.split()))


def _with_compound(part: Part, compound: str) -> Part:
    forms = (*part.forms, compound) if compound and compound not in part.forms else part.forms
    return part._replace(compound=compound, forms=forms)


def _scan(text: str) -> list[tuple[int, int, str]]:
    """(start, end, folded word) of each part of a normalised chunk."""
    found: list[tuple[int, int, str]] = []
    position = 0
    while position < len(text):
        character = text[position]
        if character.isdigit() and character.isascii():
            position = _scan_number(text, position, found)
        elif character.isalnum():
            position = _scan_word(text, position, found)
        else:
            if is_emoji(character):
                found.append((position, position + 1, character))
            position += 1
    return found


def _scan_number(text: str, start: int, found: list[tuple[int, int, str]]) -> int:
    """Numbers, dotted numbers, powers of ten, and the unit behind them; else an ordinary part such as 3D."""
    dotted = DOTTED.match(text, start)
    if dotted and not _continues(text, dotted.end()):
        for piece in re.finditer(r"\d+", dotted.group()):
            found.append((start + piece.start(), start + piece.end(), piece.group()))
        return dotted.end()
    power = POWER.match(text, start)
    match = power or NUMBER.match(text, start)
    if match is None:
        return _scan_word(text, start, found)
    sign_at = start - 1 if _signed(text, start) else start
    lexeme = ("-" if sign_at < start else "") + (_power(power) if power else _number(match.group()))
    end = match.end()
    unit_start = end + (len(text[end:]) - len(text[end:].lstrip()))
    unit = unit_at(text, unit_start)
    if unit:
        found.append((sign_at, end, lexeme))
        unit_end = unit_start + len(unit)
        found.extend((unit_start, unit_end, word) for word in UNITS[unit])
        return unit_end
    if _continues(text, end):
        return _scan_word(text, start, found)
    found.append((sign_at, end, lexeme))
    return end


def _scan_word(text: str, start: int, found: list[tuple[int, int, str]]) -> int:
    """A run of letters and digits of one script; apostrophes between letters belong to it."""
    if is_single(text[start]):
        end = start + 1
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        found.append((start, end, fold(text[start:end])))
        return end
    plain = PLAIN_WORD.match(text, start) if text.isascii() else None
    if plain is not None:
        found.append((start, plain.end(), plain.group().replace("'", "").lower()))
        return plain.end()
    own = ""
    end = start
    while end < len(text):
        character = text[end]
        if character.isalnum():
            its = "" if character.isdigit() else _word_script(character)
            if is_single(character) or (its and own and its != own):
                break
            own = own or its
        elif not (_apostrophe(text, end) or (end > start and unicodedata.category(character).startswith("M"))):
            break
        end += 1
    word = fold(text[start:end].replace("'", ""))
    if word:
        found.append((start, end, word))
    return end


def _word_script(character: str) -> str:
    name = script(character)
    return "LATIN" if name in ("FULLWIDTH", "FEMININE", "MASCULINE") else name


def _apostrophe(text: str, at: int) -> bool:
    return text[at] == "'" and 0 < at < len(text) - 1 and text[at - 1].isalpha() and text[at + 1].isalpha()


def _continues(text: str, end: int) -> bool:
    """True when letters or digits follow, so that what stands before is not a number of its own."""
    return end < len(text) and text[end].isalnum() and not is_single(text[end])


def _signed(text: str, start: int) -> bool:
    if start == 0 or text[start - 1] != "-":
        return False
    return start == 1 or text[start - 2] in SIGN_CONTEXT


def _number(written: str) -> str:
    """2E-07 -> 2e-7, 2e+7 -> 2e7: the same number in one spelling; the mantissa stays as written."""
    mantissa, marker, exponent = written.lower().partition("e")
    return f"{mantissa}e{int(exponent)}" if marker and len(exponent) < 8 else written.lower()


def _power(match: re.Match[str]) -> str:
    """10^-7 -> 1e-7, 2x10^-7 -> 2e-7."""
    return f"{match.group(1) or '1'}e{int(match.group(2))}"
