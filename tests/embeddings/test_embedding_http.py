"""The HTTP providers against a real server on the loopback: requests, answers, repeats, faults."""

from __future__ import annotations

import socket
import time
from typing import Any

import numpy as np
import pytest
from chat_server import ChatServer, Reply, as_json

from ariel_lite.config import ARIELConfig, EmbeddingModelConfig
from ariel_lite.embeddings import ollama, openai
from ariel_lite.embeddings.http import HttpProvider, Server
from ariel_lite.errors import ConfigurationError, EmbeddingGenerationError


def lengths(body: dict[str, Any]) -> list[list[float]]:
    """A vector for each text that tells its length, so that order shows."""
    return [[float(len(text)), 1.0, 0.0] for text in body["input"]]


def ollama_answer(body: dict[str, Any]) -> Reply:
    return as_json(200, {"model": body["model"], "embeddings": lengths(body)})


def openai_answer(body: dict[str, Any]) -> Reply:
    """The rows in reverse order: only `index` tells where they belong."""
    rows = [{"object": "embedding", "index": n, "embedding": v} for n, v in enumerate(lengths(body))]
    return as_json(200, {"object": "list", "data": rows[::-1], "model": body["model"]})


def made(url: str, *, kind: Any = ollama.OLLAMA, key: str = "", timeout: float = 10.0, **settings: Any) -> HttpProvider:
    """A provider that waits hardly at all between repeats."""
    server = Server(url, key, timeout, retries=3, pause_seconds=0.001)
    return HttpProvider(kind, server, EmbeddingModelConfig(name="tiny", **settings))


def in_turn(*answers: Reply) -> Any:
    """Each answer once, in order."""
    left = list(answers)
    return lambda body: left.pop(0)


def test_ollama_batches_keep_the_order_and_vectors_have_length_one(model_server: ChatServer) -> None:
    model_server.reply = ollama_answer
    texts = ["x" * (n + 1) for n in range(70)]
    vectors = made(model_server.url).embed(texts)
    assert [len(body["input"]) for _, _, body in model_server.requests] == [32, 32, 6]
    assert {path for path, _, _ in model_server.requests} == {"/api/embed"}
    assert model_server.requests[0][2]["model"] == "tiny"
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.allclose(vectors[:, 0] / vectors[:, 1], range(1, 71))


@pytest.mark.parametrize("suffix", ["", "/", "/api", "/api/"])
def test_an_address_may_end_with_the_root_of_the_methods(model_server: ChatServer, suffix: str) -> None:
    model_server.reply = ollama_answer
    made(model_server.url + suffix).embed(["x"])
    assert [path for path, _, _ in model_server.requests] == ["/api/embed"]


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
def test_openai_rows_are_ordered_by_index_and_the_key_is_sent(model_server: ChatServer, suffix: str) -> None:
    model_server.reply = openai_answer
    vectors = made(model_server.url + suffix, kind=openai.OPENAI, key="secret").embed(["x", "xxx", "xx"])
    path, headers, body = model_server.requests[0]
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == "Bearer secret"
    assert body["input"] == ["x", "xxx", "xx"]
    assert np.allclose(vectors[:, 0] / vectors[:, 1], [1, 3, 2])


def test_prefixes_and_cleaned_text_are_sent(model_server: ChatServer) -> None:
    model_server.reply = ollama_answer
    provider = made(model_server.url, query_prefix="query: ", document_prefix="doc: ")
    provider.embed(["beam\ud83d"], query=True)
    provider.embed(["Strahl\x00 verloren, 加速器"])
    assert [body["input"] for _, _, body in model_server.requests] == [
        ["query: beam "],
        ["doc: Strahl  verloren, 加速器"],
    ]


def test_the_dimension_is_asked_once_when_not_configured(model_server: ChatServer) -> None:
    model_server.reply = ollama_answer
    provider = made(model_server.url)
    assert (provider.dimension, provider.dimension) == (3, 3)
    assert len(model_server.requests) == 1
    assert made("http://127.0.0.1:1", dimension=768).dimension == 768


