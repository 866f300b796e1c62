"""Lines of a text that comes in pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MAX_LINE_CHARACTERS = 64_000_000
"""A longer line is given in parts of at least this size, so that memory stays bounded."""

# Ends are looked for, not whole lines: a pattern of a line would be tried anew at every character of an open last one.
_LINE_END = re.compile(r"\r\n|\r|\n")


def lines_of(chunks: Iterable[str]) -> Iterator[str]:
    """Lines with their ends (LF, CRLF or CR); other separators, as str.splitlines knows them, are text."""
    carry: list[str] = []
    held = 0
    for chunk in chunks:
        half = bool(carry) and carry[-1].endswith("\r")
        if not half and "\n" not in chunk and "\r" not in chunk and held < MAX_LINE_CHARACTERS:
            carry.append(chunk)
            held += len(chunk)
            continue
        text = "".join((*carry, chunk))
        # A CR at the end of a piece may be half of a CRLF.
        end = len(text) - 1 if text.endswith("\r") else len(text)
        position = 0
        for match in _LINE_END.finditer(text, 0, end):
            yield text[position : match.end()]
            position = match.end()
        rest = text[position:]
        if len(rest) >= MAX_LINE_CHARACTERS:
            yield rest
            rest = ""
        carry, held = [rest], len(rest)
    rest = "".join(carry)
    if rest:
        yield rest
