"""A third-party adapter that writes: a logbook in a JSON file, whose next failure a test can order."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ariel_lite.config import ARIELConfig

SOURCE = "Shelf Logbook"

ADAPTER = '''
"""A JSON list of records {id, time, author, title, text}; "fault" beside it says how the next calls fail."""
import json
import time
from datetime import UTC, datetime
from pathlib import Path
from ariel_lite.errors import IngestionError
from ariel_lite.ingestion.base import IncomingEntry, SourceFacts

source_system_name = "Shelf Logbook"

class ShelfAdapter:
    source_system_name = source_system_name
    supports_write = True

    def __init__(self, options):
        self._path = Path(options.source)
        self._fault = self._path.with_suffix(".fault")
        self.requires_write_auth = self._path.with_suffix(".auth").exists()
        self.facts = SourceFacts()

    async def fetch_entries(self, since=None, until=None, limit=None):
        if self._failing("unreadable"):
            raise IngestionError("the shelf is locked")
        for number, record in enumerate(json.loads(self._path.read_text("utf-8")), start=1):
            moment = datetime.fromisoformat(record["time"])
            if since is None or moment >= since:
                yield IncomingEntry({
                    "entry_id": record["id"], "source_system": source_system_name, "timestamp": moment,
                    "author": record["author"], "raw_text": record["title"] + "\\n\\n" + record["text"],
                    "attachments": [], "metadata": {"title": record["title"], "shelf": True},
                }, number)
        self.facts.complete = True

    async def count_entries(self):
        return None

    async def create_entry(self, request):
        if self._failing("refuse"):
            raise IngestionError("no room on the shelf", hint="make room")
        records = json.loads(self._path.read_text("utf-8"))
        new = {
            "id": str(1000 + len(records)), "time": datetime.now(UTC).isoformat(), "author": request.author,
            "title": request.subject, "text": request.details, "logbook": request.logbook,
            "shift": request.shift, "tags": list(request.tags), "user": request.auth_user,
        }
        self._path.write_text(json.dumps([*records, new]), "utf-8")
        if self._failing("lose"):
            raise IngestionError("the answer was lost")
        if self._failing("crash"):
            raise RuntimeError("the power went")
        return new["id"]

    def _failing(self, fault):
        return self._fault.exists() and fault in self._fault.read_text("utf-8").split()

def create_adapter(options):
    return ShelfAdapter(options)
'''

ENTRY_POINTS = "[ariel_lite.adapters]\nshelf = shelf_adapter\n"


def install(folder: Path) -> Path:
    """Put the adapter's package into a folder, which then belongs on Python's path; the folder."""
    information = folder / "shelf_adapter-1.0.dist-info"
    information.mkdir(parents=True)
    (folder / "shelf_adapter.py").write_text(ADAPTER, encoding="utf-8")
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: shelf_adapter\nVersion: 1.0\n", encoding="utf-8"
    )
    (information / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    return folder


class Shelf:
    """The source: what is in it, and how it fails next."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "shelf.json"
        self.path.write_text("[]", encoding="utf-8")

    @property
    def records(self) -> list[dict[str, Any]]:
        """What it holds."""
        found: list[dict[str, Any]] = json.loads(self.path.read_text("utf-8"))
        return found

    def fails(self, *faults: str) -> None:
        """Calls fail so from now on: refuse, lose (it arrives, the answer does not), crash, unreadable."""
        self.path.with_suffix(".fault").write_text(" ".join(faults), encoding="utf-8")

    def asks_who_writes(self) -> None:
        """Entries need a user and a password from now on."""
        self.path.with_suffix(".auth").touch()

    def add(self, title: str, text: str) -> str:
        """Somebody else writes an entry there; its id."""
        record = {"id": str(1000 + len(self.records)), "time": datetime.now(UTC).isoformat(), "author": "else"}
        self.path.write_text(json.dumps([*self.records, {**record, "title": title, "text": text}]), encoding="utf-8")
        return record["id"]

    def settings(self, **write: Any) -> dict[str, Any]:
        """The configuration that publishes to it."""
        return {"adapter": "shelf", "source_url": str(self.path), "write": {"enabled": True, **write}}

    def config(self, **write: Any) -> ARIELConfig:
        """The same, read."""
        return ARIELConfig.from_dict({"ingestion": self.settings(**write)})
