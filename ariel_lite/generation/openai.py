"""Completions from any OpenAI-compatible endpoint (`/v1/chat/completions`): vLLM, llama.cpp, LM Studio, gateways."""

from __future__ import annotations

from typing import Any

from ariel_lite import model_servers
from ariel_lite.config import ARIELConfig
from ariel_lite.generation.http import ChatDialect, HttpGenerator, create


def create_generator(config: ARIELConfig, model: str) -> HttpGenerator:
    """The generator of a model behind the configured endpoint; the server is not asked yet.

    Raises:
        ConfigurationError: no model, or no address (there is no default: entries are not to leave the site unasked),
            or one that is not usable.
    """
    return create(config, OPENAI, model)


def _request(model: str, system: str, prompt: str, max_tokens: int, temperature: float) -> dict[str, Any]:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
    return {"model": model, "messages": messages, "max_tokens": max_tokens, "temperature": temperature, "stream": False}


def _text(answer: Any) -> Any:
    return answer["choices"][0]["message"]["content"]


OPENAI = ChatDialect(model_servers.OPENAI, "chat/completions", _request, _text)
