"""Entries beyond what PostgreSQL keeps of a vector: found, excluded, counted and scored as on SQLite."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logbooks import entry
from twins import twins

from ariel_lite.backends.postgres.lexemes import COMPLETE, NO_LEXEMES, NO_POSITIONS, index_text
from ariel_lite.backends.postgres.longtexts import LongText
from ariel_lite.compose import Logbook, open_logbook
from ariel_lite.text.highlight import Form
from ariel_lite.text.tokenise import INDEXED_CHARACTERS, Analyzer

QUERIES = [
    "klystron", '"klystron trip"', "klystron NOT trip", 'klystron NOT "klystron trip"', 'NOT "klystron trip"', "NOT klystron",
    '"trip klystron"', "kly*", "w119*", "word119999", "w1200 OR klystron", '"septum beam" OR "klystron trip"', "BR-QF-12",
    '"BR-QF-12"', "late septum", '"late septum"', "author:long klystron", '(author:long OR beam) NOT "klystron trip"', "beam",
    '"beam beam"', "-beam", "klystron septum", "date:2026-03-07 klystron", "w1199*", "klystrn", "BR-BR*", "10.0*",
]  # fmt: skip


def texts() -> list[Any]:
    maker = random.Random(4)
    words = [f"{maker.choice('abcdefgh')}{number % 900}x" for number in range(20_000)]
    words[19_990:19_994] = ["late", "septum", "klystron", "trip"]
    distinct = " ".join(f"w{number}" for number in range(120_000))
    long = {"author": "Long Texts"}
    return [
        entry("plain", "klystron trip at BR-QF-12, beam off, 10.0.2.17", at="2026-03-05"),
        entry("other", "the septum beam and the klystron", at="2026-03-06"),
        entry("often", "beam " * 300 + "klystron trip BR-QF-12", at="2026-03-07", **long),
        entry("pairs", "klystron trip " * 280 + "BR-BR-7", at="2026-03-08", **long),
        entry("many", " ".join(words), at="2026-03-09", **long),
        entry("distinct", distinct + " klystron beam", at="2026-03-10", **long),
        entry("short", "nothing of it", at="2026-03-11"),
    ]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Logbook, Logbook]]:
    with twins(tmp_path_factory.mktemp("long"), [texts()]) as books:
        yield books


def answer(book: Logbook, query: str) -> list[tuple[Any, ...]]:
    result = book.search(query, mode="keyword", max_results=100)
    return [(hit["entry_id"], round(hit["_score"], 9), hit["_match"], hit["_highlights"]) for hit in result.entries]


def test_each_limit_is_passed_by_an_entry() -> None:
    kinds = {made["entry_id"]: index_text(Analyzer(), made["raw_text"]).limit_kind for made in texts()}
    assert kinds == {
        "plain": COMPLETE,
        "other": COMPLETE,
        "often": NO_POSITIONS,
        "pairs": NO_POSITIONS,
        "many": NO_POSITIONS,
        "distinct": NO_LEXEMES,
        "short": COMPLETE,
    }


@pytest.mark.parametrize("query", QUERIES)
def test_long_entries_are_found_and_scored_as_on_sqlite(pair: tuple[Logbook, Logbook], query: str) -> None:
    server, file = pair
    assert answer(server, query) == answer(file, query)


FORMS = st.sampled_from(["beam", "=beam", "=beams", "bea", "dump", "=dump", "=br-qf", "br"])
POSITIONS = st.lists(st.lists(FORMS, min_size=1, max_size=3, unique=True).map(tuple), max_size=30)
PATTERNS = st.lists(st.builds(Form, FORMS, st.booleans()), min_size=1, max_size=3).map(tuple)


@given(POSITIONS, PATTERNS)
def test_occurrences_in_a_long_text_are_those_of_a_plain_look_at_each_position(
    positions: list[tuple[str, ...]], pattern: tuple[Form, ...]
) -> None:
    def stands(form: Form, forms: tuple[str, ...]) -> bool:
        return any(other.startswith(form.lexeme) if form.prefix else other == form.lexeme for other in forms)

    starts = range(len(positions) - len(pattern) + 1)
    expected = sum(all(stands(form, positions[at + place]) for place, form in enumerate(pattern)) for at in starts)
    assert LongText.of(positions).occurrences(pattern) == expected


def test_the_index_agrees_with_long_entries(pair: tuple[Logbook, Logbook]) -> None:
    server, file = pair
    assert server.service.backend.check() == []
    assert server.service.backend.statistics() == file.service.backend.statistics()


def test_words_of_long_entries_are_forgotten_with_them(url: str) -> None:
    with open_logbook(url) as book:
        backend = book.service.backend
        backend.upsert(texts())
        backend.upsert([entry("distinct", "rewritten", at="2026-03-10"), entry("often", "beam", at="2026-03-07")])
        assert backend.check() == []
        assert backend.delete(["many", "pairs", "nobody"]) == 2
        assert backend.check() == []
        assert not book.search("w119999", mode="keyword", fuzzy_fallback=False).entries


def test_a_text_over_the_limit_of_indexing_is_stored_whole_and_counted(url: str) -> None:
    text = "early " + "x" * INDEXED_CHARACTERS + " late"
    with open_logbook(url) as book:
        backend = book.service.backend
        backend.upsert([entry("huge", text, at="2026-03-05")])
        assert backend.status().cut == 1
        assert backend.get_entries(["huge"])[0]["raw_text"] == text
        assert [hit["entry_id"] for hit in book.search("early", mode="keyword").entries] == ["huge"]
        assert not book.search("late", mode="keyword", fuzzy_fallback=False).entries


def test_nul_and_lone_surrogates_are_stored_as_blanks(url: str) -> None:
    with open_logbook(url) as book:
        backend = book.service.backend
        strange = entry(
            "E\x001", "a\x00b \ud800 c", author="x\x00y", at="2026-03-05", tags=["t\x00g"], odd={"k\x00": "\udfff"}
        )
        assert backend.upsert([strange]).added == ["E 1"]
        assert backend.upsert([strange]).unchanged == 1
        stored = backend.get_entries(["E\x001"])[0]
        assert (stored["raw_text"], stored["author"]) == ("a b   c", "x y")
        assert stored["metadata"] == {"tags": ["t g"], "odd": {"k ": " "}}
        assert book.search("\x00 \ud800 b", mode="keyword", author="x\x00").entries == ()
        assert [hit["entry_id"] for hit in book.search("b\ud800", mode="keyword").entries] == ["E 1"]