def test_no_texts_and_blank_texts_are_not_sent(model_server: ChatServer) -> None:
    provider = made(model_server.url, dimension=3)
    assert provider.embed([]).shape == (0, 3)
    with pytest.raises(EmbeddingGenerationError, match="text 1 of 1 is blank"):
        provider.embed([" \n"])
    assert model_server.requests == []


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_fault_is_repeated(model_server: ChatServer, status: int) -> None:
    busy = as_json(status, {"error": "busy"})
    model_server.reply = in_turn(busy, busy, busy, ollama_answer({"model": "tiny", "input": ["beam"]}))
    assert made(model_server.url).embed(["beam"]).shape == (1, 3)
    assert len(model_server.requests) == 4


def test_repeats_end_with_the_servers_words(model_server: ChatServer) -> None:
    model_server.reply = lambda body: as_json(503, {"error": "model is loading\nplease wait"})
    with pytest.raises(EmbeddingGenerationError, match="answered 503: model is loading please wait") as failed:
        made(model_server.url).embed(["beam"])
    assert len(model_server.requests) == 4
    assert failed.value.is_retriable
    assert failed.value.hint


def test_a_query_is_repeated_only_once(model_server: ChatServer) -> None:
    model_server.reply = lambda body: as_json(503, {})
    with pytest.raises(EmbeddingGenerationError, match="answered 503"):
        made(model_server.url).embed(["beam"], query=True)
    assert len(model_server.requests) == 2


def test_the_pause_that_the_server_asks_for_is_kept(model_server: ChatServer) -> None:
    ready_at = time.monotonic() + 1

    def closed_for_a_second(body: dict[str, Any]) -> Reply:
        return ollama_answer(body) if time.monotonic() >= ready_at else as_json(429, {}, **{"Retry-After": "1"})

    model_server.reply = closed_for_a_second
    assert made(model_server.url).embed(["beam"], query=True).shape == (1, 3)


def test_a_dead_server_is_named_without_credentials() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = f"http://127.0.0.1:{port}"
    with pytest.raises(EmbeddingGenerationError, match=f"Ollama at {place} cannot be reached") as failed:
        made(f"http://user:password@127.0.0.1:{port}").embed(["beam"])
    assert "password" not in failed.value.message
    assert "base_url" in failed.value.hint


def test_a_slow_server_is_given_up(model_server: ChatServer) -> None:
    def slow(body: dict[str, Any]) -> Reply:
        time.sleep(0.4)
        return ollama_answer(body)

    model_server.reply = slow
    with pytest.raises(EmbeddingGenerationError, match=r"did not answer within 0\.05 s"):
        made(model_server.url, timeout=0.05).embed(["beam"], query=True)


def test_a_missing_model_is_named_with_the_fix_and_not_repeated(model_server: ChatServer) -> None:
    model_server.reply = lambda body: as_json(404, {"error": 'model "tiny" not found, try pulling it first'})
    with pytest.raises(EmbeddingGenerationError, match="has no model 'tiny'") as failed:
        made(model_server.url).embed(["beam"])
    assert "ollama pull tiny" in failed.value.hint
    model_server.reply = lambda body: as_json(404, {"error": {"message": "The model `tiny` does not exist"}})
    with pytest.raises(EmbeddingGenerationError, match="The model `tiny` does not exist"):
        made(model_server.url, kind=openai.OPENAI).embed(["beam"])
    assert len(model_server.requests) == 2


def test_a_wrong_address_is_told_apart_from_a_missing_model(model_server: ChatServer) -> None:
    model_server.reply = lambda body: (404, {"Content-Type": "text/plain"}, b"404 page not found")
    with pytest.raises(EmbeddingGenerationError, match="has no such endpoint"):
        made(model_server.url).embed(["beam"])


def test_a_refused_key_is_said_and_not_shown(model_server: ChatServer) -> None:
    model_server.reply = lambda body: as_json(401, {"error": {"message": "bad key"}})
    with pytest.raises(EmbeddingGenerationError, match="refused the API key") as failed:
        made(model_server.url, kind=openai.OPENAI, key="sk-secret").embed(["beam"])
    assert failed.value.hint == "set api.providers.openai.api_key"
    assert "sk-secret" not in str(failed.value.envelope()) + str(failed.value.technical_details)


