"""Cutting logbook text into sentences that can be quoted each for itself.

Logbooks are messy: notes of one line without a full stop, `KLY-3.` and `1.9 GeV`, `approx.` and `Fig. 2`, shouting,
hard-wrapped mail, bullet lists, tables, dumps of PVs, code. The rules, in this order:

- Fenced code, tables, and three or more lines of readings one below the other are one block of kind "data", never cut.
- A list item is a sentence, whole; its marker is not part of it.
- Any other line ends a sentence, unless the text is wrapped there (the next word would not have fitted).
- What goes on for more than 1,000 characters is cut between words: nobody wants to read it as a quotation.
- Within a paragraph `.`, `!`, `?`, `…` end a sentence when blanks follow, but not after an abbreviation or an initial,
  not between a number and what it counts (`No. 3`, `3. März`), not inside brackets, quotes or backticks, and not before
  a small letter unless the writer begins sentences with small letters.

Every sentence is a slice of the text: `text[start:end]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

SentenceKind = Literal["title", "prose", "item", "line", "data"]

WRAPPED_FROM = 50
"""A line of fewer characters was ended by its writer, not wrapped."""

NEARLY_FULL = 0.85
DUMP_LINES = 3
LONGEST_ITEM = 300
"""A list item of more characters is cut like a paragraph."""

LONGEST_SENTENCE = 1000
LONGEST_BRACKET = 200
TELLING = 1000
"""So many characters of a line say what kind of line it is."""

ABBREVIATIONS = frozenset(
    """
    approx appr ca cca circa vs resp incl excl max min avg temp temps ref refs fig figs eq eqs no nos nr sec sect ch
    e.g i.e eg ie cf viz al etc z.b bzw ggf usw u.a evtl d.h bsp n.b nb p.s ps a.m p.m u.s
    dr mr mrs ms prof st jr sr dept div bldg rm ext tel vol pp ed rev ver vers art
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun
    amp volt freq curr pos horiz vert magn oper op mgmt esp poss prob prev cont sched
    """.split()  # noqa: SIM905 - a list of words reads best as words
)
NUMBERED = frozenset("no nos nr fig figs eq eqs sec sect ch ref refs vol rev ver rm ext".split())  # noqa: SIM905
"""Abbreviations of what has a number; `not yet, no. The valve` is none."""

MAY_END = frozenset("etc al usw a.m p.m max min".split())  # noqa: SIM905
"""Abbreviations that end a sentence when a capital follows."""

UNIT_LETTERS = frozenset("ACFGHJKNTVW")
MONTHS = frozenset(
    """
    january february march april may june july august september october november december
    januar februar märz mai juni juli oktober dezember janvier février mars avril juin juillet août septembre octobre
    novembre décembre
    """.split()  # noqa: SIM905
)

MARKER = re.compile(r"[ \t]*(?:[-*•·‣▪–—+>]+|\(?\d{1,2}[.)]|\(?[a-z]\))[ \t]+(?=\S)")
FENCE = re.compile(r"\s*(?:```|~~~)")
TABLE = re.compile(r"\|.*\||[-+=|: ]{5,}$|[^\t]*\S\t+[^\t]*\S\t|.*</?(?:table|tr|td|th)\b", re.IGNORECASE)
GAPS = re.compile(r"\S {2,}\S")
NUMERIC = re.compile(r"[-+<>~±≈]?\d[\d.,:eE+\-/×^%]*(?:[a-zA-Zµμ°Ω%]{1,4})?$")
ALPHABETIC = re.compile(r"[^\W\d_]{2,}")
NAME = re.compile(r"(?=.*[A-Z0-9])[\w.]+(?:[:_-][\w.]+)+")
ENDING = re.compile(r"(?:\.{3,}|[.!?…]+)[\"'”’»)\]*_`]*(?=\s)|[。！？]+[」』）]?")
FOLLOWED = re.compile(r"\s*(\S{1,40})")
CLOSERS = {"(": ")", "[": "]", "“": "”", "«": "»", "`": "`"}


@dataclass(frozen=True)
class Sentence:
    """A slice [start, end) of a text; `text` is it with every run of blanks as one; "data" is not to be quoted."""

    start: int
    end: int
    text: str
    kind: SentenceKind

    @property
    def is_quotable(self) -> bool:
        """True when it can stand alone in an answer."""
        return self.kind != "data"


class _Line(NamedTuple):
    start: int
    end: int
    text: str
    kind: Literal["blank", "data", "reading", "item", "text"]


def split_sentences(text: str) -> list[Sentence]:
    """The sentences of a text, in order; together they hold all its words but list markers."""
    return [sentence for block in _blocks(_lines(text)) for sentence in _block_sentences(text, block)]


def _lines(text: str) -> list[_Line]:
    """The physical lines, classed; "reading" is a value beside its name, or a row of them."""
    lines: list[_Line] = []
    at = 0
    fenced = False
    for raw in text.splitlines(keepends=True):
        line = raw.rstrip()
        is_fence = FENCE.match(line) is not None
        kind: Literal["blank", "data", "reading", "item", "text"] = "data" if fenced or is_fence else _line_kind(line)
        fenced = fenced != is_fence
        lines.append(_Line(at, at + len(line), line, kind))
        at += len(raw)
    return lines


def _line_kind(line: str) -> Literal["blank", "data", "reading", "item", "text"]:
    beginning = line.strip()[:TELLING]
    if not beginning:
        return "blank"
    if TABLE.match(beginning) or len(GAPS.findall(beginning)) > 1:
        return "data"
    if _is_reading(beginning):
        return "reading"
    return "item" if MARKER.match(line) else "text"


def _is_reading(line: str) -> bool:
    """A line that says little in words: `lifetime 14.1 h`, `SR01C:BPM1:X 0.123`."""
    marker = MARKER.match(line)
    tokens = (line[marker.end() :] if marker else line).replace("=", " ").split()
    numbers = sum(1 for token in tokens if NUMERIC.match(token.strip(",;()")))
    if not numbers:
        return False
    words = [token for token in tokens if ALPHABETIC.search(token) and not NAME.match(token)]
    spelt = [word for word in words if not NUMERIC.match(word.strip(",;()")) and len(word.strip(".,;:()")) > 2]
    return len(spelt) < 2 or (len(tokens) >= 4 and 3 * len(spelt) < len(tokens))


def _blocks(lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    """Lines that belong together: a dump, a list item with what is wrapped into it, a paragraph."""
    for kind, run in groupby(lines, key=lambda line: _run_kind(line)):
        members = list(run)
        if kind == "data" or (kind == "reading" and len(members) >= DUMP_LINES):
            yield [line._replace(kind="data") for line in members]
        elif kind != "blank":
            yield from _paragraphs(members)


def _run_kind(line: _Line) -> str:
    return "text" if line.kind == "item" else line.kind


def _paragraphs(lines: list[_Line]) -> Iterator[list[_Line]]:
    width = max(len(line.text) for line in lines)
    full = sum(1 for line in lines if len(line.text) >= NEARLY_FULL * width)
    current: list[_Line] = []
    for line in lines:
        if current and not _is_wrapped(current[-1], line, width, full):
            yield current
            current = []
        current.append(line)
    if current:
        yield current


def _is_wrapped(before: _Line, line: _Line, width: int, full: int) -> bool:
    """True when the text of a line goes on in the next one."""
    if line.kind == "item":
        return False
    beginning = line.text.split()[0]
    if len(before.text) < WRAPPED_FROM or len(before.text) + 1 + len(beginning) <= NEARLY_FULL * width:
        return before.kind == "item" and line.text[:1].isspace()
    return full > 1 or (beginning[0].islower() and before.text.lstrip()[0].isupper())


def _block_sentences(text: str, block: list[_Line]) -> Iterator[Sentence]:
    start, end = block[0].start, block[-1].end
    if block[0].kind == "data":
        yield _sentence(text, start, end, "data")
        return
    marker = MARKER.match(text, start, end) if block[0].kind == "item" else None
    start = marker.end() if marker else start
    if marker and end - start <= LONGEST_ITEM:
        yield _sentence(text, start, end, "item")
        return
    at = start
    for stop in [*_endings(text, start, end), end]:
        while stop - at > LONGEST_SENTENCE:
            cut = _cut(text, at)
            yield from _told(text, at, cut)
            at = cut
        yield from _told(text, at, stop)
        at = stop


def _told(text: str, start: int, end: int) -> Iterator[Sentence]:
    if text[start:end].strip():
        yield _sentence(text, start, end, "prose" if ENDING.search(text[start:end] + " ") else "line")


def _cut(text: str, start: int) -> int:
    """The last blank that keeps what stands before it short enough; in one long word, anywhere."""
    blank = max(text.rfind(sign, start + 1, start + LONGEST_SENTENCE) for sign in " \t\n")
    return blank if blank > start and text[start:blank].strip() else start + LONGEST_SENTENCE


def _sentence(text: str, start: int, end: int, kind: SentenceKind) -> Sentence:
    whole = text[start:end]
    start += len(whole) - len(whole.lstrip())
    stripped = whole.strip()
    return Sentence(start, start + len(stripped), " ".join(stripped.split()), kind)


def _endings(text: str, start: int, end: int) -> Iterator[int]:
    """Offsets behind the signs that end a sentence."""
    at = start
    for match in ENDING.finditer(text, start, end):
        if not FOLLOWED.match(text, match.end(), end):
            return
        if match[0][0] in "。！？" or _ends(text, at, match, end):
            yield match.end()
            at = match.end()


def _ends(text: str, start: int, match: re.Match[str], end: int) -> bool:
    near = max(start, match.end() - LONGEST_BRACKET), min(match.end() + LONGEST_BRACKET, end)
    if _is_open(text[near[0] : match.end()], text[match.end() : near[1]]):
        return False
    follows = FOLLOWED.match(text, match.end(), end)
    following = follows[1] if follows else ""
    is_lone_stop = match[0].rstrip(")]\"'”’»*_`") == "."
    if is_lone_stop and _is_abbreviated(text[near[0] : match.start()].split()[-2:], following):
        return False
    sentence = text[start : min(start + LONGEST_BRACKET, match.start())].lstrip("\"'(“« \t\n")
    return not _begins_small(following) or _begins_small(sentence)


def _begins_small(text: str) -> bool:
    """True when the first word is a small letter's; a name such as `camonitor` cannot be told from it."""
    return text[:1].islower()


def _is_abbreviated(before: Sequence[str], following: str) -> bool:
    """True when the full stop behind the last of the words before belongs to that word."""
    token = before[-1].lstrip("(['\"“«") if before else ""
    bare = token.lower()
    if token.isdecimal():
        return len(token) <= 2 and following.strip(".,").lower() in MONTHS
    is_initial = len(token) == 1 and token.isalpha() and token.isupper()
    if not is_initial and bare not in ABBREVIATIONS:
        return False
    if len(before) > 1 and before[0][-1:].isdigit() and (token in UNIT_LETTERS or following[:1].isupper()):
        return is_initial and token not in UNIT_LETTERS  # `48 A. Peak`, `97 ms. MOD-2`; but `on 3 B. Whynot`
    if bare in NUMBERED:
        return following[:1].isdigit() or following[:1] == "#"
    return not (following[:1].isupper() and bare in MAY_END)


def _is_open(before: str, after: str) -> bool:
    """True when a bracket or quote that was opened before is closed soon after."""
    for opener, closer in CLOSERS.items():
        if opener == closer:
            if before.count(opener) % 2 and closer in after:
                return True
        elif before.count(opener) > before.count(closer) and closer in after:
            return True
    return False
