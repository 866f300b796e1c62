"""A search's result for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

import yaml

from ariel_lite.cli.layout import Span, paragraphs, safe, wrapped
from ariel_lite.cli.listing import print_entry, print_heading, print_source
from ariel_lite.cli.output import Output
from ariel_lite.records import ARIELSearchResult

NOTHING_HINTS = (
    "leave out a word or a filter, or put OR between words",
    "word* finds every word that begins so",
)


def could_not_run(result: ARIELSearchResult) -> bool:
    """True when an empty result means that the search could not run, not that nothing matches."""
    broken = result.degraded or any(diagnostic.level == "error" for diagnostic in result.diagnostics)
    return broken and not result.entries and not result.answer


class SearchReport:
    """Prints a result: how the query was read, what there is to say of it, the answer, the entries, what to do next."""

    def __init__(self, output: Output, zone: ZoneInfo, result: ARIELSearchResult) -> None:
        self._output = output
        self._zone = zone
        self._result = result

    def print(self, *, asked: int, offset: int = 0) -> None:
        """Print all of it; `asked` entries were wanted after the first `offset`."""
        if self._result.reasoning:
            self._output.text(self._result.reasoning, "dim")
        self._diagnostics()
        if self._result.explanation is not None:
            self._explanation(self._result.explanation)
        if self._result.answer is not None:
            self._answer(self._result.answer)
            return
        for entry in self._result.entries:
            print_entry(self._output, entry, self._zone)
        self._ending(asked, offset)

    def _answer(self, answer: str) -> None:
        """Print an answer, its numbered sources, and the other entries that were found."""
        self._output.line()
        for line in answer.splitlines():
            self._output.lines(wrapped([Span(safe(line))], self._output.width))
        entries = {entry["entry_id"]: entry for entry in self._result.entries}
        cited = [key for key in self._result.sources if key in entries]
        if cited:
            self._title("Sources")
        for number, key in enumerate(cited, start=1):
            print_source(self._output, number, entries.pop(key), self._zone)
        if entries:
            self._title("Also found" if cited else "Nearest entries")
        for entry in entries.values():
            if cited:
                print_heading(self._output, entry, self._zone)
            else:
                print_entry(self._output, entry, self._zone)

    def _diagnostics(self) -> None:
        for diagnostic in self._result.diagnostics:
            if diagnostic.level == "info":
                self._output.label("note", diagnostic.message)
            else:
                self._output.label(diagnostic.level, diagnostic.message, "warning")

    def _ending(self, asked: int, offset: int) -> None:
        found = len(self._result.entries)
        if found == 0:
            self._nothing(offset)
        elif found >= asked:
            self._output.line()
            self._output.text(f"{found} shown; the next ones: --offset {offset + found}", "dim")

    def _nothing(self, offset: int) -> None:
        if could_not_run(self._result):
            self._output.text("the search could not run; this says nothing about the entries", "error")
        elif offset:
            self._output.text(f"no entry matches after the first {offset}")
        else:
            self._output.text("no entry matches")
            for hint in NOTHING_HINTS:
                self._output.label("hint", hint)

    def _explanation(self, explanation: Mapping[str, Any]) -> None:
        parts = dict(explanation)
        statements = parts.pop("statements", [])
        for name, value in parts.items():
            self._outline(name, value)
        for statement in statements:
            self._title("runs")
            self._output.lines(paragraphs(statement["sql"], self._output.width, indent="  "))
            self._output.text(f"with {', '.join(repr(value) for value in statement['parameters'])}", indent="  ")

    def _title(self, name: str) -> None:
        self._output.line()
        self._output.line(Span(name, "bold"))

    def _outline(self, name: str, value: Any) -> None:
        """A nested value, indented beneath its name."""
        self._title(name)
        text = yaml.safe_dump(
            value, allow_unicode=True, sort_keys=False, default_flow_style=None, width=self._output.width - 4
        )
        self._output.lines(paragraphs(text.removesuffix("...\n"), self._output.width, indent="  "))
