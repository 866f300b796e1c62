"""A logbook server over HTTP: time-outs, repeats with growing pauses, a proxy, and answers of bounded size."""

from __future__ import annotations

import asyncio
import os
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from importlib.util import find_spec
from types import TracebackType
from typing import Any, TypeVar

import httpx

from ariel_lite.config import IngestionConfig
from ariel_lite.errors import ConfigurationError
from ariel_lite.ingestion.http_answers import (
    Fault,
    HttpAnswer,
    SourceRequestError,
    checked,
    one_line,
    read_json,
    shown_url,
)

MAX_ANSWER_BYTES = 256_000_000
"""An answer longer than this is not held in memory; ask for less at once."""

LONGEST_PAUSE_SECONDS = 300.0
"""A server that asks to be left alone for longer is asked again by the next run only."""

TOTAL_TIMEOUTS = 10
"""A whole answer may take so many times the time-out of one step; a server that drips bytes does not hold a run up."""

MAX_REDIRECTS = 5
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
PROXY_VARIABLE = "ARIEL_SOCKS_PROXY"
"""ARIEL's variable for a proxy, used when `ingestion.proxy_url` is not set."""

_WEB = re.compile(r"https?://", re.IGNORECASE)
_LOGIN_ADDRESS = re.compile(
    r"(?:^|[/_.-])(?:log[-_]?in|sign[-_]?in|sso|saml2?|shibboleth|idp|cas|oauth2?|auth|authorize)(?:$|[/_.-])",
    re.IGNORECASE,
)

Answered = TypeVar("Answered")


