"""What earlier runs say to the next one: where to start, and what is still missing.

A run's watermark is the newest entry time it has seen, never later than its own start (a clock that runs ahead at the
source must not hide what comes next) and never beyond a part that it could not read. Runs that were interrupted or
bounded by a limit have none.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from ariel_lite.backends.base import IngestionRun
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
    """The entry time to read from: the latest watermark less the overlap; None means from the beginning.

    Args:
        runs: earlier runs of this source, newest first.
        overlap_seconds: how late an entry or an edit may appear at the source and still be found.
    """
    for run in runs:
        mark = run.metadata.get("watermark")
        if isinstance(mark, str):
            return datetime.fromisoformat(mark) - timedelta(seconds=overlap_seconds)
    return None


def open_problems(runs: Iterable[IngestionRun]) -> list[dict[str, Any]]:
    """What the latest finished run of each source system could not read or had to reject.

    Returns one {source_system, run_id, error, failures, rejected, rejects_file} for each source that has a problem.
    """
    problems: list[dict[str, Any]] = []
    seen: set[str] = set()
    for run in runs:
        if run.status == "running" or run.source_system in seen:
            continue
        seen.add(run.source_system)
        failures, rejected = run.metadata.get("failures") or [], run.metadata.get("rejected") or 0
        if failures or rejected or run.error_message:
            problems.append(
                {
                    "source_system": run.source_system,
                    "run_id": run.run_id,
                    "error": run.error_message,
                    "failures": failures,
                    "rejected": rejected,
                    "rejects_file": run.metadata.get("rejects_file"),
                }
            )
    return problems
