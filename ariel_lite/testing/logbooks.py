"""Logbooks for tests: quick to make, the same in every run."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from ariel_lite.bundled import sample_logbook
from ariel_lite.compose import Logbook, open_backend
from ariel_lite.config import ARIELConfig
from ariel_lite.enhancement.text_embedding import create_enhancer
from ariel_lite.ingestion.authoring import completed_entry
from ariel_lite.ingestion.base import AdapterOptions
from ariel_lite.ingestion.pipeline import ingest
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.registry import ADAPTERS, Registry
from ariel_lite.search.base import SearchContext
from ariel_lite.service import ARIELSearchService

PRESENT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
"""A few days after the sample's last entry."""

SAMPLE_ADAPTER = "generic_json"
SOURCE = "Test"
Brief = str | tuple[str, str] | Mapping[str, Any]
"""An entry as text alone, as (id, text), or as a mapping for `Logbook.add`."""


class Clock:
    """A clock that stands still until it is moved; `now` is the aware present moment."""

    def __init__(self, now: datetime = PRESENT) -> None:
        self.now = now

    def read(self) -> datetime:
        """The present moment."""
        return self.now

    def move(self, **duration: float) -> datetime:
        """Let time pass, as in `move(hours=3)`; the new present. Negative durations go back."""
        self.now += timedelta(**duration)
        return self.now


class Folders(Protocol):
    """Gives new folders, as pytest's tmp_path_factory does."""

    def mktemp(self, basename: str) -> Path:
        """A new folder."""


class TestLogbooks:
    """The logbooks of one test."""

    __test__ = False

    def __init__(self, config: ARIELConfig, clock: Clock, folders: Folders) -> None:
        self._config = config
        self._clock = clock
        self._folders = folders
        self._registry = Registry()
        self._open: list[Logbook] = []

    def make(self, entries: Iterable[Brief] = (), *, embed: bool = False, location: str = "") -> Logbook:
        """A new logbook with entries (see `completed`); `embed` makes their vectors."""
        book = self._opened(location or str(self._new_file()), create=True)
        backend = book.service.backend
        backend.upsert(completed(entries, self._config, self._clock.now))
        if embed:
            create_enhancer(self._config, self._registry).run(backend)
        return book

    def copy(self, path: Path) -> Logbook:
        """A copy of a logbook file that nobody has open."""
        return self._opened(str(shutil.copy(path, self._new_file())))

    def close(self) -> None:
        """Close them all."""
        while self._open:
            self._open.pop().close()

    def _new_file(self) -> Path:
        return self._folders.mktemp("ariel-logbook") / "logbook.db"

    def _opened(self, location: str, *, create: bool = False) -> Logbook:
        backend = open_backend(location, self._config, self._registry, create=create)
        service = ARIELSearchService(self._config, backend, self._registry)
        service.context = SearchContext(backend, self._config, self._registry, self._clock.read)
        self._open.append(Logbook(service))
        return self._open[-1]


def quick_config() -> ARIELConfig:
    """Settings with vectors by hashing, which need no model."""
    return ARIELConfig.from_dict({"embedding": {"provider": "hashing", "model": "hashing"}})


def completed(entries: Iterable[Brief], config: ARIELConfig, now: datetime) -> list[EnhancedLogbookEntry]:
    """Entries with what they leave out: ids E1, E2, …; times a minute apart, the last a minute before `now`.

    Raises:
        InvalidRequestError: an entry without text, or a time that cannot be read.
    """
    given = list(entries)
    made: list[EnhancedLogbookEntry] = []
    for place, brief in enumerate(given):
        defaults = {
            "entry_id": f"E{place + 1}",
            "timestamp": now - timedelta(minutes=len(given) - place),
            "source_system": SOURCE,
        }
        entry = completed_entry({**defaults, **_mapping(brief)}, config.zone)
        entry["created_at"] = entry["updated_at"] = now
        made.append(entry)
    return made


def make_sample(path: Path) -> None:
    """Make a logbook file of the bundled sample, with its vectors."""
    config, registry = quick_config(), Registry()
    backend = open_backend(str(path), config, registry, create=True)
    options = AdapterOptions(str(sample_logbook()), zone=config.zone)
    adapter = registry.load(ADAPTERS, SAMPLE_ADAPTER).create_adapter(options)
    ingest(backend, adapter, source_label="sample", rejects_path=path.with_name("rejects.jsonl"))
    create_enhancer(config, registry).run(backend)
    backend.close()


def _mapping(brief: Brief) -> Mapping[str, Any]:
    if isinstance(brief, str):
        return {"raw_text": brief}
    return {"entry_id": brief[0], "raw_text": brief[1]} if isinstance(brief, tuple) else brief
