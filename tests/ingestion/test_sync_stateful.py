"""Whatever happens at the server and in whatever order it is read: the logbook becomes what the server holds, and every
report counts exactly what it changed."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from als_server import Logbook, als_server
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ariel_lite.backends.sqlite.backend import SQLiteBackend, open_backend
from ariel_lite.config import ARIELConfig
from ariel_lite.ingestion.adapters import als_logbook
from ariel_lite.ingestion.base import AdapterOptions
from ariel_lite.ingestion.report import IngestReport
from ariel_lite.ingestion.sync import SyncOptions, SyncSource, sync
from ariel_lite.registry import Registry

DAY = 86_400
OVERLAP = DAY
FAULTS = ("login", "redirect", "page", "empty", "object", "half", "cut", "drop", "404", "429", "500")
TEXTS = st.sampled_from(("RF trip", "vacuum leak", "beam dump", "quench"))


class Following(RuleBasedStateMachine):
    """A server whose entries change, and a logbook that follows it."""

    def __init__(self) -> None:
        super().__init__()
        self.resources = ExitStack()
        self.book: Logbook = self.resources.enter_context(als_server())
        self.path = Path(self.resources.enter_context(tempfile.TemporaryDirectory())) / "logbook.db"
        self.now = int(datetime.now(UTC).timestamp()) - 1
        self.moments = 0
        self.numbers = 0
        self.backend = self.opened()

    def opened(self) -> SQLiteBackend:
        return open_backend(str(self.path), ARIELConfig(), create=True)

    @initialize(
        most=st.sampled_from((None, 4)), newest_first=st.booleans(), excludes_start=st.booleans(),
        includes_end=st.booleans(), page_when_empty=st.booleans(), repeats=st.booleans(),
        chunk_days=st.sampled_from((3000, 20_000)),
    )  # fmt: skip
    def habits(
        self, most: int | None, newest_first: bool, excludes_start: bool, includes_end: bool, page_when_empty: bool,
        repeats: bool, chunk_days: int,
    ) -> None:  # fmt: skip
        book = self.book
        book.newest_first, book.excludes_start, book.includes_end = newest_first, excludes_start, includes_end
        book.most, book.page_when_empty, book.repeats = most, page_when_empty, repeats
        known = {"max_records": most * (2 if repeats else 1)} if most else {}
        block = {
            "retry_delay_seconds": 0, "max_retries": 1, "chunk_days": chunk_days, "overlap_seconds": OVERLAP,
            "settings": known,
        }  # fmt: skip
        self.config = ARIELConfig.from_dict({"ingestion": block})
        # A server that says "no entries" with a page can only be believed when there is one.
        self.write(0, "first")

    def moment(self, days_ago: int) -> int:
        """A second of its own, so many days ago."""
        self.moments += 7
        return self.now - days_ago * DAY - self.moments

    @rule(days_ago=st.sampled_from((0, 0, 0, 400, 4000)), text=TEXTS, count=st.integers(1, 7))
    def write(self, days_ago: int, text: str, count: int = 1) -> None:
        for _ in range(count):
            self.numbers += 1
            self.book.put(str(self.numbers), self.moment(days_ago), text)

    @rule(which=st.integers(0), text=TEXTS)
    def edit(self, which: int, text: str) -> None:
        key = sorted(self.book.records)[which % len(self.book.records)]
        self.book.put(key, int(self.book.records[key]["timestamp"]), text)

    @rule(which=st.integers(0), days_ago=st.sampled_from((0, 400)))
    def back_date(self, which: int, days_ago: int) -> None:
        key = sorted(self.book.records)[which % len(self.book.records)]
        self.book.records[key]["timestamp"] = str(self.moment(days_ago))

    @rule(which=st.integers(0))
    def delete(self, which: int) -> None:
        if len(self.book.records) > 1:
            del self.book.records[sorted(self.book.records)[which % len(self.book.records)]]

    @rule(faults=st.lists(st.sampled_from(("", "", *FAULTS)), min_size=1, max_size=4))
    def misbehave(self, faults: list[str]) -> None:
        self.book.faults = list(faults)

    @rule()
    def restart(self) -> None:
        self.backend.close()
        self.backend = self.opened()

    @rule(full=st.booleans())
    def synchronise(self, full: bool) -> None:
        self.read(full=full)

    def read(self, *, full: bool = False, mirror: bool = False) -> IngestReport:
        """A run, whose counts must be those of what it changed."""
        before = self.held()
        source = SyncSource(
            "als", "ALS eLog",
            lambda: als_logbook.create_adapter(AdapterOptions(self.book.url, config=self.config.ingestion)),
        )  # fmt: skip
        options = SyncOptions(full=full, mirror=mirror, enhance=False)
        report = sync(self.backend, self.config, Registry(), source, options)
        after, done = self.held(), report.ingest
        assert done is not None
        shared = before.keys() & after.keys()
        assert done.added == len(after.keys() - before.keys())
        assert done.updated == sum(before[key] != after[key] for key in shared)
        assert done.removed == len(before.keys() - after.keys())
        assert (done.rejected, done.skipped) == (0, 0)
        if not done.failures:
            self.compare_what_was_read(report.since, done, after)
        return done

    def compare_what_was_read(
        self, since: datetime | None, done: IngestReport, after: dict[str, tuple[int, str]]
    ) -> None:
        """All entries of the span that was read stand in the logbook as they stand at the server."""
        start = since.timestamp() if since else 0
        read = {key: value for key, value in self.wanted().items() if value[0] >= start}
        assert {key: after.get(key) for key in read} == read
        assert done.added + done.updated + done.unchanged == len(read)

    def held(self) -> dict[str, tuple[int, str]]:
        """The logbook: id -> (time, text)."""
        entries = self.backend.get_entries(list(self.backend.entry_ids()))
        return {entry["entry_id"]: (int(entry["timestamp"].timestamp()), entry["raw_text"]) for entry in entries}

    def wanted(self) -> dict[str, tuple[int, str]]:
        """The server: id -> (time, text)."""
        records = self.book.records.items()
        return {key: (int(r["timestamp"]), f"{r['subject']}\n\n{r['details']}") for key, r in records}

    @invariant()
    def index_and_entries_agree(self) -> None:
        assert self.backend.status().unindexed == 0

    def teardown(self) -> None:
        try:
            if hasattr(self, "config"):
                self.book.faults = []
                assert self.read(mirror=True).failures == []
                assert self.held() == self.wanted()
                again = self.read(mirror=True)
                assert (again.added, again.updated, again.removed) == (0, 0, 0)
                assert again.unchanged == len(self.book.records)
                assert self.backend.check() == []
        finally:
            self.backend.close()
            self.resources.close()


TestFollowing = Following.TestCase
TestFollowing.settings = settings(max_examples=25, stateful_step_count=15)
