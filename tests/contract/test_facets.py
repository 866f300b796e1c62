"""Counts by field value and by month: exact whatever was added, changed or removed before, in every time zone."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from logbooks import MakeLogbook, entry

from ariel_lite.backends.base import Backend
from ariel_lite.compose import Logbook
from ariel_lite.query.nodes import BoundNode, Everything
from ariel_lite.records import EnhancedLogbookEntry, field_values
from ariel_lite.search.base import SearchArguments

AUTHORS = ("A. Smith", "B. Jones", "Åsa Öberg", "C. Lee")


def tree_of(book: Logbook, query: str) -> BoundNode:
    return book.service.context.plan(SearchArguments(query=query)).tree


def counted(entries: list[EnhancedLogbookEntry], name: str) -> list[tuple[str, int]]:
    counts = Counter(value for one in entries for value in set(field_values(one)[name]))
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def test_counts_follow_every_kind_of_change(make_logbook: MakeLogbook) -> None:
    book = make_logbook()
    backend = book.service.backend
    held: dict[str, EnhancedLogbookEntry] = {}

    def check() -> None:
        every, beams = list(held.values()), [one for one in held.values() if "beam" in one["raw_text"]]
        for name in ("author", "tag"):
            assert backend.field_counts(name, None) == counted(every, name)
            assert backend.field_counts(name, tree_of(book, "beam")) == counted(beams, name)
        months = Counter(one["timestamp"].strftime("%Y-%m") for one in beams)
        assert backend.month_counts(tree_of(book, "beam"), "UTC") == sorted(months.items())

    def store(*fresh: EnhancedLogbookEntry) -> None:
        backend.upsert(fresh)
        held.update((one["entry_id"], one) for one in fresh)
        check()

    check()
    store(*(entry(f"E{n}", f"beam {n}", at=f"2025-{n + 1:02d}-01", author=AUTHORS[n % 3]) for n in range(6)))
    store(entry("E7", "beam", at="2024-01-31T23:59:59", author=AUTHORS[3], tags=["rf", "trip"]))
    store(entry("E1", "beam 1", at="2025-08-01", author=AUTHORS[3], tags=["rf"]))
    store(entry("E2", "no such word", at="2025-08-01", author=AUTHORS[3]))
    backend.delete(["E3", "E7"])
    del held["E3"], held["E7"]
    check()
    store(entry("E8", "beam", author=AUTHORS[0]), entry("E0", "beam 0", at="2025-01-01", author=AUTHORS[1]))


def test_what_another_connection_writes_counts(backend: Backend) -> None:
    backend.upsert([entry("E1", "beam", author="A"), entry("E2", "beam", author="B")])
    assert backend.field_counts("author") == [("A", 1), ("B", 1)]
    with backend.transaction():
        backend.upsert([entry("E2", "beam", author="A")])
    assert backend.field_counts("author") == [("A", 2)]
    backend.purge(entries=True)
    assert backend.field_counts("author") == []
    assert backend.month_counts(Everything(), "UTC") == []
    backend.upsert([entry("E3", "beam", author="C")])
    assert backend.field_counts("author") == [("C", 1)]


@pytest.mark.parametrize("zone", ["UTC", "America/Halifax", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia"])
def test_months_are_the_zones(make_logbook: MakeLogbook, zone: str) -> None:
    edges = [datetime(2025, month, 1, tzinfo=ZoneInfo(zone)) for month in (3, 4, 10, 11)]
    moments = [edge.astimezone(UTC) + timedelta(minutes=by) for edge in edges for by in (-31, -1, 0, 29, 31)]
    book = make_logbook([entry(f"E{n}", "beam", at=moment) for n, moment in enumerate(moments)], zone=zone)
    local = Counter(moment.astimezone(ZoneInfo(zone)).strftime("%Y-%m") for moment in moments)
    counts = book.service.backend.month_counts(tree_of(book, "beam"), zone)
    assert counts == sorted(local.items())
    for month, count in counts:
        assert book.service.backend.count(tree_of(book, f"date:{month}")) == count


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moments=st.lists(st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)), min_size=1, max_size=5))
def test_months_at_any_time(backend: Backend, moments: list[datetime]) -> None:
    backend.delete(list(backend.entry_ids()))
    backend.upsert([entry(f"E{n}", "beam", at=moment) for n, moment in enumerate(moments)])
    expected = Counter(moment.isoformat()[:7] for moment in moments)
    assert backend.month_counts(Everything(), "UTC") == sorted(expected.items())


def test_limit_and_order(backend: Backend) -> None:
    backend.upsert([entry(f"E{n}", "x", author=author) for n, author in enumerate("ABCABA")])
    assert backend.field_counts("author", limit=2) == [("A", 3), ("B", 2)]
    assert backend.field_counts("nothing") == []


def test_entries_that_answer(backend: Backend) -> None:
    backend.upsert(
        [
            entry("E1", "first"),
            entry("E2", "second", at="2026-03-06", linked_to="E1"),
            entry("E3", "third", at="2026-03-05", linked_to=["E0", "E1"]),
            entry("E4", "fourth", linked_to="E11"),
            entry("E5", "fifth", linked_to="0"),
        ]
    )
    assert backend.linking_to(["E1"]) == ["E3", "E2"]
    assert backend.linking_to(["E0", "E11"]) == ["E3", "E4"]
    assert backend.linking_to(["E5", "0", "%"]) == []
