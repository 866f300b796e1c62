"""The repository's vectors: stored one by one, searched with filters before the nearest are chosen."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from logbooks import FIRST, entry
from meanings import DIMENSION, DIRECTIONS, OpenEmpty, book_over, configuration, enhance, ids
from test_repository import run

from ariel_lite.compose import Logbook
from ariel_lite.errors import ConfigurationError, EmbeddingGenerationError, EntryNotFoundError, ModuleNotEnabledError

ENTRIES = [
    entry("E1", "vacuum", author="J. Smith", source="ALS eLog", at=FIRST),
    entry("E2", "vacuum orbit", author="Wrona", source="ALS eLog", at=FIRST + timedelta(hours=1)),
    entry("E3", "orbit", author="Wrona", source="ALS eLog old", at=FIRST + timedelta(hours=2)),
    entry("E4", "dose", author="", source="JLab Logbook", at=FIRST + timedelta(hours=3)),
]


def direction(*words: str) -> list[float]:
    """A vector towards words of the provider `compass`."""
    vector = [0.0] * DIMENSION
    for word in words:
        vector[DIRECTIONS[word]] += 1.0
    return vector


@pytest.fixture
def book(open_empty: OpenEmpty) -> Logbook:
    """A logbook without vectors."""
    made = book_over(open_empty(), configuration())
    made.service.backend.upsert(ENTRIES)
    return made


@pytest.fixture
def embedded(book: Logbook) -> Logbook:
    """The same with vectors."""
    enhance(book)
    return book


def search(book: Logbook, vector: list[float], **options: Any) -> list[tuple[str, float]]:
    found = run(book.service.repository.semantic_search(vector, "compass", **options))
    return [(hit["entry_id"], round(score, 3)) for hit, score in found]


def test_the_nearest_above_the_threshold_best_first(embedded: Logbook) -> None:
    assert search(embedded, direction("vacuum")) == [("E1", 1.0), ("E2", 0.707)]
    assert search(embedded, direction("vacuum"), similarity_threshold=0.8) == [("E1", 1.0)]
    assert search(embedded, direction("vacuum"), max_results=1) == [("E1", 1.0)]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"author": "wrona"}, "E2"),
        ({"author": "smith"}, "E1"),
        ({"source_system": "ALS eLog old"}, "E3"),
        ({"start_date": FIRST + timedelta(hours=2)}, "E3"),
        ({"start_date": FIRST + timedelta(hours=1), "end_date": FIRST + timedelta(hours=1)}, "E2"),
        ({"source_system": "JLab Logbook"}, "E4"),
    ],
)
def test_filters_hold_before_the_nearest_are_chosen(embedded: Logbook, filters: dict[str, Any], expected: str) -> None:
    assert search(embedded, direction("vacuum", "orbit"))[0][0] == "E2"
    found = search(embedded, direction("vacuum", "orbit"), max_results=1, similarity_threshold=-1.0, **filters)
    assert [entry_id for entry_id, _ in found] == [expected]


def test_a_stored_vector_is_the_entrys_and_is_found_by_every_search(book: Logbook) -> None:
    repository = book.service.repository
    run(repository.store_text_embedding("E4", direction("kicker"), "compass"))
    assert search(book, direction("kicker")) == [("E4", 1.0)]
    assert ids(book, "misfire") == ["E4"]
    assert run(repository.get_enhancement_stats())["text_embedding"] == {"complete": 1, "failed": 0, "pending": 3}
    run(repository.store_text_embedding("E4", direction("orbit"), "compass"))
    assert search(book, direction("kicker")) == []
    (table,) = run(repository.get_embedding_tables())
    assert (table.table_name, table.entry_count, table.dimension) == ("text_embeddings_compass", 1, DIMENSION)
    assert table.is_active
    assert enhance(book).done == 3


def test_vectors_of_a_model_that_is_not_configured_have_a_table_of_their_own(book: Logbook) -> None:
    repository = book.service.repository
    run(repository.store_text_embedding("E1", [1.0, 0.0, 0.0], "nomic-embed-text"))
    (table,) = run(repository.get_embedding_tables())
    assert (table.table_name, table.dimension, table.is_active) == ("text_embeddings_nomic_embed_text", 3, False)
    found = run(repository.semantic_search([1.0, 0.1, 0.0], "nomic-embed-text"))
    assert [hit["entry_id"] for hit, _ in found] == ["E1"]
    run(repository.validate_search_model_table("nomic-embed-text"))


def test_the_table_of_a_model_is_checked(book: Logbook) -> None:
    repository = book.service.repository
    with pytest.raises(ConfigurationError) as fault:
        run(repository.validate_search_model_table("compass"))
    assert "text_embeddings_compass" in fault.value.message
    with pytest.raises(ConfigurationError):
        search(book, direction("vacuum"))
    enhance(book)
    run(repository.validate_search_model_table("compass"))


def test_wrong_vectors_are_refused(embedded: Logbook) -> None:
    repository = embedded.service.repository
    for vector in ([1.0, 2.0], [0.0] * DIMENSION, [float("nan")] * DIMENSION, []):
        with pytest.raises(EmbeddingGenerationError):
            run(repository.store_text_embedding("E1", vector, "compass"))
        with pytest.raises(EmbeddingGenerationError):
            search(embedded, vector)
    with pytest.raises(EntryNotFoundError):
        run(repository.store_text_embedding("nowhere", direction("dose"), "compass"))
    assert search(embedded, direction("vacuum"))[0] == ("E1", 1.0)


def test_failed_vectors_are_counted(open_empty: OpenEmpty) -> None:
    book = book_over(open_empty(), configuration())
    book.service.backend.upsert([entry("E1", "vacuum"), entry("E2", "refused vacuum"), entry("E3", "  ")])
    enhance(book)
    stats = run(book.service.repository.get_enhancement_stats())
    assert stats["text_embedding"] == {"complete": 2, "failed": 1, "pending": 0}


def test_methods_of_disabled_modules_say_so(open_empty: OpenEmpty) -> None:
    off: dict[str, Any] = {
        "search_modules": {"semantic": {"enabled": False}, "keyword": {"enabled": False}},
        "enhancement_modules": {"text_embedding": {"enabled": False}},
    }
    repository = book_over(open_empty(), configuration(**off)).service.repository
    calls = (
        repository.semantic_search(direction("dose"), "compass"),
        repository.store_text_embedding("E1", direction("dose"), "compass"),
        repository.keyword_search(None),  # type: ignore[arg-type]
        repository.fuzzy_search(None),  # type: ignore[arg-type]
    )
    for call in calls:
        with pytest.raises(ModuleNotEnabledError) as fault:
            run(call)
        assert "enable" in fault.value.hint