class HttpSource:
    """The server of one source, to be used inside `async with`.

    Args:
        config: time-outs, repeats, proxy, certificates.
        sleep: waits between repeats, so many seconds.
        chance: 0 to 1, spreads the repeats of several clients.
        max_bytes: the longest answer that is read.

    Raises:
        ConfigurationError: the proxy cannot be used.
    """

    def __init__(
        self,
        config: IngestionConfig,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> None:
        self._config = config
        self._proxy = usable_proxy(config)
        self._sleep = sleep
        self._chance = chance
        self._max_bytes = max_bytes
        self._clients: dict[bool, httpx.AsyncClient] = {}

    async def __aenter__(self) -> HttpSource:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.aclose()

    async def get(
        self, url: str, *, params: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> HttpAnswer:
        """What stands at an address. Redirects to the same host are followed.

        Raises:
            SourceRequestError: no answer after all repeats, a status of failure, a login page, too long an answer.
        """
        return await self._repeated(lambda: self._got(url, params, headers))

    async def get_json(
        self,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        expected: type[Any] | None = None,
    ) -> Any:
        """The JSON at an address; `expected` is list or dict where nothing else will do. NaN and infinities are None.

        Raises:
            SourceRequestError: see `get`; or it is no JSON, cut off, or another kind of value.
        """

        async def attempt() -> Any:
            return read_json(await self._got(url, params, headers), expected)

        return await self._repeated(attempt)

    async def send(
        self,
        method: str,
        url: str,
        *,
        content: bytes | str | None = None,
        json: Any = None,
        data: Mapping[str, Any] | None = None,
        files: Any = None,
        headers: Mapping[str, str] | None = None,
        auth: tuple[str, str] | None = None,
    ) -> HttpAnswer:
        """Change something at the server; sent again only when it certainly did not arrive. Redirects are not followed.

        Raises:
            SourceRequestError: see `get`; `was_sent` is True when the change may have been made all the same.
        """
        given = {"content": content, "json": json, "data": data, "files": files}
        body = {name: value for name, value in given.items() if value is not None}

        async def attempt() -> HttpAnswer:
            target = _parsed(url)
            answer = checked(await self._exchange(method, target, dict(headers or {}), auth, body))
            if answer.is_redirect:
                _refuse_login(target, _joined(target, answer.headers["location"]))
            return answer

        return await self._repeated(attempt, only_unsent=True)

    async def _repeated(self, attempt: Callable[[], Awaitable[Answered]], *, only_unsent: bool = False) -> Answered:
        for repeat in range(self._config.max_retries):
            try:
                return await attempt()
            except SourceRequestError as fault:
                too_long = fault.asked_pause > LONGEST_PAUSE_SECONDS
                if not fault.is_passing or too_long or (only_unsent and fault.was_sent):
                    raise
                await self._sleep(self._pause(repeat, fault.asked_pause))
        return await attempt()

    def _pause(self, repeat: int, asked: float) -> float:
        """Twice as long each time, a quarter more or less, and never shorter than the server asks."""
        grown: float = self._config.retry_delay_seconds * 2**repeat * (0.75 + self._chance() / 2)
        return max(min(grown, LONGEST_PAUSE_SECONDS), asked)

    async def _got(self, url: str, params: Mapping[str, str] | None, headers: Mapping[str, str] | None) -> HttpAnswer:
        target = _parsed(url)
        auth = (target.username, target.password) if target.userinfo else None
        target = target.copy_merge_params(dict(params)) if params else target
        for _ in range(MAX_REDIRECTS):
            answer = checked(await self._exchange("GET", target, dict(headers or {}), auth, {}))
            if not answer.is_redirect:
                return answer
            target = _followed(target, answer.headers["location"])
        raise SourceRequestError(f"{shown_url(url)} redirects in a circle", Fault.REFUSED, hint="check source_url")

    async def _exchange(
        self, method: str, url: httpx.URL, headers: dict[str, str], auth: tuple[str, str] | None, body: dict[str, Any]
    ) -> HttpAnswer:
        """One request and its whole answer, whatever its status."""
        plain = url.copy_with(userinfo=b"")
        credentials = auth or ((url.username, url.password) if url.userinfo else None)
        patience = self._config.request_timeout_seconds
        try:
            async with asyncio.timeout(patience * TOTAL_TIMEOUTS):
                client = self._client(plain.host)
                async with client.stream(method, plain, headers=headers, auth=credentials, **body) as response:
                    return HttpAnswer(
                        response.status_code,
                        shown_url(str(plain)),
                        {name.lower(): value for name, value in response.headers.items()},
                        await self._body(response),
                    )
        except TimeoutError as fault:
            raise _slow(plain, patience * TOTAL_TIMEOUTS) from fault
        except httpx.RequestError as fault:
            raise _unanswered(plain, fault, patience) from fault

    async def _body(self, response: httpx.Response) -> bytes:
        announced = response.headers.get("content-length", "")
        parts: list[bytes] = []
        held = int(announced) if announced.isdecimal() else 0
        if held <= self._max_bytes:
            held = 0
            async for part in response.aiter_bytes():
                held += len(part)
                if held > self._max_bytes:
                    break
                parts.append(part)
        if held > self._max_bytes:
            place = shown_url(str(response.request.url))
            raise SourceRequestError(
                f"{place} sends more than {self._max_bytes:,} bytes at once", Fault.TOO_LARGE, hint="lower chunk_days"
            )
        return b"".join(parts)

    def _client(self, host: str) -> httpx.AsyncClient:
        """The connections to a host; a proxy of the environment is not for a server on this machine."""
        local = host in LOOPBACK_HOSTS
        if local not in self._clients:
            self._clients[local] = httpx.AsyncClient(
                timeout=self._config.request_timeout_seconds,
                verify=self._config.verify_ssl,
                proxy=self._proxy,
                trust_env=not local,
                headers={"User-Agent": "ariel-lite", "Accept": "application/json, */*;q=0.5"},
            )
        return self._clients[local]


def is_web_address(source: str) -> bool:
    """True for an http or https address."""
    return _WEB.match(source) is not None


def usable_proxy(config: IngestionConfig) -> str | None:
    """The configured proxy (http, https, socks5 or socks5h), None without one.

    Raises:
        ConfigurationError: it is no proxy's address, or SOCKS support is not installed.
    """
    proxy = config.proxy_url or os.environ.get(PROXY_VARIABLE)
    if not proxy:
        return None
    scheme = proxy.partition("://")[0].lower()
    if scheme not in ("http", "https", "socks5", "socks5h") or not _host_of(proxy):
        raise ConfigurationError(
            f"ingestion.proxy_url {shown_url(proxy)!r} is no proxy", hint="such as socks5://127.0.0.1:1080"
        )
    if scheme.startswith("socks") and find_spec("socksio") is None:
        raise ConfigurationError(
            "a SOCKS proxy needs a package that is not installed", hint="pip install 'ariel-lite[socks]'"
        )
    return proxy


def _parsed(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as fault:
        raise ConfigurationError(f"{shown_url(url)} is no URL: {fault}", hint="check source_url") from fault
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ConfigurationError(f"{shown_url(url)} is no http(s) address", hint="check source_url")
    return parsed


def _followed(url: httpx.URL, location: str) -> httpx.URL:
    """Where a redirect leads. Raises SourceRequestError when that is a login, another host, or without encryption."""
    target = _joined(url, location)
    _refuse_login(url, target)
    shown = f"{shown_url(str(url))} redirects to {shown_url(str(target))}"
    if target.host != url.host:
        raise SourceRequestError(f"{shown}, another host", Fault.DENIED, hint="put that address in source_url if right")
    if url.scheme == "https" and target.scheme != "https":
        raise SourceRequestError(f"{shown}, without encryption", Fault.DENIED, hint="use an https address")
    return target.copy_with(userinfo=b"")


def _joined(url: httpx.URL, location: str) -> httpx.URL:
    try:
        return url.join(location)
    except httpx.InvalidURL as fault:
        raise SourceRequestError(f"{shown_url(str(url))} redirects to no address", Fault.REFUSED) from fault


def _refuse_login(url: httpx.URL, target: httpx.URL) -> None:
    if _LOGIN_ADDRESS.search(target.path) and not _LOGIN_ADDRESS.search(url.path):
        raise SourceRequestError(
            f"{shown_url(str(url))} redirects to a login page, {shown_url(str(target))}",
            Fault.DENIED,
            hint="the server wants you to log in first",
        )


def _unanswered(url: httpx.URL, fault: httpx.RequestError, patience: float) -> SourceRequestError:
    place, reason = shown_url(str(url)), one_line(str(fault)) or type(fault).__name__
    unsent = isinstance(fault, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout | httpx.ProxyError)
    if isinstance(fault, httpx.TimeoutException):
        return _slow(url, patience, was_sent=not unsent)
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        return SourceRequestError(
            f"the certificate of {place} cannot be verified",
            Fault.REFUSED,
            hint="install the facility's certificate, or set ingestion.verify_ssl: false",
            was_sent=False,
        )
    what = "cannot be reached" if unsent else "broke the connection off"
    hint = (
        "is the proxy running?"
        if isinstance(fault, httpx.ProxyError)
        else "is the server running, is the address right?"
    )
    return SourceRequestError(
        f"{place} {what} ({reason})", Fault.UNREACHABLE, hint=hint, is_passing=True, was_sent=not unsent
    )


def _slow(url: httpx.URL, patience: float, *, was_sent: bool = True) -> SourceRequestError:
    return SourceRequestError(
        f"{shown_url(str(url))} did not answer within {patience:g} s",
        Fault.UNREACHABLE,
        hint="raise ingestion.request_timeout_seconds, or lower chunk_days",
        is_passing=True,
        was_sent=was_sent,
    )


def _host_of(address: str) -> str:
    try:
        return httpx.URL(address).host
    except httpx.InvalidURL:
        return ""
