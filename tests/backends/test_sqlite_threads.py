"""Connections and threads: a server's threads come and go, and their connections with them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from ariel_lite.backends.sqlite.connection import APPLICATION_ID, Connections
from ariel_lite.errors import DatabaseConnectionError


def in_thread(work: object) -> None:
    thread = threading.Thread(target=work)  # type: ignore[arg-type]
    thread.start()
    thread.join()


def is_open(connection: apsw.Connection) -> bool:
    try:
        return connection.execute("SELECT 1").get == 1
    except apsw.ConnectionClosedError:
        return False


def test_a_thread_that_ends_takes_its_connection_along(tmp_path: Path) -> None:
    connections = Connections(tmp_path / "a.db", create=True)
    ours = connections.get()
    theirs: list[apsw.Connection] = []
    for _ in range(5):
        in_thread(lambda: theirs.append(connections.get()))
    assert [is_open(one) for one in theirs] == [False] * 5
    assert is_open(ours)
    connections.close()
    assert not is_open(ours)


def test_a_writer_gets_its_turn_between_anothers_transactions(tmp_path: Path) -> None:
    connections = Connections(tmp_path / "a.db", create=True)
    with connections.writing() as db:
        db.pragma("application_id", APPLICATION_ID)
        db.execute("CREATE TABLE t (x)")
    done = threading.Event()

    def write_on() -> None:
        while not done.is_set():
            with connections.writing() as db:
                db.execute("INSERT INTO t VALUES (1)")
                done.wait(0.1)
            done.wait(0.03)

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(write_on)
        for _ in range(5):
            with connections.writing() as db:
                db.execute("INSERT INTO t VALUES (2)")
        done.set()
        other.result()
    assert connections.get().execute("SELECT count(*) FROM t WHERE x = 2").get == 5
    connections.close()


def test_a_file_that_stays_busy_is_said_to_be(tmp_path: Path) -> None:
    connections = Connections(tmp_path / "a.db", create=True)
    fault: list[DatabaseConnectionError] = []

    def write() -> None:
        with pytest.raises(DatabaseConnectionError) as raised, connections.writing():
            pass
        fault.append(raised.value)

    with connections.writing():
        in_thread(write)
    assert "in use by another program" in fault[0].message
    connections.close()
