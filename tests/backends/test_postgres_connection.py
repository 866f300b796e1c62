"""Reaching the server: errors without credentials, time limits, a server that stops and comes back."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from logbooks import NOW, entry, found
from postgres_server import Server

from ariel_lite.access import Restriction
from ariel_lite.backends.postgres.backend import PostgresBackend
from ariel_lite.backends.postgres.connection import masked
from ariel_lite.backends.values import SearchPlan
from ariel_lite.compose import open_logbook
from ariel_lite.config import ARIELConfig
from ariel_lite.errors import DatabaseConnectionError, SearchTimeoutError
from ariel_lite.planning import plan_query
from ariel_lite.query.nodes import BoundNode
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.text.tokenise import Analyzer

SECRET = "S3cret-w0rd"


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    server = Server()
    yield server
    server.remove()


def batch(size: int, name: str = "E") -> list[EnhancedLogbookEntry]:
    return [entry(f"{name}{number}", f"beam number {number}") for number in range(size)]


def tree_of(query: str) -> BoundNode:
    return plan_query(query, Restriction(), Analyzer(), zone=ARIELConfig().zone, now=NOW).tree


@pytest.mark.parametrize(
    "location",
    [
        f"postgresql://operator:{SECRET}@127.0.0.1:1/logbook",
        f"postgresql://operator@127.0.0.1:1/logbook?password={SECRET}",
        f"postgresql://operator:{SECRET}@no-such-host.invalid/logbook",
        f"postgresql://operator:{SECRET}@127.0.0.1:port/logbook",
        f"postgresql://operator:{SECRET}@127.0.0.1:1/logbook?nonsense=1",
    ],
)
def test_a_server_out_of_reach_is_an_error_without_the_password(location: str) -> None:
    with pytest.raises(DatabaseConnectionError) as caught:
        PostgresBackend(location)
    shown = f"{caught.value.message} {caught.value.hint} {caught.value.technical_details}"
    assert SECRET not in shown
    assert "***" in shown
    assert caught.value.is_retriable


def test_passwords_are_masked_wherever_they_stand() -> None:
    location = f"postgresql://op:{SECRET}@host/db"
    assert (
        masked(f"{location} password='{SECRET}' {SECRET}", location) == "postgresql://op:***@host/db password=*** ***"
    )


def test_a_database_that_is_not_there(url: str) -> None:
    with pytest.raises(DatabaseConnectionError, match="does not exist"):
        PostgresBackend(url.replace("ariel_test_", "ariel_absent_"))


def test_a_search_stops_when_its_time_is_up(url: str) -> None:
    with open_logbook(url) as book:
        backend = book.service.backend
        backend.upsert(batch(20))
        assert isinstance(backend, PostgresBackend)
        started = threading.Event()

        def slow() -> None:
            with backend.limited(started.is_set), backend._connections.reading() as connection:
                threading.Timer(0.2, started.set).start()
                connection.execute("SELECT pg_sleep(60)")

        began = time.monotonic()
        with pytest.raises(SearchTimeoutError):
            slow()
        assert time.monotonic() - began < 30
        with pytest.raises(SearchTimeoutError), backend.limited(lambda: True):
            backend.index_gap()
        assert len(found(book, "beam")) == 20


def test_the_service_reports_a_time_out(url: str) -> None:
    with open_logbook(url, config={"search_timeout_seconds": 1e-9}) as book:
        result = book.search("beam", mode="keyword")
    assert result.degraded
    assert result.diagnostics[-1].category == "timeout"


def test_threads_share_a_backend(url: str) -> None:
    backend = PostgresBackend(url, create=True, pool_size=3)
    many = batch(24)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda one: backend.upsert([one]), many))
        answers = list(threads.map(lambda number: backend.search(SearchPlan(tree_of(f"beam {number}"))), range(24)))
    assert [[hit.entry_id for hit in answer] for answer in answers] == [[one["entry_id"]] for one in many]
    assert backend.check() == []
    backend.close()


def test_two_processes_migrate_at_once(url: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        opened = list(threads.map(lambda _: PostgresBackend(url, create=True), range(4)))
    assert not any(backend.attached for backend in opened)
    opened[0].upsert(batch(3))
    assert opened[1].status().indexed == 3
    for backend in opened:
        backend.close()


def test_a_failing_batch_leaves_nothing(url: str) -> None:
    backend = PostgresBackend(url, create=True)
    backend.upsert(batch(5))
    broken = batch(600, "F")
    broken[-1]["metadata"] = {"number": float("nan")}
    with pytest.raises(ValueError, match="JSON"):
        backend.upsert(broken)
    assert (backend.status().entries, backend.check()) == (5, [])
    backend.upsert(batch(3, "D"), dry_run=True)

    def broken_off() -> None:
        with backend.transaction():
            backend.upsert(batch(3, "G"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken_off()
    assert (backend.status().entries, backend.check()) == (5, [])
    backend.close()


def test_writes_of_a_transaction_are_seen_together(url: str) -> None:
    backend, other = PostgresBackend(url, create=True), PostgresBackend(url)
    with backend.transaction():
        backend.upsert(batch(2))
        backend.store_attachment("E0", "att-1", "a.png", "image/png", b"\x00\x01")
        assert backend.status().entries == 2
        assert other.status().entries == 0
    assert other.status().attachments == 1
    stored = other.get_attachment("att-1")
    assert stored is not None
    assert (stored.data, stored.size_bytes) == (b"\x00\x01", 2)
    backend.upsert([entry("E0", "beam number 0", attachments=[{"url": "/api/attachments/other"}])])
    assert other.attachments_of("E0") == []
    backend.close()
    other.close()


def test_a_terminated_connection_is_replaced(url: str) -> None:
    with open_logbook(url) as book:
        book.service.backend.upsert(batch(3))
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert len(found(book, "beam")) == 3


def test_a_server_that_stops_and_comes_back(own_server: Server, tmp_path: Path) -> None:
    backend = PostgresBackend(own_server.create_database(), create=True)
    backend.upsert(batch(10))
    tree = tree_of("beam")

    def interrupted() -> None:
        with backend.transaction():
            backend.upsert(batch(10, "F"))
            own_server.stop()
            backend.upsert(batch(10, "G"))

    with pytest.raises(DatabaseConnectionError):
        interrupted()
    with pytest.raises(DatabaseConnectionError) as caught:
        backend.search(SearchPlan(tree))
    assert caught.value.is_retriable
    with pytest.raises(DatabaseConnectionError):
        backend.upsert(batch(1, "H"))
    own_server.start()
    assert (backend.status().entries, backend.check()) == (10, [])
    assert len(backend.search(SearchPlan(tree, 50))) == 10
    backend.upsert(batch(10, "F"))
    assert backend.status().indexed == 20
    backend.close()
