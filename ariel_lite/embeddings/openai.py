"""Embeddings from any OpenAI-compatible endpoint (`/v1/embeddings`): vLLM, llama.cpp, LM Studio, gateways."""

from __future__ import annotations

from typing import Any

from ariel_lite import model_servers
from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.base import model_settings
from ariel_lite.embeddings.http import Dialect, HttpProvider, configured_server


def create_provider(config: ARIELConfig, model: str) -> HttpProvider:
    """The provider of a model behind the configured endpoint; the server is not asked yet.

    Raises:
        ConfigurationError: no address is configured (there is no default: entries are not to leave the site
            unasked), or it is not usable.
    """
    return HttpProvider(OPENAI, configured_server(config, OPENAI), model_settings(config, model))


def _request(model: str, texts: list[str]) -> dict[str, Any]:
    return {"model": model, "input": texts, "encoding_format": "float"}


def _vectors(answer: Any) -> list[Any]:
    return [item["embedding"] for item in sorted(answer["data"], key=lambda item: item["index"])]


OPENAI = Dialect(model_servers.OPENAI, "embeddings", _request, _vectors)
