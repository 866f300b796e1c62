"""Files that commands write: whole or not at all, and never the logbook itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ariel_lite.cli.output import OutputError
from ariel_lite.errors import InvalidRequestError
from ariel_lite.locations import is_device

STANDARD = "-"
"""What stands for standard input or output in place of a file name."""


def refuse_logbook(target: Path, location: str) -> None:
    """Refuse to write over the logbook, or the files that its database keeps beside it.

    Raises:
        InvalidRequestError: `target` is one of those, or a folder.
    """
    if target.is_dir():
        raise InvalidRequestError(f"{target} is a folder", hint="name a file in it")
    if any(_is_same(target, Path(f"{location}{suffix}")) for suffix in ("", "-wal", "-shm", "-journal")):
        raise InvalidRequestError(f"{target} is the logbook itself", hint="name another file")


def refuse_source(target: Path, source: str) -> None:
    """Refuse to write over what is read. Raises InvalidRequestError."""
    if _is_same(target, Path(source)):
        raise InvalidRequestError(f"{target} is the source itself", hint="name another file")


def _is_same(one: Path, other: Path) -> bool:
    """True for two names of one file, also of one that is yet to be made."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)


@contextmanager
def replaced(target: Path) -> Iterator[IO[bytes]]:
    """A file to write; it takes the place of `target` when all of it is written, else nothing changes.

    A device or a pipe is written into.

    Raises:
        OutputError: it cannot be written.
    """
    is_file = not is_device(target)
    draft = target.with_name(f".{target.name}.{os.getpid()}.partial") if is_file else target
    try:
        with draft.open("wb") as handle:
            yield handle
        if is_file:
            os.replace(draft, target)
    except OSError as fault:
        raise OutputError(
            f"cannot write {target}: {fault.strerror}", hint="check its folder, permissions and free space"
        ) from fault
    finally:
        if is_file:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
