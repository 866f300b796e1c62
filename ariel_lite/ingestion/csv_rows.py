"""Rows of a table as text: comma, semicolon, tab or bar between cells, quotes as spreadsheets write them.

Rows are streamed. A quote that is never closed costs its own line only: what it swallowed is read again.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from ariel_lite.ingestion.text_lines import lines_of

DELIMITERS = (",", ";", "\t", "|")
MAX_CELL_CHARACTERS = 16_000_000
"""A longer cell is a quote that nobody closed, or no table."""

SAMPLED_LINES = 50
_SAMPLED_CHARACTERS = 1_000_000


class Row(NamedTuple):
    """A row: the line it starts on, its cells, its text; `fault` says why it is none, "" for a good one."""

    line: int
    cells: list[str]
    raw: str
    fault: str = ""


class Table:
    """The rows of a text, blank ones left out.

    Args:
        chunks: the text in pieces.
        delimiter: what separates cells; None finds it out from the first lines.
    """

    def __init__(self, chunks: Iterable[str], delimiter: str | None = None) -> None:
        self._lines = lines_of(chunks)
        self._again: deque[str] = deque()
        self._number = 0
        self._eaten: list[str] = []
        self._again.extend(_sample(self._lines))
        announced = _announced(self._again[0]) if self._again else None
        if announced:
            self._again.popleft()
            self._number = 1
        self.delimiter = delimiter or announced or sniffed(self._again)

    def __iter__(self) -> Iterator[Row]:
        # The limit is the interpreter's, and the default of 131,072 is too low for a text; it is only ever raised.
        if csv.field_size_limit() < MAX_CELL_CHARACTERS:
            csv.field_size_limit(MAX_CELL_CHARACTERS)
        reader = csv.reader(self._fed(), delimiter=self.delimiter)
        while True:
            self._eaten.clear()
            start = self._number + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as fault:
                yield self._broken(start, str(fault))
                continue
            if self._is_unclosed(cells):
                yield self._broken(start, "a quote is not closed")
                reader = csv.reader(self._fed(), delimiter=self.delimiter)
            elif any(cell.strip() for cell in cells):
                yield Row(start, cells, "".join(self._eaten))

    def _fed(self) -> Iterator[str]:
        """Lines for the reader, each noted."""
        while True:
            line = self._again.popleft() if self._again else next(self._lines, None)
            if line is None:
                return
            self._number += 1
            self._eaten.append(line)
            yield line.replace("\x00", " ")

    def _is_unclosed(self, cells: Sequence[str]) -> bool:
        """True when the text ended inside quotes that took further lines with them."""
        return len(self._eaten) > 1 and sum(line.count('"') for line in self._eaten) % 2 == 1 and bool(cells)

    def _broken(self, start: int, reason: str) -> Row:
        """Give up the first line of what was eaten, and let the others be read again."""
        first, *rest = self._eaten or [""]
        self._again.extendleft(reversed(rest))
        self._number = start
        return Row(start, [], first, reason)


def sniffed(lines: Iterable[str]) -> str:
    """The delimiter that gives the first lines the most columns of the same number; a comma when none does."""
    sample = list(islice(lines, SAMPLED_LINES))
    scores = [(_agreement(sample, delimiter), -place) for place, delimiter in enumerate(DELIMITERS)]
    best, place = max(scores)
    return DELIMITERS[-place] if best[0] > 0 else DELIMITERS[0]


def _agreement(sample: Sequence[str], delimiter: str) -> tuple[float, int]:
    """(rows that agree with the first one in their number of columns, weighed; columns)."""
    try:
        rows = [row for row in csv.reader(sample, delimiter=delimiter) if any(cell.strip() for cell in row)]
    except csv.Error:
        rows = []
    if not rows or len(rows[0]) < 2:
        return 0.0, 0
    columns = len(rows[0])
    return round(sum(len(row) == columns for row in rows) / len(rows), 2), columns


def _announced(line: str) -> str | None:
    """The delimiter that a spreadsheet names in a first line of its own: sep=;"""
    text = line.strip().strip('"')
    return text[4] if len(text) == 5 and text.lower().startswith("sep=") else None


def _sample(lines: Iterator[str]) -> list[str]:
    found: list[str] = []
    size = 0
    for line in islice(lines, SAMPLED_LINES):
        found.append(line)
        size += len(line)
        if size > _SAMPLED_CHARACTERS:
            break
    return found
