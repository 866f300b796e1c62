"""Embeddings from an Ollama server (`/api/embed`, Ollama 0.3 or newer)."""

from __future__ import annotations

from typing import Any

from ariel_lite import model_servers
from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.base import model_settings
from ariel_lite.embeddings.http import Dialect, HttpProvider, configured_server


def create_provider(config: ARIELConfig, model: str) -> HttpProvider:
    """The provider of a model that the configured server holds; the server is not asked yet.

    Raises:
        ConfigurationError: the configured address is not usable.
    """
    return HttpProvider(OLLAMA, configured_server(config, OLLAMA), model_settings(config, model))


def _request(model: str, texts: list[str]) -> dict[str, Any]:
    return {"model": model, "input": texts}


def _vectors(answer: Any) -> list[Any]:
    return list(answer["embeddings"])


OLLAMA = Dialect(model_servers.OLLAMA, "embed", _request, _vectors)
