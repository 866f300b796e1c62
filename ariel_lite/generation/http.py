"""Chat completions from a server: what Ollama and OpenAI-compatible endpoints share; openai.py and ollama.py differ."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ariel_lite.config import ARIELConfig
from ariel_lite.errors import ConfigurationError, GenerationError
from ariel_lite.generation.base import DEFAULT_TEMPERATURE
from ariel_lite.model_servers import Asked, ModelServer, Server, configured_server

THOUGHTS = re.compile(r"^\s*<think>.*?(?:</think>|\Z)", re.DOTALL)
"""What some models say to themselves before they answer."""

RETRIES = 1
"""An answer takes long; who waits for it is not to wait many times."""


@dataclass(frozen=True)
class ChatDialect:
    """How one kind of server is spoken to.

    Attributes:
        provider: the provider's name, as in the configuration.
        title: the name for people.
        default_url: where it listens unless configured, "" when it must be configured.
        endpoint: the full URL from the configured one.
        request: the JSON body from model, system message, user message, longest answer (tokens) and temperature.
        text: the completion, from the answer's JSON.
        missing_model_hint: what to do when the server lacks the model; `{model}` is replaced.
    """

    provider: str
    title: str
    default_url: str
    endpoint: Callable[[str], str]
    request: Callable[[str, str, str, int, float], dict[str, Any]]
    text: Callable[[Any], Any]
    missing_model_hint: str


class HttpGenerator:
    """A `Generator` over HTTP."""

    def __init__(self, dialect: ChatDialect, server: Server, model: str) -> None:
        self._dialect = dialect
        self._model = model
        self._server = ModelServer(
            Asked(
                provider=dialect.provider,
                title=dialect.title,
                model=model,
                wrong_model_hint=f"check that {model!r} is a chat model",
                missing_model_hint=dialect.missing_model_hint.format(model=model),
                error=GenerationError,
            ),
            server,
        )

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"{self._dialect.provider} {self._model}"

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
        url = self._dialect.endpoint(self._server.server.url)
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
            f"no model is configured for {dialect.provider}", hint="name it beside it, as in search_modules.rag.model"
        )
    server = configured_server(config, dialect.provider, dialect.title, dialect.default_url)
    return HttpGenerator(dialect, server, model)
