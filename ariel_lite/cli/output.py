"""Where everything is printed, progress bars aside: one JSON document, or lines for people; and errors.

JSON is always UTF-8. Lines go in the console's encoding, with replacement characters for what it cannot show;
colour goes to terminals only and never when NO_COLOR is set.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import IO, Any

import click

from ariel_lite.cli.layout import Line, Span, Style, columns, one_line, padded, safe, wrapped
from ariel_lite.errors import ARIELException
from ariel_lite.strict_json import json_text

DEFAULT_WIDTH = 80
WIDEST = 100
LABEL_COLUMNS = 14
CLOSED = (errno.EPIPE, errno.EINVAL)
"""What writing to a pipe whose reader is gone gives; Windows says EINVAL."""

STYLES: Mapping[Style, Mapping[str, Any]] = {
    "bold": {"bold": True},
    "dim": {"dim": True},
    "id": {"fg": "cyan", "bold": True},
    "match": {"fg": "yellow", "bold": True},
    "warning": {"fg": "yellow"},
    "error": {"fg": "red", "bold": True},
}


class OutputClosed(Exception):
    """The reader of our output went away, as `head` does."""


class OutputError(ARIELException):
    """The output cannot be written, as on a full disk."""

    code = "output_failed"


class Output:
    """Standard output and standard error of one command.

    Attributes:
        as_json: True when standard output is one JSON document.
        width: columns to fill, 20 to 100.
        colour: True when standard output shows styles.
    """

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.width = min(max(shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns, 20), WIDEST)
        self.colour = _shows_colour(sys.stdout)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")

    @property
    def is_terminal(self) -> bool:
        """True when a person looks at standard output."""
        return _is_terminal(sys.stdout)

    def document(self, value: Any) -> None:
        """Print the JSON document."""
        self.write(json_text(value, indent=2).encode("utf-8") + b"\n")
        self.flush()

    def line(self, *spans: Span | str) -> None:
        """Print a line for people."""
        whole = [span if isinstance(span, Span) else Span(span) for span in spans]
        text = "".join(
            self._styled(Span("".join(span.text for span in run), style))
            for style, run in groupby(whole, key=lambda span: span.style)
        )
        with _written_to(sys.stdout):
            click.echo(text.rstrip(), color=self.colour)

    def lines(self, lines: Iterable[Line]) -> None:
        """Print several lines."""
        for line in lines:
            self.line(*line)

    def text(self, text: str, style: Style = "", *, indent: str = "") -> None:
        """Print a sentence, wrapped; lines after the first are indented a little more."""
        spans = [Span(one_line(text), style)]
        self.lines(wrapped(spans, self.width, indent=indent, hanging=indent + "  "))

    def label(self, name: str, text: str, style: Style = "dim") -> None:
        """Print `name: sentence`, wrapped."""
        spans = [Span(f"{name}: ", style), Span(one_line(text))]
        self.lines(wrapped(spans, self.width, hanging="  "))

    def fact(self, name: str, value: str) -> None:
        """Print a value beside its name, in two columns; a name too long for its column has a line of its own."""
        if columns(one_line(name)) >= LABEL_COLUMNS:
            self.lines(wrapped([Span(one_line(name), "dim")], self.width))
            name = ""
        lines = wrapped([Span(one_line(value))], self.width, indent=" " * LABEL_COLUMNS)
        for index, line in enumerate(lines):
            label = Span(padded(one_line(name), LABEL_COLUMNS), "dim")
            self.line(*([label, *line[1:]] if index == 0 else line))

    def mark(self, span: Span) -> Span:
        """A match as this output can show it: styled, else between asterisks."""
        return span if self.colour or span.style != "match" else Span(f"*{span.text}*", "match")

    def note(self, text: str) -> None:
        """Say something on standard error that is not the answer."""
        self._complain(one_line(text), "dim")

    def leave_echoed_keys(self) -> None:
        """Go to a new line on a terminal that shows the ^C."""
        if _is_terminal(sys.stderr):
            self._complain("", "")

    def failure(self, document: Mapping[str, Any], extra: Iterable[Line] = ()) -> None:
        """Report an error: a line, what helps to see the fault, a hint; and the document when JSON was asked for."""
        error = document["error"]
        self._complain(f"error: {one_line(error['message'])}", "error")
        for line in extra:
            self._complain("".join(safe(span.text) for span in line), "")
        if error["hint"]:
            self._complain(f"hint: {one_line(error['hint'])}", "dim")
        if self.as_json:
            with suppress(OutputError):
                self.document(document)

    def write(self, data: bytes) -> None:
        """Write bytes to standard output as they are; `flush` sends them on."""
        stream = self._open_stdout()
        with _written_to(stream):
            stream.buffer.write(data)

    def flush(self) -> None:
        """Send on what is buffered."""
        stream = self._open_stdout()
        with _written_to(stream):
            stream.buffer.flush()

    def _open_stdout(self) -> io.TextIOWrapper:
        if not isinstance(sys.stdout, io.TextIOWrapper):
            raise OutputError("standard output is closed", hint="redirect it to a file")
        return sys.stdout

    def _styled(self, span: Span) -> str:
        text = safe(span.text)
        return click.style(text, **STYLES[span.style]) if self.colour and span.style else text

    def _complain(self, text: str, style: Style) -> None:
        shown = click.style(text, **STYLES[style]) if style and _shows_colour(sys.stderr) else text
        with suppress(OSError):
            click.echo(shown, err=True, color=_shows_colour(sys.stderr))


def _is_terminal(stream: IO[str] | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


def _shows_colour(stream: IO[str] | None) -> bool:
    return _is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@contextmanager
def _written_to(stream: IO[str] | None) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        _silence(stream)
        if fault.errno in CLOSED:
            raise OutputClosed from fault
        raise OutputError(f"cannot write the output: {fault.strerror}", hint="free some space") from fault


def _silence(stream: IO[str] | None) -> None:
    """Send what is still buffered nowhere, so that the interpreter's last flush does not fail as well."""
    if stream is not None:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
