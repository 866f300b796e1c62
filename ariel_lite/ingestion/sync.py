"""Bringing a logbook up to date in one go: ingest what is new at the source, index what others wrote, enhance.

Each part is tried whatever became of the ones before it, unless the logbook itself cannot be reached; what went wrong
is in the report, part by part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import Progress
from ariel_lite.config import ARIELConfig
from ariel_lite.enhancement.base import EnhancementReport, Enhancer
from ariel_lite.errors import ARIELException, ConfigurationError, DatabaseConnectionError
from ariel_lite.ingestion.base import FacilityAdapter, SynchronousReader
from ariel_lite.ingestion.pipeline import ingest
from ariel_lite.ingestion.report import IngestReport
from ariel_lite.ingestion.run_history import incremental_since
from ariel_lite.registry import ENHANCERS, Registry

RUNS_LOOKED_AT = 200
"""How far back the history of ingestion is looked at."""

Stage = Callable[[str, int | None], AbstractContextManager[Progress]]
"""Shows how far a part is: its name, and how many entries it is about when that is known."""


@dataclass(frozen=True)
class SyncSource:
    """A source that is opened anew for each run.

    Attributes:
        label: the source as it may be shown, without credentials.
        source_system: whose entries it gives.
        open: the adapter; IngestionError when the source cannot be opened now.
    """

    label: str
    source_system: str
    open: Callable[[], FacilityAdapter]


@dataclass(frozen=True)
class SyncOptions:
    """How to synchronise.

    Attributes:
        full: read the source from its beginning, which finds every edit and late entry.
        mirror: delete what the source no longer has; implies `full`.
        enhance: run the enhancers.
        dry_run: only count what the source would add or change.
    """

    full: bool = False
    mirror: bool = False
    enhance: bool = True
    dry_run: bool = False


@dataclass(frozen=True)
class SyncProblem:
    """A part that failed, wholly or for some entries."""

    part: str
    code: str
    message: str
    hint: str = ""


@dataclass
class SyncReport:
    """What was done.

    Attributes:
        source: what was read.
        since: the entry time from which it was read, None for all of it.
        ingest: what ingestion did, None when the source could not be opened.
        indexed: entries of other programs that were indexed, None when that was not done.
        enhanced: what each enhancer did.
        problems: what went wrong.
        notes: what was left out, and why.
        interrupted: it was stopped; what is done stays.
    """

    source: str
    since: datetime | None = None
    ingest: IngestReport | None = None
    indexed: int | None = None
    enhanced: list[EnhancementReport] = field(default_factory=list)
    problems: list[SyncProblem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def is_source_read(self) -> bool:
        """True when all of the source that was asked for could be read and stored."""
        return not self.interrupted and not any(problem.part == "ingest" for problem in self.problems)

    @property
    def exit_code(self) -> int:
        """0, or 1 when any part failed."""
        return 1 if self.problems else 0

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape of `sync --json`."""
        return {
            "source": self.source,
            "since": self.since.isoformat() if self.since else None,
            "ingest": self.ingest.to_dict() if self.ingest else None,
            "indexed": self.indexed,
            "modules": [
                {"module": run.module, "done": run.done, "blank": run.blank, "failed": run.failed}
                for run in self.enhanced
            ],
            "problems": [
                {"part": problem.part, "code": problem.code, "message": problem.message, "hint": problem.hint}
                for problem in self.problems
            ],
            "notes": self.notes,
            "interrupted": self.interrupted,
        }


@contextmanager
def unseen(name: str, total: int | None) -> Iterator[Progress]:
    """A Stage that shows nothing."""
    yield lambda done: None


