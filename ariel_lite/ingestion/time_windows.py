"""Reading an API that is asked for a span of time: window by window, oldest first, so that nothing is missed.

A window that fails is a SourceFailure and the next ones are read all the same. Two habits of servers are seen through:

- An answer that may have been cut off (as many records as `max_records`; where that is not known, a round number, or a
  number that came before) is asked for again in parts, until each is plainly whole.
- A page, or nothing at all, in place of a list may be the server's way to say "no entries" or a fault. It never counts
  as empty unless the server proves it: the window is asked for again together with the latest entry before it, and the
  answer must be a list with that entry.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil

from ariel_lite.ingestion.base import IncomingEntry, SourceFailure, SourceRecord
from ariel_lite.ingestion.http_answers import Fault, SourceRequestError

FAILURES_IN_A_ROW = 3
"""After so many failed windows the rest is not tried: the server is away."""

ROUND_NUMBERS = (50, 64)
"""An answer of a multiple of the first, or of a power of two from the second on, may have been cut off."""


@dataclass(frozen=True)
class Window:
    """A span of time in epoch seconds; its end does not belong to it. `is_last` when it reaches into the future."""

    start: int
    end: int
    is_last: bool = False

    @property
    def seconds(self) -> int:
        """How long it is."""
        return self.end - self.start

    @property
    def label(self) -> str:
        """For people."""
        start = f"{_moment(self.start):%Y-%m-%d %H:%M:%S}"
        return f"{start} UTC on" if self.is_last else f"{start} to {_moment(self.end):%Y-%m-%d %H:%M:%S} UTC"

    @property
    def opening(self) -> datetime:
        """Its first moment."""
        return _moment(self.start)

    def parts(self, records: Sequence[SourceRecord]) -> tuple[Window, Window]:
        """Two windows that are this one, cut in the middle of where its records are."""
        times = [time for time in _times(records) if self.start <= time < self.end]
        first, last = (int(min(times)), int(max(times)) + 1) if times else (self.start, self.end)
        middle = min(max((first + last) // 2, self.start + 1), self.end - 1)
        return Window(self.start, middle), Window(middle, self.end, self.is_last)


SAME_NUMBER = 50
"""Two answers of the same number of records, at least so many, may both have been cut off."""

NO_LIST = frozenset({Fault.HTML, Fault.EMPTY})
"""What may be a server's way to say that a window has no entries."""

Ask = Callable[[Window], Awaitable[Sequence[SourceRecord]]]
"""The records of a window. It may give more than those; it must not give less. Raises SourceRequestError."""


def windows(start: int, end: int, first_end: int, seconds: int) -> Iterator[Window]:
    """[start, end) in windows of `seconds`, of which the first ends at `first_end` at the earliest."""
    while start < end:
        stop = min(max(start, first_end) + seconds, end)
        yield Window(start, stop)
        start = stop


class WindowReader:
    """Reads windows in order.

    Args:
        ask: asks the server.
        max_records: as many records as the server gives at most, where that is known.
    """

    def __init__(self, ask: Ask, max_records: int | None = None) -> None:
        self._ask = ask
        self._max_records = max_records
        self._latest: int | None = None
        self._failed = 0
        self._first_of_count: dict[int, Window | None] = {}

    async def read(self, spans: Sequence[Window]) -> AsyncIterator[Sequence[SourceRecord] | SourceFailure]:
        """The records of all windows, and a failure for each part that could not be read."""
        if not spans:
            return
        waiting, last = list(reversed(spans)), spans[-1]
        while waiting:
            window = waiting.pop()
            if self._failed >= FAILURES_IN_A_ROW:
                rest = Window(window.start, last.end, last.is_last)
                yield SourceFailure(rest.label, f"not tried after {self._failed} failures in a row", rest.opening)
                return
            try:
                records: Sequence[SourceRecord] | None = await self._records(window)
            except SourceRequestError as fault:
                if self._is_no_proof(fault) and window in spans and waiting:
                    # Nothing stands before it that could prove it empty: the next one may.
                    following = waiting.pop()
                    waiting.append(Window(window.start, following.end, following.is_last))
                    spans = [waiting[-1], *spans]
                    continue
                if fault.kind is not Fault.TOO_LARGE or window.seconds == 1:
                    yield self._failure(window, fault.message)
                    continue
                records = None
            if records is not None and not (window.seconds > 1 and self._may_be_cut(window, len(records), waiting)):
                self._take_note(window, records)
                yield records
                if len(records) == self._max_records:
                    yield self._failure(window, f"more than {self._max_records} entries in one second")
            else:
                waiting += reversed(window.parts(records or ()))

    async def _records(self, window: Window) -> Sequence[SourceRecord]:
        try:
            return await self._ask(window)
        except SourceRequestError as fault:
            if fault.kind not in NO_LIST or self._latest is None or self._latest >= window.start:
                raise
            records = await self._ask(Window(self._latest, window.end, window.is_last))
            if not _times(records):
                raise
            return records

    def _is_no_proof(self, fault: SourceRequestError) -> bool:
        return fault.kind in NO_LIST and self._latest is None

    def _may_be_cut(self, window: Window, count: int, waiting: list[Window]) -> bool:
        """True when an answer of so many records is no proof of being whole. An earlier one may have to wait again."""
        if self._max_records is not None:
            return count >= self._max_records
        multiple, power = ROUND_NUMBERS
        if count > 0 and (count % multiple == 0 or (count >= power and count & (count - 1) == 0)):
            return True
        if count < SAME_NUMBER:
            return False
        if count not in self._first_of_count:
            self._first_of_count[count] = window
            return False
        earlier, self._first_of_count[count] = self._first_of_count[count], None
        if earlier is not None:
            waiting.append(earlier)
        return True

    def _take_note(self, window: Window, records: Sequence[SourceRecord]) -> None:
        self._failed = 0
        times = [time for time in _times(records) if time < window.end]
        if times:
            self._latest = max(int(max(times)), self._latest or 0)

    def _failure(self, window: Window, reason: str) -> SourceFailure:
        self._failed += 1
        return SourceFailure(window.label, reason, window.opening)


def whole_seconds(moment: datetime) -> int:
    """The first whole second at or after a moment."""
    return ceil(moment.timestamp())


def _times(records: Sequence[SourceRecord]) -> list[float]:
    return [record.entry["timestamp"].timestamp() for record in records if isinstance(record, IncomingEntry)]


def _moment(second: int) -> datetime:
    return datetime.fromtimestamp(second, UTC)
