"""A real logbook file, and one call that ingests a source into it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from ariel_lite.backends.sqlite.backend import SQLiteBackend
from ariel_lite.ingestion.base import AdapterOptions
from ariel_lite.ingestion.pipeline import ingest
from ariel_lite.ingestion.report import IngestReport
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.registry import ADAPTERS, Registry


@dataclass
class Bench:
    """A folder with a logbook in it."""

    folder: Path
    backend: SQLiteBackend

    def write(self, name: str, content: Any) -> Path:
        """A source file: bytes and texts as they are, lists as JSON Lines, other values as JSON."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            content = "\n".join(item if isinstance(item, str) else json.dumps(item) for item in content)
        elif not isinstance(content, str | bytes):
            content = json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    def ingest(
        self, content: Any, adapter: str = "generic_json", name: str = "source.jsonl", *, zone: str = "UTC",
        date_format: str | None = None, **options: Any,
    ) -> IngestReport:  # fmt: skip
        """Write a source (or take a path) and read it."""
        path = content if isinstance(content, Path) else self.write(name, content)
        options_of_source = AdapterOptions(str(path), zone=ZoneInfo(zone), date_format=date_format)
        made = Registry().load(ADAPTERS, adapter).create_adapter(options_of_source)
        return ingest(self.backend, made, source_label=path.name, **options)

    def entry(self, entry_id: str) -> EnhancedLogbookEntry:
        """A stored entry."""
        found = self.backend.get_entries([entry_id])
        assert found, f"{entry_id} is not stored"
        return found[0]

    def ids(self) -> list[str]:
        """Ids of all stored entries."""
        return sorted(self.backend.entry_ids())

    def rejects(self) -> list[dict[str, Any]]:
        """The rejects file's lines."""
        path = self.folder / "logbook.db.rejects.jsonl"
        return [json.loads(line) for line in path.read_text("ascii").splitlines()]
