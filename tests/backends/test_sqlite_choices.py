"""A choice of words ranked without its common ones' entries: the same hits, scores and order as ranked with them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from ariel_lite.backends.sqlite import choices
from ariel_lite.backends.sqlite.backend import SQLiteBackend
from ariel_lite.backends.sqlite.choices import Frequencies, cut_choice
from ariel_lite.backends.values import Hit, SearchPlan
from ariel_lite.evaluation.synthetic import synthetic_entries
from ariel_lite.query.bind import any_word, bind_all_words
from ariel_lite.query.nodes import BoundNode, Exclude, FieldLeaf, conjunction, text_leaves
from ariel_lite.text.tokenise import Analyzer

ENTRIES = 1_500
NEVER = 10**9


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteBackend]:
    """A logbook of invented entries, with some deleted, so that row numbers have gaps."""
    made = SQLiteBackend(tmp_path_factory.mktemp("choices") / "book.db", create=True)
    entries = list(synthetic_entries(ENTRIES, 5))
    made.upsert(entries)
    made.delete([entry["entry_id"] for entry in entries[::40]])
    yield made
    made.close()


def drawn(count: int) -> list[BoundNode]:
    """Choices of words that stand together in an entry, some beside an exclusion or a field."""
    maker, analyzer = random.Random(11), Analyzer()
    trees: list[BoundNode] = []
    texts = [entry["raw_text"].split() for entry in synthetic_entries(ENTRIES, 5)]
    while len(trees) < count:
        words = maker.choice(texts)
        tree = any_word(bind_all_words(" ".join(maker.sample(words, maker.randint(3, 9))), analyzer), analyzer)
        unwanted = any_word(bind_all_words(maker.choice(words), analyzer), analyzer)
        beside = maker.choice(([], [], [Exclude(unwanted)], [FieldLeaf("source", "als", text="als")]))
        trees.append(conjunction([tree, *beside]))
    return trees


def hits(backend: SQLiteBackend, tree: BoundNode, limit: int, offset: int) -> list[Hit]:
    """The hits with their scores to 9 digits, so that the order of summation does not count."""
    found = backend.search(SearchPlan(tree, limit, offset))
    return [Hit(hit.entry_id, round(hit.score, 9), hit.written, hit.row) for hit in found]


@pytest.mark.parametrize(("limit", "offset"), [(1, 0), (10, 0), (10, 15), (60, 0)])
def test_the_best_are_the_same(
    backend: SQLiteBackend, monkeypatch: pytest.MonkeyPatch, limit: int, offset: int
) -> None:
    trees = drawn(120)
    monkeypatch.setattr(choices, "COMMON_ROWS", NEVER)
    whole = [hits(backend, tree, limit, offset) for tree in trees]
    monkeypatch.setattr(choices, "COMMON_ROWS", 0)
    monkeypatch.setattr(choices, "COMMON_SHARE", 0.1)
    assert [hits(backend, tree, limit, offset) for tree in trees] == whole


@pytest.mark.parametrize("size", [1, 2])
def test_a_bad_cut_is_noticed(backend: SQLiteBackend, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    trees = [tree for tree in drawn(120) if sum(1 for _ in text_leaves(tree)) > 3]
    monkeypatch.setattr(choices, "COMMON_ROWS", NEVER)
    whole = [hits(backend, tree, 40, 0) for tree in trees]
    monkeypatch.setattr(choices, "_rare_words", lambda counts, weights, wanted: size)
    assert [hits(backend, tree, 40, 0) for tree in trees] == whole


def test_ties_at_the_cut_come_newest_first_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = SQLiteBackend(tmp_path / "ties.db", create=True)
    entries = list(synthetic_entries(400, 2))
    for number, entry in enumerate(entries):
        entry["raw_text"] = "kicker orbit" if number % 4 == 0 else f"orbit of day {number}"
    book.upsert(entries)
    tree = any_word(bind_all_words("kicker orbit", Analyzer()), Analyzer())
    newest = [entry["entry_id"] for entry in entries if entry["raw_text"] == "kicker orbit"][::-1]
    monkeypatch.setattr(choices, "_rare_words", lambda counts, weights, wanted: 1)
    assert [hit.entry_id for hit in hits(book, tree, 10, 0)] == newest[:10]
    assert [hit.entry_id for hit in hits(book, tree, 10, 20)] == newest[20:30]
    book.close()


def test_choices_are_cut_where_it_pays(backend: SQLiteBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices, "COMMON_ROWS", 50)
    connection = backend._connections.get()
    frequencies = Frequencies()
    cut = [found for tree in drawn(120) if (found := cut_choice(connection, tree, 10, frequencies))]
    assert len(cut) > 20
    assert all(one.rest >= 0 for one in cut)


def test_frequencies_follow_the_logbook(tmp_path: Path) -> None:
    backend = SQLiteBackend(tmp_path / "book.db", create=True)
    first, second = list(synthetic_entries(2, 1))
    first["raw_text"], second["raw_text"] = "vacuum leak", "vacuum pump"
    backend.upsert([first])
    frequencies, connection = Frequencies(), backend._connections.get()
    (leaf,) = [any_word(bind_all_words("vacuum", Analyzer()), Analyzer())]
    match = [choices.expression(leaf)]
    assert frequencies.get(connection, match) == (1, [1])
    backend.upsert([second])
    assert frequencies.get(connection, match) == (2, [2])
    backend.delete([first["entry_id"]])
    assert frequencies.get(connection, match) == (1, [1])
    backend.close()


def test_phrases_names_and_single_words_are_left_alone(backend: SQLiteBackend) -> None:
    analyzer = Analyzer()
    connection = backend._connections.get()
    for text in ("beam", "SR01C:BPM1"):
        tree = bind_all_words(text, analyzer)
        assert cut_choice(connection, tree, 1, Frequencies()) is None
