"""Narrowing a query by its text never changes what the rest of it means: the page's text functions against our parser."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from page_faults import OpenPage
from playwright.sync_api import Page

from ariel_lite.query.bind import bind
from ariel_lite.query.nodes import BoundNode, Nothing, conjunction
from ariel_lite.query.parser import parse
from ariel_lite.text.tokenise import Analyzer

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MODULE = "/static/js/search/query_text.js"
ANALYZER = Analyzer()

Call = Callable[..., Any]


@pytest.fixture
def call(open_page: OpenPage) -> Call:
    """`call(function, *arguments)`: what a function of query_text.js gives."""
    page: Page = open_page("/status")
    script = f"async ([name, given]) => (await import('{MODULE}'))[name](...given)"
    return lambda name, *given: page.evaluate(script, [name, list(given)])


def bound(query: str) -> BoundNode:
    return bind(parse(query), ANALYZER, zone=ZoneInfo("UTC"), now=NOW).tree


def shape(tree: BoundNode) -> str:
    """A tree without the places where its words stand."""
    return re.sub(r"position=\d+", "", repr(tree))


def meaning(query: str) -> str:
    return shape(bound(query))


@pytest.mark.parametrize(
    ("query", "piece", "expected"),
    [
        ("", "date:2024", "date:2024"),
        ("rf", 'author:"K. Ferreira"', 'rf author:"K. Ferreira"'),
        ("rf OR vacuum", "tag:x", "(rf OR vacuum) tag:x"),
        ("(rf OR vacuum) -planned", "tag:x", "(rf OR vacuum) -planned tag:x"),
        ('"rf OR vacuum"', "tag:x", '"rf OR vacuum" tag:x'),
        ("rf OR", "tag:x", "rf tag:x"),
        ("vacuum NOT", "tag:x", "vacuum tag:x"),
        ('"beam dump', "tag:x", "beam dump tag:x"),
        ("(rf (vacuum", "tag:x", "(rf (vacuum)) tag:x"),
        ("rf) OR vacuum", "tag:x", "rf vacuum tag:x"),
        ("rf OR x) vacuum OR y", "tag:x", "(rf OR x) (vacuum OR y) tag:x"),
        ("“beam dump” OR author:„A B“", "tag:x", "(“beam dump” OR author:„A B“) tag:x"),
    ],
)
def test_a_piece_is_added_and_taken_out(call: Call, query: str, piece: str, expected: str) -> None:
    assert call("withPiece", query, piece) == expected
    back = call("withoutPiece", expected, piece)
    assert meaning(back) == meaning(query) or not query


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('rf author:"A B" -tag:x NOT date:2024', ['author:"A B"', "-tag:x"]),
        ("rf OR author:x", []),
        ("(author:x) tag:y", ["tag:y"]),
        ('"author:x" sr:bpm', []),
    ],
)
def test_what_narrows_the_whole_query(call: Call, query: str, expected: list[str]) -> None:
    assert [piece["text"] for piece in call("fieldPieces", query)] == expected


def test_only_the_piece_itself_is_taken_out(call: Call) -> None:
    assert call("withoutPiece", "rf NOT tag:x vacuum", "tag:x") == "rf NOT tag:x vacuum"
    assert call("withoutPiece", "a AND tag:x AND b", "tag:x") == "a AND b"
    assert call("withoutPiece", "tag:x AND b", "tag:x") == "b"


def test_a_month_replaces_its_year(call: Call) -> None:
    assert call("withDate", "rf date:2024", "2024-03") == "rf date:2024-03"
    assert call("withDate", "rf date:2023..2025", "2024-03") == "rf date:2023..2025 date:2024-03"


def test_values_that_cannot_be_said(call: Call) -> None:
    assert call("fieldPiece", "tag", '12" pipe') is None
    assert call("fieldPiece", "tag", "a\nb") is None
    assert call("fieldPiece", "author", "O'Neil (RF)") == 'author:"O\'Neil (RF)"'


def test_words_are_replaced_whole(call: Call) -> None:
    assert call("withWord", "vacum vacuma (Vacum)", "vacum", "vacuum") == "vacuum vacuma (vacuum)"


WORDS = st.sampled_from(
    ["rf", "vacuum", "OR", "AND", "NOT", "(", ")", '"', "“", "-", "-rf", "-(", '"beam dump"', "author:x", 'tag:"a b"', "SR01:BPM", "date:2024", "the"]
)  # fmt: skip


def test_narrowing_keeps_the_meaning_of_any_query(call: Call) -> None:
    """Both readings of a few hundred odd queries are compared as bound trees."""

    @settings(max_examples=250, deadline=None)
    @given(st.lists(WORDS, max_size=9).map(" ".join), st.sampled_from(["tag:zz", 'author:"Q R"', "date:2025-02"]))
    def check(query: str, piece: str) -> None:
        assume(not isinstance(bound(query), Nothing))
        made = call("withPiece", query, piece)
        assert meaning(made) == shape(conjunction([bound(query), bound(piece)])), made

    check()
