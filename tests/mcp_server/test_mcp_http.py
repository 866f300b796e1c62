"""Over HTTP: the same tools, and nobody else let in."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from agents import PROGRAM, agent_at, environment

from ariel_lite.errors import ConfigurationError
from ariel_lite.listening import host_name, is_loopback
from ariel_lite.mcp_server.http import Door

TOKEN = "s3cret-tökén"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@contextmanager
def serving(book: Path, *options: str, **changes: str) -> Iterator[str]:
    """A server on a free port; its address."""
    process = subprocess.Popen(
        [sys.executable, *PROGRAM, "--db", str(book), "mcp", "--http", "--port", "0", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**changes), text=True, encoding="utf-8",
    )  # fmt: skip
    assert process.stderr is not None
    try:
        announced = process.stderr.readline()
        assert " at http://" in announced, announced + process.stderr.read()
        yield announced.rsplit(" ", 1)[1].strip()
    finally:
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=20)
    assert process.returncode == 0, errors
    assert out == ""
    assert "Traceback" not in errors


@pytest.fixture(scope="module")
def address(book: Path) -> Iterator[str]:
    """A server without a token."""
    with serving(book) as url:
        yield url


@pytest.fixture(scope="module")
def guarded(book: Path) -> Iterator[str]:
    """A server with a token."""
    with serving(book, ARIEL_LITE_MCP_TOKEN=TOKEN) as url:
        yield url


def post(url: str, **headers: Any) -> httpx.Response:
    return httpx.post(url, json=INITIALIZE, headers={**ACCEPT, **headers}, timeout=20)


def test_the_tools_over_http(address: str) -> None:
    async def main() -> None:
        async with agent_at(address) as agent, agent_at(address) as other:
            assert {"keyword_search", "status"} <= set(await agent.tools())
            assert (await agent.ask("keyword_search", query="Müller"))["sources"] == ["TP/2:7"]
            assert (await other.ask("sql_query", sql="SELECT count(*) AS n FROM enhanced_entries"))["rows"] == [
                {"n": 5}
            ]
            assert (await agent.fails("entry_get", entry_id="absent"))["error_type"] == "not_found"

    anyio.run(main)


def test_a_handshake_of_an_older_client(address: str) -> None:
    answer = post(address)
    assert answer.status_code == 200
    assert '"protocolVersion":"2025-06-18"' in answer.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:1"}, 200),
        ({"Host": "[::1]:99"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1.evil.example:8086"}, 403),
        ({"Host": "localhost.evil.example"}, 403),
        ({"Host": "evil.example@127.0.0.1"}, 403),
        ({"Host": ""}, 403),
        ({"Origin": "http://localhost:6274"}, 200),
        ({"Origin": "http://127.0.0.1"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Origin": "http://6.6.6.6"}, 403),
        ({"Origin": "http://localhost:80@evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "file://"}, 403),
    ],
)
def test_foreign_hosts_and_origins_are_refused(address: str, headers: dict[str, str], status: int) -> None:
    answer = post(address, **headers)
    assert answer.status_code == status
    if status != 200:
        error = answer.json()["error"]
        assert set(error) == {"code", "message", "hint", "position"}
        assert error["code"] in ("foreign_host", "foreign_origin")
        assert httpx.get(address, headers={**ACCEPT, **headers}).status_code == status
        assert httpx.delete(address, headers=headers).status_code == status
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer wrong", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}"],
)
def test_without_the_token_nobody_is_let_in(guarded: str, authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization.encode("utf-8")}
    answer = post(guarded, **headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["error"]["code"] == "unauthorized"
    assert TOKEN not in answer.text


def test_with_the_token_everything_works(guarded: str) -> None:
    answer = post(guarded, Authorization=f"bearer {TOKEN}".encode())
    assert answer.status_code == 200, answer.text


def test_an_agent_shows_its_token(book: Path) -> None:
    async def main(url: str) -> None:
        async with agent_at(url, Authorization="Bearer plain-token") as agent:
            assert (await agent.ask("browse"))["total_count"] == 5

    with serving(book, "--token", "plain-token") as url:
        anyio.run(main, url)


def test_names_of_the_configuration_are_ours(book: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.yml"
    config.write_text(json.dumps({"ariel": {"mcp": {"allowed_hosts": ["Logbook.example:443"]}}}))
    with serving(book, ARIEL_LITE_CONFIG=str(config)) as url:
        assert post(url, Host="logbook.example").status_code == 200
        assert post(url, Host="logbook.example", Origin="https://logbook.example").status_code == 200
        assert post(url, Host="other.example").status_code == 403


def test_what_is_no_request_of_ours(address: str) -> None:
    assert httpx.get(address.replace("/mcp", "/")).status_code == 404
    assert httpx.post(address, content=b"{", headers={**ACCEPT, "Content-Type": "application/json"}).status_code == 400
    assert httpx.post(address, content=b"{}", headers={**ACCEPT, "Content-Type": "text/plain"}).status_code == 400
    huge = httpx.post(address, content=b"x" * 5_000_000, headers={**ACCEPT, "Content-Type": "application/json"})
    assert huge.status_code == 413


def test_a_taken_port_is_said(book: Path, address: str) -> None:
    port = address.rsplit(":", 1)[1].removesuffix("/mcp")
    done = subprocess.run(
        [sys.executable, *PROGRAM, "--db", str(book), "mcp", "--http", "--port", port],
        capture_output=True, env=environment(), text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert f"port {port} is in use" in done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "logbook.example"])
def test_other_machines_need_a_token(host: str) -> None:
    with pytest.raises(ConfigurationError, match="other machines could read the logbook"):
        Door(host, 0).check()
    Door(host, 0, "token").check()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_needs_none(host: str) -> None:
    Door(host, 0).check()


def test_names_of_hosts() -> None:
    assert [host_name(text) for text in ("A.example:80", "[::1]:80", "::1", " x ", "[fe80::1]")] == [
        "a.example", "::1", "::1", "x", "fe80::1",
    ]  # fmt: skip
    assert not is_loopback("127.0.0.1.evil.example")
