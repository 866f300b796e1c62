"""The syntax tree: binding, brackets, quotes, fields, minus signs; positions; lenient and strict."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ariel_lite.errors import QuerySyntaxError
from ariel_lite.query.lexer import MAX_CHARACTERS, clean
from ariel_lite.query.nodes import And, FieldTerm, Not, Or, Quoted, SyntaxNode, Word
from ariel_lite.query.parser import parse


def shape(node: SyntaxNode | None) -> str:
    """A tree in one line: words as typed, quotes, `name=value`, !(…), (a & b), (a | b)."""
    if node is None:
        return ""
    if isinstance(node, Word):
        return node.text + ("*" if node.prefix else "")
    if isinstance(node, Quoted):
        return f'"{node.text}"'
    if isinstance(node, FieldTerm):
        return f"{node.name}={node.value}"
    if isinstance(node, Not):
        return f"!{shape(node.child)}"
    return "(" + (" & " if isinstance(node, And) else " | ").join(map(shape, node.children)) + ")"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("a", "a"),
        ("a b", "(a & b)"),
        ("a AND b", "(a & b)"),
        ("a b OR c", "((a & b) | c)"),
        ("a OR b c", "(a | (b & c))"),
        ("a OR b OR c", "(a | b | c)"),
        ("a (b OR c) d", "(a & (b | c) & d)"),
        ("NOT a b", "(!a & b)"),
        ("NOT (a b)", "!(a & b)"),
        ("a NOT b OR c", "((a & !b) | c)"),
        ("NOT NOT a", "!!a"),
        ("-a", "!a"),
        ("- a", "(- & a)"),
        ("a -b", "(a & !b)"),
        ("a-b", "a-b"),
        ("a - b", "(a & - & b)"),
        ("-3", "-3"),
        ("--version", "--version"),
        ("-(a b)", "!(a & b)"),
        ('-"a b"', '!"a b"'),
        ("-author:x", "!author=x"),
        ("(-a)", "!a"),
        ("NOT -a", "!!a"),
        ("and or not", "(and & or & not)"),
        ("And Or Not", "(And & Or & Not)"),
        ("NOTE ANDY ORB", "(NOTE & ANDY & ORB)"),
        ('"AND"', '"AND"'),
        ("a AND NOT b", "(a & !b)"),
        ("a OR NOT b", "(a | !b)"),
        ("(a)(b)", "(a & b)"),
        ('a"b c"d', '(a & "b c" & d)'),
        ("a* b", "(a* & b)"),
        ("*a", "*a"),
        ("a*b", "a*b"),
        ("a:*", "a:*"),
        ("**", "**"),
        ("tag:x", "tag=x"),
        ('tag:"x y"', "tag=x y"),
        ("Tag:x", "Tag:x"),
        ("tags:x", "tags:x"),
        ("xtag:x", "xtag:x"),
        ("(tag:x)", "tag=x"),
        ("tag:x:y", "tag=x:y"),
        ("tag:-x", "tag=-x"),
        ("a,b", "a,b"),
    ],
)
def test_shapes(query: str, expected: str) -> None:
    assert shape(parse(query, strict=True).tree) == expected


@pytest.mark.parametrize(
    ("query", "expected", "position", "word"),
    [
        ('a "b', "(a & b)", 2, "quote"),
        ('"', "", 0, "quote"),
        ("a (b", "(a & b)", 2, "bracket"),
        ("a) b", "(a & b)", 1, "bracket"),
        ("() a", "a", 0, "bracket"),
        ("a OR", "a", 2, "OR"),
        ("OR a", "a", 0, "OR"),
        ("a AND OR b", "(a | b)", 2, "AND"),
        ("a NOT", "a", 2, "NOT"),
        ("a NOT OR b", "(a | b)", 2, "NOT"),
        ("(a OR) b", "(a & b)", 3, "OR"),
        ("a OR (b", "(a | b)", 5, "bracket"),
        ('tag:"x', "tag=x", 4, "quote"),
        ("a\x00b", "(a & b)", 1, "blank"),
    ],
)
def test_lenient_parsing_mends_and_strict_refuses(query: str, expected: str, position: int, word: str) -> None:
    parsed = parse(query)
    assert shape(parsed.tree) == expected
    assert any(problem.position == position and word in problem.message for problem in parsed.problems)
    with pytest.raises(QuerySyntaxError) as refused:
        parse(query, strict=True)
    assert refused.value.position == position
    assert refused.value.code == "query_syntax"


def test_problems_come_in_the_order_of_their_positions() -> None:
    positions = [problem.position for problem in parse(') OR a (b "c').problems]
    assert len(positions) == 4
    assert positions == sorted(positions)


def test_nodes_know_where_they_were_typed() -> None:
    query = 'ab (tag:"x y" OR "c d") -ef*'
    tree = parse(query).tree
    assert isinstance(tree, And)
    word, choice, excluded = tree.children
    assert isinstance(word, Word)
    assert query[word.start : word.end] == "ab"
    assert isinstance(choice, Or)
    field, quoted = choice.children
    assert isinstance(field, FieldTerm)
    assert query[field.start : field.end] == 'tag:"x y"'
    assert query[field.value_start :].startswith("x y")
    assert isinstance(quoted, Quoted)
    assert query[quoted.start : quoted.end] == '"c d"'
    assert isinstance(excluded, Not)
    assert isinstance(excluded.child, Word)
    assert query[excluded.child.start : excluded.child.end] == "ef*"


def test_terms_and_levels_are_bounded_in_both_ways_of_parsing() -> None:
    assert parse(" ".join(["a"] * 64)).tree is not None
    assert parse("(" * 32 + "a" + ")" * 32).tree is not None
    for strict in (False, True):
        with pytest.raises(QuerySyntaxError, match="64"):
            parse(" ".join(["a"] * 65), strict=strict)
        with pytest.raises(QuerySyntaxError, match="32"):
            parse("(" * 33 + "a" + ")" * 33, strict=strict)
        with pytest.raises(QuerySyntaxError, match="no value"):
            parse("a tag: b", strict=strict)


@pytest.mark.parametrize(
    ("text", "length"), [("x" * 1000, 1000), ("x" * 1001, 1000), ("ab " * 400, 998), ("x" * 600 + " " + "y" * 600, 600)]
)
def test_an_overlong_query_is_cut_at_a_word(text: str, length: int) -> None:
    cleaned, problems = clean(text)
    assert len(cleaned.rstrip()) == length
    assert text.startswith(cleaned)
    assert bool(problems) == (len(text) > MAX_CHARACTERS)


def test_characters_that_cannot_be_searched_become_blanks_in_place() -> None:
    cleaned, problems = clean("a\x00b\ud800c\x7fd\te")
    assert cleaned == "a b c d\te"
    assert [problem.position for problem in problems] == [1]


@settings(max_examples=500)
@given(st.text(st.sampled_from('ab"“() -*:ANDORT\tNé%'), max_size=60))
def test_anything_parses_or_is_refused_with_a_position(query: str) -> None:
    for strict in (False, True):
        try:
            parsed = parse(query, strict=strict)
        except QuerySyntaxError as refused:
            assert refused.position is not None
            assert 0 <= refused.position <= len(query)
            assert refused.hint
        else:
            assert all(0 <= problem.position <= len(query) for problem in parsed.problems)
            assert not (strict and any(problem.level == "warning" for problem in parsed.problems))
