"""The rules that all vectors share: what is embeddable, what is storable, tables, fingerprints, settings."""

from __future__ import annotations

import numpy as np
import pytest

from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.base import (
    clean_text,
    entry_vector,
    is_embeddable,
    is_storable,
    make_fingerprint,
    model_settings,
    model_table,
    normalised,
    windows_of,
    windows_table,
)
from ariel_lite.embeddings.hashing import HashingProvider, create_provider
from ariel_lite.errors import EmbeddingGenerationError


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\x00\x01", "\u200b\ufeff", "\u00a0", "\ud800", "\u0301"])
def test_em05_text_that_shows_nothing_is_not_embeddable(text: str) -> None:
    assert not is_embeddable(text)
    assert windows_of(HashingProvider(), text) == []


@pytest.mark.parametrize("text", ["\U0001f642", "beam lost", "  x", "-", "ガ", "\u200bb"])
def test_em05_any_visible_sign_is_embeddable_emoji_included(text: str) -> None:
    assert is_embeddable(text)


def test_em05_blank_text_is_refused_by_position() -> None:
    with pytest.raises(EmbeddingGenerationError, match="text 2 of 3 is blank"):
        HashingProvider().embed(["beam", " ", "lost"])


def test_table_names_are_ariels() -> None:
    assert model_table("nomic-embed-text") == "text_embeddings_nomic_embed_text"
    assert model_table("All-MiniLM/L6.v2") == "text_embeddings_all_minilm_l6_v2"
    assert windows_table("all-minilm-l6-v2") == "text_windows_all_minilm_l6_v2"


@pytest.mark.parametrize(
    ("vector", "storable"),
    [([0.0, 0.0], False), ([0.0, float("nan")], False), ([float("inf"), 1.0], False), ([0.0, -1.0], True)],
)
def test_zero_and_not_finite_vectors_are_not_storable(vector: list[float], storable: bool) -> None:
    assert is_storable(np.array(vector, dtype=np.float32)) is storable


def test_entry_vector_is_the_normalised_mean() -> None:
    mean = entry_vector(np.array([[1, 0], [0, 1]], dtype=np.float32))
    assert mean.dtype == np.float32
    assert mean == pytest.approx([0.5**0.5, 0.5**0.5])


def test_normalising_leaves_zero_rows_zero() -> None:
    rows = normalised(np.array([[3, 4], [0, 0]], dtype=np.float32))
    assert rows == pytest.approx(np.array([[0.6, 0.8], [0, 0]]))


def test_cleaning_keeps_the_length() -> None:
    assert clean_text("a\x00b\ud83dc") == "a b c"


def test_fingerprint_changes_with_every_part() -> None:
    prints = {make_fingerprint("p", parts) for parts in ({"a": 1}, {"a": 2}, {"b": 1}, {"a": 1, "b": 1})}
    assert len(prints) == 4
    assert make_fingerprint("p", {"a": 1, "b": 2}) == make_fingerprint("p", {"b": 2, "a": 1})


def test_model_settings_come_from_the_enhancer_then_from_the_search_mode() -> None:
    config = ARIELConfig.from_dict(
        {
            "enhancement_modules": {
                "text_embedding": {"models": [{"name": "nomic", "dimension": 768, "query_prefix": "search_query: "}]}
            },
            "search_modules": {"semantic": {"model": "bge", "settings": {"embedding_dimension": 1024}}},
        }
    )
    assert model_settings(config, "nomic").dimension == 768
    assert model_settings(config, "nomic").query_prefix == "search_query: "
    assert model_settings(config, "bge").dimension == 1024
    assert model_settings(config, "other").dimension is None


def test_hashing_is_the_same_everywhere_and_puts_shared_words_near() -> None:
    vectors = HashingProvider(dimension=128).embed(["klystron trip", "a klystron trips", "vacuum leak"])
    assert vectors.shape == (3, 128)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]
    assert np.array_equal(vectors[:1], HashingProvider(dimension=128).embed(["klystron trip"]))
    assert int(np.abs(vectors[0]).argmax()) == 18


def test_hashing_takes_its_dimension_from_the_configuration() -> None:
    models = [{"name": "hashing-64", "dimension": 64}]
    config = ARIELConfig.from_dict({"enhancement_modules": {"text_embedding": {"models": models}}})
    made = create_provider(config, "hashing-64")
    assert (made.name, made.dimension) == ("hashing-64", 64)
    assert made.embed(["\U0001f642"]).shape == (1, 64)
    assert made.fingerprint != HashingProvider().fingerprint
