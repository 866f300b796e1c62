"""Pages that stay in place while entries arrive.

A page by number shifts when entries come in above it. A cursor names the last entry of the page before, so that the
next one goes on behind that entry wherever it stands now: no entry is shown twice or left out.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import Order, SearchPlan
from ariel_lite.errors import InvalidRequestError
from ariel_lite.query.dates import TimeRange
from ariel_lite.query.nodes import BoundNode, FieldLeaf, conjunction
from ariel_lite.records import MAX_RESULTS, ARIELSearchResult, EnhancedLogbookEntry, SearchDiagnostic

DEEPEST = 100_000
"""How far into a list an offset or page may reach."""

LOOKED_THROUGH = 1000
"""How far from its old place the last entry of a page is looked for."""

LOST = "the list has changed since the page before; this page may repeat or miss entries"

RunAt = Callable[[int, int], Awaitable[ARIELSearchResult]]
"""Searches with (offset, number of results)."""


@dataclass(frozen=True)
class RankedCursor:
    """The end of a page of a search: how many entries were before it, and the last one's id."""

    offset: int
    last: str

    @classmethod
    def read(cls, text: str) -> RankedCursor:
        """What `write` made.

        Raises:
            InvalidRequestError: anything else.
        """
        offset, last = _fields(text, int, str)
        if not 1 <= offset <= DEEPEST:
            raise _unreadable()
        return cls(offset, last)

    def write(self) -> str:
        """Opaque text for a client."""
        return _text([self.offset, self.last])


@dataclass(frozen=True)
class TimeCursor:
    """The end of a page of entries by time."""

    moment: datetime
    last: str

    @classmethod
    def read(cls, text: str) -> TimeCursor:
        """What `write` made.

        Raises:
            InvalidRequestError: anything else.
        """
        moment, last = _fields(text, str, str)
        try:
            read = datetime.fromisoformat(moment)
        except ValueError as fault:
            raise _unreadable() from fault
        if read.tzinfo is None:
            raise _unreadable()
        return cls(read, last)

    def write(self) -> str:
        """Opaque text for a client."""
        return _text([self.moment.isoformat(), self.last])


@dataclass(frozen=True)
class RankedPage:
    """A page of a search and its place in the whole list."""

    result: ARIELSearchResult
    entries: tuple[dict[str, Any], ...]
    offset: int
    notes: tuple[SearchDiagnostic, ...] = ()


async def page_behind(run: RunAt, cursor: RankedCursor, wanted: int) -> RankedPage:
    """The page of a search that follows a cursor; `wanted` entries, one less when that is more than a search gives."""
    reach = min(wanted + 1, MAX_RESULTS)
    result = await run(cursor.offset - 1, reach)
    place = cursor.offset - 1
    if not _is_first(result.entries, cursor.last):
        moved = await _place_of(run, cursor)
        if moved is None:
            result = await run(cursor.offset, wanted)
            note = SearchDiagnostic("info", "paging", LOST, "paging")
            return RankedPage(result, result.entries, cursor.offset, (note,))
        place = moved
        result = await run(place, reach)
    return RankedPage(result, result.entries[1:], place + 1)


def entries_behind(
    backend: Backend, tree: BoundNode, cursor: TimeCursor, wanted: int, order: Order
) -> list[EnhancedLogbookEntry]:
    """Up to `wanted` entries that follow a cursor by time; those of the same instant go by id."""
    bounds = TimeRange(end=cursor.moment) if order == "newest" else TimeRange(start=cursor.moment)
    rest = conjunction([tree, FieldLeaf("date", "", bounds)])
    found: list[EnhancedLogbookEntry] = []
    offset, block = 0, wanted + 1
    while len(found) < wanted:
        hits = backend.search(SearchPlan(rest, block, offset, order))
        entries = backend.get_entries([hit.entry_id for hit in hits])
        found += [entry for entry in entries if not _is_shown(entry, cursor)]
        if len(hits) < block:
            break
        offset += block
        block = min(block * 4, LOOKED_THROUGH)
    return found[:wanted]


def _is_shown(entry: EnhancedLogbookEntry, cursor: TimeCursor) -> bool:
    return entry["timestamp"] == cursor.moment and entry["entry_id"] <= cursor.last


async def _place_of(run: RunAt, cursor: RankedCursor) -> int | None:
    """Where the last entry of the page before stands now, or None."""
    start = max(cursor.offset - MAX_RESULTS, 0)
    for offset in range(start, cursor.offset + LOOKED_THROUGH, MAX_RESULTS):
        entries = (await run(offset, MAX_RESULTS)).entries
        for index, entry in enumerate(entries):
            if entry["entry_id"] == cursor.last:
                return offset + index
        if len(entries) < MAX_RESULTS:
            return None
    return None


def _is_first(entries: Sequence[dict[str, Any]], entry_id: str) -> bool:
    return bool(entries) and entries[0]["entry_id"] == entry_id


def _text(values: list[Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode("ascii")).decode("ascii").rstrip("=")


def _fields(text: str, *kinds: type) -> list[Any]:
    try:
        values = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, binascii.Error, RecursionError) as fault:
        raise _unreadable() from fault
    if not isinstance(values, list) or len(values) != len(kinds):
        raise _unreadable()
    if any(type(value) is not kind for value, kind in zip(values, kinds, strict=True)):
        raise _unreadable()
    return values


def _unreadable() -> InvalidRequestError:
    return InvalidRequestError(
        "the cursor in the address or request is damaged",
        hint="begin again at the first page; a program takes next_cursor as it was given",
    )
