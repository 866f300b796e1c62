"""The same entries on both backends: the same sets, scores, order, highlights, corrections and counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from logbooks import NOW, entries, entry
from twins import twins

from ariel_lite.access import Restriction
from ariel_lite.backends.base import Backend
from ariel_lite.backends.postgres import scoring
from ariel_lite.backends.values import Hit, SearchPlan
from ariel_lite.compose import Logbook
from ariel_lite.config import ARIELConfig
from ariel_lite.planning import plan_query
from ariel_lite.query.nodes import Everything
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.text.tokenise import Analyzer

SAMPLE = Path(__file__).parents[2] / "sample_data" / "logbook.json"
PLACES = 9

QUERIES = [
    "beam", "vacuum pump", "beam dump", "rf trip", "tripped", "kicker NOT misfire", "beam OR vacuum", "(rf OR klystron) -trip",
    '"beam loss"', '"the beam"', '"stored beam"', '"BEAM"', "pres*", "be*", "SR0*", "BR*", "SR06C:BPM4", "sr06c_bpm4",
    "BPM*", "2e-7", "4e-10 Torr", "5.5 h", "40 µm", "12*", "1.9*", "NOT beam", "-vacuum -rf", "up OR down", "the", "on off",
    "author:odell", "author:o'dell beam", "author:%", "tag:study", "logbook:operations rf", "has:attachment", "has:link",
    "date:2024", "date:2024-03 beam", "(author:odell OR tag:rf) vacuum", "beam OR author:ferreira", 'NOT "beam loss"',
    "rf OR (vacuum NOT pump)", '"beam loss" OR "golden orbit"', "vacuum vacuum", "source:generic id:TP-0003", "zzzz qqqq",
    "vacum gauge", "klystrn trip", "kiker misfier", "beem lost author:ferreira", "SR06C:BMP4", '"never said" beam',
]  # fmt: skip


def sample() -> list[EnhancedLogbookEntry]:
    """The sample facility's entries, read in the plainest way."""
    made = []
    for record in json.loads(SAMPLE.read_text(encoding="utf-8"))["entries"]:
        if record.get("timestamp"):
            made.append(
                entry(
                    record["id"],
                    f"{record['title']}\n\n{record['text']}",
                    at=datetime.fromisoformat(record["timestamp"]),
                    author=record["author"],
                    attachments=[{"url": file["url"]} for file in record["attachments"]],
                    title=record["title"],
                    tags=record["tags"],
                    books=record["books"],
                    categories=record["categories"],
                    linked_to=record["linked_to"],
                )
            )
    return made


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Logbook, Logbook]]:
    """The sample logbook on PostgreSQL and on SQLite."""
    with twins(tmp_path_factory.mktemp("twin"), [sample()]) as books:
        yield books


def answer(book: Logbook, query: str, **options: Any) -> list[tuple[Any, ...]]:
    result = book.search(query, mode="keyword", **{"max_results": 100, **options})
    notes = [note.message for note in result.diagnostics]
    found = [
        (hit["entry_id"], round(hit["_score"], PLACES), hit["_match"], hit["_highlights"]) for hit in result.entries
    ]
    return [*found, tuple(notes)]


@pytest.mark.parametrize("query", QUERIES)
def test_answers_are_the_same(pair: tuple[Logbook, Logbook], query: str) -> None:
    server, file = pair
    assert answer(server, query) == answer(file, query)


@pytest.mark.parametrize("query", QUERIES)
def test_answers_are_the_same_by_level_marks(
    pair: tuple[Logbook, Logbook], query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "FEW_ROWS", 0)
    server, file = pair
    assert answer(server, query) == answer(file, query)


def test_most_queries_find_something(pair: tuple[Logbook, Logbook]) -> None:
    assert sum(len(answer(pair[0], query)) > 1 for query in QUERIES) > 40


def tree_of(query: str) -> Any:
    config = ARIELConfig()
    return plan_query(query, Restriction(), Analyzer(), zone=config.zone, now=NOW).tree