def test_a_wrong_dimension_is_refused(model_server: ChatServer) -> None:
    model_server.reply = ollama_answer
    with pytest.raises(EmbeddingGenerationError, match="gives 3 dimensions, 768 are expected"):
        made(model_server.url, dimension=768).embed(["beam"])


def test_a_dimension_that_changes_between_calls_is_refused(model_server: ChatServer) -> None:
    two = as_json(200, {"embeddings": [[1.0, 2.0]]})
    model_server.reply = in_turn(ollama_answer({"model": "tiny", "input": ["beam"]}), two)
    provider = made(model_server.url)
    provider.embed(["beam"])
    with pytest.raises(EmbeddingGenerationError, match="gives 2 dimensions, 3 are expected"):
        provider.embed(["beam"])


@pytest.mark.parametrize("vector", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0], [None, 1.0]])
def test_zero_and_not_finite_vectors_are_refused(model_server: ChatServer, vector: list[float]) -> None:
    model_server.reply = lambda body: as_json(200, {"embeddings": [vector]})
    with pytest.raises(EmbeddingGenerationError, match="vector"):
        made(model_server.url).embed(["beam"])


@pytest.mark.parametrize(
    "content",
    [b"<html>", b"{}", b"[]", b'{"embeddings": null}', b'{"embeddings": [[1, 2], [3]]}', b'{"embeddings": 3}'],
)
def test_an_answer_of_another_kind_is_refused(model_server: ChatServer, content: bytes) -> None:
    model_server.reply = lambda body: (200, {}, content)
    with pytest.raises(EmbeddingGenerationError, match=r"holds no vectors|a web page instead of JSON"):
        made(model_server.url).embed(["beam", "lost"])


def test_too_few_vectors_are_refused(model_server: ChatServer) -> None:
    model_server.reply = lambda body: as_json(200, {"embeddings": [[1.0, 2.0]]})
    with pytest.raises(EmbeddingGenerationError, match="gave 1 vectors for 2 texts"):
        made(model_server.url).embed(["beam", "lost"])


def test_the_factories_read_the_configuration(model_server: ChatServer) -> None:
    model_server.reply = openai_answer
    config = ARIELConfig.from_dict(
        {
            "api": {"providers": {"openai": {"base_url": model_server.url, "api_key": " key "}}},
            "enhancement_modules": {"text_embedding": {"models": [{"name": "e5", "document_prefix": "passage: "}]}},
        }
    )
    openai.create_provider(config, "e5").embed(["beam"])
    _, headers, body = model_server.requests[0]
    assert headers["Authorization"] == "Bearer key"
    assert (body["model"], body["input"]) == ("e5", ["passage: beam"])


def test_the_embedding_block_may_hold_the_address(model_server: ChatServer) -> None:
    model_server.reply = ollama_answer
    config = ARIELConfig.from_dict({"embedding": {"provider": "ollama", "base_url": model_server.url + "/"}})
    assert ollama.create_provider(config, "nomic").embed(["beam"]).shape == (1, 3)


def test_no_entry_leaves_the_site_without_an_address() -> None:
    with pytest.raises(ConfigurationError, match="has no address") as refused:
        openai.create_provider(ARIELConfig(), "text-embedding-3-small")
    assert "api.providers.openai.base_url" in refused.value.hint


@pytest.mark.parametrize("provider", [{"base_url": "ftp://host"}, {"base_url": "host:1"}, {"api_key": "a\nb"}])
def test_unusable_settings_are_refused(provider: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match=r"api\.providers\.ollama"):
        ollama.create_provider(ARIELConfig.from_dict({"api": {"providers": {"ollama": provider}}}), "nomic")


def test_fingerprints_differ_by_provider_model_prefix_and_window() -> None:
    place = "http://a"
    prints = {
        made(place).fingerprint,
        made(place, kind=openai.OPENAI).fingerprint,
        made(place, query_prefix="q: ").fingerprint,
        made(place, max_input_tokens=64).fingerprint,
    }
    assert len(prints) == 4
    assert made("http://b").fingerprint in prints


def test_windows_follow_the_configured_limit() -> None:
    provider = made("http://a", max_input_tokens=64)
    text = " ".join(f"word{n}" for n in range(300))
    windows = provider.windows(text)
    assert len(windows) > len(made("http://a").windows(text)) > 1
    assert windows[-1].endswith("word299")
