"""The bound tree: lexemes, identifiers, exact words, empty words, fields."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from logbooks import NOW

from ariel_lite.errors import QuerySyntaxError
from ariel_lite.query.bind import Bound, bind, bind_all_words
from ariel_lite.query.nodes import All, AnyOf, Everything, Exclude, FieldLeaf, Nothing, TextLeaf, text_leaves
from ariel_lite.query.parser import parse
from ariel_lite.text.tokenise import Analyzer

ANALYZER = Analyzer()


def bound(query: str, zone: str = "UTC") -> Bound:
    return bind(parse(query), ANALYZER, zone=ZoneInfo(zone), now=NOW)


def leaf(query: str) -> TextLeaf:
    tree = bound(query).tree
    assert isinstance(tree, TextLeaf), tree
    return tree


@pytest.mark.parametrize(
    ("query", "kind", "lexemes"),
    [
        ("trips", "word", ["trip"]),
        ("RF", "word", ["rf"]),
        ("on", "word", ["=on"]),
        ("BR-QF-12", "identifier", ["br", "qf", "=12"]),
        ("1.9", "word", ["=1.9"]),
        ("1.9GeV", "identifier", ["=1.9", "gev"]),
        ("1.9 GeV", "identifier", ["=1.9", "gev"]),
        ("5 µA", "identifier", ["=5", "ua"]),
        ("-3 mm", "identifier", ["=-3", "mm"]),
        ("真空", "identifier", ["=真", "=空"]),
        ('"trips"', "exact", ["=trips"]),
        ('"BR-QF-12"', "exact", ["=br", "=qf", "=12"]),
        ('"the trips"', "phrase", ["=the", "trip"]),
        ("trip*", "prefix", ["=trip*"]),
        ("BR-QF*", "prefix", ["br", "=qf*"]),
    ],
)
def test_leaves(query: str, kind: str, lexemes: list[str]) -> None:
    found = leaf(query)
    assert found.kind == kind
    assert [form.lexeme + "*" * form.prefix for form in found.forms] == lexemes


@pytest.mark.parametrize(
    ("query", "written"),
    [
        ("BR-QF-12", ["=br-qf-12", "=qf", "=12"]),
        ("BR_QF_12", ["=br_qf_12", "=qf", "=12"]),
        ('"magnet BR-QF-12"', ["=magnet", "=br-qf-12", "=qf", "=12"]),
        ("trips", []),
        ("trip*", []),
    ],
)
def test_names_and_phrases_know_their_exact_spelling(query: str, written: list[str]) -> None:
    assert [form.lexeme for form in leaf(query).written] == written


@pytest.mark.parametrize(
    "query", ["BR-QF-12 mm", "1.9 AND GeV", "1.9 (GeV)", '1.9 "GeV"', "GeV 1.9", "1.9* GeV", "3D mm"]
)
def test_only_a_number_and_the_unit_behind_it_are_one_name(query: str) -> None:
    tree = bound(query).tree
    assert isinstance(tree, All)
    assert len(tree.children) == 2


def test_empty_words_are_left_out_and_reported_once() -> None:
    found = bound("the beam of light")
    assert [leaf.text for leaf in text_leaves(found.tree)] == ["beam", "light"]
    assert [(p.level, p.position) for p in found.problems] == [("info", 0)]
    assert "the, of" in found.problems[0].message


@pytest.mark.parametrize(
    ("query", "word"),
    [("the of", "the, of"), ("?!", "punctuation"), ("", "punctuation"), ("NOT the", "the"), ('""', "punctuation")],
)
def test_nothing_says_why(query: str, word: str) -> None:
    tree = bound(query).tree
    assert isinstance(tree, Nothing)
    assert word in tree.reason


def test_groups_are_flattened_and_double_negations_vanish() -> None:
    tree = bound("a1 (b1 (c1 NOT NOT d1))").tree
    assert isinstance(tree, All)
    assert [child.text for child in tree.children if isinstance(child, TextLeaf)] == ["a1", "b1", "c1", "d1"]
    tree = bound("a1 OR (b1 OR -c1)").tree
    assert isinstance(tree, AnyOf)
    assert isinstance(tree.children[2], Exclude)


def test_fields_fold_their_values_and_ids_do_not() -> None:
    tree = bound('author:"Änne  ÖRN" tag:GRÖSSE id:Ab-1 has:Attachments').tree
    assert isinstance(tree, All)
    leaves = [child for child in tree.children if isinstance(child, FieldLeaf)]
    assert [(leaf.name, leaf.value) for leaf in leaves] == [
        ("author", "anne orn"), ("tag", "grosse"), ("id", "Ab-1"), ("has", "attachment"),
    ]  # fmt: skip


def test_a_faulty_field_names_its_position() -> None:
    for query in ("beam date:2026-13", "beam date:2026-01..soon", "beam has:nothing"):
        with pytest.raises(QuerySyntaxError) as refused:
            bound(query)
        assert refused.value.position is not None
        assert refused.value.position >= query.index(":") + 1


def test_days_are_the_facilitys() -> None:
    tree = bound("date:2026-03-05", "Asia/Tokyo").tree
    assert isinstance(tree, FieldLeaf)
    assert tree.range is not None
    assert tree.range.start is not None
    assert tree.range.start.isoformat() == "2026-03-04T15:00:00+00:00"


def test_leaves_inside_exclusions_do_not_rank() -> None:
    tree = bound("a1 -(b1 OR c1) OR NOT d1").tree
    assert [leaf.text for leaf in text_leaves(tree)] == ["a1"]
    assert [leaf.text for leaf in text_leaves(tree, positive=False)] == ["a1", "b1", "c1", "d1"]


def test_plain_text_becomes_the_conjunction_of_its_words() -> None:
    tree = bind_all_words('the beam NOT "dumped" author:x (beams', ANALYZER)
    assert isinstance(tree, All)
    lexemes = [child.forms[0].lexeme for child in tree.children if isinstance(child, TextLeaf)]
    assert lexemes == ["beam", "=not", "dump", "author", "x", "beam"]
    assert isinstance(bind_all_words("the of", ANALYZER), Nothing)


def test_too_many_lexemes_are_refused() -> None:
    with pytest.raises(QuerySyntaxError, match="too many words"):
        bound("真" * 600)


def test_everything_is_neutral() -> None:
    assert not isinstance(bound("beam").tree, Everything)
    assert isinstance(bound("NOT beam").tree, Exclude)
