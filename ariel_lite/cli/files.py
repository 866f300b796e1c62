"""Files that commands write: whole or not at all, and never the logbook itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ariel_lite.cli.output import OutputError
from ariel_lite.errors import InvalidRequestError

STANDARD = "-"
"""What stands for standard input or output in place of a file name."""


def refuse_logbook(target: Path, location: str) -> None:
    """Refuse to write over the logbook.

    Raises:
        InvalidRequestError: `target` is the logbook, or a folder.
    """
    if target.is_dir():
        raise InvalidRequestError(f"{target} is a folder", hint="name a file in it")
    logbook = Path(location)
    if target.exists() and logbook.exists() and target.samefile(logbook):
        raise InvalidRequestError(f"{target} is the logbook itself", hint="name another file")


@contextmanager
def replaced(target: Path) -> Iterator[IO[bytes]]:
    """A file to write; it takes the place of `target` when all of it is written, else nothing changes.

    Raises:
        OutputError: it cannot be written.
    """
    draft = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with draft.open("wb") as handle:
            yield handle
        os.replace(draft, target)
    except OSError as fault:
        raise OutputError(
            f"cannot write {target}: {fault.strerror}", hint="check its folder, permissions and free space"
        ) from fault
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