def sync(
    backend: Backend,
    config: ARIELConfig,
    registry: Registry,
    source: SyncSource,
    options: SyncOptions = SyncOptions(),
    *,
    stage: Stage = unseen,
) -> SyncReport:
    """Bring a logbook up to date. Must not be called from a thread that runs an event loop.

    Ctrl-C ends it between two batches; the report says so. Nothing is raised but for faults of the program.
    """
    run = _Sync(backend, config, registry, source, options, stage)
    try:
        run.ingest()
        if not options.dry_run:
            run.reindex()
            if options.enhance:
                run.enhance()
    except KeyboardInterrupt:
        run.report.interrupted = True
    except DatabaseConnectionError:
        run.report.notes.append("the parts after that were not run: the logbook cannot be reached")
    return run.report


def start_of_reading(backend: Backend, adapter: FacilityAdapter, label: str, overlap_seconds: float) -> datetime | None:
    """The entry time from which a source has to be read, None for all of it.

    A file is read as a whole each time: that costs little, and then no edit can hide. Runs that read another source
    say nothing of this one.
    """
    if isinstance(adapter, SynchronousReader):
        return None
    runs = backend.runs(adapter.source_system_name, RUNS_LOOKED_AT)
    return incremental_since((run for run in runs if run.metadata.get("source") == label), overlap_seconds)


class _Sync:
    def __init__(
        self,
        backend: Backend,
        config: ARIELConfig,
        registry: Registry,
        source: SyncSource,
        options: SyncOptions,
        stage: Stage,
    ) -> None:
        self.report = SyncReport(source.label)
        self._backend = backend
        self._config = config
        self._registry = registry
        self._source = source
        self._options = options
        self._stage = stage

    def ingest(self) -> None:
        """Read the source from where the last run ended."""
        report, options = self.report, self._options
        with self._part("ingest"):
            adapter = self._source.open()
            if not (options.full or options.mirror):
                overlap = self._config.ingestion.overlap_seconds
                report.since = start_of_reading(self._backend, adapter, self._source.label, overlap)
            with self._stage("reading", None) as advance:
                report.ingest = ingest(
                    self._backend,
                    adapter,
                    source_label=self._source.label,
                    since=report.since,
                    mirror=options.mirror,
                    dry_run=options.dry_run,
                    progress=advance,
                )
        if report.ingest is not None and report.ingest.interrupted:
            raise KeyboardInterrupt
        if report.ingest is not None and report.ingest.problem:
            problem = SyncProblem("ingest", "ingestion_failed", report.ingest.problem, report.ingest.hint)
            report.problems.append(problem)

    def reindex(self) -> None:
        """Index what other programs wrote."""
        with self._part("reindex"), self._stage("indexing", None) as advance:
            self.report.indexed = self._backend.reindex(progress=advance)

    def enhance(self) -> None:
        """Run the enhancers that can run, smallest order first."""
        for enhancer in sorted(self._enhancers(), key=lambda enhancer: enhancer.order):
            with self._part(enhancer.name):
                with self._stage(enhancer.name, enhancer.pending(self._backend)) as advance:
                    done = enhancer.run(self._backend, progress=advance)
                self.report.enhanced.append(done)
                if done.failed:
                    first = next(iter(done.failed.items()))
                    message = f"{len(done.failed):,} entries could not be enhanced, such as {first[0]}: {first[1]}"
                    self.report.problems.append(SyncProblem(enhancer.name, "enhancement_failed", message))

    def _enhancers(self) -> Iterator[Enhancer]:
        for name in self._registry.names(ENHANCERS):
            if not self._config.is_enhancement_module_enabled(name):
                continue
            try:
                yield self._registry.load(ENHANCERS, name).create_enhancer(self._config, self._registry)
            except ConfigurationError as fault:
                hint = f" ({fault.hint})" if fault.hint else ""
                self.report.notes.append(f"{name} was skipped: {fault.message}{hint}")

    @contextmanager
    def _part(self, name: str) -> Iterator[None]:
        """Note a failure and let the next part run. Raises DatabaseConnectionError, after which none can."""
        try:
            yield
        except ARIELException as fault:
            self.report.problems.append(SyncProblem(name, fault.code, fault.message, fault.hint))
            if isinstance(fault, DatabaseConnectionError):
                raise
