"""What went wrong, as an error document and an exit code: 2 bad usage or query, 1 anything else, 130 Ctrl-C."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import click

from ariel_lite.cli.layout import Line, Span, columns, one_line, safe
from ariel_lite.cli.lazy import Interrupted
from ariel_lite.errors import ARIELException, QuerySyntaxError
from ariel_lite.present import error_document

INTERRUPTED = 130
CLOSED_PIPE = 141
SHOWN_BEFORE = 50
SHOWN_AFTER = 20


@dataclass(frozen=True)
class Failure:
    """An error document, the exit code, and lines that help a person to see the fault."""

    document: dict[str, Any]
    exit_code: int
    lines: list[Line] = field(default_factory=list)


def describe(error: BaseException, query: str | None = None) -> Failure:
    """The failure of any exception; `query` is the text that a syntax error's position counts in."""
    if isinstance(error, ARIELException):
        lines = list(_pointed(query, error.position)) if isinstance(error, QuerySyntaxError) else []
        return Failure(error_document(error), error.exit_code, lines)
    if isinstance(error, click.UsageError):
        return _failure("usage_error", error.format_message(), _usage_hint(error), click.UsageError.exit_code)
    if isinstance(error, click.ClickException):
        return _failure("usage_error", error.format_message(), "", error.exit_code)
    if isinstance(error, KeyboardInterrupt | Interrupted | click.Abort):
        return _failure("interrupted", "interrupted", "", INTERRUPTED)
    if isinstance(error, OSError) and error.strerror:
        named = f": {error.filename}" if error.filename else ""
        return _failure("io_error", f"{error.strerror}{named}", "check the path, permissions and free space", 1)
    return _failure(
        "internal_error",
        f"internal error: {type(error).__name__}: {error}; please report",
        "ARIEL_LITE_DEBUG=1 shows where it happened",
        1,
    )


def _failure(code: str, message: str, hint: str, exit_code: int) -> Failure:
    envelope = {"code": code, "message": one_line(message), "hint": hint, "position": None}
    return Failure({"error": envelope}, exit_code)


def _usage_hint(error: click.UsageError) -> str:
    if error.ctx is None:
        return "see 'ariel-lite --help'"
    hint = f"see '{error.ctx.command_path} --help'"
    takes_words = any(isinstance(parameter, click.Argument) for parameter in error.ctx.command.params)
    if isinstance(error, click.NoSuchOption) and takes_words:
        return f"{hint}; write -- before words that start with a dash"
    return hint


def _pointed(query: str | None, position: int | None) -> Iterator[Line]:
    """The part of a query around a position, with a caret beneath it."""
    if query is None or position is None or position > len(query):
        return
    start = max(position - SHOWN_BEFORE, 0)
    before = _shown(query[start:position])
    rest = _shown(query[position : position + SHOWN_AFTER])
    lead = "…" if start else ""
    tail = "…" if position + SHOWN_AFTER < len(query) else ""
    yield [Span(f"  {lead}{before}{rest}{tail}")]
    yield [Span(" " * (2 + columns(lead + before)) + "^")]


def _shown(text: str) -> str:
    """A text on one line, character for character."""
    return safe(text.replace("\n", " ").replace("\t", " "))
