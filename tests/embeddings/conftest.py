"""The real model, and a real HTTP server that plays Ollama and an OpenAI-compatible endpoint on the loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from chat_server import ChatServer, chat_server

from ariel_lite.config import DEFAULT_MODEL, ARIELConfig
from ariel_lite.embeddings.onnx import OnnxProvider, create_provider


@pytest.fixture(scope="session")
def provider() -> OnnxProvider:
    """The model that comes along, loaded once for all tests."""
    return create_provider(ARIELConfig(), DEFAULT_MODEL)


@pytest.fixture
def model_server() -> Iterator[ChatServer]:
    """A running server whose answers a test sets."""
    with chat_server() as running:
        yield running
