"""Following a source: synchronise, wait, and again, until a signal comes or too many runs failed in a row.

A wait grows with each failure and ends at once on Ctrl-C or a signal to end, as does a request; a batch that is being
written is finished first. A process that is killed loses nothing: entries are stored by id, and the next run begins
where the last one that ended began to be sure.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from ariel_lite.backends.base import Backend, Hold
from ariel_lite.config import IngestionConfig
from ariel_lite.errors import ARIELException, DatabaseConnectionError, IngestionError
from ariel_lite.ingestion.base import utc_now
from ariel_lite.ingestion.sync import SyncProblem, SyncReport, SyncSource

PURPOSE = "watch"
LONGEST_NAP_SECONDS = 1.0
"""A wait is made of naps: on Windows some signals only arrive between two of them."""


@dataclass(frozen=True)
class Cycle:
    """One run of a watcher.

    Attributes:
        number: from 1.
        started_at: when it began.
        report: what it did.
        failures: how many runs in a row could not read all of the source, this one included.
        next_poll: when the next one begins, None when there is none.
    """

    number: int
    started_at: datetime
    report: SyncReport
    failures: int = 0
    next_poll: datetime | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape of a line of `watch --json`."""
        return {
            "cycle": self.number,
            "started_at": self.started_at.isoformat(),
            **self.report.to_dict(),
            "failures_in_a_row": self.failures,
            "next_poll": self.next_poll.isoformat() if self.next_poll else None,
        }


@dataclass(frozen=True)
class Pace:
    """How long a watcher waits, in seconds, and when it gives up."""

    interval: float
    multiplier: float
    longest: float
    max_failures: int

    @classmethod
    def of(cls, config: IngestionConfig, interval: float | None = None) -> Pace:
        """The configured pace; `interval` wins over the configuration's."""
        settings = config.watch
        return cls(
            interval or settings.poll_interval_seconds or config.poll_interval_seconds,
            settings.backoff_multiplier,
            settings.max_interval_seconds,
            settings.max_consecutive_failures,
        )

    def after(self, failures: int) -> float:
        """The wait after so many failures in a row: longer each time, up to the longest, never below the interval."""
        if not failures:
            return self.interval
        grown = self.interval * self.multiplier ** min(failures, 64)
        return max(self.interval, min(grown, self.longest))


def require_initial_ingest(backend: Backend, source: SyncSource) -> None:
    """Refuse to follow a source of which nothing was ever read: a first reading takes long and wants an eye on it.

    Raises:
        IngestionError: no run of the source system has succeeded.
    """
    if not any(run.status == "success" for run in backend.runs(source.source_system, 1000)):
        raise IngestionError(
            f"nothing was ingested from {source.source_system} yet",
            hint="run 'ariel-lite sync' once, or set ingestion.watch.require_initial_ingest: false",
        )


class Watcher:
    """Follows one source into one logbook.

    Args:
        backend: the logbook.
        run: one synchronisation.
        pace: how long to wait.
        tell: is told of each run, when the next one is known.
        sleep: waits so many seconds.
        clock: the present.
    """

    def __init__(
        self,
        backend: Backend,
        run: Callable[[], SyncReport],
        pace: Pace,
        *,
        tell: Callable[[Cycle], None],
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._backend = backend
        self._run = run
        self._pace = pace
        self._tell = tell
        self._sleep = sleep
        self._clock = clock

    def once(self) -> Cycle:
        """One run.

        Raises:
            AlreadyRunningError: another process follows a source into this logbook.
        """
        with self._backend.exclusively(PURPOSE) as hold:
            cycle = self._cycle(1, hold)
            self._tell(cycle)
            return cycle

    def follow(self) -> Cycle | None:
        """Run until a signal comes (None then), or until too many runs failed in a row (the last one then).

        Raises:
            AlreadyRunningError: another process follows a source into this logbook.
        """
        with suppress(KeyboardInterrupt), self._backend.exclusively(PURPOSE) as hold:
            number, failures = 0, 0
            while True:
                number += 1
                cycle = self._cycle(number, hold)
                if cycle.report.interrupted:
                    self._tell(cycle)
                    return None
                failures = 0 if cycle.report.is_source_read else failures + 1
                cycle = replace(cycle, failures=failures)
                if failures >= self._pace.max_failures:
                    self._tell(cycle)
                    return cycle
                wait = self._pace.after(failures)
                cycle = replace(cycle, next_poll=self._clock() + timedelta(seconds=wait))
                self._tell(cycle)
                self._wait(wait)
        return None

    def _cycle(self, number: int, hold: Hold) -> Cycle:
        started = self._clock()
        try:
            hold.renew()
            report = self._run()
        except DatabaseConnectionError as fault:
            report = failed_report(fault)
        failed = not (report.is_source_read or report.interrupted)
        return Cycle(number, started, report, int(failed))

    def _wait(self, seconds: float) -> None:
        """Wait; a machine that slept in between does not wait that time again."""
        end, then = time.monotonic() + seconds, self._clock() + timedelta(seconds=seconds)
        while (left := min(end - time.monotonic(), (then - self._clock()).total_seconds())) > 0:
            self._sleep(min(left, LONGEST_NAP_SECONDS))


def failed_report(fault: ARIELException) -> SyncReport:
    """The report of a run that could not even begin."""
    return SyncReport("", problems=[SyncProblem("ingest", fault.code, fault.message, fault.hint)])
