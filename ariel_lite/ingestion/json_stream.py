"""Records out of JSON and JSON Lines of any size, one at a time; what is broken is reported, never the end.

Read without being told which:

    lines      one object a line (JSON Lines, also with trailing commas)
    list       [ {...}, {...} ]
    wrapped    {"entries": [...]} and {"data": {"entries": [...]}}, with other keys around
    sequence   objects one after another, each over several lines

Lines are independent of each other. In the other forms a broken record is left behind by looking for the place where
the next one starts: the end of the broken object if its brackets balance, or the first key that records start with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, NamedTuple

from ariel_lite.ingestion.json_values import (
    MAX_RECORD_CHARACTERS,
    BadRecord,
    JsonRecord,
    Malformed,
    NeedsMore,
    ValueDecoder,
    bad_record,
)
from ariel_lite.ingestion.text_window import TextWindow

FIRST_LINE_CHARACTERS = 1 << 20
"""How far the end of the first line is looked for, to tell lines from a document."""

LOST_TAIL = 4096
"""How much of a broken record that is too long to hold is kept to find the next one's start in."""

_FIRST_KEY = re.compile(r'\{\s*("(?:[^"\\\n]|\\.)*")\s*:')
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\]]')
_AFTER_RECORD = re.compile(r"\s*,\s*\{|\s*\]|\s*\{|\s*\Z")
LIST_KEYS = ("entries",)
_WRAPPER_KEY = "data"


class StreamFailure(NamedTuple):
    """The text ended early: after which line, and how."""

    line: int
    reason: str


StreamItem = JsonRecord | BadRecord | StreamFailure


class _Opening(Enum):
    LIST = "a list of records starts here"
    RECORD = "the object is a record itself"
    NEITHER = "neither"


