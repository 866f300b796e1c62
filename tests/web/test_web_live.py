"""What only a real socket shows: clients that leave, bodies that stream, many at once, the command."""

from __future__ import annotations

import select
import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import httpx
import pytest
from asking import MakePage, error, ids
from live import command, listening
from logbooks import entries, entry

from ariel_lite.compose import open_logbook
from ariel_lite.errors import SearchTimeoutError
from ariel_lite.search.base import SearchArguments, SearchContext, SearchOutcome, SearchToolDescriptor
from ariel_lite.web.work import MOST_WAITING

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
def backend_name() -> str:
    """The storage makes no difference here."""
    return "sqlite"


class EndlessMode:
    """A search mode that counts in the database until it is stopped."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.stopped = threading.Semaphore(0)

    def run(self, context: SearchContext, arguments: SearchArguments) -> SearchOutcome:
        self.begun.release()
        try:
            context.backend._connections.get().execute(ENDLESS).get  # type: ignore[attr-defined] # noqa: B018
        finally:
            self.stopped.release()
        raise AssertionError

    async def execute(self, context: SearchContext, arguments: SearchArguments) -> SearchOutcome:
        raise SearchTimeoutError("never called")

    def get_tool_descriptor(self) -> SearchToolDescriptor:
        return SearchToolDescriptor(
            "endless", "", "endless", SearchArguments, self.execute, lambda outcome: {}, run=self.run
        )


class Endless:
    """The registry of a logbook, with the endless mode."""

    def __init__(self, mode: EndlessMode) -> None:
        self._mode = mode

    def search_modules(self) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(get_tool_descriptor=self._mode.get_tool_descriptor)


def request(path: str, body: bytes = b"", *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


def test_a_search_stops_when_its_client_leaves(make_page: MakePage) -> None:
    page, mode = make_page(["beam"]), EndlessMode()
    page.service.modes._registry = Endless(mode)  # type: ignore[attr-defined]
    with listening(page.app) as port:
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(request("/api/search", b'{"query": "beam", "mode": "endless"}'))
                assert mode.begun.acquire(timeout=10)
            assert mode.stopped.acquire(timeout=10)
        assert httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200


def test_too_many_waiting_searches_are_told_to_come_back(make_page: MakePage) -> None:
    page, mode = make_page(["beam"]), EndlessMode()
    page.service.modes._registry = Endless(mode)  # type: ignore[attr-defined]
    body = request("/api/search", b'{"query": "beam", "mode": "endless"}')
    with listening(page.app) as port:
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(MOST_WAITING + 30)]
        try:
            for client in clients:
                client.sendall(body)
            answered, _, _ = select.select(clients, [], [], 20)
            refused = answered[0].recv(2000)
            assert refused.startswith(b"HTTP/1.1 503")
            assert b"retry-after: 5" in refused
            assert httpx.get(f"http://127.0.0.1:{port}/health", timeout=20).status_code == 200
        finally:
            for client in clients:
                client.close()


def test_a_body_without_end_is_cut_off(make_page: MakePage) -> None:
    page = make_page()
    with listening(page.app) as port, socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(
            b"POST /api/attachments HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
            b"Content-Type: multipart/form-data; boundary=b\r\n\r\n"
        )
        head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
        client.sendall(b"%x\r\n%s\r\n" % (len(head), head))
        sent = 0
        try:
            while sent < 60_000_000:
                client.sendall(b"100000\r\n" + b"0" * 0x100000 + b"\r\n")
                sent += 0x100000
        except OSError:
            pass
        assert sent < 60_000_000


def test_ids_of_any_characters_on_the_wire(make_page: MakePage) -> None:
    names = ("..%2f", "a/b:c", "%2e%2e", "a//b", "é?#")
    page = make_page([(name, "beam") for name in names])
    with listening(page.app) as port:
        for name in names:
            reply = httpx.get(f"http://127.0.0.1:{port}/api/entries/{quote(name, safe='')}")
            assert reply.json()["entry_id"] == name


def test_reading_and_writing_at_once_loses_nothing(make_page: MakePage) -> None:
    page = make_page([entry("E1", "beam lost")])
    with listening(page.app) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:

        def write(number: int) -> str:
            made = client.post("/api/entries", json={"subject": f"beam note{number}"})
            assert made.status_code == 200, made.text
            found: str = made.json()["entry_id"]
            return found

        def read(number: int) -> int:
            counts = client.post("/api/facets", json={"query": "beam"}).json()
            reply = client.post("/api/search", json={"query": "beam", "mode": "keyword"})
            assert "E1" in ids(client.post("/api/search", json={"query": "lost", "mode": "keyword"}))
            assert sum(month["count"] for month in counts["timeline"]) == counts["total"]
            total: int = reply.json()["total_results"]
            return total

        with ThreadPoolExecutor(12) as pool:
            written = pool.map(write, range(40))
            totals = list(pool.map(read, range(40)))
            made = set(written)
        assert len(made) == 40
        assert max(totals) <= 41
        assert read(0) == 41


def test_a_logbook_that_stays_busy_tells_writers_to_come_back(make_page: MakePage) -> None:
    page = make_page()
    with page.service.backend.transaction():  # type: ignore[attr-defined]
        reply = page.post("/api/entries", json={"subject": "x"})
        assert error(reply, 503)["code"] == "database_unavailable"
        assert reply.headers["retry-after"] == "5"
        assert page.get("/api/entries").json()["total"] == 0
    assert page.post("/api/entries", json={"subject": "x"}).status_code == 200


def test_the_command_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    location = str(tmp_path / "logbook.db")
    with open_logbook(location) as book:
        book.service.backend.upsert(entries("beam lost"))
    with command(location, "--token", "geheim", "--host", "0.0.0.0") as (address, process):
        assert address.startswith("http://127.0.0.1:")
        assert address.endswith("/?token=geheim")
        with httpx.Client(follow_redirects=True) as client:
            assert client.get(address).headers["content-type"].startswith("text/html")
            base = address.partition("?")[0]
            assert client.post(base + "api/entries", json={"subject": "x"}).status_code == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
        assert process.stderr is not None
        assert process.stderr.read() == f"the logbook is {location}; Ctrl-C stops\n"
    with open_logbook(location, read_only=True) as book:
        assert book.service.backend.status().entries == 2


def test_a_fresh_server_takes_many_first_questions_at_once(tmp_path: Path) -> None:
    """Modes and modules are looked up with the first question: every thread that does it at the same time is told all."""
    path = str(tmp_path / "logbook.db")
    with open_logbook(path) as book:
        book.service.backend.upsert([entry("E1", "beam")])
    with (
        command(path) as (address, _),
        httpx.Client(base_url=address, timeout=60) as client,
        ThreadPoolExecutor(24) as pool,
    ):
        replies = list(pool.map(client.get, ["/api/capabilities"] * 48))
    assert [reply.status_code for reply in replies] == [200] * 48
    assert len({reply.text for reply in replies}) == 1
