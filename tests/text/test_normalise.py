"""Folding: what is the same letter, and where each character came from."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ariel_lite.text.normalise import fold, is_emoji, is_single, normalise, script


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Straße", "strasse"), ("Økland", "okland"), ("Paweł", "pawel"), ("ısı", "isi"), ("İstanbul", "istanbul"), ("ISI", "isi"),
        ("Æther œuvre Þor Đat ð", "aether oeuvre thor dat d"), ("naïve CAFÉ", "naive cafe"), ("ΆΛΦΑ", "αλφα"), ("ﬁ", "fi"),
        ("ガ", "ガ"), ("й", "й"), ("Ёлка", "ёлка"), ("ＲＦ", "rf"), ("Ħ Ŧ", "h t"), ("Ǆ", "dz"), ("ς Σ", "σ σ"),
    ],
)  # fmt: skip
def test_letters_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


@settings(max_examples=500)
@given(st.text(max_size=30))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@settings(max_examples=500)
@given(st.text(max_size=30))
def test_each_character_remembers_where_it_came_from(text: str) -> None:
    made, offsets = normalise(text)
    assert len(offsets) == len(made) + 1
    assert offsets == sorted(offsets)
    assert offsets[-1] == len(text)
    assert all(0 <= offset <= len(text) for offset in offsets)


@pytest.mark.parametrize(
    ("text", "made"),
    [("10⁻⁷", "10^-7"), ("m²", "m2"), ("−3", "-3"), ("don’t", "don't"), ("a\u00adb", "ab"), ("a\u200bb", "ab"), ("５µＡ", "5μA"),
     ("‐‑", "--"), ("❤️", "❤"), ("👍🏽", "👍")],
)  # fmt: skip
def test_signs_are_unified(text: str, made: str) -> None:
    assert normalise(text)[0] == made


def test_scripts() -> None:
    assert [script(c) for c in "aéЖ真ガ1-"] == ["LATIN", "LATIN", "CYRILLIC", "CJK", "KATAKANA", "", ""]
    assert all(map(is_single, "真ひガ한"))
    assert not any(map(is_single, "aжα1-。"))
    assert all(map(is_emoji, "😀⚡⏰☢"))
    assert not any(map(is_emoji, "a1真→"))
