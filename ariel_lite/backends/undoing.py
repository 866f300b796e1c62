"""Taking back what was begun when it does not come to its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def unless_done(undo: Callable[[], object]) -> Iterator[None]:
    """Calls `undo` when the block inside breaks off, whatever the reason (an error, Ctrl-C), and lets that go on."""
    with ExitStack() as stack:
        stack.callback(undo)
        yield
        stack.pop_all()
