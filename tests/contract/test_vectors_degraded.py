"""A leg that cannot run says so and names the fix; it never looks like an empty answer. Thresholds by tier."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from logbooks import entries
from meanings import (
    CompassProvider,
    OpenEmpty,
    book_over,
    configuration,
    enhance,
    ids,
    meaning_book,
    notes,
    scores,
)

from ariel_lite.backends.base import Backend
from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings import manifest
from ariel_lite.errors import ConfigurationError, InvalidRequestError
from ariel_lite.records import ARIELSearchResult

MODES = ["semantic", "hybrid"]


def check_degraded(result: ARIELSearchResult, mode: str, *said: str) -> None:
    """The leg's failure is told at warning level with its fix; hybrid still finds by words."""
    assert result.degraded
    told = [note.message for note in result.diagnostics if note.level == "warning"]
    assert len(told) == 1, told
    for part in said:
        assert part in told[0]
    assert [hit["entry_id"] for hit in result.entries] == (["E1"] if mode == "hybrid" else [])


@pytest.mark.parametrize("mode", MODES)
def test_no_vectors(open_empty: OpenEmpty, mode: str) -> None:
    book = meaning_book(open_empty, ["vacuum", "pressure"], embed=False)
    result = book.search("vacuum", mode=mode)
    check_degraded(result, mode, "no entry has a vector of compass", "run 'ariel-lite enhance'")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("change", "reason", "hint"),
    [
        pytest.param(
            {"max_input_tokens": 2}, "another version of compass", "run 'ariel-lite reembed'", id="fingerprint"
        ),
        pytest.param({"dimension": 12}, "compass", "reembed", id="dimension under the same fingerprint"),
    ],
)
def test_vectors_of_another_kind(backend: Backend, mode: str, change: dict[str, int], reason: str, hint: str) -> None:
    backend.upsert(entries("vacuum", "pressure"))
    enhance(book_over(backend, configuration()))
    model = {"name": "compass", **change}
    newer = book_over(backend, configuration(enhancement_modules={"text_embedding": {"models": [model]}}))
    check_degraded(newer.search("vacuum", mode=mode), mode, reason, hint)


@pytest.mark.parametrize("mode", MODES)
def test_a_model_that_is_not_known(backend: Backend, mode: str) -> None:
    backend.upsert(entries("vacuum", "pressure"))
    book = book_over(backend, configuration("onnx", "no-such-model"))
    check_degraded(book.search("vacuum", mode=mode), mode, "no-such-model", "all-minilm-l6-v2")


@pytest.mark.parametrize("mode", MODES)
def test_a_provider_that_is_not_known(backend: Backend, mode: str) -> None:
    backend.upsert(entries("vacuum", "pressure"))
    book = book_over(backend, configuration("telepathy"))
    check_degraded(book.search("vacuum", mode=mode), mode, "telepathy", "hashing, ollama, onnx, openai")


