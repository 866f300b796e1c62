"""From an adapter to a logbook: entries in batches of one transaction each, everything else counted and reported."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import Progress, UpsertOutcome, batched
from ariel_lite.errors import ARIELException, IngestionError
from ariel_lite.ingestion.attached import other_name, settle_files
from ariel_lite.ingestion.base import (
    FacilityAdapter,
    IncomingEntry,
    Reject,
    Removal,
    SourceFailure,
    SourceRecord,
    SynchronousReader,
    utc_now,
)
from ariel_lite.ingestion.rejects import RejectsFile, default_rejects_path
from ariel_lite.ingestion.report import REJECTS_SHOWN, IngestReport
from ariel_lite.ingestion.run_history import watermark_of
from ariel_lite.interrupts import InterruptShield
from ariel_lite.records import EnhancedLogbookEntry

BATCH_ENTRIES = 8000
BATCH_CHARACTERS = 8_000_000
"""A batch is written when it holds so many entries or so much text."""

FILE_CHARACTERS = 100_000
"""An attached file counts as so much text: it may have to be fetched and read before its batch is written."""

DELETED_AT_ONCE = 1000


@dataclass(frozen=True)
class _Bounds:
    since: datetime | None
    until: datetime | None
    limit: int | None

    @property
    def partial(self) -> bool:
        return self.since is not None or self.until is not None or self.limit is not None

    def metadata(self) -> dict[str, Any]:
        """What the run log keeps of them."""
        bounds = {"since": self.since, "until": self.until}
        written: dict[str, Any] = {name: moment.isoformat() for name, moment in bounds.items() if moment is not None}
        return written | ({"limited": True} if self.limit is not None else {})


@dataclass
class _Batch:
    items: list[IncomingEntry] = field(default_factory=list)
    removals: dict[str, Removal] = field(default_factory=dict)
    characters: int = 0

    def add(self, item: IncomingEntry) -> bool:
        """True when the batch is full."""
        self.items.append(item)
        self.characters += len(item.entry["raw_text"]) + FILE_CHARACTERS * len(item.files)
        return len(self.items) >= BATCH_ENTRIES or self.characters >= BATCH_CHARACTERS


def ingest(
    backend: Backend,
    adapter: FacilityAdapter,
    *,
    source_label: str,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int | None = None,
    mirror: bool = False,
    strict: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
    rejects_path: str | Path | None = None,
) -> IngestReport:
    """Read a source into a logbook. Must not be called from a thread that runs an event loop.

    Args:
        backend: the logbook.
        adapter: the source.
        source_label: how the run log names the source.
        since, until: only entries with times in this range, bounds included.
        limit: at most so many entries.
        mirror: delete this source system's entries that a completely read source no longer has.
        strict: a rejected record makes the exit code 1 (the others are stored all the same).
        dry_run: only count; nothing is written, except rejects where `rejects_path` is given.
        progress: told how many more entries are done.
        rejects_path: where rejected records go; beside the logbook file when None.

    Raises:
        IngestionError: the source cannot be opened.
        DatabaseConnectionError, DatabaseQueryError: the logbook cannot be written. Batches before stay.
    """
    rejects = RejectsFile(_rejects_path(backend, rejects_path, dry_run=dry_run))
    run = _Run(backend, adapter, rejects, progress or (lambda done: None), dry_run=dry_run, strict=strict)
    _conduct(run, _Bounds(since, until, limit), source_label, mirror=mirror)
    return run.report


def _conduct(run: _Run, bounds: _Bounds, source_label: str, *, mirror: bool) -> None:
    """The whole run; whatever ends it, the run log says how."""
    report, started = run.report, utc_now()
    run.begin(source_label, bounds)
    error: str | None = "it stopped before its end"
    with InterruptShield() as shield, _collector_paused():
        try:
            run.read(bounds, shield)
            if mirror:
                run.mirror(bounds, shield)
            run.conclude()
            error = report.problem
        except KeyboardInterrupt:
            report.interrupted = True
            error = report.problem
        except ARIELException as fault:
            error = fault.message
            raise
        finally:
            run.end(error, watermark_of(report, started, limited=bounds.limit is not None), started)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A run makes millions of objects and no cycles: looking for some takes a tenth of its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Run:
    """One run's state."""

    def __init__(
        self,
        backend: Backend,
        adapter: FacilityAdapter,
        rejects: RejectsFile,
        progress: Progress,
        *,
        dry_run: bool,
        strict: bool,
    ) -> None:
        self.report = IngestReport(adapter.source_system_name, strict=strict, dry_run=dry_run)
        self._backend = backend
        self._adapter = adapter
        self._rejects = rejects
        self._progress = progress
        self._dry_run = dry_run
        self._ids: set[str] = set()
        self._foreign = 0
        self._unnamed_rejects = 0
        self._counted: dict[tuple[str, str], int] = {}
        self._run_id: int | None = None

    def begin(self, source_label: str, bounds: _Bounds) -> None:
        """Open the run's record."""
        if not self._dry_run:
            described = {"source": source_label, **bounds.metadata()}
            self._run_id = self._backend.start_run(self.report.source_system, described)

    def read(self, bounds: _Bounds, shield: InterruptShield) -> None:
        """Store everything that the adapter reads."""
        batch = _Batch()
        for record in _records(self._adapter, bounds):
            if type(record) is IncomingEntry:
                if record.entry["entry_id"] in batch.removals:
                    self._write(batch, shield)
                    batch = _Batch()
                if batch.add(record):
                    self._write(batch, shield)
                    batch = _Batch()
            elif isinstance(record, Reject):
                self._reject(record)
            elif isinstance(record, SourceFailure):
                self.report.failures.append(record)
            elif isinstance(record, Removal):
                batch.removals[record.entry_id] = record
        self._write(batch, shield)
        self.report.skipped = self._adapter.facts.skipped

    def mirror(self, bounds: _Bounds, shield: InterruptShield) -> None:
        """Delete what the source no longer has, if it was read as a whole."""
        obstacle = self._mirror_obstacle(bounds)
        if obstacle:
            self.report.note(f"nothing was deleted by mirroring: {obstacle}")
            return
        name = self._adapter.source_system_name
        gone = [known for known in self._backend.entry_ids(name) if not self._is_kept(known)]
        for part in batched(gone, DELETED_AT_ONCE):
            with shield.writing():
                self.report.removed += len(part) if self._dry_run else self._backend.delete(part)
        if self._foreign:
            self.report.note(
                f"{self._foreign} records name another source system; mirroring leaves those systems alone"
            )

    def conclude(self) -> None:
        """Remarks on the whole."""
        report, facts = self.report, self._adapter.facts
        for note in facts.notes:
            report.note(note)
        if facts.repaired_bytes:
            report.note(f"{facts.repaired_bytes} bytes are no UTF-8 and were read as Windows-1252 (Latin-1)")
        if report.skipped:
            report.note(f"{report.skipped} entries are outside the time range")
        elif not (report.valid or report.rejected or report.failures or report.removed):
            report.note("the source holds no entries")

    def end(self, error: str | None, watermark: datetime | None, started: datetime) -> None:
        """Put the rejects file in place and close the run's record."""
        report = self.report
        try:
            report.rejects_file = self._rejects.publish()
        finally:
            if self._run_id is not None:
                self._backend.finish_run(
                    self._run_id,
                    added=report.added,
                    updated=report.updated,
                    failed=report.rejected,
                    error=error,
                    metadata=report.run_metadata(self._adapter.facts, watermark, started),
                )

    def _reject(self, reject: Reject) -> None:
        self.report.rejected += 1
        if len(self.report.first_rejects) < REJECTS_SHOWN:
            self.report.first_rejects.append(reject)
        if reject.entry_id is None:
            self._unnamed_rejects += 1
        else:
            self._ids.add(reject.entry_id)
        self._rejects.add(reject)

    def _write(self, batch: _Batch, shield: InterruptShield) -> None:
        settle_files(self._backend, batch.items, load=not self._dry_run)
        with shield.writing():
            if batch.items:
                self._store(batch.items)
            if batch.removals:
                self._remove_marked(batch.removals.values())
        self._progress(len(batch.items))

    def _store(self, items: list[IncomingEntry]) -> None:
        if self._dry_run:
            outcome = self._counted_only(items)
        else:
            with self._backend.transaction():
                outcome = self._backend.upsert([item.entry for item in items])
                self._store_files(items, outcome)
        self._account(items, outcome)

    def _account(self, items: list[IncomingEntry], outcome: UpsertOutcome) -> None:
        report = self.report
        report.count(outcome)
        entries = [item.entry for item in items]
        newest = max(entry["timestamp"] for entry in entries)
        report.newest = newest if report.newest is None else max(report.newest, newest)
        name = self._adapter.source_system_name
        self._foreign += sum(entry["source_system"] != name for entry in entries)
        self._ids.update(entry["entry_id"] for entry in entries)
        report.cleaned += sum(item.cleaned for item in items)
        for item in items:
            for note in item.notes:
                report.note(f"{_place(item)}: {note}")

    def _counted_only(self, items: list[IncomingEntry]) -> UpsertOutcome:
        """A dry run forgets each batch, so entries that come again later are compared here."""
        outcome = UpsertOutcome()
        fresh: list[IncomingEntry] = []
        contents: dict[tuple[str, str], int] = {}
        for item in items:
            content = hash(repr(sorted(item.entry.items())))
            known = self._counted.get(_key(item))
            if known is None:
                fresh.append(item)
                contents[_key(item)] = content
            elif known == content:
                outcome.unchanged += 1
            else:
                outcome.updated.append(item.entry["entry_id"])
                self._counted[_key(item)] = content
        outcome.add(self._backend.upsert([item.entry for item in fresh], dry_run=True))
        self._counted.update(contents)
        return outcome

    def _store_files(self, items: list[IncomingEntry], outcome: UpsertOutcome) -> None:
        """Store the files of entries, in the entries' transaction."""
        for item in items:
            if not item.files:
                continue
            entry_id = item.entry["entry_id"]
            if outcome.renamed.get(entry_id) == other_name(item.entry):
                entry_id = outcome.renamed[entry_id]
            stored = {file.attachment_id for file in self._backend.attachments_of(entry_id)}
            for file in item.files:
                if file.attachment_id in stored:
                    continue
                try:
                    data = file.load()
                except OSError as fault:
                    self.report.note(f"{_place(item)}: attachment {file.filename} cannot be read ({fault.strerror})")
                    continue
                self._backend.store_attachment(entry_id, file.attachment_id, file.filename, file.mime_type, data)

    def _remove_marked(self, removals: Iterable[Removal]) -> None:
        """Delete what the source marks as deleted, under the ids it is stored by; another source's entries stay."""
        owners = {
            stored: removal.source_system
            for removal in removals
            for stored in (removal.entry_id, f"{removal.source_system}:{removal.entry_id}")
        }
        self._ids.difference_update(owners)
        found = self._backend.get_entries(list(owners))
        gone = [entry["entry_id"] for entry in found if entry["source_system"] == owners[entry["entry_id"]]]
        if gone:
            self.report.removed += len(gone) if self._dry_run else self._backend.delete(gone)

    def _mirror_obstacle(self, bounds: _Bounds) -> str | None:
        report = self.report
        if report.failures or not self._adapter.facts.complete:
            return "a part of the source could not be read"
        if bounds.partial:
            return "only a part of the source was asked for"
        if self._unnamed_rejects:
            return f"{self._unnamed_rejects} rejected records have no readable id"
        if not report.valid and not report.removed:
            return "the source holds no valid entries"
        return None

    def _is_kept(self, known: str) -> bool:
        prefix = f"{self._adapter.source_system_name}:"
        return known in self._ids or (known.startswith(prefix) and known.removeprefix(prefix) in self._ids)


