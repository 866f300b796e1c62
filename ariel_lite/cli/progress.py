"""A bar on standard error while something long runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn


@contextmanager
def progress(label: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Shows a bar on terminals, nothing elsewhere; call what it gives with how much more is done."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda done: None
        return
    layout = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*layout, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.advance(task, done)
