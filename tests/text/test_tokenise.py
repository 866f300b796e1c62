"""Positions, parts and words of a text: they agree with each other whatever the text."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ariel_lite.text.tokenise import INDEXED_CHARACTERS, LONGEST_LEXEME, Analyzer, shorten

ANALYZER = Analyzer()

odd_texts = st.one_of(
    st.text(max_size=60),
    st.text(st.sampled_from("aZ09 .,-_:/%°µμΩÅé'’\u00a0\u2009\u3000\t\n\x1c\x85真ガﾞй😀👍🏽²⁻½ﬁİß^eE+=()"), max_size=40),
    st.lists(
        st.sampled_from(("60 %", "5", " % ", "°C", "10⁻⁷", "1.9", "GeV", "-3", "a.u.", "x=-3", "BR-QF", "-", " ", "\u2028", "％", "٣", "10^-7")),
        max_size=8,
    ).map("".join),
)  # fmt: skip


@settings(max_examples=600)
@given(odd_texts)
@example("60 %")
@example("5\u00a0%")
@example("x\x1c%")
def test_parts_positions_and_words_agree(text: str) -> None:
    placed = ANALYZER.parts(text)
    assert [item.part.forms for item in placed] == list(ANALYZER.positions(text))
    assert {item.part.written[1:] for item in placed} == ANALYZER.words(text)


@settings(max_examples=600)
@given(odd_texts)
def test_offsets_lie_in_the_text_and_ascend(text: str) -> None:
    last = 0
    for item in ANALYZER.parts(text):
        assert last <= item.start <= item.end <= len(text)
        last = item.start


@settings(max_examples=600)
@given(odd_texts)
def test_forms_are_well_made(text: str) -> None:
    for item in ANALYZER.parts(text):
        part = item.part
        assert part.lexeme in part.forms
        assert part.written in part.forms
        assert part.written.startswith("=")
        assert len(part.written) > 1
        assert len(set(part.forms)) == len(part.forms)
        assert all(0 < len(form) <= LONGEST_LEXEME + 1 for form in part.forms)
        assert not any(character.isspace() for form in part.forms for character in form)


@settings(max_examples=300)
@given(odd_texts, odd_texts)
def test_lines_are_analysed_each_for_itself(first: str, second: str) -> None:
    if second.lstrip()[:1] in ("%", "°"):  # a number and its % may stand on two lines
        return
    joined = list(ANALYZER.positions(f"{first}\n{second}"))
    assert joined == [*ANALYZER.positions(first), *ANALYZER.positions(second)]


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(("beam", "Örn", "Straße", "ЖУК", "Øx", "BR-QF", "don't", "真a", "on")), max_size=6).map(
        " ".join
    )
)
def test_case_does_not_matter_in_words(text: str) -> None:
    assert ANALYZER.words(text.upper()) == ANALYZER.words(text.casefold()) == ANALYZER.words(text)


def test_fresh_analyzers_agree() -> None:
    other = Analyzer()
    assert other.fingerprint == ANALYZER.fingerprint
    text = "Magnet BR-QF-12 at 1.9 GeV 真空 don't"
    assert list(other.positions(text)) == list(ANALYZER.positions(text))


def test_new_words_are_told_once() -> None:
    analyzer = Analyzer()
    list(analyzer.positions("beam dump beam"))
    assert analyzer.take_new_words() == {"beam", "dump"}
    list(analyzer.positions("beam vacuum"))
    assert "vacuum" in analyzer.take_new_words()
    assert analyzer.take_new_words() == set()


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("trips", [("trip", "=trips")]),
        ("rf", [("rf", "=rf")]),
        ("offs", [("=offs",)]),
        ("on", [("=on",)]),
        ("BPM1", [("=bpm1",)]),
        ("BR-QF-12", [("br", "=br", "=br-qf-12"), ("qf", "=qf"), ("=12",)]),
        ("1.9GeV", [("=1.9", "=1.9gev"), ("gev", "=gev")]),
        ("真空", [("=真",), ("=空",)]),
        ("", []),
        ("?!", []),
    ],
)
def test_forms(text: str, forms: list[tuple[str, ...]]) -> None:
    assert list(ANALYZER.positions(text)) == forms


def test_offsets_point_at_what_was_written() -> None:
    text = "Ünit: Straße 5 µA, ﬁlament—BR-QF-12 (１２３) e\u0301t"
    shown = [text[item.start : item.end] for item in ANALYZER.parts(text)]
    assert shown == ["Ünit", "Straße", "5", "µA", "ﬁlament", "BR", "QF", "12", "１２３", "e\u0301t"]


def test_only_the_first_million_characters_are_analysed() -> None:
    text = "a" + " " * INDEXED_CHARACTERS + "b"
    assert list(ANALYZER.positions(text)) == [("=a",)]


def test_long_words_keep_their_beginning_and_stay_different() -> None:
    first, second = "x" * 500 + "1", "x" * 500 + "2"
    assert shorten(first) != shorten(second)
    assert len(shorten(first)) <= LONGEST_LEXEME
    assert shorten(first).startswith("x" * 160)
    assert shorten("x" * LONGEST_LEXEME) == "x" * LONGEST_LEXEME
