"""Standard input and output as the protocol's wire: UTF-8, one message a line, and nothing else on it.

The descriptors are taken before anything else is imported: from then on descriptor 1 is standard error and descriptor 0
is empty, so that no print, warning, progress bar or native library can write into the protocol or read from it.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from io import UnsupportedOperation


@dataclass(frozen=True)
class Wire:
    """Descriptors of the client's messages and of our answers."""

    incoming: int
    outgoing: int


def take_wire() -> Wire:
    """Take standard input and output away from everybody else.

    Raises:
        OSError: the process has no standard input or output.
    """
    if sys.stdout is not None:
        sys.stdout.flush()
    wire = Wire(os.dup(_descriptor(sys.stdin, 0)), os.dup(_descriptor(sys.stdout, 1)))
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        os.dup2(nothing, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # no standard error either
            os.dup2(nothing, 1)
    finally:
        os.close(nothing)
    return wire


def _descriptor(stream: object, usual: int) -> int:
    try:
        found: int = stream.fileno()  # type: ignore[attr-defined]
    except (AttributeError, ValueError, UnsupportedOperation):
        return usual
    return found
