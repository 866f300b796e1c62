"""What must not change a query's answer, and what may only make it smaller."""

from __future__ import annotations

from dataclasses import replace
from zoneinfo import ZoneInfo

from brute_force import Both, Either, Field, Neither, Tree, render
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from logbooks import NOW, MakeLogbook, exact, refill
from strategies import corpora, fields, trees

from ariel_lite.errors import QuerySyntaxError
from ariel_lite.query.bind import bind
from ariel_lite.query.nodes import All, AnyOf, BoundNode, Exclude, FieldLeaf, Nothing, TextLeaf
from ariel_lite.query.parser import parse
from ariel_lite.query.render import syntax_text
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.text.tokenise import Analyzer

UTC = ZoneInfo("UTC")
ANALYZER = Analyzer()
PAIRS = 8

one_logbook = settings(suppress_health_check=list(HealthCheck), max_examples=25)
pairs = st.lists(st.tuples(trees(depth=2), trees(depth=2)), min_size=PAIRS, max_size=PAIRS)
odd_queries = st.lists(
    st.sampled_from(
        ("beam", "BR-QF-12", "1.9", "GeV", "-3", "mm", "(", ")", "OR", "AND", "NOT", "-", '"', "“", "be*", "the", "author:x",
         'tag:"a b"', "date:2026", "-x", "--v", "x:y", "*", "''", ",", "a,b", "50", "%", "真空")
    ).flatmap(lambda word: st.sampled_from((word, word + " "))),
    max_size=10,
).map("".join)  # fmt: skip


def meaning(query: str) -> BoundNode:
    """What a query asks for, without where it was typed."""
    return _bare(bind(parse(query), ANALYZER, zone=UTC, now=NOW).tree)


def _bare(node: BoundNode) -> BoundNode:
    if isinstance(node, TextLeaf):
        return replace(node, text="", position=0)
    if isinstance(node, FieldLeaf):
        return replace(node, text="")
    if isinstance(node, Exclude):
        return Exclude(_bare(node.child))
    if isinstance(node, All | AnyOf):
        return type(node)(tuple(map(_bare, node.children)))
    return Nothing("") if isinstance(node, Nothing) else node


@settings(max_examples=300)
@given(tree=trees(depth=3))
def test_a_tree_written_back_means_the_same(tree: Tree) -> None:
    query = render(tree)
    parsed = parse(query, strict=True)
    assert parsed.tree is not None
    assert meaning(syntax_text(parsed.tree)) == meaning(query)


@settings(max_examples=300)
@given(query=odd_queries)
def test_a_mended_query_written_back_means_the_same(query: str) -> None:
    try:
        parsed = parse(query)
        expected = meaning(query)
    except QuerySyntaxError:
        return
    if parsed.tree is not None:
        assert meaning(syntax_text(parsed.tree)) == expected


def test_order_of_parts_does_not_change_the_set(make_logbook: MakeLogbook) -> None:
    book = make_logbook()

    @one_logbook
    @given(corpus=corpora(), given_pairs=pairs)
    def same_sets(corpus: list[EnhancedLogbookEntry], given_pairs: list[tuple[Tree, Tree]]) -> None:
        refill(book, corpus)
        for a, b in given_pairs:
            assert set(exact(book, render(Both((a, b))))) == set(exact(book, render(Both((b, a)))))
            assert set(exact(book, render(Either((a, b))))) == set(exact(book, render(Either((b, a)))))

    same_sets()


def test_a_double_negation_is_none(make_logbook: MakeLogbook) -> None:
    book = make_logbook()

    @one_logbook
    @given(corpus=corpora(), queries=st.lists(trees(depth=2), min_size=PAIRS, max_size=PAIRS))
    def same_answers(corpus: list[EnhancedLogbookEntry], queries: list[Tree]) -> None:
        refill(book, corpus)
        for tree in queries:
            assert exact(book, render(Neither(Neither(tree)))) == exact(book, render(tree)), render(tree)

    same_answers()


def test_a_query_and_its_exclusion_share_nothing_and_leave_nothing_out(make_logbook: MakeLogbook) -> None:
    book = make_logbook()

    @one_logbook
    @given(corpus=corpora(), queries=st.lists(trees(depth=2), min_size=PAIRS, max_size=PAIRS))
    def halves(corpus: list[EnhancedLogbookEntry], queries: list[Tree]) -> None:
        refill(book, corpus)
        everything = {entry["entry_id"] for entry in corpus}
        for tree in queries:
            inside, outside = set(exact(book, render(tree))), set(exact(book, render(Neither(tree))))
            assert not inside & outside, render(tree)
            if inside or outside:
                assert inside | outside == everything, render(tree)

    halves()


def test_a_filter_never_adds_hits(make_logbook: MakeLogbook) -> None:
    book = make_logbook()
    filters = st.sampled_from(
        ({"author": "a"}, {"author": "Ada Kestrel"}, {"source_system": "als"}, {"start_date": "2026-03-05"},
         {"end_date": "2026-03-04"}, {"start_date": "2026-03-05", "end_date": "2026-03-05", "author": "j_m"})
    )  # fmt: skip

    @one_logbook
    @given(
        corpus=corpora(), queries=st.lists(st.tuples(trees(depth=2), fields, filters), min_size=PAIRS, max_size=PAIRS)
    )
    def shrinks(corpus: list[EnhancedLogbookEntry], queries: list[tuple[Tree, Field, dict[str, str]]]) -> None:
        refill(book, corpus)
        for tree, field, options in queries:
            if isinstance(meaning(render(tree)), Nothing):  # beside a field, ignored words leave the field
                continue
            whole = exact(book, render(tree))
            assert set(exact(book, render(Both((tree, field))))) <= set(whole)
            filtered = exact(book, render(tree), **options)
            assert filtered == [entry_id for entry_id in whole if entry_id in filtered]

    shrinks()
