"""What an ingestion run did, for people, programs and the run log."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ariel_lite.backends.values import StoredCounts
from ariel_lite.ingestion.base import Reject, SourceFacts, SourceFailure

NOTES_KEPT = 100
REJECTS_SHOWN = 20


@dataclass
class IngestReport(StoredCounts):
    """The counts of a run; every record read is in exactly one of added, updated, unchanged, rejected and skipped.

    Attributes:
        source_system: the adapter's source system.
        added, updated, unchanged: entries stored, changed, found as they were.
        rejected: records that are no entries.
        cleaned: entries in which control characters or impossible numbers were replaced.
        renamed: ids that another source system owns -> ids they are stored under.
        rejects_file: where the rejected records are, None without any.
        removed: entries deleted because the source no longer has them, or marks them as deleted.
        skipped: entries outside the time range.
        failures: parts of the source that could not be read.
        notes: things to know, at most NOTES_KEPT, and how many more there were.
        first_rejects: the first REJECTS_SHOWN rejected records.
        interrupted: Ctrl-C came; what was stored stays, and the same command goes on from there.
    """

    source_system: str
    rejected: int = 0
    cleaned: int = 0
    rejects_file: str | None = None
    removed: int = 0
    skipped: int = 0
    failures: list[SourceFailure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    more_notes: int = 0
    first_rejects: list[Reject] = field(default_factory=list)
    interrupted: bool = False
    strict: bool = False
    dry_run: bool = False
    newest: datetime | None = None

    @property
    def valid(self) -> int:
        """Records that are entries, stored or outside the time range."""
        return self.added + self.updated + self.unchanged + self.skipped

    @property
    def exit_code(self) -> int:
        """0; 1 when a part could not be read, nothing valid was among what was read, or `strict` and a reject."""
        return 1 if self.problem or (self.strict and self.rejected) else 0

    @property
    def problem(self) -> str | None:
        """Why the run did not fully succeed, in one line."""
        if self.interrupted:
            return "interrupted; run the same command again to go on"
        if self.failures:
            first = self.failures[0]
            more = f" (and {len(self.failures) - 1} more)" if len(self.failures) > 1 else ""
            return f"a part of the source could not be read: {first.window}, {first.reason}{more}"
        if self.rejected and not self.valid and not self.removed:
            return f"nothing valid was read: {self.rejected} of {self.rejected} records were rejected"
        return None

    @property
    def hint(self) -> str:
        """What to do about `problem`."""
        if self.interrupted or not self.problem:
            return ""
        if self.failures:
            return "what could be read is stored; the next run tries the rest again"
        return "is this the right --adapter? the reasons tell what was expected"

    def note(self, text: str) -> None:
        """Keep a remark."""
        if len(self.notes) < NOTES_KEPT:
            self.notes.append(text)
        else:
            self.more_notes += 1

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape of `ingest --json`."""
        return {
            "source_system": self.source_system,
            "added": self.added,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "rejected": self.rejected,
            "rejects_file": self.rejects_file,
            "removed": self.removed,
            "skipped": self.skipped,
            "cleaned": self.cleaned,
            "renamed": self.renamed,
            "failures": [failure_dict(failure) for failure in self.failures],
            "notes": self.notes + ([f"and {self.more_notes} more remarks"] if self.more_notes else []),
            "rejects": [{"line": r.locator, "reason": r.reason} for r in self.first_rejects],
            "interrupted": self.interrupted,
            "dry_run": self.dry_run,
        }

    def run_metadata(self, facts: SourceFacts, watermark: datetime | None, started: datetime) -> dict[str, Any]:
        """What the run log keeps of a run that began at `started`."""
        newest = min(self.newest, started) if self.newest else None
        return {
            "encoding": facts.encoding or None,
            "repaired_bytes": facts.repaired_bytes or None,
            "rejected": self.rejected,
            "cleaned": self.cleaned,
            "removed": self.removed,
            "skipped": self.skipped,
            "failures": [failure_dict(failure) for failure in self.failures],
            "rejects_file": self.rejects_file,
            "watermark": watermark.isoformat() if watermark else None,
            "newest": newest.isoformat() if newest else None,
            "interrupted": self.interrupted,
        }


def failure_dict(failure: SourceFailure) -> dict[str, Any]:
    """The JSON shape of a failure."""
    since = failure.since.isoformat() if failure.since else None
    return {"window": failure.window, "reason": failure.reason, "since": since}
