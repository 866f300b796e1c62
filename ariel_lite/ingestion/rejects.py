"""The file of rejected records: a JSON object a line with line, reason and raw text. It appears whole or not at all."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from ariel_lite.errors import IngestionError
from ariel_lite.ingestion.base import Reject


class RejectsFile:
    """Collects rejected records beside `path` and puts them there on `publish`; without any, nothing is written."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._handle: TextIO | None = None

    def add(self, reject: Reject) -> None:
        """Keep a record. Raises IngestionError when the file cannot be written."""
        if self.path is None:
            return
        line = {"line": reject.locator, "reason": reject.reason, "raw": reject.raw}
        if reject.entry_id is not None:
            line["entry_id"] = reject.entry_id
        try:
            if self._handle is None:
                self._handle = self._part().open("w", encoding="ascii", newline="\n")
            self._handle.write(json.dumps(line) + "\n")
        except OSError as fault:
            raise self._unwritable(fault) from fault

    def publish(self) -> str | None:
        """Put the collected records in place; the file's path, None when there are none."""
        handle, self._handle = self._handle, None
        if handle is None or self.path is None:
            return None
        try:
            handle.close()
            os.replace(self._part(), self.path)
        except OSError as fault:
            with suppress(OSError):
                self._part().unlink(missing_ok=True)
            raise self._unwritable(fault) from fault
        return str(self.path)

    def _part(self) -> Path:
        assert self.path is not None
        return self.path.with_name(f"{self.path.name}.part")

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
