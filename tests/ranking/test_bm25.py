"""The formula gives FTS5's own numbers."""

from __future__ import annotations

import random
import re

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ariel_lite.ranking.bm25 import (
    LEAST_IDF,
    CorpusStatistics,
    inverse_document_frequency,
    rounded,
    term_score,
)

WORDS = [f"w{n}" for n in range(30)]
CLOSE = 1e-9

Term = tuple[str, ...]
"""Words of a phrase; the last one with a star is a prefix."""


def occurrences(words: list[str], term: Term) -> int:
    starts = range(len(words) - len(term) + 1)
    return sum(all(_same(words[at + n], wanted) for n, wanted in enumerate(term)) for at in starts)


def _same(word: str, wanted: str) -> bool:
    return word.startswith(wanted[:-1]) if wanted.endswith("*") else word == wanted


def expected_scores(texts: list[list[str]], terms: list[Term]) -> dict[int, float]:
    """Row -> score of the rows that hold every term."""
    statistics = CorpusStatistics(len(texts), sum(map(len, texts)))
    counts = [[occurrences(words, term) for words in texts] for term in terms]
    idfs = [inverse_document_frequency(len(texts), sum(count > 0 for count in row)) for row in counts]
    return {
        number + 1: sum(
            term_score(row[number], len(words), idf, statistics) for row, idf in zip(counts, idfs, strict=True)
        )
        for number, words in enumerate(texts)
        if all(row[number] for row in counts)
    }


def fts5_scores(texts: list[list[str]], terms: list[Term]) -> dict[int, float]:
    with apsw.Connection(":memory:") as connection:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'unicode61')")
        connection.executemany("INSERT INTO t (x) VALUES (?)", [(" ".join(words),) for words in texts])
        match = " AND ".join(_written(term) for term in terms)
        return {
            row: -score for row, score in connection.execute("SELECT rowid, bm25(t) FROM t WHERE t MATCH ?", (match,))
        }


def _written(term: Term) -> str:
    text = " ".join(term)
    return f'"{text.rstrip("*")}"' + (" *" if text.endswith("*") else "")


terms = st.one_of(
    st.tuples(st.sampled_from(WORDS)),
    st.tuples(st.sampled_from(WORDS[:6]), st.sampled_from(WORDS[:6])),
    st.sampled_from([("w1*",), ("w2*",), ("w",), ("w0", "w1*")]),
)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), asked=st.lists(st.lists(terms, min_size=1, max_size=4), min_size=5, max_size=5))
def test_scores_are_those_of_fts5(seed: int, asked: list[list[Term]]) -> None:
    rng = random.Random(seed)
    weights = [1 / (n + 1) for n in range(len(WORDS))]
    texts = [rng.choices(WORDS, weights, k=rng.choice((0, 1, 5, 20, 150))) for _ in range(rng.randint(1, 40))]
    for query in asked:
        assert fts5_scores(texts, query) == pytest.approx(expected_scores(texts, query), abs=CLOSE)


def test_a_word_in_most_entries_still_counts_a_little() -> None:
    assert inverse_document_frequency(10, 5) == LEAST_IDF
    assert inverse_document_frequency(10, 10) == LEAST_IDF
    assert inverse_document_frequency(10, 4) > LEAST_IDF


def test_more_occurrences_and_shorter_texts_score_higher() -> None:
    corpus = CorpusStatistics(100, 1000)
    assert term_score(2, 10, 1.0, corpus) > term_score(1, 10, 1.0, corpus) > term_score(1, 20, 1.0, corpus)
    assert term_score(0, 10, 1.0, corpus) == 0.0
    assert term_score(10**9, 10, 1.0, corpus) == pytest.approx(2.2)


def test_an_empty_logbook_has_no_average() -> None:
    assert CorpusStatistics(0, 0).average_length == 0.0


def test_scores_of_two_computations_compare_equal() -> None:
    assert rounded(0.1 + 0.2) == rounded(0.3)
    assert rounded(1.0000000001) != rounded(1.0)


def test_the_helper_reads_terms_as_fts5_does() -> None:
    assert _written(("w0", "w1*")) == '"w0 w1" *'
    assert re.fullmatch(r'"w1" \*', _written(("w1*",)))
