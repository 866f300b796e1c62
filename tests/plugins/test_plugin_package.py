"""A third-party package is installed, and its modules are there in every surface with no other change."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from plugin_package import write_wheel

import ariel_lite

CHECKOUT = Path(ariel_lite.__file__).resolve().parent.parent
Run = Callable[..., subprocess.CompletedProcess[str]]

DIARY = """\
D1|2026-03-05T10:00:00+00:00|short note
D2|2026-03-05T11:00:00+00:00|a much longer note about the pump in the tunnel
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that pip has put the package into."""
    folder = tmp_path_factory.mktemp("plugin")
    target = folder / "site"
    wheel = write_wheel(folder)
    command = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target", str(target), str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture
def run(installed: Path, tmp_path: Path) -> Run:
    """Runs Python with the package installed, in an empty folder."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ARIEL_LITE_")}
    environment["PYTHONPATH"] = os.pathsep.join((str(CHECKOUT), str(installed)))

    def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            env=environment,
            cwd=tmp_path,
            timeout=120,
            check=False,
        )

    return ran


@pytest.fixture
def diary(run: Run, tmp_path: Path) -> str:
    """A logbook under the package's own address, filled by its adapter."""
    (tmp_path / "diary.txt").write_text(DIARY, encoding="utf-8")
    address = f"tunnel://{tmp_path / 'diary.db'}"
    done = run("-m", "ariel_lite", "--db", address, "ingest", "--adapter", "tunnel_diary", "--source", "diary.txt")
    assert done.returncode == 0, done.stderr
    assert "Tunnel Diary: 2 added" in done.stdout
    return address


def document(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_its_mode_is_an_option_of_the_command_line(run: Run, diary: str) -> None:
    search = ("-m", "ariel_lite", "--db", diary, "search", "--mode", "longest", "--json", "note")
    assert [entry["entry_id"] for entry in document(run(*search))["entries"]] == ["D2", "D1"]


def test_its_mode_and_parameters_are_in_the_capabilities(run: Run, diary: str) -> None:
    script = (
        "import json, sys; from ariel_lite import open_logbook; from ariel_lite.capabilities import capabilities\n"
        f"with open_logbook({diary!r}) as book: print(json.dumps(capabilities(book.service.modes, book.service.backend)))"
    )
    modes = document(run("-c", script))["categories"]["direct"]["modes"]
    longest = next(mode for mode in modes if mode["name"] == "longest")
    assert [parameter["name"] for parameter in longest["parameters"]] == ["least_words"]


AGENT = """
import asyncio, json, sys
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

async def talk():
    server = StdioServerParameters(command=sys.executable, args=["-m", "ariel_lite", "--db", sys.argv[1], "mcp"], env=ENV)
    async with Client(stdio_client(server)) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("longest_search", {"query": "note", "least_words": 3})
        print(json.dumps({"tools": names, "found": json.loads(result.content[0].text)}))

import os
ENV = dict(os.environ)
asyncio.run(talk())
"""

PAGE = """
import json, subprocess, sys, urllib.request
command = [sys.executable, "-m", "ariel_lite", "--db", sys.argv[1], "web", "--port", "0"]
with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
    address = next(word for word in server.stdout.readline().split() if word.startswith("http")).rstrip("/")
    body = json.dumps({"query": "note", "mode": "longest", "advanced_params": {"least_words": 3}}).encode()
    request = urllib.request.Request(f"{address}/api/search", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer, urllib.request.urlopen(f"{address}/api/capabilities") as offered:
        modes = [mode["name"] for mode in json.load(offered)["categories"]["direct"]["modes"]]
        print(json.dumps({"modes": modes, "found": json.load(answer)}))
    server.terminate()
"""


def test_its_mode_is_a_tool_for_agents(run: Run, diary: str) -> None:
    told = document(run("-c", AGENT, diary))
    assert "longest_search" in told["tools"]
    assert [entry["entry_id"] for entry in told["found"]["entries"]] == ["D2"]


def test_its_mode_is_offered_by_the_page(run: Run, diary: str) -> None:
    told = document(run("-c", PAGE, diary))
    assert "longest" in told["modes"]
    assert [entry["entry_id"] for entry in told["found"]["entries"]] == ["D2"]


def test_its_enhancer_and_its_provider_are_used(run: Run, diary: str, tmp_path: Path) -> None:
    (tmp_path / "config.yml").write_text("ariel: {embedding: {provider: letters, model: letters}}", encoding="utf-8")
    common = ("-m", "ariel_lite", "--config", "config.yml", "--db", diary)
    done = document(run(*common, "enhance", "--json"))
    assert "entry_counter" in json.dumps(done)
    found = document(run(*common, "search", "--mode", "semantic", "--json", "tunnel pump note"))
    assert not found["degraded"]
    assert found["entries"][0]["entry_id"] == "D2"


def test_an_address_of_no_backend_is_an_error(run: Run) -> None:
    done = run("-m", "ariel_lite", "--db", "bridge://x", "status")
    assert done.returncode == 2
    assert "there is no backend for bridge://" in done.stderr