@pytest.fixture
def own_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the models folder that a test may damage, which the product finds instead of its own."""
    folder = tmp_path / "models"
    shutil.copytree(manifest.models_folder(), folder, ignore=shutil.ignore_patterns("recipe"))
    monkeypatch.setattr(manifest, "models_folder", lambda: folder)
    return folder / "all-minilm-l6-v2"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("file_name", ["model.onnx", "tokenizer.json"])
def test_a_model_whose_file_is_gone(backend: Backend, own_models: Path, file_name: str, mode: str) -> None:
    book = book_over(backend, configuration("onnx"))
    backend.upsert(entries("vacuum", "pressure"))
    enhance(book)
    (own_models / file_name).unlink()
    result = book_over(backend, configuration("onnx")).search("vacuum", mode=mode)
    check_degraded(result, mode, file_name, "reinstall")


@pytest.mark.parametrize("mode", MODES)
def test_a_model_whose_file_is_damaged(backend: Backend, own_models: Path, mode: str) -> None:
    backend.upsert(entries("vacuum", "pressure"))
    enhance(book_over(backend, configuration("onnx")))
    with (own_models / "model.onnx").open("r+b") as file:
        file.seek(1000)
        file.write(b"damage")
    result = book_over(backend, configuration("onnx")).search("vacuum", mode=mode)
    check_degraded(result, mode, "model.onnx", "fae92948", "reinstall")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("word", ["nan", "nothing", "refused"])
def test_a_model_that_fails_on_the_query(open_empty: OpenEmpty, word: str, mode: str) -> None:
    book = meaning_book(open_empty, ["vacuum", "orbit"])
    book.service.backend.upsert(entries(("E1", f"vacuum {word}")))
    result = book.search(f"{word} vacuum", mode=mode)
    assert result.degraded
    assert [note.level for note in result.diagnostics if note.source == "semantic"][-1:] == ["warning"]
    assert [hit["entry_id"] for hit in result.entries] == (["E1"] if mode == "hybrid" else [])


@pytest.mark.parametrize("mode", MODES)
def test_some_vectors_missing_is_told_but_not_degraded(open_empty: OpenEmpty, mode: str) -> None:
    book = meaning_book(open_empty, ["vacuum", "pressure"])
    book.service.backend.upsert(entries(("E3", "gauge")))
    result = book.search("vacuum", mode=mode)
    assert not result.degraded
    assert {hit["entry_id"] for hit in result.entries} == {"E1", "E2"}
    assert [note.message for note in result.diagnostics] == [
        "1 of 3 entries have no current vector; run 'ariel-lite enhance'"
    ]


def test_words_find_what_has_no_vector_yet_while_many_are_missing(open_empty: OpenEmpty) -> None:
    texts = ["vacuum " * 3, *[f"pressure of gauge {number}" for number in range(8)]]
    book = meaning_book(open_empty, texts, embed=False)
    enhance(book, limit=1)
    result = book.search("pressure dropped slowly yesterday night", mode="hybrid")
    assert "pressure of gauge 1" in [hit["raw_text"] for hit in result.entries]
    assert result.degraded
    assert "8 of 9 entries have no current vector" in result.diagnostics[-1].message


@pytest.mark.parametrize("mode", MODES)
def test_a_whole_logbook_has_nothing_to_tell(open_empty: OpenEmpty, mode: str) -> None:
    result = meaning_book(open_empty, ["vacuum", "", "orbit"]).search("vacuum", mode=mode)
    assert (result.degraded, result.diagnostics) == (False, ())


@pytest.mark.parametrize("mode", MODES)
def test_a_degraded_search_obeys_filters_and_exclusions(open_empty: OpenEmpty, mode: str) -> None:
    book = meaning_book(open_empty, ["vacuum", "vacuum planned"], embed=False)
    result = book.search("vacuum NOT planned", mode=mode)
    check_degraded(result, mode, "enhance")


def test_the_default_mode_is_hybrid_as_soon_as_there_are_vectors(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum"], embed=False)
    assert book.search("vacuum").search_modes_used == ("keyword",)
    enhance(book)
    assert book.search("vacuum").search_modes_used == ("hybrid",)


def test_a_mode_that_is_switched_off_is_an_error(open_empty: OpenEmpty) -> None:
    off = configuration(search_modules={"semantic": {"enabled": False}})
    book = meaning_book(open_empty, ["vacuum"], off)
    with pytest.raises(ConfigurationError) as fault:
        book.search("vacuum", mode="semantic")
    assert "hybrid, keyword" in fault.value.hint


THREE = ["vacuum", "vacuum orbit", "vacuum orbit orbit kicker"]
"""Cosines with "pressure": 1, 0.71, 0.41."""


def with_threshold(mode: str, value: Any) -> ARIELConfig:
    return configuration(search_modules={mode: {"settings": {"similarity_threshold": value}}})


@pytest.mark.parametrize("mode", MODES)
def test_the_threshold_is_the_calls_then_the_configurations_then_the_models(open_empty: OpenEmpty, mode: str) -> None:
    own = meaning_book(open_empty, [*THREE, "cafeteria"])
    assert CompassProvider.recommended_threshold == 0.3
    assert ids(own, "pressure", mode) == ["E1", "E2", "E3"]
    configured = meaning_book(open_empty, [*THREE, "cafeteria"], with_threshold(mode, 0.6))
    assert ids(configured, "pressure", mode) == ["E1", "E2"]
    assert ids(configured, "pressure", mode, similarity_threshold=0.9) == ["E1"]
    assert ids(configured, "pressure", mode, similarity_threshold=0.0) == ["E1", "E2", "E3", "E4"]


@pytest.mark.parametrize("mode", MODES)
def test_a_configured_threshold_of_zero_counts_as_given(open_empty: OpenEmpty, mode: str) -> None:
    far = ["vacuum " + "orbit " * 5, "cafeteria"]
    book = meaning_book(open_empty, far, with_threshold(mode, 0.0))
    assert ids(book, "pressure", mode) == ["E1", "E2"]


@pytest.mark.parametrize("mode", MODES)
def test_a_model_that_recommends_little_is_answered_by_little(
    open_empty: OpenEmpty, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CompassProvider, "recommended_threshold", 0.1)
    book = meaning_book(open_empty, ["vacuum orbit orbit orbit", "cafeteria"])
    assert list(scores(book, "pressure").values()) == pytest.approx([0.3162], abs=1e-4)
    assert ids(book, "pressure", mode) == ["E1"]


@pytest.mark.parametrize("mode", MODES)
def test_an_answer_that_the_threshold_emptied_says_so(open_empty: OpenEmpty, mode: str) -> None:
    book = meaning_book(open_empty, THREE[1:])
    assert ids(book, "pressure", mode, similarity_threshold=0.9) == []
    assert "near" in notes(book, "pressure", mode, similarity_threshold=0.9)
    assert not book.search("pressure", mode=mode, similarity_threshold=0.9).degraded


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("value", [1.5, -2, "high", float("nan")])
def test_an_impossible_threshold_is_refused(open_empty: OpenEmpty, mode: str, value: object) -> None:
    book = meaning_book(open_empty, ["vacuum"])
    with pytest.raises(InvalidRequestError, match="similarity_threshold"):
        book.search("vacuum", mode=mode, similarity_threshold=value)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("value", [5, "high"])
def test_an_impossible_threshold_of_the_configuration_is_refused(
    open_empty: OpenEmpty, mode: str, value: object
) -> None:
    with pytest.raises(ConfigurationError, match="similarity_threshold"):
        ids(meaning_book(open_empty, ["vacuum"], with_threshold(mode, value)), "vacuum", mode)
