"""The HTTP client of adapters, against a real server that misbehaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from als_server import Logbook, als_server

from ariel_lite.config import IngestionConfig
from ariel_lite.errors import ConfigurationError
from ariel_lite.ingestion.http_answers import Fault, HttpAnswer, SourceRequestError, decoded, read_json, shown_url
from ariel_lite.ingestion.http_source import HttpSource, usable_proxy

ASKED = {"op": "retrieve", "start": "0", "end": "10"}


@pytest.fixture
def book() -> Iterator[Logbook]:
    with als_server() as book:
        book.put("1", 5)
        yield book


class Naps:
    """Instead of sleeping: how long it would have been."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def ask(
    url: str, naps: Naps | None = None, *, chance: float = 0.5, max_bytes: int = 1000, **settings: Any
) -> list[dict[str, Any]]:
    """One request for the entries."""
    config = IngestionConfig(**{"request_timeout_seconds": 20, "retry_delay_seconds": 4, "max_retries": 3, **settings})

    async def asked() -> Any:
        sleep = naps or Naps()
        async with HttpSource(config, sleep=sleep, chance=lambda: chance, max_bytes=max_bytes) as server:
            return await server.get_json(url, params=ASKED, expected=list)

    found: list[dict[str, Any]] = asyncio.run(asked())
    return found


def fault_of(call: Callable[[], object]) -> SourceRequestError:
    with pytest.raises(SourceRequestError) as caught:
        call()
    return caught.value


@pytest.mark.parametrize("fault", ["408", "429", "500", "502", "503", "504", "cut", "drop", "half"])
def test_what_may_pass_is_asked_again_after_growing_pauses(book: Logbook, fault: str) -> None:
    book.faults = [fault, fault, fault]
    naps = Naps()
    assert [record["id"] for record in ask(book.url, naps)] == ["1"]
    assert naps.seconds == [4, 8, 16]
    assert len(book.requests) == 4


def test_pauses_of_several_clients_differ(book: Logbook) -> None:
    naps = [Naps(), Naps()]
    for chance, nap in zip((0.0, 1.0), naps, strict=True):
        book.faults = ["500"]
        ask(book.url, nap, chance=chance)
    assert [nap.seconds for nap in naps] == [[3], [5]]


def test_the_last_failure_is_the_one_that_is_told(book: Logbook) -> None:
    book.always = "500"
    fault = fault_of(lambda: ask(book.url, max_retries=2))
    assert (fault.kind, len(book.requests)) == (Fault.BUSY, 3)
    assert "answers 500 (Maintenance)" in fault.message


@pytest.mark.parametrize(
    ("asked", "pause"), [("7", 7), ("2", 4), ("Wed, 21 Oct 2015 07:28:00 GMT", 4), ("soon", 4), ("", 4)]
)
def test_a_server_may_say_how_long_to_wait(book: Logbook, asked: str, pause: float) -> None:
    book.faults, book.retry_after = ["429"], asked
    naps = Naps()
    ask(book.url, naps)
    assert naps.seconds == [pause]


@pytest.mark.parametrize("asked", ["86400", "Fri, 01 Jan 2100 00:00:00 GMT"])
def test_a_long_wait_is_left_to_the_next_run(book: Logbook, asked: str) -> None:
    book.always, book.retry_after = "503", asked
    naps = Naps()
    assert fault_of(lambda: ask(book.url, naps)).kind is Fault.BUSY
    assert naps.seconds == []


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("login", Fault.DENIED, "sends a login page"),
        ("redirect", Fault.DENIED, "redirects to a login page"),
        ("elsewhere", Fault.DENIED, "another host"),
        ("401", Fault.DENIED, "other credentials"),
        ("403", Fault.DENIED, "other credentials"),
        ("404", Fault.REFUSED, "answers 404"),
        ("page", Fault.HTML, "a page instead of entries"),
        ("empty", Fault.EMPTY, "an empty answer"),
        ("object", Fault.UNREADABLE, "an object where a list is expected (no session)"),
    ],
)
def test_what_will_not_pass_is_told_at_once(book: Logbook, fault: str, kind: Fault, words: str) -> None:
    book.always = fault
    naps = Naps()
    caught = fault_of(lambda: ask(book.url, naps))
    assert caught.kind is kind
    assert words in caught.message
    assert caught.hint
    assert (naps.seconds, len(book.requests)) == ([], 1)


def test_a_redirect_to_the_same_host_is_followed(book: Logbook) -> None:
    book.faults = ["moved"]
    assert ask(book.url) == []


