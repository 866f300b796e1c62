"""The enhancer that makes vectors: only what is new, resumable, careful with what a model refuses."""

from __future__ import annotations

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
    model_of,
)

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import VectorModel
from ariel_lite.embeddings.base import Vectors
from ariel_lite.enhancement.text_embedding import BATCH, TextEmbedding
from ariel_lite.errors import ConfigurationError, EmbeddingGenerationError

TEXTS = ["vacuum", "orbit | kicker", "dose", "", "cafeteria"]


def fill(backend: Backend, count: int) -> None:
    backend.upsert(entries(*[f"vacuum {number}" for number in range(count)]))


def test_a_run_tells_what_it_did(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, TEXTS, embed=False)
    report = enhance(book)
    assert (report.module, report.done, report.blank, report.failed) == ("text_embedding", 4, 1, {})


def test_a_second_run_embeds_nothing(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, TEXTS)
    provider = CompassProvider()
    assert TextEmbedding(provider).run(book.service.backend).done == 0
    assert provider.embedded == []


def test_only_what_changed_in_its_text_is_embedded(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, TEXTS)
    backend = book.service.backend
    changed = entries(*TEXTS)
    changed[0]["raw_text"] = "septum"
    changed[2]["metadata"] = {"tags": ["rf"]}
    backend.upsert(changed)
    provider = CompassProvider()
    report = TextEmbedding(provider).run(backend)
    assert provider.embedded == ["septum"]
    assert (report.done, report.blank) == (1, 0)


def test_pending_counts_what_a_run_would_embed(backend: Backend) -> None:
    enhancer = TextEmbedding(CompassProvider())
    backend.upsert(entries(*TEXTS))
    assert enhancer.pending(backend) == 5
    enhancer.run(backend)
    assert enhancer.pending(backend) == 0
    assert TextEmbedding(CompassProvider(revision=2)).pending(backend) == 5


def test_force_embeds_all_anew(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, TEXTS)
    provider = CompassProvider()
    assert TextEmbedding(provider).run(book.service.backend, force=True).done == 4
    assert len(provider.embedded) == 5
    assert ids(book, "pressure") == ["E1"]


@pytest.mark.parametrize("limit", [0, 1, BATCH - 1, BATCH, BATCH + 1, 1000])
def test_a_limit_is_kept_and_the_rest_is_left(backend: Backend, limit: int) -> None:
    fill(backend, BATCH + 40)
    enhancer = TextEmbedding(CompassProvider())
    done = enhancer.run(backend, limit=limit).done
    assert done == min(limit, BATCH + 40)
    assert enhancer.pending(backend) == BATCH + 40 - done
    assert enhancer.run(backend).done == BATCH + 40 - done


def test_progress_adds_up(backend: Backend) -> None:
    fill(backend, 2 * BATCH + 7)
    steps: list[int] = []
    TextEmbedding(CompassProvider()).run(backend, progress=steps.append)
    assert sum(steps) == 2 * BATCH + 7
    assert len(steps) >= 3


class InterruptedProvider(CompassProvider):
    """Is interrupted in its second batch, as by Ctrl-C."""

    def embed(self, texts: object, *, query: bool = False) -> Vectors:
        if self.embedded:
            raise KeyboardInterrupt
        return super().embed(texts, query=query)  # type: ignore[arg-type]


def test_an_interrupted_run_keeps_its_batches_and_can_be_taken_up(backend: Backend) -> None:
    fill(backend, 2 * BATCH)
    with pytest.raises(KeyboardInterrupt):
        TextEmbedding(InterruptedProvider()).run(backend)
    assert backend.vector_counts(vectors_of(CompassProvider())).current == BATCH
    provider = CompassProvider()
    assert TextEmbedding(provider).run(backend).done == BATCH
    assert len(provider.embedded) == BATCH


def vectors_of(provider: CompassProvider) -> VectorModel:
    return TextEmbedding(provider).model


def test_a_text_that_the_model_refuses_does_not_hold_up_the_others(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum", "refused text", "kicker"], embed=False)
    report = enhance(book)
    assert (report.done, list(report.failed)) == (2, ["E2"])
    assert "refused" in report.failed["E2"]
    counts = book.service.backend.vector_counts(model_of(book))
    assert (counts.current, counts.blank) == (2, 0)
    assert ids(book, "misfire") == ["E3"]
    assert (book.get("E2") or {})["enhancement_status"]["text_embedding"]["status"] == "failed"


def test_a_text_that_was_refused_is_tried_by_every_run(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum", "nan"])
    assert list(enhance(book).failed) == ["E2"]
    book.service.backend.upsert(entries(("E2", "kicker")))
    assert enhance(book).failed == {}
    assert ids(book, "misfire") == ["E2"]


def test_a_model_that_refuses_everything_is_an_error(backend: Backend) -> None:
    book = book_over(backend, configuration())
    backend.upsert(entries("refused", "refused too"))
    with pytest.raises(EmbeddingGenerationError, match="refused"):
        enhance(book)
    assert backend.vector_counts(model_of(book)).current == 0
    backend.upsert(entries("vacuum", "orbit"))
    assert enhance(book).done == 2


def test_an_unknown_provider_is_a_configuration_error(backend: Backend) -> None:
    with pytest.raises(ConfigurationError) as fault:
        enhance(book_over(backend, configuration("telepathy")))
    assert "onnx" in fault.value.hint


def test_the_status_of_an_entry_tells_that_it_was_embedded(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum"])
    before = (book.get("E1") or {})["updated_at"]
    status = (book.get("E1") or {})["enhancement_status"]["text_embedding"]
    assert status["status"] == "complete"
    book.service.backend.upsert(entries("vacuum"))
    assert enhance(book).done == 0
    assert (book.get("E1") or {})["updated_at"] == before
    assert (book.get("E1") or {})["enhancement_status"]["text_embedding"] == status


def test_windows_of_an_entry_are_embedded_with_those_of_others_in_one_call(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, ["vacuum | orbit | kicker", "dose", " | "], embed=False)
    provider = CompassProvider()
    report = TextEmbedding(provider).run(book.service.backend)
    assert provider.embedded == ["vacuum ", " orbit ", " kicker", "dose"]
    assert (report.done, report.blank) == (2, 1)