def _records(adapter: FacilityAdapter, bounds: _Bounds) -> Iterator[SourceRecord]:
    """What the adapter reads; when it gives up in the middle, that is a failure of the rest."""
    seen = False
    try:
        for record in _source(adapter, bounds):
            seen = True
            yield record
    except IngestionError as fault:
        if not seen:
            raise
        yield SourceFailure("the rest of the source", fault.message)


def _source(adapter: FacilityAdapter, bounds: _Bounds) -> Iterator[SourceRecord]:
    if isinstance(adapter, SynchronousReader):
        return adapter.read(bounds.since, bounds.until, bounds.limit)
    return _drained(adapter.fetch_entries(bounds.since, bounds.until, bounds.limit))


def _drained(stream: AsyncIterator[Any]) -> Iterator[SourceRecord]:
    """An asynchronous source, item by item. Plain entries, as ARIEL's own adapters give them, are taken too."""
    number = 0
    with asyncio.Runner() as runner:
        while (item := runner.run(_next(stream))) is not None:
            number += 1
            yield IncomingEntry(cast(EnhancedLogbookEntry, item), number) if isinstance(item, dict) else item


async def _next(stream: AsyncIterator[Any]) -> Any:
    return await anext(stream, None)


def _rejects_path(backend: Backend, wanted: str | Path | None, *, dry_run: bool) -> Path | None:
    if wanted is not None:
        return Path(wanted)
    return None if dry_run else default_rejects_path(backend.location)


def _place(item: IncomingEntry) -> str:
    return f"line {item.locator}" if isinstance(item.locator, int) else item.locator


def _key(item: IncomingEntry) -> tuple[str, str]:
    return item.entry["source_system"], item.entry["entry_id"]
