"""Requests through a SOCKS proxy, as through an SSH tunnel into a facility's network."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from urllib.parse import urlsplit

import pytest
from als_server import als_server

from ariel_lite.config import IngestionConfig
from ariel_lite.errors import ConfigurationError
from ariel_lite.ingestion.adapters.als_logbook import create_adapter
from ariel_lite.ingestion.base import AdapterOptions, SourceFailure, SourceRecord


class Relay(BaseRequestHandler):
    """SOCKS5 without authentication; whatever host is asked for is the logbook server."""

    target: tuple[str, int]
    asked: list[str]

    def handle(self) -> None:
        client: socket.socket = self.request
        client.recv(1 + 1 + client.recv(2)[1])
        client.sendall(b"\x05\x00")
        kind = client.recv(4)[3]
        host = client.recv(client.recv(1)[0]) if kind == 3 else client.recv(4)
        client.recv(2)
        self.asked.append(host.decode("latin-1"))
        client.sendall(b"\x05\x00\x00\x01" + bytes(6))
        with socket.create_connection(self.target) as server:
            back = threading.Thread(target=pump, args=(server, client), daemon=True)
            back.start()
            pump(client, server)
            back.join()


def pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextmanager
def socks_proxy(target: tuple[str, int]) -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []
    handler = type("Handler", (Relay,), {"target": target, "asked": asked})
    with ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield f"socks5://127.0.0.1:{server.server_address[1]}", asked
        server.shutdown()


async def read(source: str, proxy: str) -> list[SourceRecord]:
    config = IngestionConfig(proxy_url=proxy, max_retries=0)
    return [record async for record in create_adapter(AdapterOptions(source, config=config)).fetch_entries()]


def test_entries_come_through_a_socks_proxy() -> None:
    with als_server() as book:
        book.put("1", 1_700_000_000)
        port = urlsplit(book.url).port
        assert port
        with socks_proxy(("127.0.0.1", port)) as (proxy, asked):
            found = asyncio.run(read("http://elog.facility.invalid/olog/rpc.php", proxy))
    assert [getattr(record, "entry", {}).get("entry_id") for record in found] == ["1"]
    assert set(asked) == {"elog.facility.invalid"}


def test_a_proxy_that_does_not_run_is_a_failure_of_the_source() -> None:
    found = asyncio.run(read("http://elog.facility.invalid/olog/rpc.php", "socks5://127.0.0.1:9"))
    assert found
    assert all(isinstance(record, SourceFailure) for record in found)


def test_what_to_install_for_a_socks_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(ConfigurationError) as caught:
        create_adapter(AdapterOptions("http://x/", config=IngestionConfig(proxy_url="socks5://127.0.0.1:1080")))
    assert caught.value.hint == "pip install 'ariel-lite[socks]'"
