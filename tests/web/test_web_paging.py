"""Pages are complete, disjoint and in order, also while entries arrive and leave. Cases WB05, WB06, WB08."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from asking import MakePage, error, ids
from logbooks import FIRST, entry
from starlette.testclient import TestClient

from ariel_lite.web.paging import RankedCursor, TimeCursor

AUTHORS = ("A. Smith", "B. Jones", "C. Lee")
SIMULTANEOUS = [entry(f"E{n:03d}", "beam lost again", at=FIRST) for n in range(150)]
SIMULTANEOUS_IDS = [one["entry_id"] for one in SIMULTANEOUS]

ByMode = pytest.mark.parametrize("mode", ["keyword", "hybrid"])


def browse(page: TestClient, /, **parameters: Any) -> Any:
    return page.get("/api/entries", params=parameters)


def search_pages(
    page: TestClient, mode: str, size: int, between: Callable[[int], None] = lambda turn: None
) -> Iterator[list[str]]:
    """Ids page by page, going on with cursors; `between` is called after each page."""
    cursor = None
    for turn in range(100):
        reply = page.post("/api/search", json={"query": "beam", "mode": mode, "max_results": size, "cursor": cursor})
        yield ids(reply)
        cursor = reply.json()["next_cursor"]
        if cursor is None:
            return
        between(turn)
    pytest.fail("the pages never end")


def browse_pages(
    page: TestClient, between: Callable[[int], None] = lambda turn: None, /, **parameters: Any
) -> Iterator[list[str]]:
    for turn in range(100):
        reply = browse(page, **parameters)
        yield ids(reply)
        if reply.json()["next_cursor"] is None:
            return
        parameters["cursor"] = reply.json()["next_cursor"]
        between(turn)
    pytest.fail("the pages never end")


def flat(pages: Iterator[list[str]]) -> list[str]:
    return [one for page in pages for one in page]


def test_pages_by_number_are_whole_with_and_without_a_filter(make_page: MakePage) -> None:
    page = make_page(
        [entry(f"E{n:02d}", "x", at=f"2026-01-{n % 28 + 1:02d}", author=AUTHORS[n % 3]) for n in range(45)]
    )
    for author, total, pages in (("", 45, 3), ("smith", 15, 1), ("nobody", 0, 0)):
        replies = [browse(page, page=number, page_size=20, author=author) for number in (1, 2, 3, 4)]
        found = [one for reply in replies for one in ids(reply)]
        assert len(found) == len(set(found)) == total
        for number, reply in enumerate(replies, start=1):
            document = reply.json()
            assert (document["total"], document["total_pages"]) == (total, pages)
            assert (document["page"], document["page_size"]) == (number, 20)


def test_unknown_parameters_are_refused_everywhere(make_page: MakePage) -> None:
    page = make_page()
    for path in ("/api/entries?pagesize=3", "/api/status?verbose=1", "/health?x", "/api/entries/E1?q=beam"):
        fault = error(page.get(path), 422)
        assert fault["message"].startswith("unknown parameter ")
    assert error(page.post("/api/search?query=beam", json={}), 422)["message"] == "unknown parameter query"


@pytest.mark.parametrize(
    "parameters", [{"page": 0}, {"page_size": 0}, {"page_size": 101}, {"sort_order": "up"}, {"page": "two"}]
)
def test_impossible_pages_are_refused(make_page: MakePage, parameters: dict[str, Any]) -> None:
    assert next(iter(parameters)) in error(browse(make_page(), **parameters), 422)["message"]


def test_filters_run_over_everything_and_not_over_the_page(make_page: MakePage) -> None:
    page = make_page([entry(f"E{n:02d}", "x", at=FIRST, author="Needle" if n == 44 else "Hay") for n in range(45)])
    assert "E44" not in ids(browse(page, page_size=20))
    assert ids(browse(page, page_size=20, author="needle")) == ["E44"]


def test_order_of_time_and_dates(make_page: MakePage) -> None:
    page = make_page([entry(f"E{n}", "x", at=f"2026-01-0{n}T12:00") for n in range(1, 6)])
    assert ids(browse(page)) == ["E5", "E4", "E3", "E2", "E1"]
    assert ids(browse(page, sort_order="asc", start_date="2026-01-02", end_date="2026-01-03")) == ["E2", "E3"]
    assert error(browse(page, start_date="2026-02-31"), 400)["code"] == "query_syntax"
    assert error(browse(page, start_date="2026-02", end_date="2026-01"), 400)


@ByMode
def test_equal_entries_each_come_once(make_page: MakePage, mode: str) -> None:
    assert flat(search_pages(make_page(SIMULTANEOUS), mode, 20)) == SIMULTANEOUS_IDS


@ByMode
def test_equal_entries_each_come_once_while_others_arrive(make_page: MakePage, mode: str) -> None:
    page = make_page(SIMULTANEOUS)

    def arrive(turn: int) -> None:
        fresh = [entry(f"A{turn}-{n}", "beam lost again", at=FIRST if n else "2026-03-09") for n in range(7)]
        page.service.backend.upsert(fresh)  # type: ignore[attr-defined]

    found = [one for one in flat(search_pages(page, mode, 20, arrive)) if one in SIMULTANEOUS_IDS]
    assert found == SIMULTANEOUS_IDS


def test_a_search_goes_on_while_entries_leave(make_page: MakePage) -> None:
    page = make_page(SIMULTANEOUS)
    gone = [f"E{n:03d}" for n in range(12)]

    def leave(turn: int) -> None:
        page.service.backend.delete([gone[turn]])  # type: ignore[attr-defined]

    assert flat(search_pages(page, "keyword", 20, leave)) == SIMULTANEOUS_IDS


def test_a_page_says_so_when_its_place_is_lost(make_page: MakePage) -> None:
    page = make_page(SIMULTANEOUS)
    first = page.post("/api/search", json={"query": "beam", "mode": "keyword"}).json()
    page.service.backend.delete([first["entries"][-1]["entry_id"]])  # type: ignore[attr-defined]
    second = page.post("/api/search", json={"query": "beam", "mode": "keyword", "cursor": first["next_cursor"]}).json()
    assert second["returned"] == 10
    assert [note["source"] for note in second["diagnostics"]] == ["paging"]


def test_the_largest_pages(make_page: MakePage) -> None:
    page = make_page(SIMULTANEOUS)
    assert flat(search_pages(page, "keyword", 100)) == SIMULTANEOUS_IDS
    assert flat(browse_pages(page, page_size=100)) == SIMULTANEOUS_IDS


@pytest.mark.parametrize("order", ["desc", "asc"])
def test_browsing_shows_each_entry_once_while_others_arrive(make_page: MakePage, order: str) -> None:
    page = make_page([*SIMULTANEOUS, entry("old", "x", at="2026-01-01"), entry("new", "x", at="2026-03-08")])

    def arrive(turn: int) -> None:
        backend = page.service.backend  # type: ignore[attr-defined]
        backend.upsert([entry(f"A{turn}-{n}", "x", at=FIRST) for n in range(5)])
        backend.upsert([entry(f"Z{turn}", "x", at="2026-03-09"), entry(f"Y{turn}", "x", at="2025-03-09")])

    found = [one for one in flat(browse_pages(page, arrive, page_size=20, sort_order=order)) if one[0] in "Eon"]
    newest = ["new", *SIMULTANEOUS_IDS, "old"]
    assert found == (newest if order == "desc" else ["old", *SIMULTANEOUS_IDS, "new"])


def test_browsing_goes_on_behind_an_entry_that_left(make_page: MakePage) -> None:
    page = make_page(SIMULTANEOUS)

    def leave(turn: int) -> None:
        page.service.backend.delete([f"E{turn * 20 + 19:03d}"])  # type: ignore[attr-defined]

    assert flat(browse_pages(page, leave, page_size=20)) == SIMULTANEOUS_IDS


BAD_CURSORS = ("", "x", "é", "WyJhIl0", "bnVsbA", RankedCursor(10**9, "E1").write(), "A" * 10_000, "W1tbW1tb")


@pytest.mark.parametrize("cursor", BAD_CURSORS)
def test_cursors_of_others_are_refused(make_page: MakePage, cursor: str) -> None:
    page = make_page(SIMULTANEOUS[:3])
    fault = error(browse(page, cursor=cursor), 400)
    assert "cursor" in fault["message"]
    assert "first page" in fault["hint"]
    reply = page.post("/api/search", json={"query": "beam", "mode": "keyword", "cursor": cursor})
    assert "cursor" in error(reply, 400)["message"]


def test_cursors_come_back_as_they_went() -> None:
    for last in ("E1", "a/b?c=é\ud800\0", ""):
        assert RankedCursor.read(RankedCursor(20, last).write()) == RankedCursor(20, last)
        assert TimeCursor.read(TimeCursor(FIRST, last).write()) == TimeCursor(FIRST, last)
