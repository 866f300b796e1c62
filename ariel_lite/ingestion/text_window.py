"""A window over a text that arrives in pieces: what was read and is still needed, and a position in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BLANKS = re.compile(r"[ \t\r\n]*")


class TextWindow:
    """The part of a text that is held.

    Attributes:
        text: what is held.
        position: where reading stands in `text`.
        line: the line number of the position, from 1.
        indent: the blanks between the last line end and the position, None when something else stands between.
        ended: True when nothing follows `text`.
    """

    def __init__(self, pieces: Iterator[str]) -> None:
        self.text = ""
        self.position = 0
        self.line = 1
        self.indent: str | None = ""
        self.ended = False
        self._pieces = pieces
        self._held = False

    def more(self) -> bool:
        """Read on, at least as much as is held already, so that long values cost time in proportion to their length."""
        if self.ended:
            return False
        start = 0 if self._held else self.position
        parts = [self.text[start:]]
        wanted, got = max(len(parts[0]), 1), 0
        while got < wanted:
            piece = next(self._pieces, None)
            if piece is None:
                self.ended = True
                break
            parts.append(piece)
            got += len(piece)
        self.text = "".join(parts)
        self.position -= start
        return got > 0

    def skip_blanks(self) -> str:
        """Move to the next character that is not blank; that character, or "" at the end."""
        while True:
            match = _BLANKS.match(self.text, self.position)
            end = match.end() if match else self.position
            if end < len(self.text) or not self.more():
                break
        run = self.text[self.position : end]
        if run:
            line_end = run.rfind("\n")
            self.indent = run[line_end + 1 :] if line_end >= 0 else None
        self.advance(end, keep_indent=True)
        return self.text[end : end + 1]

    def advance(self, to: int, *, keep_indent: bool = False) -> None:
        """Move the position forward."""
        self.line += self.text.count("\n", self.position, to)
        if not keep_indent and to > self.position:
            self.indent = None
        self.position = to

    def hold(self) -> None:
        """Keep all text from the position on, until `release`."""
        if self.position:
            self.text = self.text[self.position :]
            self.position = 0
        self._held = True

    def release(self, *, back: bool, line: int) -> None:
        """Stop keeping; with `back` return to where `hold` was, which was on `line`."""
        self._held = False
        if back:
            self.position = 0
            self.line = line

    def first_line(self, limit: int) -> str | None:
        """The line from the position on, None when it is longer than `limit` or the only one."""
        while (end := self.text.find("\n", self.position)) < 0:
            if len(self.text) - self.position > limit or not self.more():
                return None
        return self.text[self.position : end]

    def peek_after(self, offset: int) -> str:
        """The next character that is not blank, `offset` characters behind the position, which does not move."""
        while True:
            match = _BLANKS.match(self.text, self.position + offset)
            end = match.end() if match else len(self.text)
            if end < len(self.text) or not self.more():
                return self.text[end : end + 1]

    def rest(self) -> Iterator[str]:
        """All text from the position on; the window is used up."""
        text, self.text, self.position = self.text[self.position :], "", 0
        yield text
        yield from self._pieces
        self.ended = True
