"""How a watcher paces itself, what it makes of failures, and that there is one a logbook. Its process: see
test_watch_process.py."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import psycopg
import pytest

from ariel_lite.backends.base import Backend
from ariel_lite.config import ARIELConfig, IngestionConfig
from ariel_lite.errors import AlreadyRunningError, DatabaseConnectionError, IngestionError
from ariel_lite.ingestion.sync import SyncProblem, SyncReport, SyncSource
from ariel_lite.ingestion.watch import Cycle, Pace, Watcher, require_initial_ingest
from ariel_lite.interrupts import InterruptShield, ending_as_interrupt

START = datetime(2026, 3, 10, 12, tzinfo=UTC)
GOOD, BAD = SyncReport("s"), SyncReport("s", problems=[SyncProblem("ingest", "x", "the server is away")])
ONLY_ENHANCE = SyncReport("s", problems=[SyncProblem("text_embedding", "x", "no model")])


class World:
    """A clock that only sleeping moves, and the runs that come one after the other."""

    def __init__(self, backend: Backend, *reports: SyncReport | Exception, pace: Pace | None = None) -> None:
        self.now = START
        self.waits: list[float] = []
        self.told: list[Cycle] = []
        self.reports = list(reports)
        self.watcher = Watcher(
            backend, self.run, pace or Pace(60, 2, 300, 4), tell=self.told.append, sleep=self.sleep,
            clock=lambda: self.now,
        )  # fmt: skip

    def run(self) -> SyncReport:
        if not self.reports:
            raise KeyboardInterrupt
        report = self.reports.pop(0)
        if isinstance(report, Exception):
            raise report
        return report

    def sleep(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def gaps(self) -> list[float]:
        """Seconds between the beginnings of runs."""
        starts = [cycle.started_at for cycle in self.told]
        return [(later - earlier).total_seconds() for earlier, later in pairwise(starts)]


def test_runs_follow_at_the_interval_and_each_says_when_the_next_is(backend: Backend) -> None:
    world = World(backend, GOOD, GOOD, ONLY_ENHANCE, GOOD)
    assert world.watcher.follow() is None
    assert world.gaps() == [60, 60, 60]
    assert [cycle.next_poll for cycle in world.told[:2]] == [cycle.started_at for cycle in world.told[1:3]]
    assert [cycle.failures for cycle in world.told] == [0, 0, 0, 0]


def test_the_wait_grows_with_failures_and_shrinks_after_a_success(backend: Backend) -> None:
    away = DatabaseConnectionError("the logbook is away")
    world = World(backend, BAD, away, BAD, GOOD, BAD, GOOD)
    assert world.watcher.follow() is None
    assert world.gaps() == [120, 240, 300, 60, 120]
    assert [cycle.failures for cycle in world.told] == [1, 2, 3, 0, 1, 0]
    assert world.told[1].report.problems[0].message == "the logbook is away"


def test_too_many_failures_in_a_row_end_it(backend: Backend) -> None:
    world = World(backend, BAD, BAD, BAD, BAD, GOOD)
    last = world.watcher.follow()
    assert last is not None
    assert (last.failures, last.next_poll, len(world.told)) == (4, None, 4)


def test_once_is_once(backend: Backend) -> None:
    world = World(backend, BAD, GOOD)
    assert world.watcher.once().report is BAD
    assert (len(world.told), world.told[0].next_poll) == (1, None)


def test_a_run_that_was_stopped_is_the_last_and_no_failure(backend: Backend) -> None:
    world = World(backend, GOOD, SyncReport("s", interrupted=True), GOOD)
    assert world.watcher.follow() is None
    assert [(cycle.failures, cycle.report.interrupted) for cycle in world.told] == [(0, False), (0, True)]


@pytest.mark.parametrize(
    ("settings", "option", "waits"),
    [
        ({"poll_interval_seconds": 10, "watch": {"max_interval_seconds": 50}}, None, [10, 20, 40, 50, 50]),
        ({"poll_interval_seconds": 10, "watch": {"poll_interval_seconds": 5}}, None, [5, 10, 20, 40, 80]),
        ({"watch": {"poll_interval_seconds": 5, "backoff_multiplier": 1}}, 7, [7, 7, 7, 7, 7]),
        ({"watch": {"max_interval_seconds": 5}}, 60, [60, 60, 60, 60, 60]),
        ({}, None, [3600, 3600, 3600, 3600, 3600]),
    ],
)
def test_paces(settings: dict[str, object], option: float | None, waits: list[float]) -> None:
    pace = Pace.of(IngestionConfig.model_validate(settings), option)
    assert [pace.after(failures) for failures in range(5)] == waits
    assert pace.after(10**6) == max(pace.longest, pace.interval) or pace.multiplier == 1


def test_a_source_that_was_never_read_is_not_followed(backend: Backend) -> None:
    source = SyncSource("als", "ALS eLog", lambda: pytest.fail("it must not be opened"))
    with pytest.raises(IngestionError, match="nothing was ingested from ALS eLog yet"):
        require_initial_ingest(backend, source)
    failed = backend.start_run("ALS eLog")
    backend.finish_run(failed, added=0, updated=0, failed=0, error="x", metadata={})
    with pytest.raises(IngestionError):
        require_initial_ingest(backend, source)
    done = backend.start_run("ALS eLog")
    backend.finish_run(done, added=0, updated=0, failed=0, error=None, metadata={})
    require_initial_ingest(backend, source)


def test_a_second_watcher_is_told_who_the_first_is(backend: Backend) -> None:
    world = World(backend, GOOD)
    with backend.exclusively("watch"):
        with pytest.raises(AlreadyRunningError, match=r"another watch of .* runs already \(.*process"):
            world.watcher.once()
        with pytest.raises(AlreadyRunningError):
            world.watcher.follow()
        with backend.exclusively("another"):
            pass
    assert world.told == []
    assert world.watcher.once().report is GOOD


HOLDER = """
import sys, time
from ariel_lite.compose import open_backend
from ariel_lite.config import ARIELConfig
from ariel_lite.registry import Registry