@pytest.mark.parametrize(("fault", "times"), [("stall", 1), ("drip", 10)])
def test_a_server_that_does_not_come_to_an_end_is_left(book: Logbook, fault: str, times: int) -> None:
    book.always = fault
    naps = Naps()
    caught = fault_of(lambda: ask(book.url, naps, request_timeout_seconds=0.1, max_retries=1, max_bytes=10**6))
    assert caught.kind is Fault.UNREACHABLE
    assert f"did not answer within {0.1 * times:g} s" in caught.message
    assert len(naps.seconds) == 1


def test_nobody_there(book: Logbook) -> None:
    caught = fault_of(lambda: ask("http://127.0.0.1:9/olog", max_retries=0))
    assert (caught.kind, caught.was_sent) == (Fault.UNREACHABLE, False)
    assert "cannot be reached" in caught.message


@pytest.mark.parametrize("number", [20, 2000])
def test_an_answer_has_a_largest_size(book: Logbook, number: int) -> None:
    for index in range(number):
        book.put(str(index), 5)
    assert fault_of(lambda: ask(book.url)).kind is Fault.TOO_LARGE


def test_credentials_are_sent_and_never_shown(book: Logbook) -> None:
    book.user = "bob:secret:word"
    address = book.url.replace("http://", "http://bob:secret%3Aword@")
    assert len(ask(address)) == 1
    book.user = "another"
    for fault in (
        fault_of(lambda: ask(address)),
        fault_of(lambda: ask("http://bob:secret@127.0.0.1:9/", max_retries=0)),
    ):
        assert "secret" not in f"{fault.message} {fault.hint}"
    book.user, book.always = "bob:secret:word", "redirect"
    assert "secret" not in fault_of(lambda: ask(address)).message


@pytest.mark.parametrize("url", ["ftp://server/x", "http://", "http://[::1", "//x/y"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(ConfigurationError):
        ask(url)


@pytest.mark.parametrize("body", [b"[1] 2", b'[{"a": 1}', b"nonsense", b"[1,]", b'["x'])
def test_json_must_be_whole(body: bytes) -> None:
    assert fault_of(lambda: read_json(HttpAnswer(200, "http://x/", {}, body))).kind is Fault.UNREADABLE


def test_numbers_that_json_does_not_know_are_null() -> None:
    assert read_json(HttpAnswer(200, "http://x/", {}, b"[NaN, -Infinity, 1e999, 1]")) == [None, None, None, 1]


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("Größe".encode(), "", "Größe"),
        (b"\xef\xbb\xbfx", "", "x"),
        ("Größe".encode("latin-1"), "application/json", "Größe"),
        ("Größe".encode("latin-1"), "text/plain; charset=iso-8859-1", "Größe"),
        ("Größe".encode("utf-16"), "text/plain; charset=utf-16", "Größe"),
        (b"5 \x80", "text/plain; charset=nonsense", "5 €"),
    ],
)
def test_text_is_read_in_its_encoding(body: bytes, kind: str, text: str) -> None:
    assert decoded(body, kind) == text


def test_an_address_is_shown_without_what_is_secret() -> None:
    assert shown_url("https://u:p@host:81/a?token=x#y") == "https://host:81/a"


@pytest.mark.parametrize("proxy", ["127.0.0.1:1080", "ftp://127.0.0.1", "socks5://", "nonsense"])
def test_a_proxy_that_is_none(proxy: str) -> None:
    with pytest.raises(ConfigurationError, match="is no proxy"):
        usable_proxy(IngestionConfig(proxy_url=proxy))


def test_the_proxy_of_ariels_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARIEL_SOCKS_PROXY", "http://127.0.0.1:3128")
    assert usable_proxy(IngestionConfig()) == "http://127.0.0.1:3128"
    assert usable_proxy(IngestionConfig(proxy_url="http://proxy:1")) == "http://proxy:1"


def send(url: str, naps: Callable[[float], Awaitable[None]]) -> HttpAnswer:
    async def sent() -> HttpAnswer:
        config = IngestionConfig(request_timeout_seconds=0.3, max_retries=2, retry_delay_seconds=1)
        async with HttpSource(config, sleep=naps) as server:
            return await server.send("POST", url, content=b"<root><entry><subject>x</subject></entry></root>")

    return asyncio.run(sent())


@pytest.mark.parametrize("fault", ["500", "drop", "stall"])
def test_what_may_have_arrived_is_not_sent_again(book: Logbook, fault: str) -> None:
    book.always = fault
    naps = Naps()
    assert fault_of(lambda: send(book.url, naps)).was_sent
    assert naps.seconds == []


def test_what_did_not_arrive_is_sent_again() -> None:
    naps = Naps()
    assert not fault_of(lambda: send("http://127.0.0.1:9/", naps)).was_sent
    assert len(naps.seconds) == 2
