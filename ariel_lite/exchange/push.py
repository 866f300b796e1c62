"""From a file to a server's logbook: the entries that were written here, with their files. Nothing is overwritten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import Progress, batched
from ariel_lite.ingestion.authoring import LOCAL_SOURCES
from ariel_lite.interrupts import InterruptShield
from ariel_lite.query.bind import fold_value
from ariel_lite.query.nodes import AnyOf, FieldLeaf
from ariel_lite.records import EnhancedLogbookEntry

BATCH = 100
COMPARED = ("source_system", "timestamp", "author", "raw_text", "metadata", "attachments")


@dataclass(frozen=True)
class Conflict:
    """An entry that the server holds with another content and keeps; `fields` are those that differ."""

    entry_id: str
    fields: tuple[str, ...]


@dataclass
class PushReport:
    """What a push did: ids of the entries sent, how many the server had already, and what it has differently."""

    server: str
    sent: list[str] = field(default_factory=list)
    known: int = 0
    files: int = 0
    conflicts: list[Conflict] = field(default_factory=list)
    dry_run: bool = False
    interrupted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The report as a JSON document."""
        return {
            "server": self.server,
            "sent": self.sent,
            "known": self.known,
            "files": self.files,
            "conflicts": [{"entry_id": one.entry_id, "fields": list(one.fields)} for one in self.conflicts],
            "dry_run": self.dry_run,
            "interrupted": self.interrupted,
        }


class _TakenMeanwhile(Exception):
    """Another program wrote one of a batch's ids between the look and the write; the batch was rolled back."""


def push(
    logbook: Backend,
    server: Backend,
    *,
    name: str,
    dry_run: bool = False,
    progress: Progress = lambda done: None,
) -> PushReport:
    """Send entries of the local source systems that the server does not hold; an entry and its files in one go.

    Args:
        logbook: where the entries were written.
        server: where they go.
        name: the server as it may be shown: without credentials.
        dry_run: only compare.
        progress: told how many more entries are done.

    Raises:
        DatabaseConnectionError, DatabaseQueryError: one of the two failed. What was sent before stays; a push that is
            run again sends the rest.
    """
    report = PushReport(name, dry_run=dry_run)
    tree = AnyOf(tuple(FieldLeaf("source", fold_value(source), text=source) for source in LOCAL_SOURCES))
    written_here = (entry for entry in logbook.iterate_entries(tree) if entry["source_system"] in LOCAL_SOURCES)
    with InterruptShield() as shield:
        try:
            for batch in batched(written_here, BATCH):
                with shield.writing():
                    _send(logbook, server, batch, report)
                progress(len(batch))
        except KeyboardInterrupt:
            report.interrupted = True
    return report


def _send(logbook: Backend, server: Backend, batch: Sequence[EnhancedLogbookEntry], report: PushReport) -> None:
    missing = _missing(server, batch, report)
    if report.dry_run:
        report.sent += [entry["entry_id"] for entry in missing]
        report.files += sum(len(logbook.attachments_of(entry["entry_id"])) for entry in missing)
        return
    try:
        _store(logbook, server, missing, report)
    except _TakenMeanwhile:
        for entry in missing:
            again = _missing(server, [entry], report)
            _store(logbook, server, again, report)


def _missing(server: Backend, batch: Sequence[EnhancedLogbookEntry], report: PushReport) -> list[EnhancedLogbookEntry]:
    """The entries that the server does not hold; the others are counted."""
    there = {entry["entry_id"]: entry for entry in server.get_entries([entry["entry_id"] for entry in batch])}
    for entry in batch:
        other = there.get(entry["entry_id"])
        if other is None:
            continue
        differing = tuple(key for key in COMPARED if entry[key] != other[key])  # type: ignore[literal-required]
        if differing:
            report.conflicts.append(Conflict(entry["entry_id"], differing))
        else:
            report.known += 1
    return [entry for entry in batch if entry["entry_id"] not in there]


def _store(logbook: Backend, server: Backend, entries: Sequence[EnhancedLogbookEntry], report: PushReport) -> None:
    """Write entries and their files in one transaction that only ever adds.

    Raises:
        _TakenMeanwhile: an id is taken by now; nothing was written.
    """
    files = 0
    if not entries:
        return
    with server.transaction():
        outcome = server.upsert(entries)
        if len(outcome.added) != len(entries) or outcome.renamed:
            raise _TakenMeanwhile
        for entry in entries:
            for described in logbook.attachments_of(entry["entry_id"]):
                file = logbook.get_attachment(described.attachment_id)
                if file is not None and file.data is not None:
                    server.store_attachment(
                        entry["entry_id"], file.attachment_id, file.filename, file.mime_type, file.data
                    )
                    files += 1
    report.sent += outcome.added
    report.files += files
