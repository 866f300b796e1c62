"""JSON values out of text, cleaned, and in plain words what is wrong with those that are none."""

from __future__ import annotations

import math
import re
from json import JSONDecodeError, JSONDecoder
from typing import Any, NamedTuple

from ariel_lite.ingestion.text_cleaning import CONTROL, MAX_NESTING, clean_value, nests_too_deep

MAX_RECORD_CHARACTERS = 64_000_000
"""A record longer than this is not held in memory; it is rejected."""

LOOK_AHEAD = 24
"""A fault nearer than this to the end of what was read so far may only mean that more is to come."""

_ESCAPE = re.compile(r"\\[bfru]")
_RAW_KEPT = 100_000


class JsonRecord(NamedTuple):
    """An object of a source: its value (cleaned), the line it starts on, its text, whether something was replaced."""

    value: dict[str, Any]
    line: int
    raw: str
    cleaned: bool


class BadRecord(NamedTuple):
    """Text that is no record: the line it starts on, why, and the text (the first 100,000 characters)."""

    line: int
    reason: str
    raw: str


class Malformed(Exception):
    """Text at the reading position is no JSON value."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NeedsMore(Exception):
    """The value may go on beyond what was read so far."""


class ValueDecoder:
    """Decodes JSON values. NaN, infinities and numbers too large to hold become null and count as cleaned."""

    def __init__(self) -> None:
        self._replaced = 0
        self._has_controls = False
        self._strict = JSONDecoder(parse_float=self._number, parse_constant=self._constant)
        self._lenient = JSONDecoder(parse_float=self._number, parse_constant=self._constant, strict=False)

    def line(self, text: str, number: int) -> JsonRecord | BadRecord | None:
        """The record of a line of JSON; None for a blank line."""
        self._replaced, self._has_controls = 0, False
        try:
            value, end = self._strict.raw_decode(text)
        except (ValueError, RecursionError):
            return self._second_look(text, number)
        if end != len(text) and not text[end:].isspace():
            return self._second_look(text, number)
        return self.record(value, text, number)

    def at(self, text: str, position: int, *, ended: bool) -> tuple[Any, int]:
        """The value that starts at a position, and where it ends.

        Raises:
            Malformed: no value stands there.
            NeedsMore: the text stops too early to tell; never when `ended`.
        """
        self._replaced, self._has_controls = 0, False
        try:
            value, end = self._decode(text, position, ended=ended)
        except JSONDecodeError as fault:
            raise Malformed(explain(fault, text, position)) from fault
        except RecursionError as fault:
            raise Malformed("it nests too deeply") from fault
        except ValueError as fault:
            raise Malformed("it holds a number with too many digits") from fault
        if end == len(text) and not ended and not isinstance(value, dict | list | str):
            raise NeedsMore
        return value, end

    def record(self, value: Any, raw: str, line: int) -> JsonRecord | BadRecord:
        """A decoded value as a record; `raw` is the text it was decoded from last."""
        if type(value) is not dict:
            return bad_record(line, f"a record must be an object, this is {_kind(value)}", raw)
        if raw.count("[") + raw.count("{") > MAX_NESTING and nests_too_deep(value):
            return bad_record(line, "it nests too deeply", raw)
        if self._is_clean(raw):
            return JsonRecord(value, line, raw, self._replaced > 0)
        cleaned, changed = clean_value(value)
        return JsonRecord(cleaned, line, raw, changed or self._replaced > 0)

    def _is_clean(self, raw: str) -> bool:
        """True when nothing in the text can be a control character; decided by the text, which is fast."""
        if self._has_controls or ("\\" in raw and _ESCAPE.search(raw) is not None):
            return False
        return "\x7f" not in raw if raw.isascii() else CONTROL.search(raw) is None

    def _second_look(self, text: str, number: int) -> JsonRecord | BadRecord | None:
        """A line that is not plainly one value: blank, with a mark, a trailing comma or control characters, or bad."""
        trimmed = text.strip().lstrip("\ufeff").rstrip(", \t")
        if not trimmed:
            return None if not text.strip().rstrip(",") else bad_record(number, "the line holds only a mark", text)
        try:
            value, end = self.at(trimmed, 0, ended=True)
        except Malformed as fault:
            return bad_record(number, fault.reason, text)
        if end == len(trimmed):
            return self.record(value, trimmed, number)
        rest = trimmed[end:].lstrip(", \t")
        if rest[:1] in ("{", "["):
            return bad_record(number, "two values stand on one line", text)
        return bad_record(number, f"text follows the value at column {end + 1}", text)

    def _decode(self, text: str, position: int, *, ended: bool) -> tuple[Any, int]:
        """A value; control characters inside its texts are let through, to be cleaned later."""
        try:
            return self._strict.raw_decode(text, position)
        except JSONDecodeError as fault:
            if not fault.msg.startswith("Invalid control character"):
                raise _or_needs_more(fault, text, ended) from fault
        self._replaced, self._has_controls = 0, True
        try:
            return self._lenient.raw_decode(text, position)
        except JSONDecodeError as fault:
            raise _or_needs_more(fault, text, ended) from fault

    def _number(self, text: str) -> float | None:
        value = float(text)
        if math.isfinite(value):
            return value
        self._replaced += 1
        return None

    def _constant(self, _: str) -> None:
        self._replaced += 1


def bad_record(line: int, reason: str, raw: str) -> BadRecord:
    """A BadRecord whose text is bounded."""
    return BadRecord(line, reason, raw if len(raw) <= _RAW_KEPT else f"{raw[:_RAW_KEPT]}…")


def explain(fault: JSONDecodeError, text: str, start: int = 0) -> str:
    """What is wrong, in words for people, with the value that starts at `start` of the decoded text."""
    if fault.msg.startswith("Unterminated string") or not text[fault.pos :].strip():
        return "the record is cut off"
    message = fault.msg[:1].lower() + fault.msg[1:]
    return f"it is not valid JSON: {message} (character {fault.pos - start + 1})"


def _or_needs_more(fault: JSONDecodeError, text: str, ended: bool) -> Exception:
    near_end = fault.pos >= len(text) - LOOK_AHEAD or fault.msg.startswith("Unterminated string")
    return NeedsMore() if near_end and not ended else fault


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a truth value"
    return {list: "a list", str: "a text", int: "a number", float: "a number"}.get(type(value), "something else")