def ids(backend: Backend, hits: list[Hit]) -> list[str]:
    assert backend.name
    return [hit.entry_id for hit in hits]


@pytest.mark.parametrize("query", ["beam", "NOT beam", "author:ferreira", "date:2024-02", "rf OR tag:study"])
def test_counts_pages_and_streams_are_the_same(pair: tuple[Logbook, Logbook], query: str) -> None:
    tree = tree_of(query)
    server, file = (book.service.backend for book in pair)
    assert server.count(tree) == file.count(tree) == len(server.rows(tree))
    assert server.exists(tree) == file.exists(tree)
    for page in (SearchPlan(tree, 7, 3), SearchPlan(tree, 5, 2, "oldest"), SearchPlan(tree, 0)):
        assert ids(server, server.search(page)) == ids(file, file.search(page))
    streams = [[e["entry_id"] for e in backend.iterate_entries(tree, "newest")] for backend in (server, file)]
    assert streams[0] == streams[1]
    assert server.month_counts(tree, "Asia/Kolkata") == file.month_counts(tree, "Asia/Kolkata")
    for name in ("author", "source", "logbook", "tag", "category", "has"):
        assert server.field_counts(name, tree) == file.field_counts(name, tree)


def test_entries_come_back_the_same(pair: tuple[Logbook, Logbook]) -> None:
    server, file = (book.service.backend for book in pair)
    moments = ("created_at", "updated_at")
    for one, other in zip(server.iterate_entries(Everything()), file.iterate_entries(Everything()), strict=True):
        assert {k: v for k, v in one.items() if k not in moments} == {
            k: v for k, v in other.items() if k not in moments
        }
    assert server.statistics() == file.statistics()
    assert len(server.vocabulary()) == len(file.vocabulary())
    assert sorted(server.entry_ids()) == sorted(file.entry_ids())


def test_rows_of_hits_are_the_rows_of_the_tree(pair: tuple[Logbook, Logbook]) -> None:
    backend = pair[0].service.backend
    for query in ("beam", "author:ferreira", "date:2024-02"):
        tree = tree_of(query)
        hits = backend.search(SearchPlan(tree, 10_000))
        assert sorted(hit.row for hit in hits) == backend.rows(tree).tolist()


def test_many_ties_are_broken_by_time_and_id(tmp_path: Path) -> None:
    many = [
        entry(f"T{number % 700:03}-{number}", "same words", at=f"2026-03-{1 + number % 9:02}") for number in range(1500)
    ]
    with twins(tmp_path, [many]) as (server, file):
        plans = [SearchPlan(tree_of("words"), limit, offset) for limit, offset in ((10, 0), (100, 600), (50, 1480))]
        for plan in plans:
            assert ids(server.service.backend, server.service.backend.search(plan)) == ids(
                file.service.backend, file.service.backend.search(plan)
            )


def test_the_best_of_very_many_phrases_are_scored_exactly(
    pair: tuple[Logbook, Logbook], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a small candidate set the order of the best still is the exact one where lower bounds can tell."""
    monkeypatch.setattr(scoring, "FEW_ROWS", 0)
    monkeypatch.setattr(scoring, "EXACT_ROWS", 60)
    server, file = pair
    assert answer(server, "be*", max_results=5)[0][0] == answer(file, "be*", max_results=5)[0][0]
    found = server.service.backend.search(SearchPlan(tree_of("be*"), 60))
    assert len(found) == 60
    assert np.all(np.diff([hit.score for hit in found]) <= 0)


def test_names_and_quotes_and_backslashes(tmp_path: Path) -> None:
    texts = entries("C:\\ioc\\st.cmd isn't it", "O'Neil's 'quoted' \\ text", "a & b | !c <-> d:*", "100% sure: x=-3")
    with twins(tmp_path, [texts]) as (server, file):
        for query in ("C:\\ioc", "\\", "o'neil", "'quoted'", "a & b", "!c", "d:*", "beam &", "a:*b", "x=-3", "100%"):
            assert answer(server, query) == answer(file, query), query
