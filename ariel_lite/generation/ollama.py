"""Completions from an Ollama server (`/api/chat`)."""

from __future__ import annotations

from typing import Any

from ariel_lite import model_servers
from ariel_lite.config import ARIELConfig
from ariel_lite.generation.http import ChatDialect, HttpGenerator, create

CHARACTERS_A_TOKEN = 2
LEAST_CONTEXT = 4096


def create_generator(config: ARIELConfig, model: str) -> HttpGenerator:
    """The generator of a model that the configured server holds; the server is not asked yet.

    Raises:
        ConfigurationError: no model is named, or the configured address is not usable.
    """
    return create(config, OLLAMA, model)


def _request(model: str, system: str, prompt: str, max_tokens: int, temperature: float) -> dict[str, Any]:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
    # Ollama silently cuts what is longer than its context, which is small unless asked for.
    context = max((len(system) + len(prompt)) // CHARACTERS_A_TOKEN + max_tokens, LEAST_CONTEXT)
    options = {"temperature": temperature, "num_predict": max_tokens, "num_ctx": context}
    return {"model": model, "messages": messages, "stream": False, "options": options}


def _text(answer: Any) -> Any:
    return answer["message"]["content"]


OLLAMA = ChatDialect(model_servers.OLLAMA, "chat", _request, _text)