class RecordStream:
    """The records of a text. A text without any is an empty iteration if it is an empty list, else a failure.

    Args:
        chunks: the text in pieces.
        list_keys: the keys of a wrapper under which the list stands.
    """

    def __init__(self, chunks: Iterable[str], list_keys: tuple[str, ...] = LIST_KEYS) -> None:
        self._list_keys = list_keys
        self._window = TextWindow(iter(chunks))
        self._decoder = ValueDecoder()
        self._depth = 0
        self._lost = False
        self._first_key = ""
        self._indent: str | None = None

    def __iter__(self) -> Iterator[StreamItem]:
        window = self._window
        first = window.skip_blanks()
        if not first:
            yield StreamFailure(window.line, "it is empty")
        elif first not in "[{" or self._starts_with_line():
            yield from self._lines()
        else:
            opening = self._open()
            if opening is _Opening.NEITHER:
                yield from self._lines()
            else:
                yield from self._document(opening)

    # Lines

    def _starts_with_line(self) -> bool:
        """True when the first line is a whole value of its own, and not a document of records on one line."""
        line = self._window.first_line(FIRST_LINE_CHARACTERS)
        if line is None:
            return False
        try:
            value, _ = self._decoder.at(line, 0, ended=True)
        except Malformed:
            return False
        if isinstance(value, list):
            holds_records = bool(value) and isinstance(value[0], dict)
            return not holds_records and self._window.peek_after(len(line)) != ""
        return not _is_wrapper(value, self._list_keys)

    def _lines(self) -> Iterator[StreamItem]:
        decode, number = self._decoder.line, self._window.line - 1
        carry, skipping = "", False
        for chunk in self._window.rest():
            lines = (carry + chunk).split("\n")
            carry = lines.pop()
            for line in lines:
                number += 1
                if skipping:
                    skipping = False
                elif (found := decode(line, number)) is not None:
                    yield found
            if len(carry) > MAX_RECORD_CHARACTERS:
                if not skipping:
                    yield bad_record(number + 1, f"the line is longer than {MAX_RECORD_CHARACTERS:,} characters", carry)
                carry, skipping = "", True
        if not skipping and (found := decode(carry, number + 1)) is not None:
            yield found

    # Documents

    def _document(self, opening: _Opening) -> Iterator[StreamItem]:
        """Everything from the start of a document to the end of the text."""
        window = self._window
        while True:
            if opening is _Opening.LIST:
                yield from self._listed()
            elif opening is _Opening.RECORD:
                yield self._record()
            else:
                yield self._skip_broken("text follows the end of the records")
            while (char := window.skip_blanks()) and self._lost and char in ",]}":
                window.advance(window.position + 1)
            if not char:
                break
            opening = self._open()

    def _open(self) -> _Opening:
        """Step into the list of records that starts here. Where there is none, the position stays."""
        window = self._window
        window.hold()
        start_line = window.line
        try:
            opening = self._walk_to_list()
        except Malformed:
            opening = _Opening.NEITHER
        window.release(back=opening is not _Opening.LIST, line=start_line)
        return opening

    def _walk_to_list(self) -> _Opening:
        window = self._window
        self._depth = 0
        first = window.skip_blanks()
        if first == "[":
            window.advance(window.position + 1)
            return _Opening.LIST if self._list_goes_on() else _Opening.NEITHER
        if first != "{":
            return _Opening.NEITHER
        self._enter()
        while self._depth:
            key = self._key()
            if key is None:
                self._depth -= 1
                window.advance(window.position + 1)
                continue
            begins = window.skip_blanks()
            if key in self._list_keys and begins == "[":
                window.advance(window.position + 1)
                return _Opening.LIST
            if key == _WRAPPER_KEY and begins == "{" and self._depth == 1:
                self._enter()
            else:
                self._value()
        return _Opening.RECORD

    def _list_goes_on(self) -> bool:
        """True when an object, the list's end, or another whole element stands here; the position stays."""
        window = self._window
        if window.skip_blanks() in ("{", "]", ""):
            return True
        position, line = window.position, window.line
        self._value()
        follows = window.skip_blanks()
        window.position, window.line = position, line
        return follows in (",", "]")

    def _enter(self) -> None:
        self._window.advance(self._window.position + 1)
        self._depth += 1

    def _key(self) -> str | None:
        """The next key of an object, past its colon; None at the object's end. Raises Malformed."""
        window = self._window
        char = window.skip_blanks()
        if char == ",":
            window.advance(window.position + 1)
            char = window.skip_blanks()
        if char == "}":
            return None
        key, _ = self._value()
        if not isinstance(key, str) or window.skip_blanks() != ":":
            raise Malformed("a key was expected")
        window.advance(window.position + 1)
        return key

    def _listed(self) -> Iterator[StreamItem]:
        """The records of the list that the window stands in, and what is left of the document around it."""
        window = self._window
        while True:
            char = window.skip_blanks()
            if char == ",":
                window.advance(window.position + 1)
            elif char == "]":
                window.advance(window.position + 1)
                yield from self._close()
                return
            elif char == "":
                yield StreamFailure(window.line, "it ends inside the list of records")
                return
            else:
                yield self._element(char)

    def _element(self, char: str) -> StreamItem:
        if char == "{":
            return self._record()
        line = self._window.line
        try:
            value, raw = self._value()
        except Malformed as fault:
            return self._skip_broken(fault.reason)
        return self._decoder.record(value, raw, line)

    def _record(self) -> JsonRecord | BadRecord:
        window = self._window
        line, indent = window.line, window.indent
        try:
            value, raw = self._value()
        except Malformed as fault:
            return self._skip_broken(fault.reason)
        first = _FIRST_KEY.match(raw)
        if first:
            self._first_key, self._indent = first[1], indent
        return self._decoder.record(value, raw, line)

    def _value(self) -> tuple[Any, str]:
        """The value at the position, and its text. Raises Malformed."""
        window = self._window
        while True:
            try:
                value, end = self._decoder.at(window.text, window.position, ended=window.ended)
            except NeedsMore:
                if len(window.text) - window.position > MAX_RECORD_CHARACTERS:
                    raise Malformed(f"it is longer than {MAX_RECORD_CHARACTERS:,} characters") from None
                window.more()
                continue
            raw = window.text[window.position : end]
            window.advance(end)
            return value, raw

    def _close(self) -> Iterator[StreamItem]:
        """What stands behind the list, up to the document's end."""
        window = self._window
        try:
            while self._depth:
                if not window.skip_blanks():
                    yield StreamFailure(window.line, "it ends before the document does")
                    return
                if self._key() is None:
                    self._depth -= 1
                    window.advance(window.position + 1)
                else:
                    window.skip_blanks()
                    self._value()
        except Malformed as fault:
            yield self._skip_broken(fault.reason)

    # Leaving broken text behind

    def _skip_broken(self, reason: str) -> BadRecord:
        """Move to where the next record starts, or to the end of the text."""
        window = self._window
        line = window.line
        self._lost = True
        pattern = self._next_record()
        dropped = ""
        while True:
            start = window.position + (0 if dropped else 1)
            end = _next_start(window.text, window.position, start, pattern, ended=window.ended)
            if end is not None or window.ended:
                break
            if len(window.text) - window.position > MAX_RECORD_CHARACTERS:
                keep = len(window.text) - LOST_TAIL
                dropped = dropped or window.text[window.position : keep]
                window.advance(keep)
            window.more()
        stop = len(window.text) if end is None else end
        raw = dropped or window.text[window.position : stop]
        window.advance(stop)
        return bad_record(line, reason, raw.rstrip().rstrip(","))

    def _next_record(self) -> re.Pattern[str]:
        """How the next record starts: with the first key of those before, at the same indent if each has its line."""
        key, indent = self._first_key, self._indent
        if not key:
            own = _FIRST_KEY.match(self._window.text, self._window.position)
            key, indent = (own[1], self._window.indent) if own else ("", None)
        start = rf"\{{\s*{re.escape(key)}\s*:" if key else r'\{\s*"'
        lead = r"[\s,\[{}\]]" if indent is None else rf"\n{re.escape(indent)}"
        return re.compile(f"(?<={lead}){start}" if indent is None else f"{lead}({start})")


def _next_start(text: str, broken: int, start: int, pattern: re.Pattern[str], *, ended: bool) -> int | None:
    """Where reading can go on behind a broken record, None when the text read so far does not show it."""
    match = pattern.search(text, start)
    by_key = (match.start(1) if match.re.groups else match.start()) if match else None
    by_balance = _balanced_end(text, broken, by_key if by_key is not None else len(text), ended=ended)
    return by_key if by_balance is None else by_balance


def _balanced_end(text: str, start: int, stop: int, *, ended: bool) -> int | None:
    """The end of an object whose brackets balance before `stop` and that a comma, a bracket or the end follows."""
    depth = 0
    for token in _TOKEN.finditer(text, start, stop):
        if token[0] in ("{", "["):
            depth += 1
        elif token[0] in ("}", "]"):
            depth -= 1
            if depth <= 0:
                end = token.end()
                known = ended or text[end : end + 200].strip() != ""
                return end if depth == 0 and known and _AFTER_RECORD.match(text, end) else None
    return None


def _is_wrapper(value: dict[str, Any], list_keys: tuple[str, ...]) -> bool:
    inner = value.get(_WRAPPER_KEY)
    holders = [value, inner] if isinstance(inner, dict) else [value]
    return any(isinstance(holder.get(key), list) for holder in holders for key in list_keys)
