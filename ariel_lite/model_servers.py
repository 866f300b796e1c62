"""Servers of models over HTTP: address, key, patience, repeats, and faults that name the fix. Keys are never shown.

Embedding providers and generators both speak through a `ModelServer`; what they ask and how they read the answer is
theirs.
"""

from __future__ import annotations

import json
import re
import time
import weakref
from dataclasses import dataclass
from threading import Lock
from typing import Any

import httpx

from ariel_lite.config import ARIELConfig
from ariel_lite.errors import ARIELException, ConfigurationError

RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
LONGEST_PAUSE_SECONDS = 30.0
CONNECT_SECONDS = 10.0
MOST_BYTES = 256 * 2**20
"""Of an answer; more is no answer of a model."""

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
SAID_CHARACTERS = 200
LOOKS_LIKE_KEY = re.compile(r"\b(?:sk|pk|key)-[\w*.-]{4,}")


@dataclass(frozen=True)
class Server:
    """Where a server is and how patiently it is asked: seconds, and repeats after a first failure."""

    url: str
    api_key: str = ""
    timeout_seconds: float = 60.0
    retries: int = 3
    pause_seconds: float = 0.5


@dataclass(frozen=True)
class ServerKind:
    """A kind of server, whatever it is asked for.

    Attributes:
        provider: its name in the configuration.
        title: its name for people.
        root: the path below which its methods are; an address may end with it or not.
        default_url: where it listens unless configured, "" when it must be configured.
        missing_model_hint: what to do when it lacks the model; `{model}` is replaced.
    """

    provider: str
    title: str
    root: str
    default_url: str
    missing_model_hint: str

    def endpoint(self, url: str, method: str) -> str:
        """The whole address of a method from the configured one."""
        return f"{url.rstrip('/').removesuffix(self.root)}{self.root}/{method}"

    def asked(self, model: str, is_wanted: str, error: type[ARIELException]) -> Asked:
        """What faults say: `is_wanted` is what kind of model it must be."""
        hint = f"check that {model!r} is {is_wanted}"
        return Asked(self.provider, self.title, model, hint, self.missing_model_hint.format(model=model), error)


OLLAMA = ServerKind("ollama", "Ollama", "/api", "http://localhost:11434", "run 'ollama pull {model}' where Ollama runs")
OPENAI = ServerKind(
    "openai", "OpenAI-compatible server", "/v1", "", "check the model's name against the server's /v1/models"
)


@dataclass(frozen=True)
class Asked:
    """Whom a fault is about.

    Attributes:
        provider: its name in the configuration.
        title: its name for people.
        model: the model's name.
        wrong_model_hint: what to do about an answer that makes no sense.
        missing_model_hint: what to do when the server lacks the model.
        error: what is raised.
    """

    provider: str
    title: str
    model: str
    wrong_model_hint: str
    missing_model_hint: str
    error: type[ARIELException]

    @property
    def setting(self) -> str:
        """Where the configuration holds the server."""
        return f"api.providers.{self.provider}"


@dataclass(frozen=True)
class Answer:
    """A server's answer, whole."""

    status: int
    retry_after: str
    content: bytes

    def said(self, key: str) -> str:
        """The server's own words about a failure, one line of at most 200 characters; "" when it sent no JSON."""
        try:
            error = json.loads(self.content).get("error", "")
        except (ValueError, AttributeError):
            return ""
        return _one_line(str(error.get("message", "") if isinstance(error, dict) else error), key)


@dataclass(frozen=True)
class _Refusal:
    """Why a request brought nothing; `passing`: it may pass; `pause`: seconds the server wants to be left alone."""

    what: str
    hint: str
    passing: bool = False
    pause: float = 0.0


