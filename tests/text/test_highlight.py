"""Fragments: escaped text with only the real matches marked."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ariel_lite.text.highlight import FRAGMENT_CHARACTERS, FRAGMENTS, Form, Pattern, find_spans, highlight, mark
from ariel_lite.text.tokenise import Analyzer

ANALYZER = Analyzer()


def word(text: str) -> Pattern:
    return tuple(Form(forms[0]) for forms in ANALYZER.positions(text))


def beginning(text: str) -> Pattern:
    return (Form("=" + text, prefix=True),)


def shown(text: str, *patterns: Pattern) -> list[str]:
    return highlight(text, ANALYZER.analyzed(text), patterns)


def plain(fragment: str) -> str:
    """A fragment without marks, entities and ellipses."""
    return html.unescape(fragment.replace("<b>", "").replace("</b>", "")).strip("…")


@pytest.mark.parametrize(
    ("text", "pattern", "expected"),
    [
        ("the beams dumped", word("beam"), "the <b>beams</b> dumped"),
        ("Beam dump; beam", word("beam dump"), "<b>Beam dump</b>; beam"),
        ("tripping trips", word("trip"), "<b>tripping</b> <b>trips</b>"),
        ("BPM17 and BPM", beginning("bpm"), "<b>BPM17</b> and <b>BPM</b>"),
        ("at BR_QF_12!", word("BR-QF-12"), "at <b>BR_QF_12</b>!"),
        ("1.9GeV beam", word("1.9 GeV"), "<b>1.9GeV</b> beam"),
        ("5 µA leak", word("5uA"), "<b>5 µA</b> leak"),
        ("加速器の真空が悪化", word("真空"), "加速器の<b>真空</b>が悪化"),
        ("in der Straße 4", word("strasse"), "in der <b>Straße</b> 4"),
        ("the ﬁlament", word("filament"), "the <b>ﬁlament</b>"),
        ("cafe\u0301 noir", word("café"), "<b>cafe\u0301</b> noir"),
        ("don't touch", word("dont"), "<b>don&#x27;t</b> touch"),
        ("offset -3 mm", word("-3"), "offset <b>-3</b> mm"),
        ("İstanbul team", word("istanbul"), "<b>İstanbul</b> team"),
        ("ok 😀 ok", word("😀"), "ok <b>😀</b> ok"),
    ],
)
def test_matches_are_marked_where_they_stand(text: str, pattern: Pattern, expected: str) -> None:
    assert shown(text, pattern) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        'beam <img src=x onerror=alert(1)> <script>alert(2)</script> " onmouseover=alert(3) x=" javascript:alert(4)',
        "see <mark>fake</mark> beam \u0001fake\u0002 <b>fake</b> &lt;b&gt;",
        "<b>beam</b>",
        "beam</b><script>",
        "&amp; beam &#60;i&#62;",
        "</b>beam<b>",
    ],
)
def test_nothing_of_the_text_survives_as_markup(text: str) -> None:
    (fragment,) = shown(text, word("beam"))
    assert re.findall(r"<[^>]*>", fragment) == ["<b>", "</b>"]
    assert "<b>beam</b>" in fragment
    assert plain(fragment) == text
    assert '"' not in fragment


def test_a_match_cut_by_markup_characters_is_escaped_inside_too() -> None:
    assert shown("R&D lab", word("R&D")) == ["<b>R&amp;D</b> lab"]
    assert shown("a<b c", word("a b")) == ["<b>a&lt;b</b> c"]


def test_only_matches_are_marked() -> None:
    assert shown("beam dump and dump beam", word("beam dump")) == ["<b>beam dump</b> and dump beam"]
    assert shown("nothing here", word("beam")) == []
    assert shown("", word("beam")) == []
    assert shown("beam", ()) == shown("beam") == []


def test_overlapping_matches_are_one_mark() -> None:
    assert shown("beam dump armed", word("beam dump"), word("dump armed"), word("dump")) == ["<b>beam dump armed</b>"]


def test_a_long_text_gives_up_to_three_fragments_in_order() -> None:
    filler = "nothing of note happened in this hour " * 12
    text = filler.join(f" klystron number {n} tripped " for n in range(6))
    fragments = shown(text, word("klystron"))
    assert len(fragments) == FRAGMENTS
    positions = [text.index(plain(fragment)) for fragment in fragments]
    assert positions == sorted(positions)
    for fragment in fragments:
        assert "<b>klystron</b>" in fragment
        assert len(plain(fragment)) <= FRAGMENT_CHARACTERS + 2
    assert all(fragment.startswith("…") for fragment in fragments[1:])


def test_the_richest_places_are_shown() -> None:
    filler = "x " * 300
    text = "beam " + filler + "beam " + filler + "beam " + filler + "beam " + filler + "beam dump vacuum"
    fragments = shown(text, word("beam"), word("dump"), word("vacuum"))
    assert any("<b>beam</b> <b>dump</b> <b>vacuum</b>" in fragment for fragment in fragments)


def test_fragments_start_and_end_at_words() -> None:
    text = " ".join(f"word{n:04}" for n in range(400))
    (fragment,) = shown(text, word("word0200"))
    assert set(plain(fragment).split()) <= set(text.split())
    assert fragment.startswith("…")
    assert fragment.endswith("…")


def test_a_match_longer_than_a_fragment_is_shown_whole() -> None:
    text = "z" * 400
    assert shown(text, word(text)) == [f"<b>{text}</b>"]


def test_a_whole_text_may_be_marked() -> None:
    text = "<beam> " + "x " * 400 + "beams"
    marked = mark(text, ANALYZER.analyzed(text), [word("beam")])
    assert marked.startswith("&lt;<b>beam</b>&gt; x")
    assert marked.endswith("<b>beams</b>")


def test_spans_name_their_pattern() -> None:
    text = "dump beam"
    spans = find_spans(ANALYZER.analyzed(text), [word("beam"), word("dump")])
    assert [(text[span.start : span.end], span.pattern) for span in spans] == [("dump", 1), ("beam", 0)]


pieces = st.sampled_from(
    (
        "beam",
        "Beams",
        "<b>",
        "</b>",
        "&amp;",
        "<script>",
        "Straße",
        "真空",
        "5 µA",
        "ﬁ",
        "e\u0301",
        "…",
        "\n",
        " ",
        "  ",
        "BR-QF-12",
        "x" * 60,
        '"',
    )
)


@settings(max_examples=400)
@given(
    st.lists(pieces, max_size=30).map(" ".join),
    st.lists(st.sampled_from(("beam", "strasse", "真空", "5uA", "fi", "b", "script")), max_size=3),
)
def test_any_text_is_shown_as_it_is(text: str, wanted: list[str]) -> None:
    fragments = shown(text, *map(word, wanted))
    assert len(fragments) <= FRAGMENTS
    for fragment in fragments:
        assert set(re.findall(r"<[^>]*>", fragment)) == {"<b>", "</b>"}
        assert fragment.count("<b>") == fragment.count("</b>")
        assert plain(fragment).strip() in text
        for inside in re.findall(r"<b>(.*?)</b>", fragment, re.DOTALL):
            assert list(ANALYZER.positions(html.unescape(inside)))
