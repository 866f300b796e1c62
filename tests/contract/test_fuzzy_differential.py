"""The fuzzy fallback finds what its definition says, worked out entry by entry, for queries of bare words."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from logbooks import MakeLogbook, entry, exact, refill

from ariel_lite.ranking.fuzzy import Vocabulary
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.text.tokenise import Analyzer

WORDS = ("klystron", "klystrons", "klystrode", "kicker", "kickers", "kicked", "septum", "septa", "vacuum", "vacant", "beam", "beams",
         "beamline", "trip", "tripped", "strip", "modulator", "modulated", "RF", "bpm12", "bpm21", "straße", "the", "on")  # fmt: skip
ANALYZER = Analyzer()

corpora = st.lists(st.lists(st.sampled_from(WORDS), max_size=8), min_size=1, max_size=12)
seeds = st.integers(0, 10**9)


def misspelled(word: str, rng: random.Random) -> str:
    """A word with one or two slips of the finger."""
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.randrange(len(word))
        slips = (word[:at] + word[at + 1 :], word[:at] + rng.choice("aeiknrst") + word[at:], word[:at] + "e" + word[at + 1 :],
                 word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :] if at else word)  # fmt: skip
        word = rng.choice([slip for slip in slips if slip] or [word])
    return word


def expected(query: Sequence[str], corpus: Sequence[EnhancedLogbookEntry]) -> list[tuple[str, float]]:
    """(id, mean over the words of the best candidate in the entry) of the entries in which every word has one."""
    texts = {item["entry_id"]: ANALYZER.words(item["raw_text"]) for item in corpus}
    vocabulary = Vocabulary(set().union(*texts.values()))
    words = [
        form[-1][1:] for text in query for form in ANALYZER.positions(text) if form[-1][1:] not in ANALYZER.stop_words
    ]
    near = {word: {c.word: c.score for c in vocabulary.candidates(word)} for word in words}
    found = []
    for item in corpus:
        held = texts[item["entry_id"]]
        stems = {ANALYZER.word(word) for word in held}
        scores = [
            1.0 if ANALYZER.word(word) in stems else max((near[word][w] for w in held & set(near[word])), default=0.0)
            for word in words
        ]
        if words and all(scores):
            found.append((item["entry_id"], sum(scores) / len(scores), item["timestamp"].timestamp()))
    found.sort(key=lambda hit: (-round(hit[1], 12), -hit[2], hit[0]))
    return [(entry_id, score) for entry_id, score, _ in found]


def test_the_fallback_gives_the_definitions_scores_in_order(make_logbook: MakeLogbook) -> None:
    book = make_logbook()
    compared: list[int] = []

    @settings(max_examples=60, suppress_health_check=list(HealthCheck))
    @given(texts=corpora, seed=seeds)
    def agree(texts: list[list[str]], seed: int) -> None:
        rng = random.Random(seed)
        corpus = [entry(f"E{n}", " ".join(words), at=f"2026-03-05T10:0{n % 3}") for n, words in enumerate(texts)]
        refill(book, corpus)
        for _ in range(10):
            query = [misspelled(w, rng) if rng.random() < 0.8 else w for w in rng.choices(WORDS, k=rng.randint(1, 3))]
            if exact(book, " ".join(query)):
                continue
            wanted = expected(query, corpus)
            compared.append(len(wanted))
            for size in (100, 3, 1):
                hits = book.search(" ".join(query), mode="keyword", max_results=size).entries
                assert [hit["entry_id"] for hit in hits] == [entry_id for entry_id, _ in wanted][:size], query
                assert [hit["_score"] for hit in hits] == pytest.approx([score for _, score in wanted][:size]), query
                assert all(hit["_match"] == "fuzzy" for hit in hits)

    agree()
    assert sum(count > 0 for count in compared) > 5
