"""Embeddings from a server: what Ollama and OpenAI-compatible endpoints share.

A `Dialect` holds what differs (path, request, where the vectors stand in the answer); ollama.py and openai.py are
one each. Requests are sent in batches and repeated with growing pauses when the server is busy or unreachable.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import httpx
import numpy as np

from ariel_lite.config import ARIELConfig, EmbeddingModelConfig
from ariel_lite.embeddings.base import (
    DEFAULT_THRESHOLD,
    Vectors,
    clean_text,
    is_storable,
    make_fingerprint,
    normalised,
    require_embeddable,
)
from ariel_lite.embeddings.windows import CHUNKER_VERSION, WORD_OVERLAP, WORD_WINDOW, word_windows
from ariel_lite.errors import ConfigurationError, EmbeddingGenerationError

BATCH_TEXTS = 32
MOST_WINDOW_TOKENS = 512
RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
LONGEST_PAUSE_SECONDS = 30.0
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
PROBE = "beam"


@dataclass(frozen=True)
class Dialect:
    """How one kind of server is spoken to.

    Attributes:
        provider: the provider's name, as in the configuration.
        title: the name for people.
        default_url: where it listens unless configured, "" when it must be configured.
        endpoint: the full URL from the configured one.
        request: the JSON body from model name and texts.
        vectors: the list of vectors, in the order of the texts, from the answer's JSON.
        missing_model_hint: what to do when the server lacks the model; `{model}` is replaced.
    """

    provider: str
    title: str
    default_url: str
    endpoint: Callable[[str], str]
    request: Callable[[str, list[str]], dict[str, Any]]
    vectors: Callable[[Any], list[Any]]
    missing_model_hint: str


@dataclass(frozen=True)
class Server:
    """Where a server is and how patiently it is asked: seconds, and repeats after a first failure."""

    url: str
    api_key: str = ""
    timeout_seconds: float = 60.0
    retries: int = 3
    pause_seconds: float = 0.5


class PassingServerError(EmbeddingGenerationError):
    """A failure that may pass (busy, not reachable); `asked_pause`: seconds that the server wants to be left alone."""

    asked_pause = 0.0


class HttpProvider:
    """An `EmbeddingProvider` over HTTP, with windows by estimated tokens."""

    recommended_threshold = DEFAULT_THRESHOLD

    def __init__(self, dialect: Dialect, server: Server, settings: EmbeddingModelConfig) -> None:
        self.name = settings.name
        self._dialect = dialect
        self._server = server
        self._settings = settings
        self._dimension = settings.dimension
        self._window = min(settings.max_input_tokens or WORD_WINDOW, MOST_WINDOW_TOKENS)
        self._lock = Lock()
        self._client: httpx.Client | None = None

    @property
    def dimension(self) -> int:
        """The configured dimension, else that of the first vector; asks the server when there was none yet."""
        if self._dimension is None:
            return int(self.embed([PROBE]).shape[1])
        return self._dimension

    @property
    def fingerprint(self) -> str:
        """Differs when model, prefixes, windows or the way of cutting differ; not with the server's address."""
        parts = {
            "model": self.name,
            "prefixes": [self._settings.query_prefix, self._settings.document_prefix],
            "window": [self._window, WORD_OVERLAP],
            "chunker": CHUNKER_VERSION,
        }
        return make_fingerprint(self._dialect.provider, parts)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """See `EmbeddingProvider.embed`. A query is tried once more, entries as often as the server's settings say."""
        require_embeddable(texts)
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        prefix = self._settings.query_prefix if query else self._settings.document_prefix
        ready = [prefix + clean_text(text) for text in texts]
        retries = min(self._server.retries, 1) if query else self._server.retries
        found = [
            self._vectors(ready[start : start + BATCH_TEXTS], retries) for start in range(0, len(ready), BATCH_TEXTS)
        ]
        return normalised(np.concatenate(found))

    def windows(self, text: str) -> list[str]:
        """See `Chunker.windows`; sizes are estimated tokens."""
        return word_windows(text, self._window, WORD_OVERLAP)

    def _vectors(self, texts: list[str], retries: int) -> Vectors:
        answer = self._answer(texts, retries)
        try:
            rows = self._dialect.vectors(answer.json())
            vectors = np.array(rows, dtype=np.float32)
        except (ValueError, TypeError, KeyError, AttributeError) as fault:
            raise self._fault("gave an answer that holds no vectors") from fault
        self._check(vectors, len(texts))
        return vectors

    def _check(self, vectors: Vectors, count: int) -> None:
        if vectors.ndim != 2 or len(vectors) != count:
            raise self._fault(f"gave {len(vectors)} vectors for {count} texts")
        if not all(is_storable(vector) for vector in vectors):
            raise self._fault("gave a vector that is zero or not finite")
        dimension = vectors.shape[1]
        if self._dimension not in (None, dimension):
            raise self._fault(
                f"gives {dimension} dimensions, {self._dimension} are expected",
                hint=f"set the model's dimension to {dimension} and run 'ariel-lite reembed'",
            )
        self._dimension = dimension

    def _answer(self, texts: list[str], retries: int) -> httpx.Response:
        """The first good answer. After a passing fault it waits, twice as long each time, or as the server asks."""
        body = self._dialect.request(self.name, texts)
        for repeat in range(retries):
            try:
                return self._post(body)
            except PassingServerError as fault:
                pause = max(self._server.pause_seconds * 2**repeat, fault.asked_pause)
                time.sleep(min(pause, LONGEST_PAUSE_SECONDS))
        return self._post(body)

    def _post(self, body: dict[str, Any]) -> httpx.Response:
        try:
            answer = self._connected().post(self._dialect.endpoint(self._server.url), json=body)
        except httpx.RequestError as fault:
            raise self._unreachable(fault) from fault
        if answer.is_success:
            return answer
        if answer.status_code in RETRIED_STATUSES:
            raise self._busy(answer)
        raise self._refusal(answer)

    def _connected(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                server = self._server
                headers = {"Authorization": f"Bearer {server.api_key}"} if server.api_key else {}
                # A proxy of the environment is not for a server on this machine.
                local = httpx.URL(server.url).host in LOOPBACK_HOSTS
                self._client = httpx.Client(headers=headers, timeout=server.timeout_seconds, trust_env=not local)
                weakref.finalize(self, self._client.close)
            return self._client

    def _unreachable(self, fault: httpx.RequestError) -> PassingServerError:
        setting = f"api.providers.{self._dialect.provider}"
        if isinstance(fault, httpx.TimeoutException):
            what = f"did not answer within {self._server.timeout_seconds:g} s"
            return self._passing(what, f"raise {setting}.timeout_seconds, or use a smaller model")
        what = f"cannot be reached ({_one_line(str(fault)) or type(fault).__name__})"
        return self._passing(what, f"is it running? set {setting}.base_url if it is elsewhere")

    def _busy(self, answer: httpx.Response) -> PassingServerError:
        fault = self._passing(_status_and_words(answer), "try again later")
        asked = answer.headers.get("Retry-After", "")
        fault.asked_pause = float(asked) if asked.isdecimal() else 0.0
        return fault

    def _refusal(self, answer: httpx.Response) -> EmbeddingGenerationError:
        setting, said = f"api.providers.{self._dialect.provider}", _said(answer)
        if answer.status_code in (401, 403):
            return self._fault("refused the API key", hint=f"set {setting}.api_key")
        if answer.status_code == 404 and not said:
            return self._fault("has no such endpoint", hint=f"check {setting}.base_url")
        if answer.status_code == 404:
            hint = self._dialect.missing_model_hint.format(model=self.name)
            return self._fault(f"has no model {self.name!r} ({said})", hint=hint)
        return self._fault(_status_and_words(answer), hint="see the server's log")

    def _passing(self, what: str, hint: str) -> PassingServerError:
        fault = self._fault(what, hint)
        return PassingServerError(fault.message, technical_details=fault.technical_details, hint=hint)

    def _fault(self, what: str, hint: str = "") -> EmbeddingGenerationError:
        url = httpx.URL(self._server.url)
        place = f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}"
        return EmbeddingGenerationError(
            f"{self._dialect.title} at {place} {what}",
            technical_details={"model": self.name, "provider": self._dialect.provider},
            hint=hint or f"check that {self.name!r} is an embedding model",
        )


