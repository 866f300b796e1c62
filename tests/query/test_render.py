"""Trees for people and for JSON."""

from __future__ import annotations

import json
from zoneinfo import ZoneInfo

import pytest
from logbooks import NOW

from ariel_lite.query.bind import bind
from ariel_lite.query.parser import parse
from ariel_lite.query.render import bound_json, sentence, syntax_json, syntax_text
from ariel_lite.text.tokenise import Analyzer

ANALYZER = Analyzer()
UTC = ZoneInfo("UTC")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("beam", "contains beam"),
        ("beam dump", "contains beam and dump"),
        ("beam OR dump", "contains beam or dump"),
        ('rf ("beam dump" OR vacuum) -planned', 'contains rf and ("beam dump" or vacuum), not planned'),
        ("beam author:smith", "contains beam, author contains smith"),
        ("author:smith", "author contains smith"),
        ('tag:"night shift" source:als', "tag is night shift, source contains als"),
        ("-planned", "not planned"),
        ("has:attachment logbook:main", "has attachment, logbook is main"),
        ("be* BR-QF-12", "contains be* and BR-QF-12"),
        ("NOT (a1 b1)", "not (a1 and b1)"),
        ("id:E1 OR vacuum", "contains id is E1 or vacuum"),
    ],
)  # fmt: skip
def test_sentences(query: str, expected: str) -> None:
    assert sentence(bind(parse(query), ANALYZER, zone=UTC, now=NOW).tree, UTC) == expected


def test_a_date_is_said_in_words() -> None:
    said = sentence(bind(parse("beam date:2026-03-05"), ANALYZER, zone=UTC, now=NOW).tree, UTC)
    assert said.startswith("contains beam, ")
    assert "5 March 2026" in said


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("a b", {"and": [{"word": "a", "prefix": False, "span": [0, 1]}, {"word": "b", "prefix": False, "span": [2, 3]}]}),
        ('"a b"', {"quoted": "a b", "span": [0, 5]}),
        ("-tag:x", {"not": {"field": "tag", "value": "x", "span": [1, 6]}}),
        ("a* OR b", {"or": [{"word": "a", "prefix": True, "span": [0, 2]}, {"word": "b", "prefix": False, "span": [6, 7]}]}),
        ("()", None),
    ],
)  # fmt: skip
def test_syntax_trees_as_json(query: str, expected: object) -> None:
    assert syntax_json(parse(query).tree) == expected


@pytest.mark.parametrize(
    "query", ["beam", "a1 OR -b1", "tag:x date:2026 be*", "the", "NOT (a1 b1)", "BR-QF-12", '"a1 b1"']
)
def test_bound_trees_are_json(query: str) -> None:
    shown = bound_json(bind(parse(query), ANALYZER, zone=UTC, now=NOW).tree)
    assert json.loads(json.dumps(shown)) == shown


def test_a_bound_leaf_shows_its_lexemes() -> None:
    shown = bound_json(bind(parse("BR-QF-12"), ANALYZER, zone=UTC, now=NOW).tree)
    assert shown == {
        "text": "BR-QF-12", "kind": "identifier", "lexemes": ["br", "qf", "=12"], "written": ["=br-qf-12", "=qf", "=12"],
    }  # fmt: skip


@pytest.mark.parametrize(
    "query", ["a b OR c", 'x (y OR "p q") -z', "tag:v OR w*", "NOT NOT a", "“a b” «c»", "a -(b c)"]
)
def test_written_back_trees_parse_strictly_to_themselves(query: str) -> None:
    once = syntax_text(parse(query).tree)
    assert syntax_text(parse(once, strict=True).tree) == once
