"""Typo candidates against a plain computation, and trigram similarities against PostgreSQL's numbers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ariel_lite.ranking.fuzzy import (
    SIMILARITY,
    Vocabulary,
    allowed_distance,
    is_correctable,
    similarity,
    trigrams,
)


def test_trigrams_are_those_of_pg_trgm() -> None:
    # SELECT show_trgm('cat') in PostgreSQL's manual
    assert trigrams("cat") == {"  c", " ca", "cat", "at "}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # SELECT similarity(one, other) on PostgreSQL 18.6
        ("word", "words", 0.5714286),
        ("vacuum", "vacum", 0.625),
        ("kicker", "kickr", 0.44444445),
        ("klystron", "klystrno", 0.5),
        ("septum", "setpum", 0.27272728),
        ("modulator", "modulatr", 0.5833333),
        ("straße", "strasse", 0.36363637),
        ("клистрон", "клистрн", 0.54545456),
        ("bpm12", "bpm21", 0.33333334),
        ("abab", "baba", 0.25),
        ("aaaa", "aaa", 1.0),
        ("beam", "dump", 0.0),
    ],
)
def test_similarities_are_those_of_pg_trgm(one: str, other: str, expected: float) -> None:
    assert similarity(one, other) == pytest.approx(expected, abs=1e-7)
    assert similarity(other, one) == similarity(one, other)


def osa(one: str, other: str) -> int:
    """Optimal string alignment: insertions, deletions, substitutions, swaps of neighbours."""
    table = [[max(i, j) if not min(i, j) else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            cost = one[i - 1] != other[j - 1]
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + cost)
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


def plain_candidates(word: str, vocabulary: set[str]) -> dict[str, float]:
    found = {}
    for other in vocabulary:
        if not (is_correctable(word) and is_correctable(other)):
            continue
        if re.findall(r"\d+", word) != re.findall(r"\d+", other):
            continue
        alike, edits = similarity(word, other), osa(word, other)
        if alike >= SIMILARITY or edits <= (2 if len(word) >= 8 else 1):
            found[other] = max(alike, 1 - edits / max(len(word), len(other)))
    return found


words = st.one_of(
    st.text("abek", min_size=1, max_size=10),
    st.text("ab1é水", min_size=3, max_size=7),
    st.sampled_from(
        ["klystron", "klystrons", "klystrno", "bpm12", "bpm21", "bpm1x", "rf", "vacuum", "vacum", "über", "2026", "1e5"]
    ),
)


@settings(max_examples=300)
@given(vocabulary=st.sets(words, max_size=30), word=words)
def test_candidates_are_those_of_the_definition(vocabulary: set[str], word: str) -> None:
    found = Vocabulary(vocabulary).candidates(word)
    assert {c.word: pytest.approx(c.score) for c in found} == plain_candidates(word, vocabulary)
    assert found == sorted(found, key=lambda candidate: (-candidate.score, candidate.word))


def test_eight_letters_are_forgiven_two_edits() -> None:
    assert allowed_distance("klystro") == 1
    assert allowed_distance("klystron") == 2


@pytest.mark.parametrize("word", ["rf", "bpm", "", "123", "1234", "a-b-c", "2e-7", "1.95", "不明"])
def test_words_that_must_match_exactly(word: str) -> None:
    assert not is_correctable(word)
    assert Vocabulary(["bpms", "1235", "rfrf"]).candidates(word) == []


@pytest.mark.parametrize(
    ("word", "other"), [("bpm12", "bpm21"), ("bpm12", "bpm1"), ("sr01c", "sr02c"), ("qf12", "qf112")]
)
def test_other_digits_are_another_word(word: str, other: str) -> None:
    assert Vocabulary([other]).candidates(word) == []


def test_an_empty_vocabulary_has_no_candidates() -> None:
    assert len(Vocabulary([])) == 0
    assert Vocabulary([]).candidates("klystron") == []
