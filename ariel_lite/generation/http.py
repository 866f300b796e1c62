"""Chat completions from a server: what Ollama and OpenAI-compatible endpoints share; openai.py and ollama.py differ."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ariel_lite.config import ARIELConfig
from ariel_lite.errors import ConfigurationError, GenerationError
from ariel_lite.generation.base import DEFAULT_TEMPERATURE
from ariel_lite.model_servers import ModelServer, Server, ServerKind, configured_server

THOUGHTS = re.compile(r"^\s*<think>.*?(?:</think>|\Z)", re.DOTALL)
"""What some models say to themselves before they answer."""

RETRIES = 1
"""An answer takes long; who waits for it is not to wait many times."""


@dataclass(frozen=True)
class ChatDialect:
    """How one kind of server is spoken to.

    Attributes:
        kind: what holds for whatever it is asked.
        method: the path of completions below the kind's root.
        request: the JSON body from model, system message, user message, longest answer (tokens) and temperature.
        text: the completion, from the answer's JSON.
    """

    kind: ServerKind
    method: str
    request: Callable[[str, str, str, int, float], dict[str, Any]]
    text: Callable[[Any], Any]


class HttpGenerator:
    """A `Generator` over HTTP."""

    def __init__(self, dialect: ChatDialect, server: Server, model: str) -> None:
        self._dialect = dialect
        self._model = model
        self._server = ModelServer(dialect.kind.asked(model, "a chat model", GenerationError), server)

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"{self._dialect.kind.provider} {self._model}"

    def complete(
        self,
        system: str,
        prompt: str,
        *,
        max_tokens: int,
        temperature: float = DEFAULT_TEMPERATURE,
        timeout_seconds: float | None = None,
    ) -> str:
        """See `Generator.complete`."""
        url = self._dialect.kind.endpoint(self._server.server.url, self._dialect.method)
        body = self._dialect.request(self._model, system, prompt, max_tokens, temperature)
        retries = min(self._server.server.retries, RETRIES)
        answer = self._server.post(url, body, retries=retries, timeout_seconds=timeout_seconds)
        try:
            text = self._dialect.text(answer)
        except (TypeError, KeyError, IndexError, AttributeError) as fault:
            raise self._server.fault("gave an answer that holds no completion") from fault
        spoken = THOUGHTS.sub("", text).strip() if isinstance(text, str) else ""
        if not spoken:
            raise self._server.fault("gave an empty completion", "allow more tokens, or use another model")
        return spoken


def create(config: ARIELConfig, dialect: ChatDialect, model: str) -> HttpGenerator:
    """The generator of a dialect; the server is not asked yet.

    Raises:
        ConfigurationError: no model is named, no address is configured, or the address or key is not usable.
    """
    if not model:
        raise ConfigurationError(
            f"no model is configured for {dialect.kind.provider}",
            hint="name it beside it, as in search_modules.rag.model",
        )
    return HttpGenerator(dialect, configured_server(config, dialect.kind), model)
