"""Random corpora and queries: whatever leg brought an entry, it keeps to the query's phrases, exclusions and fields."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from brute_force import Both, BruteForce, Either, Field, Neither, Phrase, Tree, render
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from logbooks import entry
from meanings import OpenEmpty, enhance, meaning_book

from ariel_lite.compose import Logbook
from ariel_lite.records import EnhancedLogbookEntry

WORDS = ("vacuum", "pressure", "klystron", "arc", "kicker", "planned", "test", "pump", "on", "off", "BR-QF-12", "orbit")
AUTHORS = ("Ada", "Bo", "")
TAGS = ("RF", "vac")

texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
words = st.sampled_from(WORDS)
plain = st.lists(words, min_size=1, max_size=4).map(" ".join)


@st.composite
def corpora(draw: st.DrawFn) -> list[EnhancedLogbookEntry]:
    """Up to 10 entries, some blank, some of one time."""
    return [
        entry(
            f"E{number}",
            draw(texts),
            at=datetime(2026, 3, 5) + timedelta(days=draw(st.integers(0, 2))),
            author=draw(st.sampled_from(AUTHORS)),
            tags=draw(st.lists(st.sampled_from(TAGS), max_size=1)),
        )
        for number in range(draw(st.integers(1, 10)))
    ]


fields = st.one_of(
    st.builds(Field, st.just("author"), st.sampled_from(("ada", "bo", "nobody"))),
    st.builds(Field, st.just("tag"), st.sampled_from(("rf", "vac"))),
    st.builds(Field, st.just("date"), st.sampled_from(("2026-03-05", ">=2026-03-06", "2026-03", "2025"))),
    st.builds(Field, st.just("id"), st.sampled_from(("E0", "E1"))),
)
phrases = st.one_of(
    st.builds(Phrase, words),
    st.builds(Phrase, st.tuples(words, words).map(" ".join)),
)
conditions = st.one_of(
    fields,
    phrases,
    st.builds(Neither, st.one_of(fields, phrases, st.builds(Phrase, words))),
    st.builds(Either, st.tuples(fields, fields)),
    st.builds(Either, st.tuples(phrases, st.builds(Neither, fields))),
    st.builds(Neither, st.builds(Either, st.tuples(phrases, fields))),
)
demands = st.lists(conditions, min_size=1, max_size=3).map(
    lambda found: found[0] if len(found) == 1 else Both(tuple(found))
)

# A failure names its query; shrinking six of them at a time takes minutes.
one_logbook = settings(
    suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate], max_examples=30
)


def refill(book: Logbook, corpus: list[EnhancedLogbookEntry]) -> None:
    """Replace all entries, and embed the new ones."""
    backend = book.service.backend
    backend.delete(list(backend.entry_ids()))
    backend.upsert(corpus)
    enhance(book)


asked = st.lists(st.tuples(plain, demands, st.booleans()), min_size=6, max_size=6)


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_no_entry_violates_what_the_query_demands_besides_its_words(open_empty: OpenEmpty, mode: str) -> None:
    book = meaning_book(open_empty)

    @one_logbook
    @given(corpus=corpora(), queries=asked)
    def keeps(corpus: list[EnhancedLogbookEntry], queries: list[tuple[str, Tree, bool]]) -> None:
        refill(book, corpus)
        truth = BruteForce(corpus, ZoneInfo("UTC"))
        for text, demand, is_mistyped in queries:
            wanted = text.replace("klystron", "klystorn") if is_mistyped else text
            query = f"{wanted} " + (f"({render(demand)})" if isinstance(demand, Either) else render(demand))
            result = book.search(query, mode=mode, max_results=100, similarity_threshold=-1)
            found = [hit["entry_id"] for hit in result.entries]
            allowed = {hit.entry_id for hit in truth.search(demand)}
            assert set(found) <= allowed, (query, found, allowed)
            assert len(found) == len(set(found)), (query, found)

    keeps()


def test_every_entry_of_keyword_mode_is_in_hybrids_answer(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty)

    @one_logbook
    @given(corpus=corpora(), text=plain, demand=st.none() | demands)
    def holds(corpus: list[EnhancedLogbookEntry], text: str, demand: Tree | None) -> None:
        refill(book, corpus)
        query = text if demand is None else f"{text} ({render(demand)})"
        keyword, hybrid = (
            [hit["entry_id"] for hit in book.search(query, mode=mode, max_results=100, **options).entries]
            for mode, options in (("keyword", {"fuzzy_fallback": False}), ("hybrid", {}))
        )
        assert set(keyword) <= set(hybrid), (query, keyword, hybrid)

    holds()


def test_the_same_search_gives_the_same_answer(open_empty: OpenEmpty) -> None:
    book, twin = meaning_book(open_empty), meaning_book(open_empty)

    @settings(one_logbook, max_examples=20)
    @given(corpus=corpora(), text=plain, data=st.data())
    def repeats(corpus: list[EnhancedLogbookEntry], text: str, data: st.DataObject) -> None:
        refill(book, corpus)
        refill(twin, data.draw(st.permutations(corpus)))
        answers = [
            [(hit["entry_id"], hit["_score"]) for hit in logbook.search(text, mode="hybrid", max_results=100).entries]
            for logbook in (book, book, twin)
        ]
        assert answers[0] == answers[1] == answers[2], text

    repeats()