def configured_server(config: ARIELConfig, dialect: Dialect) -> Server:
    """A dialect's server from `api.providers.<provider>`, else from `embedding`, else where it usually listens.

    Raises:
        ConfigurationError: no address, an address that is not http(s), or a key that no header can carry.
    """
    listed, embedding = config.api.providers.get(dialect.provider), config.embedding
    own = embedding.base_url if embedding.provider == dialect.provider else ""
    url = (listed.base_url if listed else "") or own or dialect.default_url
    setting = f"api.providers.{dialect.provider}"
    if not url:
        raise ConfigurationError(f"the {dialect.title} has no address", hint=f"set {setting}.base_url")
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as fault:
        raise ConfigurationError(f"{setting}.base_url is no URL: {fault}", hint="such as http://host:11434") from fault
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ConfigurationError(f"{setting}.base_url must begin with http:// or https://")
    key = listed.api_key.strip() if listed else ""
    if not key.isascii() or not key.isprintable():
        raise ConfigurationError(f"{setting}.api_key holds signs that no HTTP header can carry")
    return Server(url, key, listed.timeout_seconds if listed else embedding.timeout_seconds)


def _status_and_words(answer: httpx.Response) -> str:
    said = _said(answer)
    return f"answered {answer.status_code}{f': {said}' if said else ''}"


def _said(answer: httpx.Response) -> str:
    """The server's own words about a failure, one line of at most 200 characters; "" when it sent no JSON."""
    try:
        error = answer.json().get("error", "")
    except (ValueError, AttributeError):
        return ""
    return _one_line(str(error.get("message", "") if isinstance(error, dict) else error))


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
