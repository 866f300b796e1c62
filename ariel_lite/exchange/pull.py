"""From a server's logbook into a file: entries, their vectors, their files; only what is new, and safe to interrupt.

Entries come in the order of the server's `updated_at`, a transaction a batch. How far a pull came is noted in the file
after its last batch, also when it was interrupted; the next one starts there, less an overlap, because a transaction
of another program may become visible later than its time says. Entries that come again are found unchanged.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import PendingText, Progress, StoredCounts, VectorModel, batched
from ariel_lite.errors import ARIELException
from ariel_lite.ingestion.authoring import LOCAL_SOURCES
from ariel_lite.interrupts import InterruptShield
from ariel_lite.query.nodes import BoundNode, Everything, FieldLeaf, conjunction
from ariel_lite.records import EnhancedLogbookEntry

BATCH = 1000
VECTOR_BATCH = 500
OVERLAP = timedelta(hours=1)
RUNS_LOOKED_AT = 200


@dataclass(frozen=True)
class PullOptions:
    """What to take along.

    Attributes:
        tree: which entries.
        scope: the tree's filters in words, "" for all; a pull goes on where the last one of the same scope ended.
        full: look at every entry, also those that were not changed since the last pull.
        vectors_of: the model whose vectors come along; None for none.
        files: attached files come along.
        mirror: entries that the server does not hold any more are removed here.
    """

    tree: BoundNode = field(default_factory=Everything)
    scope: str = ""
    full: bool = False
    vectors_of: VectorModel | None = None
    files: bool = False
    mirror: bool = False


@dataclass
class PullReport(StoredCounts):
    """What a pull did. `watermark` is the server's time up to which everything is here."""

    server: str
    removed: int = 0
    vectors: int = 0
    files: int = 0
    since: datetime | None = None
    watermark: datetime | None = None
    interrupted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The report as a JSON document."""
        return {
            "server": self.server,
            "added": self.added,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "removed": self.removed,
            "vectors": self.vectors,
            "files": self.files,
            "renamed": self.renamed,
            "since": self.since.isoformat() if self.since else None,
            "watermark": self.watermark.isoformat() if self.watermark else None,
            "interrupted": self.interrupted,
        }


def pull(
    server: Backend,
    logbook: Backend,
    options: PullOptions,
    *,
    name: str,
    progress: Callable[[str], Progress] = lambda part: lambda done: None,
) -> PullReport:
    """Take along what `options` asks for. What is here already and was not changed is left as it is.

    Args:
        server: where entries come from; it is only read.
        logbook: where they go.
        options: see PullOptions.
        name: the server as it may be shown and noted: without credentials.
        progress: gives, for a part of the work ("entries", "vectors", "files"), what is told how much more is done.

    Raises:
        DatabaseConnectionError, DatabaseQueryError: one of the two failed. Batches before stay, and the next pull goes
            on after them.
    """
    run = _Pull(server, logbook, options, PullReport(name))
    error: str | None = "it stopped before its end"
    run_id = logbook.start_run(run.source, {"scope": options.scope})
    with InterruptShield() as shield:
        try:
            run.take_entries(shield, progress("entries"))
            if options.mirror:
                run.remove_absent(shield)
            if options.vectors_of is not None:
                run.take_vectors(options.vectors_of, shield, progress("vectors"))
            if options.files:
                run.take_files(shield, progress("files"))
            error = None
        except KeyboardInterrupt:
            run.report.interrupted = True
        except ARIELException as fault:
            error = fault.message
            raise
        finally:
            run.finish(run_id, error)
    return run.report


class _Pull:
    """One pull's state."""

    def __init__(self, server: Backend, logbook: Backend, options: PullOptions, report: PullReport) -> None:
        self._server = server
        self._logbook = logbook
        self._options = options
        self.report = report
        self.source = f"pull {report.server}"
        report.watermark = None if options.full else self._last_watermark()
        report.since = report.watermark - OVERLAP if report.watermark else None

    def take_entries(self, shield: InterruptShield, progress: Progress) -> None:
        """Entries that were changed since the last pull."""
        changed = self._server.iterate_changed(self._options.tree, self.report.since)
        for batch in batched(changed, BATCH):
            with shield.writing():
                self.report.count(self._logbook.upsert(batch))
                self.report.watermark = max(filter(None, (self.report.watermark, batch[-1]["updated_at"])))
            progress(len(batch))

    def remove_absent(self, shield: InterruptShield) -> None:
        """Forget what came from the server and is not there any more; what was written here stays."""
        known = set(self._server.entry_ids())
        sources = {name for name, _ in self._server.field_counts("source", limit=10_000)} - set(LOCAL_SOURCES)
        gone = [entry_id for source in sorted(sources) for entry_id in self._logbook.entry_ids(source)]
        for part in batched((entry_id for entry_id in gone if self._is_absent(entry_id, known)), BATCH):
            with shield.writing():
                self.report.removed += self._logbook.delete(part)

    def take_vectors(self, model: VectorModel, shield: InterruptShield, progress: Progress) -> None:
        """Vectors that the server has of entries which have none here."""
        worker = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            while waiting := self._logbook.claim_pending(model, worker, VECTOR_BATCH):
                with shield.writing():
                    self._store_vectors(model, waiting)
                progress(len(waiting))
        finally:
            self._logbook.release_claims(worker)
        if self.report.vectors:
            self._logbook.seal_vectors(model)

    def take_files(self, shield: InterruptShield, progress: Progress) -> None:
        """Attached files that are not here yet."""
        tree = conjunction([self._options.tree, FieldLeaf("has", "attachment", text="attachment")])
        for entry in self._server.iterate_entries(tree):
            with shield.writing():
                self._store_files(entry)
            progress(1)

    def finish(self, run_id: int, error: str | None) -> None:
        """Note how far the pull came."""
        report = self.report
        mark = report.watermark.isoformat() if report.watermark else None
        self._logbook.finish_run(
            run_id,
            added=report.added,
            updated=report.updated,
            failed=0,
            error="interrupted" if report.interrupted else error,
            metadata={"pulled_until": mark, "scope": self._options.scope},
        )

    def _last_watermark(self) -> datetime | None:
        for run in self._logbook.runs(self.source, RUNS_LOOKED_AT):
            mark = run.metadata.get("pulled_until")
            if isinstance(mark, str) and run.metadata.get("scope") == self._options.scope:
                return datetime.fromisoformat(mark)
        return None

    def _is_absent(self, entry_id: str, known: set[str]) -> bool:
        """An entry may be here under its source's name, when another source has its id."""
        return entry_id not in known and entry_id.partition(":")[2] not in known

    def _store_vectors(self, model: VectorModel, waiting: list[PendingText]) -> None:
        vectors = self._server.stored_vectors(model, [pending.entry_id for pending in waiting])
        if vectors:
            self.report.vectors += self._logbook.store_vectors(model, vectors)

    def _store_files(self, entry: EnhancedLogbookEntry) -> None:
        entry_id = self._stored_id(entry)
        if entry_id is None:
            return
        here = {file.attachment_id for file in self._logbook.attachments_of(entry_id)}
        for described in self._server.attachments_of(entry["entry_id"]):
            file = None if described.attachment_id in here else self._server.get_attachment(described.attachment_id)
            if file is not None and file.data is not None:
                self._logbook.store_attachment(entry_id, file.attachment_id, file.filename, file.mime_type, file.data)
                self.report.files += 1

    def _stored_id(self, entry: EnhancedLogbookEntry) -> str | None:
        """The id that a server's entry has here."""
        names = (entry["entry_id"], f"{entry['source_system']}:{entry['entry_id']}")
        found: Iterator[EnhancedLogbookEntry] = iter(self._logbook.get_entries(names))
        return next((known["entry_id"] for known in found if known["source_system"] == entry["source_system"]), None)
