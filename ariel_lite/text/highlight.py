"""Highlights: fragments of an entry's text with the matches in <b>, everything else HTML-escaped.

One function for both backends: it matches the same lexemes as the index, so stems, phrases and prefixes come out right.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from ariel_lite.text.tokenise import AnalyzedText, Part

FRAGMENTS = 3
FRAGMENT_CHARACTERS = 180


class Form(NamedTuple):
    """One position of a pattern: a lexeme, or the beginning of a written word (`prefix`)."""

    lexeme: str
    prefix: bool = False


Pattern = tuple[Form, ...]
"""Forms that must stand at consecutive positions."""


class Span(NamedTuple):
    """A match: character offsets [start, end) and the index of the pattern that made it."""

    start: int
    end: int
    pattern: int


def find_spans(analyzed: AnalyzedText, patterns: Sequence[Pattern]) -> list[Span]:
    """All matches of all patterns, in text order."""
    spans: list[Span] = []
    for index, pattern in enumerate(patterns):
        for at in _starts(analyzed.parts, pattern):
            spans.append(Span(*analyzed.span(at, at + len(pattern) - 1), index))
    return sorted(spans)


def _starts(parts: Sequence[Part], pattern: Pattern) -> list[int]:
    if not pattern:
        return []
    first = pattern[0]
    if first.prefix:
        starts = [at for at, part in enumerate(parts) if _matches(part, first)]
    else:
        lexeme = first.lexeme
        starts = [at for at, part in enumerate(parts) if lexeme in part.forms]
    last = len(parts) - len(pattern)
    rest = list(enumerate(pattern))[1:]
    return [at for at in starts if at <= last and all(_matches(parts[at + offset], form) for offset, form in rest)]


def highlight(text: str, analyzed: AnalyzedText, patterns: Sequence[Pattern]) -> list[str]:
    """Up to 3 fragments of about 180 characters around the matches, in text order; [] when nothing matches."""
    spans = _merge(find_spans(analyzed, patterns))
    windows = _best_windows(text, spans)
    return [_render(text, start, end, spans) for start, end in windows]


def mark(text: str, analyzed: AnalyzedText, patterns: Sequence[Pattern]) -> str:
    """The whole text, escaped, with every match in <b>."""
    return _render(text, 0, len(text), _merge(find_spans(analyzed, patterns)))


def _matches(part: Part, form: Form) -> bool:
    if form.prefix:
        return part.written.startswith(form.lexeme) or part.compound.startswith(form.lexeme)
    return form.lexeme in part.forms


def _merge(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in spans:
        if merged and span.start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(span.end, merged[-1].end))
        else:
            merged.append(span)
    return merged


def _best_windows(text: str, spans: list[Span]) -> list[tuple[int, int]]:
    """Non-overlapping windows; those with more different patterns, then more matches, then earlier come first."""
    candidates: list[tuple[int, int, int]] = []
    end = 0
    for first, span in enumerate(spans):
        while end < len(spans) and spans[end].end - span.start <= FRAGMENT_CHARACTERS:
            end += 1
        inside = spans[first : max(end, first + 1)]
        candidates.append((-len({s.pattern for s in inside}), -len(inside), first))
    chosen: list[tuple[int, int]] = []
    for _, _, first in sorted(candidates):
        window = _window(text, spans[first])
        if all(window[1] <= start or window[0] >= stop for start, stop in chosen):
            chosen.append(window)
            if len(chosen) == FRAGMENTS:
                break
    return sorted(chosen)


def _window(text: str, span: Span) -> tuple[int, int]:
    room = max(FRAGMENT_CHARACTERS - (span.end - span.start), 0)
    start = max(span.start - room // 4, 0)
    end = min(max(start + FRAGMENT_CHARACTERS, span.end), len(text))
    start = min(start, max(end - FRAGMENT_CHARACTERS, 0))
    return _word_start(text, min(start, span.start), span.start), _word_end(text, end, span.end)


def _word_start(text: str, start: int, limit: int) -> int:
    if start == 0 or text[start - 1].isspace():
        return start
    for at in range(start, limit):
        if text[at].isspace():
            return at + 1
    return start


def _word_end(text: str, end: int, limit: int) -> int:
    if end >= len(text) or text[end].isspace():
        return end
    for at in range(end, limit, -1):
        if text[at - 1].isspace():
            return at - 1
    return end


def _render(text: str, start: int, end: int, spans: list[Span]) -> str:
    pieces = ["…" if text[:start].strip() else ""]
    at = start
    for span in spans:
        if span.end <= start or span.start >= end:
            continue
        first, last = max(span.start, start), min(span.end, end)
        pieces += [escape(text[at:first]), "<b>", escape(text[first:last]), "</b>"]
        at = last
    pieces += [escape(text[at:end]), "…" if text[end:].strip() else ""]
    return "".join(pieces).strip()
