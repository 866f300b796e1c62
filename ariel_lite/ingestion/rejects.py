"""The file of rejected records: a JSON object a line with line, reason and raw text.

It appears whole or not at all; a device or a pipe in its place is written into.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from ariel_lite.errors import IngestionError
from ariel_lite.ingestion.base import Reject
from ariel_lite.locations import is_device


class RejectsFile:
    """Collects rejected records beside `path` and puts them there on `publish`; without any, nothing is written."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        # A draft of its own: several programs may read sources into one logbook at once.
        self._draft = path.with_name(f"{path.name}.{os.getpid()}.part") if path and not is_device(path) else path
        self._handle: TextIO | None = None

    def add(self, reject: Reject) -> None:
        """Keep a record. Raises IngestionError when the file cannot be written."""
        if self._draft is None:
            return
        line = {"line": reject.locator, "reason": reject.reason, "raw": reject.raw}
        if reject.entry_id is not None:
            line["entry_id"] = reject.entry_id
        try:
            if self._handle is None:
                self._handle = self._draft.open("w", encoding="ascii", newline="\n")
            self._handle.write(json.dumps(line) + "\n")
        except OSError as fault:
            raise self._unwritable(fault) from fault

    def publish(self) -> str | None:
        """Put the collected records in place; the file's path, None when there are none."""
        handle, self._handle = self._handle, None
        if handle is None or self.path is None or self._draft is None:
            return None
        try:
            handle.close()
            if self._draft != self.path:
                os.replace(self._draft, self.path)
        except OSError as fault:
            self._discard()
            raise self._unwritable(fault) from fault
        return str(self.path)

    def _discard(self) -> None:
        if self._draft is not None and self._draft != self.path:
            with suppress(OSError):
                self._draft.unlink(missing_ok=True)

    def _unwritable(self, fault: OSError) -> IngestionError:
        return IngestionError(
            f"cannot write the rejected records to {self.path}: {fault.strerror}", hint="check the folder"
        )


def default_rejects_path(location: str) -> Path:
    """`<database name>.rejects.jsonl` beside a logbook file; in the current folder for a database server."""
    if "://" in location:
        return Path("ariel-lite.rejects.jsonl")
    path = Path(location)
    return path.with_name(f"{path.name}.rejects.jsonl")
