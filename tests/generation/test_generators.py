"""Language models over a real server on the loopback: requests, completions, repeats, faults, keys that stay hidden."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest
from chat_server import ChatServer, as_json, completion

from ariel_lite.config import ARIELConfig
from ariel_lite.errors import ConfigurationError, GenerationError
from ariel_lite.generation import ollama, openai
from ariel_lite.generation.http import ChatDialect, HttpGenerator
from ariel_lite.model_servers import Server
from ariel_lite.registry import GENERATORS, Registry

KEY = "sk-very-secret-4711"
DIALECTS = (openai.OPENAI, ollama.OLLAMA)
both = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.kind.provider)


def made(url: str, dialect: ChatDialect, *, key: str = "", timeout: float = 10.0) -> HttpGenerator:
    """A generator that waits hardly at all between repeats."""
    return HttpGenerator(dialect, Server(url, key, timeout, pause_seconds=0.001), "tiny")


def fault(generator: HttpGenerator, **options: Any) -> GenerationError:
    with pytest.raises(GenerationError) as caught:
        generator.complete("rules", "question", max_tokens=50, **options)
    return caught.value


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
def test_openai_requests(server: ChatServer, suffix: str) -> None:
    server.says("  It tripped [1].\n")
    generator = made(server.url + suffix, openai.OPENAI, key=KEY)
    assert generator.complete("rules", "why?", max_tokens=99, temperature=0.7) == "It tripped [1]."
    path, headers, body = server.requests[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    messages = [{"role": "system", "content": "rules"}, {"role": "user", "content": "why?"}]
    assert body == {"model": "tiny", "messages": messages, "max_tokens": 99, "temperature": 0.7, "stream": False}


def test_ollama_requests_ask_for_a_context_that_holds_the_prompt(server: ChatServer) -> None:
    server.says("Yes [1].")
    generator = made(server.url, ollama.OLLAMA)
    assert generator.complete("rules", "x" * 12_000, max_tokens=500) == "Yes [1]."
    path, headers, body = server.requests[0]
    assert path == "/api/chat"
    assert "Authorization" not in headers
    assert body["stream"] is False
    assert body["options"]["num_predict"] == 500
    assert body["options"]["num_ctx"] >= 12_000 / 2 + 500


@both
def test_thoughts_are_not_part_of_the_answer(server: ChatServer, dialect: ChatDialect) -> None:
    server.says("<think>\nthe user wants …\n</think>\n\nIt tripped [1].")
    assert made(server.url, dialect).complete("r", "q", max_tokens=9) == "It tripped [1]."


@both
@pytest.mark.parametrize("text", ["", " \n", None, 3, "<think>never ends"])
def test_an_empty_completion_is_a_fault(server: ChatServer, dialect: ChatDialect, text: Any) -> None:
    server.reply = lambda body: completion(text, ollama="options" in body)
    assert "empty completion" in fault(made(server.url, dialect)).message


@both
@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_fault_is_repeated_once(server: ChatServer, dialect: ChatDialect, status: int) -> None:
    left = [as_json(status, {"error": "busy"}), completion("Yes [1].", ollama=dialect is ollama.OLLAMA)]
    server.reply = lambda body: left.pop(0)
    assert made(server.url, dialect).complete("r", "q", max_tokens=9) == "Yes [1]."
    server.reply = lambda body: as_json(status, {"error": {"message": "still\nbusy"}})
    assert f"answered {status}: still busy" in fault(made(server.url, dialect)).message
    assert len(server.requests) == 4


@both
def test_a_missing_model_is_named_with_the_fix_and_not_repeated(server: ChatServer, dialect: ChatDialect) -> None:
    server.reply = lambda body: as_json(404, {"error": "model 'tiny' not found"})
    found = fault(made(server.url, dialect))
    assert "has no model 'tiny'" in found.message
    assert ("ollama pull tiny" if dialect is ollama.OLLAMA else "/v1/models") in found.hint
    assert len(server.requests) == 1


@both
def test_a_wrong_address_is_told_apart_from_a_missing_model(server: ChatServer, dialect: ChatDialect) -> None:
    server.reply = lambda body: (404, {}, b"Not Found")
    found = fault(made(server.url, dialect))
    assert "no such endpoint" in found.message
    assert f"api.providers.{dialect.kind.provider}.base_url" in found.hint


@both
@pytest.mark.parametrize(("key", "said"), [("", "wants an API key"), (KEY, "refused the API key")])
def test_a_key_that_is_missing_or_refused(server: ChatServer, dialect: ChatDialect, key: str, said: str) -> None:
    server.reply = lambda body: as_json(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
    found = fault(made(server.url, dialect, key=key))
    assert said in found.message
    assert found.hint == f"set api.providers.{dialect.kind.provider}.api_key"
    assert len(server.requests) == 1


@both
@pytest.mark.parametrize("status", [400, 500])
def test_no_fault_shows_the_key(server: ChatServer, dialect: ChatDialect, status: int) -> None:
    server.reply = lambda body: as_json(status, {"error": {"message": f"bad key {KEY}, not sk-abcd****wxyz"}})
    found = fault(made(server.url, dialect, key=KEY))
    assert "bad key ***, not ***" in found.message
    assert KEY not in repr((found.message, found.hint, found.technical_details))


@both
@pytest.mark.parametrize("content", [b"{}", b"[]", b'{"choices": []}', b'{"message": 3}', b"null", b'{"choices": 1}'])
def test_an_answer_of_another_kind_is_a_fault(server: ChatServer, dialect: ChatDialect, content: bytes) -> None:
    server.reply = lambda body: (200, {}, content)
    assert "holds no completion" in fault(made(server.url, dialect)).message


@both
def test_malformed_json_and_a_login_page(server: ChatServer, dialect: ChatDialect) -> None:
    server.reply = lambda body: (200, {}, b'{"choices": [')
    assert "not JSON" in fault(made(server.url, dialect)).message
    server.reply = lambda body: (200, {"Content-Type": "text/html"}, b"\n<!DOCTYPE html><title>Log in</title>")
    found = fault(made(server.url, dialect))
    assert "a web page instead of JSON" in found.message
    assert "login page" in found.hint
    server.reply = lambda body: (302, {"Location": "https://login.example.org/"}, b"")
    found = fault(made(server.url, dialect))
    assert "answered 302" in found.message
    assert "base_url" in found.hint


@both
def test_a_silent_server_is_given_up(server: ChatServer, dialect: ChatDialect) -> None:
    server.never()
    found = fault(made(server.url, dialect), timeout_seconds=0.2)
    assert "did not answer within" in found.message
    assert f"api.providers.{dialect.kind.provider}.timeout_seconds" in found.hint
    assert len(server.requests) == 1


def test_an_answer_that_trickles_in_is_given_up(server: ChatServer) -> None:
    """Each byte comes in time, all of them would take minutes."""
    server.says("word " * 200)
    server.trickle_seconds = 0.1
    started = time.monotonic()
    found = fault(made(server.url, ollama.OLLAMA), timeout_seconds=0.5)
    assert "did not answer within" in found.message
    assert time.monotonic() - started < 60


@both
def test_a_dead_server_is_named_without_credentials(dialect: ChatDialect) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    found = fault(made(f"http://me:{KEY}@127.0.0.1:{port}", dialect))
    assert f"127.0.0.1:{port} cannot be reached" in found.message
    assert "is it running?" in found.hint
    assert KEY not in found.message


def test_the_factories_read_the_configuration(server: ChatServer) -> None:
    server.says("Yes [1].")
    providers = {name: {"base_url": server.url, "api_key": f" {KEY} "} for name in ("openai", "ollama")}
    config = ARIELConfig.from_dict({"api": {"providers": providers}})
    registry = Registry()
    assert registry.names(GENERATORS) == ["ollama", "openai"]
    for name in registry.names(GENERATORS):
        generator = registry.load(GENERATORS, name).create_generator(config, "tiny")
        assert generator.name == f"{name} tiny"
        assert generator.complete("r", "q", max_tokens=9) == "Yes [1]."
    assert [headers["Authorization"] for _, headers, _ in server.requests] == [f"Bearer {KEY}"] * 2


def test_no_entry_leaves_the_site_without_an_address() -> None:
    with pytest.raises(ConfigurationError, match="no address"):
        openai.create_generator(ARIELConfig(), "tiny")


@pytest.mark.parametrize("module", [openai, ollama])
def test_a_model_must_be_named(module: Any) -> None:
    with pytest.raises(ConfigurationError, match="no model is configured"):
        module.create_generator(ARIELConfig(), "")


@pytest.mark.parametrize(
    "provider",
    [{"base_url": "host:11434"}, {"base_url": "ftp://host"}, {"base_url": "http://h", "api_key": "schlüssel"}],
)
def test_unusable_settings_are_refused(provider: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match=r"api\.providers\.openai") as caught:
        openai.create_generator(ARIELConfig.from_dict({"api": {"providers": {"openai": provider}}}), "tiny")
    assert "schlüssel" not in caught.value.message + caught.value.hint
