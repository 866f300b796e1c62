"""The ALS adapter at a server: what it asks, what it makes of the answers, and what it writes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from als_server import Logbook, als_server
from ingestion_bench import Bench

from ariel_lite.config import IngestionConfig
from ariel_lite.errors import ConfigurationError, IngestionError
from ariel_lite.ingestion.adapters.als_logbook import AlsServer, create_adapter
from ariel_lite.ingestion.base import AdapterOptions, FacilityAdapter, NewEntry
from ariel_lite.ingestion.pipeline import ingest
from ariel_lite.ingestion.report import IngestReport
from ariel_lite.ingestion.run_history import incremental_since, open_problems

DAY = 86_400
YEAR_2024 = 1_704_067_200
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@dataclass
class Follower:
    """A logbook that follows a server."""

    bench: Bench
    book: Logbook

    def adapter(self, **settings: Any) -> AlsServer:
        quick = {"request_timeout_seconds": 20, "retry_delay_seconds": 0, "max_retries": 1}
        options = AdapterOptions(self.book.url, config=IngestionConfig(**{**quick, **settings}), clock=lambda: NOW)
        made = create_adapter(options)
        assert isinstance(made, AlsServer)
        return made

    def ingest(
        self, since: datetime | None = None, until: datetime | None = None, limit: int | None = None,
        mirror: bool = False, **settings: Any,
    ) -> IngestReport:  # fmt: skip
        self.book.requests.clear()
        return ingest(
            self.bench.backend, self.adapter(**settings), source_label="als",
            since=since, until=until, limit=limit, mirror=mirror,
        )  # fmt: skip

    def since(self) -> datetime | None:
        return incremental_since(self.bench.backend.runs(), DAY)


@pytest.fixture
def follower(bench: Bench) -> Iterator[Follower]:
    with als_server() as book:
        yield Follower(bench, book)


def test_a_record_of_the_server_is_the_record_of_a_file(follower: Follower) -> None:
    record = {
        "category": "Utilities,Shift Summary", "tag": "BTS", "linkedto": "70035", "shift": "owl",
        "details": "Chiller set to <b>0.5</b> F.", "attachments": [{"url": "https://als.example/x.png"}],
    }  # fmt: skip
    follower.book.put("70042", YEAR_2024, "Re: BTS jitter", **record)
    report = follower.ingest()
    by_server = follower.bench.entry("70042")
    follower.bench.backend.delete(["70042"])
    follower.bench.ingest([follower.book.records["70042"]], "als_logbook")
    by_file = follower.bench.entry("70042")
    stamps = ("created_at", "updated_at")
    assert {key: by_server[key] for key in by_server if key not in stamps} == {  # type: ignore[literal-required]
        key: by_file[key]
        for key in by_file
        if key not in stamps  # type: ignore[literal-required]
    }
    assert (report.source_system, by_server["metadata"]["tags"]) == ("ALS eLog", ["BTS"])


def test_attachments_of_the_server_have_their_whole_address(follower: Follower) -> None:
    listed = [
        {"url": "/files/a b.png"},
        {"url": "files/x.pdf", "caption": "plan"},
        "https://other.example/y",
        {"url": "javascript:x"},
    ]
    follower.book.put("1", YEAR_2024, attachments=listed)
    follower.ingest()
    root = follower.book.url.removesuffix("/olog/rpc.php")
    urls = [attachment["url"] for attachment in follower.bench.entry("1")["attachments"]]
    assert urls[:3] == [f"{root}/files/a b.png", f"{root}/files/x.pdf", "https://other.example/y"]
    assert not urls[3].startswith("javascript:")
    follower.ingest(settings={"attachment_url_prefix": "https://files.example/als/"})
    assert follower.bench.entry("1")["attachments"][0]["url"] == "https://files.example/als/files/a b.png"


def test_windows_are_asked_for_oldest_first_and_cover_everything(follower: Follower) -> None:
    follower.ingest(chunk_days=1000)
    asked = follower.book.requests
    assert asked[0][0] == 0
    assert asked[-1][1] > NOW.timestamp() + 3650 * DAY
    assert all(earlier[1] == later[0] + 1 for earlier, later in pairwise(asked))
    assert len(asked) == 9


@pytest.mark.parametrize("excludes_start", [True, False])
@pytest.mark.parametrize("includes_end", [True, False])
def test_entries_on_the_border_of_windows_come_once(
    follower: Follower, excludes_start: bool, includes_end: bool
) -> None:
    follower.ingest(chunk_days=100)
    for index, (start, end) in enumerate(follower.book.requests):
        for offset, second in enumerate((start, start + 1, start + 2, end - 1)):
            follower.book.put(f"{index}-{offset}", second)
    follower.book.excludes_start, follower.book.includes_end = excludes_start, includes_end
    report = follower.ingest(chunk_days=100)
    wanted = {key for key, record in follower.book.records.items() if int(record["timestamp"]) > 0}
    assert set(follower.bench.ids()) >= wanted
    assert (report.added, report.updated, report.unchanged) == (len(follower.bench.ids()), 0, 0)


def test_since_until_and_limit(follower: Follower) -> None:
    for index in range(10):
        follower.book.put(str(index), YEAR_2024 + index * DAY)
    low, high = datetime(2024, 1, 3, tzinfo=UTC), datetime(2024, 1, 6, tzinfo=UTC)
    report = follower.ingest(since=low, until=high)
    assert (follower.bench.ids(), report.skipped) == (["2", "3", "4", "5"], 0)
    assert follower.ingest(limit=5).added == 2
    assert follower.bench.ids() == ["0", "1", "2", "3", "4", "5"]
    assert follower.ingest(since=datetime(2030, 1, 1, tzinfo=UTC)).valid == 0


@pytest.mark.parametrize("fault", ["login", "redirect", "page", "empty", "object", "half", "cut", "drop", "404", "500"])
def test_a_window_that_fails_is_missing_until_it_is_read(follower: Follower, fault: str) -> None:
    for year in range(20):
        follower.book.put(str(year), YEAR_2024 - year * 365 * DAY)
    follower.book.around = {YEAR_2024 - 18 * 365 * DAY: fault}
    report = follower.ingest()
    (failure,) = report.failures
    assert failure.since == datetime(2005, 12, 31, tzinfo=UTC)
    assert (report.added, report.exit_code) == (19, 1)
    assert follower.since() == failure.since
    (problem,) = open_problems(follower.bench.backend.runs())
    assert problem["failures"][0]["window"] == "2005-12-31 00:00:00 to 2006-12-31 00:00:00 UTC"
    follower.book.around = {}
    again = follower.ingest(since=follower.since())
    assert (again.added, again.exit_code) == (1, 0)
    assert open_problems(follower.bench.backend.runs()) == []
    assert follower.since() == datetime(2023, 12, 31, tzinfo=UTC)


def test_a_run_that_did_not_get_there_leaves_the_window_missing(follower: Follower) -> None:
    follower.book.put("1", YEAR_2024)
    follower.book.faults = ["login"]
    follower.ingest()
    for bounds in ({"since": datetime(2024, 1, 1, tzinfo=UTC)}, {"limit": 1}):
        assert follower.ingest(**bounds).exit_code == 0  # type: ignore[arg-type]
        assert len(open_problems(follower.bench.backend.runs())[0]["failures"]) == 1
    follower.ingest()
    assert open_problems(follower.bench.backend.runs()) == []


@pytest.mark.parametrize(("always", "requests"), [("500", 6), ("login", 3), ("object", 3)])
def test_a_server_that_is_away_is_not_asked_for_every_window(follower: Follower, always: str, requests: int) -> None:
    follower.book.always = always
    report = follower.ingest()
    assert len(follower.book.requests) == requests
    assert (report.exit_code, len(report.failures)) == (1, 4)
    assert report.failures[0].since == datetime(1970, 1, 1, tzinfo=UTC)


def test_a_page_is_an_empty_window_only_when_the_server_proves_it(follower: Follower) -> None:
    follower.book.page_when_empty = True
    for moment in (YEAR_2024 - 900 * DAY, YEAR_2024):
        follower.book.put(str(moment), moment)
    report = follower.ingest(chunk_days=30)
    assert (report.added, report.failures) == (2, [])
    assert follower.ingest(since=follower.since()).exit_code == 0
    follower.book.faults = ["", "page", "nothing"]
    (failure,) = follower.ingest(chunk_days=7000).failures
    assert failure.reason.endswith("sends a page instead of entries")
    follower.book.records.clear()
    assert follower.ingest(chunk_days=1000).exit_code == 1


def test_a_server_without_entries_is_an_empty_source(follower: Follower) -> None:
    report = follower.ingest()
    assert (report.exit_code, report.notes) == (0, ["the source holds no entries"])


def test_bad_records_are_rejected_and_the_others_stay(follower: Follower) -> None:
    follower.book.put("1", YEAR_2024)
    follower.book.put("2", YEAR_2024, timestamp=str(YEAR_2024), subject=["no", "text"])
    follower.book.records["3"] = {"id": "3", "timestamp": str(YEAR_2024)}
    follower.book.put("4", YEAR_2024, details="bell\x07\ud800", number=float("nan"))
    report = follower.ingest()
    assert (report.added, report.rejected, report.cleaned, report.exit_code) == (2, 2, 1, 0)
    assert follower.bench.entry("4")["raw_text"].endswith("bell  ")
    assert "record" in follower.bench.rejects()[0]["line"]


def test_a_mirrored_server_takes_its_deletions_along(follower: Follower) -> None:
    for index in range(5):
        follower.book.put(str(index), YEAR_2024 + index * 400 * DAY)
    follower.ingest()
    del follower.book.records["3"]
    follower.book.faults = ["", "", "500", "500"]
    assert (follower.ingest(mirror=True).removed, len(follower.bench.ids())) == (0, 5)
    assert (follower.ingest(mirror=True).removed, "3" in follower.bench.ids()) == (1, False)


WRITE = {"enabled": True, "auth_user": "op", "auth_password": "geheim<&>"}


def create(follower: Follower, entry: NewEntry, **write: Any) -> str:
    settings = {**WRITE, "write_url": follower.book.url, **write}
    return asyncio.run(follower.adapter(write=settings).create_entry(entry))


def test_a_new_entry_is_posted_and_comes_back(follower: Follower) -> None:
    entry = NewEntry("Arc <2>", "details & more\x07", "A. Smith", "Operations", tags=("rf", "arc"))
    made = create(follower, entry)
    (posted,) = follower.book.posted
    assert [posted.findtext(name) for name in ("author", "password")] == ["op", "geheim<&>"]
    texts = [posted.findtext(f"entry/{name}") for name in ("subject", "details", "level", "logbooks/logbook")]
    assert texts == ["Arc <2>", "details & more ", "Info", "Operations"]
    assert [category.text for category in posted.iterfind("entry/categories/category")] == ["rf", "arc"]
    follower.ingest()
    assert follower.bench.entry(made)["raw_text"].startswith("Arc <2>")


def test_credentials_of_the_entry_win(follower: Follower) -> None:
    create(follower, NewEntry("s", "d", "a", auth_user="me", auth_password="mine"))
    assert follower.book.posted[0].findtext("author") == "me"


@pytest.mark.parametrize(
    ("write", "hint"),
    [
        ({"enabled": False}, "write.enabled"),
        ({"write_url": None}, "write_url"),
        ({"auth_password": None}, "auth_password"),
    ],
)
def test_what_is_missing_for_writing(follower: Follower, write: dict[str, Any], hint: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        create(follower, NewEntry("s", "d", "a"), **write)
    assert hint in caught.value.hint
    assert follower.book.posted == []


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("500", "may have been created"),
        ("drop", "may have been created"),
        ("page", "did not say the id"),
        ("403", "403"),
    ],
)
def test_an_entry_that_was_not_taken(follower: Follower, fault: str, words: str) -> None:
    follower.book.always = fault
    with pytest.raises(IngestionError) as caught:
        create(follower, NewEntry("s", "d", "a"))
    assert words in caught.value.message
    assert "geheim" not in caught.value.message


@pytest.mark.parametrize("settings", [{"max_record": 3}, {"max_records": 0}, {"attachment_url_prefix": 5}])
def test_settings_that_are_none(follower: Follower, settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        follower.adapter(settings=settings)


def test_what_the_adapter_can(follower: Follower) -> None:
    adapter = follower.adapter()
    assert isinstance(adapter, FacilityAdapter)
    assert (adapter.supports_write, adapter.requires_write_auth) == (False, True)
    assert asyncio.run(adapter.count_entries()) is None
