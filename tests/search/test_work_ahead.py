"""The query's vector is made while its words are searched for: in a thread that ends by itself, and whose faults show."""

from __future__ import annotations

import threading
from threading import Event

import pytest
from meanings import OpenEmpty, ids, meaning_book, notes, provider_of

from ariel_lite.backends.values import Hit, SearchPlan
from ariel_lite.embeddings.base import Vectors
from ariel_lite.errors import EmbeddingGenerationError
from ariel_lite.search.base import begun

PATIENCE = 20
TEXTS = ["vacuum", "vacuum orbit", "klystron arc"]


def others() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("ariel-lite work ahead")]


def have_ended(threads: list[threading.Thread]) -> bool:
    for thread in threads:
        thread.join(PATIENCE)
    return not any(thread.is_alive() for thread in threads)


def test_words_are_searched_for_while_the_query_is_embedded(
    open_empty: OpenEmpty, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = meaning_book(open_empty, TEXTS)
    provider, backend = provider_of(book), book.service.backend
    embed, search = provider.embed, backend.search
    embedding, searching = Event(), Event()

    def embed_meanwhile(texts: list[str], *, query: bool = False) -> Vectors:
        embedding.set()
        assert searching.wait(PATIENCE), "the search waits for the vector"
        return embed(texts, query=query)

    def search_meanwhile(plan: SearchPlan) -> list[Hit]:
        searching.set()
        assert embedding.wait(PATIENCE), "the vector waits for the search"
        return search(plan)

    monkeypatch.setattr(provider, "embed", embed_meanwhile)
    monkeypatch.setattr(backend, "search", search_meanwhile)
    assert ids(book, "pressure vacuum", "hybrid") == ["E1", "E2"]
    assert have_ended(others())


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_a_model_that_fails_is_a_note(open_empty: OpenEmpty, mode: str) -> None:
    book = meaning_book(open_empty, TEXTS)
    result = book.search("vacuum refused", mode=mode)
    assert result.degraded
    assert "the model refused a text" in notes(book, "vacuum refused", mode)


def test_a_mended_typo_is_what_is_compared(open_empty: OpenEmpty) -> None:
    book = meaning_book(open_empty, TEXTS)
    assert ids(book, "klystrom", "hybrid") == ["E3"]
    assert provider_of(book).embedded[-1] == "klystron"  # type: ignore[attr-defined]


def test_a_thread_ends_with_its_work() -> None:
    release = Event()
    result = begun(lambda: release.wait(PATIENCE))
    (thread,) = others()
    assert thread.is_alive()
    release.set()
    assert result() is True
    assert have_ended([thread])


def test_a_fault_is_raised_where_the_result_is_asked_for() -> None:
    def fail() -> None:
        raise EmbeddingGenerationError("no", hint="none")

    with pytest.raises(EmbeddingGenerationError):
        begun(fail)()
