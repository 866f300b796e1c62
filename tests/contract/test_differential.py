"""Every query finds what the brute-force evaluator finds, in the same order."""

from __future__ import annotations

from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from brute_force import BruteForce, Found, Tree, render
from hypothesis import HealthCheck, Phase, given, settings
from logbooks import MakeLogbook, refill
from strategies import batches, corpora

from ariel_lite.compose import Logbook
from ariel_lite.records import EnhancedLogbookEntry

QUERIES = 20
TOLERANCE = 1e-9
TIE = 2e-12
ZONE = "Europe/Berlin"

# A failure names its query and entries; shrinking batches of twenty takes minutes.
one_logbook = settings(suppress_health_check=list(HealthCheck), phases=[Phase.generate])


def compare(book: Logbook, corpus: list[EnhancedLogbookEntry], queries: list[Tree]) -> None:
    """Ask both; the answers must agree."""
    refill(book, corpus)
    truth = BruteForce(corpus, ZoneInfo(ZONE))
    for tree in queries:
        query = render(tree)
        options = {"include_highlights": False, "fuzzy_fallback": False}
        hits = book.search(query, mode="keyword", max_results=100, **options).entries
        expected = {hit.entry_id: hit for hit in truth.search(tree)}
        assert {hit["entry_id"] for hit in hits} == set(expected), (query, [e["raw_text"] for e in corpus])
        for hit in hits:
            assert hit["_score"] == pytest.approx(expected[hit["entry_id"]].score, abs=TOLERANCE), query
        check_order([expected[hit["entry_id"]] for hit in hits], query)


def check_order(found: list[Found], query: str) -> None:
    """Most leaves as written, then BM25, newest, id; scores closer than TIE are equal."""
    for first, second in pairwise(found):
        assert first.written >= second.written, (query, first, second)
        if first.written > second.written:
            continue
        if abs(first.score - second.score) > TIE:
            assert first.score > second.score, (query, first, second)
        else:
            newest_first = (-first.at.timestamp(), first.entry_id) < (-second.at.timestamp(), second.entry_id)
            assert newest_first, (query, first, second)


def test_a_thousand_pairs_agree_with_brute_force(make_logbook: MakeLogbook) -> None:
    book = make_logbook(zone=ZONE)

    @settings(one_logbook, max_examples=50)
    @given(corpus=corpora(), queries=batches(QUERIES))
    def agree(corpus: list[EnhancedLogbookEntry], queries: list[Tree]) -> None:
        compare(book, corpus, queries)

    agree()


@pytest.mark.slow
def test_twenty_thousand_pairs_agree_with_brute_force(make_logbook: MakeLogbook) -> None:
    book = make_logbook(zone=ZONE)

    @settings(one_logbook, max_examples=1000)
    @given(corpus=corpora(), queries=batches(QUERIES))
    def agree(corpus: list[EnhancedLogbookEntry], queries: list[Tree]) -> None:
        compare(book, corpus, queries)

    agree()