with open_backend(sys.argv[1], ARIELConfig(), Registry()).exclusively("watch"):
    print("held", flush=True)
    time.sleep(600)
"""


def test_the_lock_of_a_dead_watcher_is_taken_over(backend: Backend) -> None:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, backend.location], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    with pytest.raises(AlreadyRunningError), backend.exclusively("watch"):
        pass
    process.kill()
    process.communicate()
    for _ in range(600):
        try:
            with backend.exclusively("watch") as hold:
                hold.renew()
                break
        except AlreadyRunningError:
            # A server may need a moment to notice.
            pass
    else:
        pytest.fail("the lock was not given back")


@pytest.mark.parametrize("backend_name", ["postgres"])
def test_a_lock_is_made_again_when_the_server_forgot_it(backend: Backend) -> None:
    with backend.exclusively("watch") as hold:
        hold.renew()
        cut_off(backend, "ariel-lite watch")
        hold.renew()
        with pytest.raises(AlreadyRunningError), backend.exclusively("watch"):
            pass
        cut_off(backend, "ariel-lite watch")
        other = backend.exclusively("watch")
        with other, pytest.raises(AlreadyRunningError):
            hold.renew()


@pytest.mark.parametrize("backend_name", ["postgres"])
def test_a_watcher_that_lost_its_lock_to_another_ends(backend: Backend) -> None:
    world = World(backend, GOOD, GOOD)
    with ExitStack() as others:

        def lose(cycle: Cycle) -> None:
            cut_off(backend, "ariel-lite watch")
            others.enter_context(backend.exclusively("watch"))

        watcher = Watcher(
            backend, world.run, Pace(60, 2, 300, 4), tell=lose, sleep=world.sleep, clock=lambda: world.now
        )
        with pytest.raises(AlreadyRunningError):
            watcher.follow()
    assert len(world.reports) == 1


def cut_off(backend: Backend, name: str) -> None:
    """End a connection at the server, as its restart would."""
    with psycopg.connect(backend.location, autocommit=True) as connection:
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE application_name = %s AND datname = current_database()",
            (name,),
        ).fetchall()
    assert ended == [(True,)]


def test_a_signal_to_end_waits_for_the_end_of_a_write() -> None:
    before = signal.getsignal(signal.SIGTERM)
    steps: list[str] = []
    with ending_as_interrupt():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        with InterruptShield() as shield:
            with pytest.raises(KeyboardInterrupt):
                write(shield, steps)
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)
    assert steps == ["finished"]
    assert signal.getsignal(signal.SIGTERM) is before


def write(shield: InterruptShield, steps: list[str]) -> None:
    with shield.writing():
        signal.raise_signal(signal.SIGTERM)
        steps.append("finished")


def test_the_shape_of_a_line(backend: Backend) -> None:
    world = World(backend, GOOD)
    world.watcher.follow()
    line = world.told[0].to_dict()
    assert line["cycle"] == 1
    assert line["next_poll"] == "2026-03-10T12:01:00+00:00"
    assert {"source", "ingest", "indexed", "modules", "problems", "failures_in_a_row"} <= line.keys()
    assert ARIELConfig().ingestion.watch.require_initial_ingest
