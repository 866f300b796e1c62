"""Servers that give only so many records at a time, told or untold, and answers that are too long."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from als_server import Logbook, als_server

from ariel_lite.config import IngestionConfig
from ariel_lite.ingestion import http_source
from ariel_lite.ingestion.adapters.als_logbook import create_adapter
from ariel_lite.ingestion.base import AdapterOptions, IncomingEntry, SourceFailure

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def book() -> Iterator[Logbook]:
    with als_server() as book:
        yield book


def fill(book: Logbook, count: int, *, first: int = 1_600_000_000, last: int = 1_760_000_000) -> None:
    chance = random.Random(count)
    for number in range(count):
        book.put(str(number), chance.randrange(first, last))


def read(book: Logbook, **settings: Any) -> tuple[list[str], list[SourceFailure]]:
    """(ids in the order they come, failures)."""
    config = IngestionConfig(retry_delay_seconds=0, max_retries=0, settings=settings)

    async def drained() -> list[Any]:
        adapter = create_adapter(AdapterOptions(book.url, config=config, clock=lambda: NOW))
        return [record async for record in adapter.fetch_entries()]

    records = asyncio.run(drained())
    ids = [record.entry["entry_id"] for record in records if isinstance(record, IncomingEntry)]
    return ids, [record for record in records if isinstance(record, SourceFailure)]


@pytest.mark.parametrize("newest_first", [True, False])
@pytest.mark.parametrize(("most", "known"), [(3, True), (7, True), (100, False), (64, False), (73, False)])
def test_nothing_is_missed_behind_a_largest_number(book: Logbook, most: int, known: bool, newest_first: bool) -> None:
    fill(book, 1200 if not known else 120)
    book.most, book.newest_first = most, newest_first
    ids, failures = read(book, **({"max_records": most} if known else {}))
    assert failures == []
    assert sorted(ids) == sorted(book.records)


@pytest.mark.parametrize("most", [50, 128, 1000])
def test_a_round_number_is_looked_into_the_first_time(book: Logbook, most: int) -> None:
    fill(book, most + 20, first=1_700_000_000, last=1_700_900_000)
    book.most = most
    ids, _ = read(book)
    assert sorted(ids) == sorted(book.records)


def test_a_round_number_that_is_no_limit_costs_a_few_requests(book: Logbook) -> None:
    fill(book, 100, first=1_700_000_000, last=1_700_100_000)
    ids, _ = read(book)
    assert len(ids) == 100
    windows_of_23_years = 24
    assert len(book.requests) <= windows_of_23_years + 8


def test_more_at_one_moment_than_an_answer_holds_is_a_failure(book: Logbook) -> None:
    for number in range(10):
        book.put(str(number), 1_700_000_000)
    book.put("later", 1_750_000_000)
    book.most = 4
    ids, failures = read(book, max_records=4)
    assert "later" in ids
    assert {failure.reason for failure in failures} == {"more than 4 entries in one second"}
    assert min(failure.since for failure in failures if failure.since) <= datetime.fromtimestamp(1_700_000_000, UTC)


def test_an_answer_that_is_too_long_is_read_in_parts(book: Logbook, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(book, 300)
    monkeypatch.setattr(http_source.HttpSource.__init__, "__kwdefaults__", {
        **http_source.HttpSource.__init__.__kwdefaults__, "max_bytes": 4000,
    })  # fmt: skip
    ids, failures = read(book)
    assert failures == []
    assert sorted(ids) == sorted(book.records)