class ModelServer:
    """One server and the model that is asked for there. Safe to use from several threads."""

    def __init__(self, asked: Asked, server: Server) -> None:
        self.server = server
        self._asked = asked
        self._lock = Lock()
        self._client: httpx.Client | None = None

    def post(
        self, url: str, body: dict[str, Any], *, retries: int | None = None, timeout_seconds: float | None = None
    ) -> Any:
        """The JSON of the first good answer.

        After a passing fault it waits, twice as long each time, or as the server asks.

        Args:
            url: the whole address.
            body: what to send, as JSON.
            retries: repeats after the first try; None: the server's setting.
            timeout_seconds: for all tries together; None: each try has the server's own.

        Raises:
            The asked one's error: not reachable, refused, too slow, or no JSON.
        """
        end = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        left = self.server.retries if retries is None else retries
        pause = self.server.pause_seconds
        while True:
            result = self._attempt(url, body, end)
            if isinstance(result, Answer):
                return self._json(result)
            wait = min(max(pause, result.pause), LONGEST_PAUSE_SECONDS)
            if not result.passing or left <= 0 or (end is not None and time.monotonic() + wait >= end):
                raise self.fault(result.what, result.hint)
            time.sleep(wait)
            left, pause = left - 1, pause * 2

    def fault(self, what: str, hint: str = "") -> ARIELException:
        """The error that says what the server did; its address is shown without credentials."""
        url = httpx.URL(self.server.url)
        place = f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}"
        return self._asked.error(
            f"{self._asked.title} at {place} {what}",
            technical_details={"model": self._asked.model, "provider": self._asked.provider},
            hint=hint or self._asked.wrong_model_hint,
        )

    def _attempt(self, url: str, body: dict[str, Any], end: float | None) -> Answer | _Refusal:
        seconds = self.server.timeout_seconds
        if end is not None:
            seconds = max(min(seconds, end - time.monotonic()), 0.001)
        try:
            answer = self._exchange(url, body, seconds)
        except httpx.TimeoutException:
            hint = f"raise {self._asked.setting}.timeout_seconds, or use a smaller model"
            return _Refusal(f"did not answer within {seconds:.3g} s", hint, True)
        except httpx.RequestError as fault:
            words = _one_line(str(fault), self.server.api_key) or type(fault).__name__
            hint = f"is it running? set {self._asked.setting}.base_url if it is elsewhere"
            return _Refusal(f"cannot be reached ({words})", hint, True)
        return answer if 200 <= answer.status < 300 else self._refused(answer)

    def _exchange(self, url: str, body: dict[str, Any], seconds: float) -> Answer:
        """One request; `seconds` hold for the answer as a whole, not only for each of its pieces."""
        end = time.monotonic() + seconds
        timeout = httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
        content = bytearray()
        with self._connected().stream("POST", url, json=body, timeout=timeout) as answer:
            for piece in answer.iter_bytes():
                content += piece
                if time.monotonic() > end:
                    raise httpx.ReadTimeout("the answer trickles in too slowly")
                if len(content) > MOST_BYTES:
                    raise httpx.DecodingError("the answer has no end")
            return Answer(answer.status_code, answer.headers.get("Retry-After", ""), bytes(content))

    def _connected(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                server = self.server
                headers = {"Authorization": f"Bearer {server.api_key}"} if server.api_key else {}
                # A proxy of the environment is not for a server on this machine.
                local = httpx.URL(server.url).host in LOOPBACK_HOSTS
                self._client = httpx.Client(headers=headers, trust_env=not local)
                weakref.finalize(self, self._client.close)
            return self._client

    def _refused(self, answer: Answer) -> _Refusal:
        said, setting = answer.said(self.server.api_key), self._asked.setting
        words = f"answered {answer.status}{f': {said}' if said else ''}"
        if answer.status in RETRIED_STATUSES:
            pause = float(answer.retry_after) if answer.retry_after.isdecimal() else 0.0
            return _Refusal(words, "try again later", True, pause)
        if answer.status in (401, 403):
            what = "refused the API key" if self.server.api_key else "wants an API key"
            return _Refusal(what, f"set {setting}.api_key")
        if answer.status == 404 and said:
            return _Refusal(f"has no model {self._asked.model!r} ({said})", self._asked.missing_model_hint)
        if answer.status == 404:
            return _Refusal("has no such endpoint", f"check {setting}.base_url")
        hint = f"check {setting}.base_url" if 300 <= answer.status < 400 else "see the server's log"
        return _Refusal(words, hint)

    def _json(self, answer: Answer) -> Any:
        try:
            return json.loads(answer.content)
        except ValueError as fault:
            if answer.content.lstrip()[:1] == b"<":
                hint = f"check {self._asked.setting}.base_url; a login page or proxy may stand in between"
                raise self.fault("gave a web page instead of JSON", hint) from fault
            raise self.fault("gave an answer that is not JSON") from fault


def configured_server(config: ARIELConfig, kind: ServerKind, url: str = "", timeout_seconds: float = 60.0) -> Server:
    """A kind's server from `api.providers.<provider>`, else at `url`, else where it usually listens.

    Raises:
        ConfigurationError: no address, an address that is not http(s), or a key that no header can carry.
    """
    listed = config.api.providers.get(kind.provider)
    url = (listed.base_url if listed else "") or url or kind.default_url
    setting = f"api.providers.{kind.provider}"
    if not url:
        raise ConfigurationError(f"the {kind.title} has no address", hint=f"set {setting}.base_url")
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as fault:
        raise ConfigurationError(f"{setting}.base_url is no URL: {fault}", hint="such as http://host:11434") from fault
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ConfigurationError(f"{setting}.base_url must begin with http:// or https://")
    key = listed.api_key.strip() if listed else ""
    if not key.isascii() or not key.isprintable():
        raise ConfigurationError(f"{setting}.api_key holds signs that no HTTP header can carry")
    return Server(url, key, listed.timeout_seconds if listed else timeout_seconds)


def _one_line(text: str, key: str) -> str:
    """A server's words without the key that it may repeat."""
    masked = text.replace(key, "***") if key else text
    return " ".join(LOOKS_LIKE_KEY.sub("***", masked).split())[:SAID_CHARACTERS]
