"""What earlier runs say to the next one: where to start, and what is still missing.

A run's watermark is the newest entry time it has seen, never later than its own start (a clock that runs ahead at the
source must not hide what comes next) and never beyond a part that it could not read. Runs that were interrupted or
bounded by a limit have none. A run that began behind an earlier watermark left a gap and moves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from ariel_lite.backends.values import IngestionRun
from ariel_lite.ingestion.report import IngestReport


def watermark_of(report: IngestReport, started: datetime, *, limited: bool) -> datetime | None:
    """The watermark of a run that began at `started`."""
    if report.interrupted or limited or report.newest is None:
        return None
    if any(failure.since is None for failure in report.failures):
        return None
    bounds = [failure.since for failure in report.failures if failure.since is not None]
    return min([report.newest, started, *bounds])


def incremental_since(runs: Iterable[IngestionRun], overlap_seconds: float) -> datetime | None:
    """The entry time to read from; None means from the beginning.

    That is the latest watermark less the overlap, and what an earlier run could not read.

    Args:
        runs: earlier runs of this source, newest first.
        overlap_seconds: how late an entry or an edit may appear at the source and still be found.
    """
    mark: datetime | None = None
    start: datetime | None = None
    for run in reversed(list(runs)):
        own, since = _moment(run.metadata.get("watermark")), _moment(run.metadata.get("since"))
        if own is None or (mark is not None and since is not None and since > mark):
            continue
        mark = own
        newest = _moment(run.metadata.get("newest")) or own
        start = min(own, newest - timedelta(seconds=overlap_seconds))
    return start


def open_problems(runs: Iterable[IngestionRun]) -> list[dict[str, Any]]:
    """What no finished run of a source system could read so far, and what the latest one had to reject.

    A part of a source stays a problem until a later run has read it.

    Args:
        runs: runs, newest first.

    Returns one {source_system, run_id, error, failures, rejected, rejects_file} for each source that has a problem.
    """
    by_source: dict[str, list[IngestionRun]] = {}
    for run in runs:
        if run.status != "running":
            by_source.setdefault(run.source_system, []).append(run)
    problems: list[dict[str, Any]] = []
    for source_system, finished in by_source.items():
        latest, failures = finished[0], _open_failures(reversed(finished))
        rejected = latest.metadata.get("rejected") or 0
        if failures or rejected or latest.error_message:
            problems.append(
                {
                    "source_system": source_system,
                    "run_id": latest.run_id,
                    "error": latest.error_message,
                    "failures": failures,
                    "rejected": rejected,
                    "rejects_file": latest.metadata.get("rejects_file"),
                }
            )
    return problems


def _open_failures(runs: Iterable[IngestionRun]) -> list[Mapping[str, Any]]:
    """The failures that no later run (they come oldest first) has made good."""
    missing: list[Mapping[str, Any]] = []
    for run in runs:
        own = run.metadata.get("failures") or []
        missing = [failure for failure in missing if failure not in own and not _reached(run, failure)] + own
    return missing


def _reached(run: IngestionRun, failure: Mapping[str, Any]) -> bool:
    """True when a run has tried again what was missing: read now, or among its own failures."""
    data = run.metadata
    if data.get("interrupted") or data.get("limited") or data.get("until"):
        return False
    if run.error_message and not data.get("failures") and not data.get("rejected"):
        return False
    start, missing_from = _moment(data.get("since")), _moment(failure.get("since"))
    return start is None or (missing_from is not None and start <= missing_from)


def _moment(written: Any) -> datetime | None:
    return datetime.fromisoformat(written) if isinstance(written, str) else None
