"""The service and `open_logbook`: requests in, results out."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from logbooks import MakeLogbook, entry
from meanings import OpenEmpty, meaning_book

from ariel_lite import open_logbook
from ariel_lite.errors import ARIELException, ConfigurationError, InvalidRequestError, QuerySyntaxError
from ariel_lite.records import ARIELSearchRequest, ARIELSearchResult
from ariel_lite.search.keyword import get_parameter_descriptors, get_tool_descriptor, keyword_search

GIVEN = (
    entry("E1", "beam dump", author="Ada", source="ALS eLog", at="2026-03-01"),
    entry("E2", "beam lost", author="Bo", source="JLab Logbook", at="2026-03-02"),
)


def ids(result: ARIELSearchResult) -> list[str]:
    return [hit["entry_id"] for hit in result.entries]


def test_a_request_is_run_with_its_filters(make_logbook: MakeLogbook) -> None:
    service = make_logbook(GIVEN).service
    limits = (datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 1, 12, tzinfo=UTC))
    requests = {
        "all": ARIELSearchRequest("beam"),
        "als": ARIELSearchRequest("beam", facility="ALS eLog"),
        "march": ARIELSearchRequest("beam", time_range=limits),
        "ada": ARIELSearchRequest("beam", advanced_params={"author": "ada"}),
    }
    found = {name: ids(anyio.run(service.ainvoke, request)) for name, request in requests.items()}
    assert found == {"all": ["E2", "E1"], "als": ["E1"], "march": ["E1"], "ada": ["E1"]}


def test_a_request_has_one_mode_and_a_query(make_logbook: MakeLogbook) -> None:
    service = make_logbook(GIVEN).service
    with pytest.raises(ConfigurationError):
        anyio.run(service.ainvoke, ARIELSearchRequest("beam", modes=["keyword", "hybrid"]))
    for blank in ("", "  \n"):
        with pytest.raises(ValueError, match="empty"):
            ARIELSearchRequest(blank)
    assert ARIELSearchRequest("x", max_results=1000).max_results == 100
    assert ARIELSearchRequest("x", max_results=0).max_results == 1


def test_searches_run_side_by_side(make_logbook: MakeLogbook) -> None:
    service = make_logbook([f"beam {n}" for n in range(30)]).service
    answers: dict[int, list[str]] = {}

    async def ask(number: int) -> None:
        answers[number] = ids(await service.search(f"beam {number}", mode="keyword"))

    async def ask_all() -> None:
        async with anyio.create_task_group() as group:
            for number in range(30):
                group.start_soon(ask, number)

    anyio.run(ask_all)
    assert answers == {number: [f"E{number + 1}"] for number in range(30)}


def test_faults_reach_the_caller_of_the_async_service(make_logbook: MakeLogbook) -> None:
    service = make_logbook(GIVEN).service
    with pytest.raises(QuerySyntaxError):
        anyio.run(service.search, "date:2026-13")


def test_keyword_search_gives_entries_scores_and_highlights(make_logbook: MakeLogbook) -> None:
    context = make_logbook(GIVEN).service.context
    ((found, score, highlights),) = keyword_search("beam dump", context, author="ada", max_results=5)
    assert found["entry_id"] == "E1"
    assert score >= 0
    assert highlights == ["<b>beam</b> <b>dump</b>"]
    assert keyword_search("baem", context, fuzzy_fallback=False) == []
    assert keyword_search("beam", context, include_highlights=False)[0][2] == []


def test_the_mode_describes_itself() -> None:
    descriptor = get_tool_descriptor()
    assert descriptor.search_mode == "keyword"
    assert not descriptor.needs_embedder
    names = {parameter.name for parameter in get_parameter_descriptors()}
    assert names <= set(descriptor.args_schema.model_fields)
    for parameter in get_parameter_descriptors():
        assert {"name", "label", "description", "type", "default", "section"} <= set(parameter.to_dict())


def test_open_logbook_is_a_file_that_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with open_logbook(path, config={}) as book:
        added = book.add(
            [{"entry_id": "E1", "raw_text": "RF trip", "author": "Smith", "timestamp": "2026-03-05T10:00:00Z"}]
        )
        assert added.added == ["E1"]
    with open_logbook(path, config={}) as book:
        assert ids(book.search("RF trip author:smith")) == ["E1"]
        assert book.get("E1")["raw_text"] == "RF trip"
        assert book.get("E2") is None
        assert book.status().entry_count == 1
        assert book.browse(author="smith").total == 1
    with open_logbook(path, config={}, read_only=True) as book:
        assert ids(book.search("RF")) == ["E1"]
        with pytest.raises(ARIELException):
            book.add({"raw_text": "x"})


def test_an_absent_file_is_not_made_for_reading(tmp_path: Path) -> None:
    with pytest.raises(ARIELException) as refused:
        open_logbook(tmp_path / "none.db", config={}, read_only=True)
    assert refused.value.hint
    assert list(tmp_path.iterdir()) == []


def test_pages_of_a_logbook(make_logbook: MakeLogbook) -> None:
    book = make_logbook([f"entry {n}" for n in range(45)])
    pages = [book.browse(page=number, page_size=20) for number in (1, 2, 3, 4)]
    assert [len(page.entries) for page in pages] == [20, 20, 5, 0]
    assert {page.total for page in pages} == {45}
    assert [e["entry_id"] for page in pages for e in page.entries] == [f"E{n}" for n in range(45, 0, -1)]


def test_a_wrong_argument_is_refused(make_logbook: MakeLogbook) -> None:
    book = make_logbook(GIVEN)
    with pytest.raises(InvalidRequestError):
        book.search("beam", mode="keyword", offset="x")
    with pytest.raises(ARIELException):
        book.search("beam", start_date="yesterdy")


@pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid", "rag"])
@pytest.mark.parametrize("query", ["author:ada", "vacuum", "vacuum author:nobody", "*"])
def test_every_mode_explains_every_query(open_empty: OpenEmpty, mode: str, query: str) -> None:
    book = meaning_book(open_empty, ["vacuum leak", "orbit"])
    explanation = book.search(query, mode=mode, explain=True).explanation
    assert explanation is not None
    assert explanation["backend"] == book.service.backend.name
    assert book.search(query, mode=mode).explanation is None
