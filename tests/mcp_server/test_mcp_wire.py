"""Over stdio, as clients start it: the protocol and nothing else on standard output, UTF-8, a clean end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest
from agents import PROGRAM, Agent, environment, with_agent

from ariel_lite.mcp_server.work import AT_ONCE

INITIALIZE = {
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
READY = {"method": "notifications/initialized"}

NOISE = """
import logging, os, sys, warnings
logging.basicConfig(level=logging.DEBUG)
warnings.simplefilter("always")
print("banner of a library")
sys.stdout.flush()
os.write(1, b"banner of a native library\\n")
"""
"""What runs before the program: everything that has broken a protocol on standard output."""

LOUD_MODE = '''
"""A search mode that prints."""
import os, subprocess, sys, warnings
from ariel_lite.search.base import SearchArguments, SearchOutcome, SearchToolDescriptor

def run(context, arguments):
    print("progress: 10%", end="\\r")
    sys.stdout.write("printed\\n")
    sys.stdout.flush()
    os.write(1, b"native print\\n")
    os.system("echo from a shell")
    subprocess.run([sys.executable, "-c", "print('from a child')"])
    warnings.warn("a warning")
    assert os.read(0, 10) == b""
    return SearchOutcome(sentence="loud")

async def execute(context, arguments):
    return run(context, arguments)

def get_tool_descriptor():
    return SearchToolDescriptor("loud_search", "Prints.", "loud", SearchArguments, execute, lambda o: {}, run=run)
'''


def started(book: Path) -> tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]:
    """(the program, its standard input, its standard output)."""
    process = subprocess.Popen(
        [sys.executable, *PROGRAM, "--db", str(book), "mcp"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    return process, process.stdin, process.stdout


def requests(*messages: dict[str, Any]) -> bytes:
    """Messages as a client sends them; requests are numbered from 1 on."""
    number, lines = 0, []
    for message in messages:
        numbered = {"jsonrpc": "2.0", **message}
        if not message["method"].startswith("notifications/"):
            number += 1
            numbered["id"] = number
        lines.append(json.dumps(numbered))
    return ("\n".join(lines) + "\n").encode()


def called(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def converse(book: Path, *messages: dict[str, Any], **changes: str) -> dict[int, Any]:
    """Send all messages and close; the answers by number. Every line of standard output must be protocol."""
    done = subprocess.run(
        [sys.executable, *PROGRAM, "--db", str(book), "mcp"],
        input=requests(*messages), capture_output=True, env=environment(**changes), timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    answers = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    return {answer["id"]: answer for answer in answers}


@pytest.fixture
def loud(tmp_path: Path) -> Path:
    """A folder for Python's path with a mode that prints, and a start-up file that does."""
    folder = tmp_path / "site"
    information = folder / "loud_mode-1.0.dist-info"
    information.mkdir(parents=True)
    (folder / "loud_mode.py").write_text(LOUD_MODE)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: loud_mode\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[ariel_lite.search_modules]\nloud = loud_mode\n")
    return folder


def test_every_tool_over_stdio(embedded_book: Path) -> None:
    async def work(agent: Agent) -> None:
        assert {"keyword_search", "semantic_search", "hybrid_search", "sql_query"} <= set(await agent.tools())
        for tool in ("keyword_search", "hybrid_search"):
            assert (await agent.ask(tool, query="RF trip"))["sources"][0] == "8731"
        meant = await agent.ask("semantic_search", query="human error caused beam loss")
        assert meant["sources"][0] == "OPS"
        assert (await agent.ask("sql_query", sql="SELECT count(*) AS n FROM enhanced_entries"))["rows"] == [{"n": 5}]
        assert (await agent.ask("browse", page_size=1))["total_count"] == 5
        assert "K. Ferreira" in (await agent.ask("filter_options"))["options"]
        assert (await agent.ask("entry_get", entry_id="OPS"))["entry_id"] == "OPS"
        assert (await agent.ask("entries_by_ids", entry_ids=["OPS"]))["found"] == 1
        assert (await agent.ask("capabilities"))["writing"] is False
        assert (await agent.ask("status"))["healthy"] is True
        assert (await agent.fails("entry_get", entry_id="absent"))["error_type"] == "not_found"

    with_agent(work, embedded_book)


def test_nothing_but_the_protocol_is_on_standard_output(embedded_book: Path, loud: Path) -> None:
    """MC01, and a third party's mode is a tool."""
    path = os.pathsep.join((environment()["PYTHONPATH"], str(loud)))
    answers = converse(
        embedded_book,
        INITIALIZE,
        READY,
        {"method": "tools/list"},
        called("loud_search", query="x"),
        called("semantic_search", query="operator"),
        called("keyword_search", query="author:"),
        called("sql_query", sql="SELECT count(*) FROM enhanced_entries"),
        {"method": "ping"},
        PYTHONPATH=path,
        ARIEL_LITE_DEBUG="1",
        PYTHONWARNINGS="always",
        PYTHONDEVMODE="1",
    )
    assert sorted(answers) == [1, 2, 3, 4, 5, 6, 7]
    assert "loud_search" in {tool["name"] for tool in answers[2]["result"]["tools"]}
    assert '"reasoning": "loud"' in answers[3]["result"]["content"][0]["text"]
    assert answers[5]["result"]["isError"] is True
    assert answers[7]["result"] == {}


def test_what_is_printed_before_the_wire_is_taken_is_the_callers_doing_alone(book: Path, tmp_path: Path) -> None:
    """A start-up file that prints runs before us; everything after the first line of ours is clean."""
    script = tmp_path / "start.py"
    script.write_text(f"{NOISE}\nfrom ariel_lite.cli.main import main\nsys.exit(main(sys.argv[1:]))\n")
    done = subprocess.run(
        [sys.executable, str(script), "--db", str(book), "mcp"],
        input=requests(INITIALIZE, READY, called("keyword_search", query="RF trip")),
        capture_output=True, env=environment(), timeout=60, check=False,
    )  # fmt: skip
    lines = done.stdout.decode("utf-8").splitlines()
    assert lines[:2] == ["banner of a library", "banner of a native library"]
    assert [json.loads(line)["id"] for line in lines[2:]] == [1, 2]
    assert b"DEBUG" in done.stderr


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-16"])
def test_utf_8_whatever_the_locale_says(book: Path, encoding: str) -> None:
    """MC03."""
    search = json.dumps(called("keyword_search", query="Müller µA 真空"), ensure_ascii=False)
    lines = [json.dumps({"jsonrpc": "2.0", "id": 0, **INITIALIZE}), json.dumps({"jsonrpc": "2.0", **READY})]
    lines.append(search.replace("{", '{"jsonrpc":"2.0","id":1,', 1))
    done = subprocess.run(
        [sys.executable, *PROGRAM, "--db", str(book), "mcp"],
        input="\n".join(lines).encode("utf-8"),
        capture_output=True,
        env=environment(PYTHONIOENCODING=encoding, PYTHONUTF8="0", LC_ALL="C", PYTHONCOERCECLOCALE="0"),
        timeout=60,
        check=False,
    )
    answer = json.loads(done.stdout.decode("utf-8").splitlines()[-1])
    found = json.loads(answer["result"]["content"][0]["text"])
    assert found["sources"] == ["TP/2:7"]
    assert found["entries"][0]["raw_text"] == "Müller: 5 µA, 真空"
    assert "真空".encode() in done.stdout


def test_junk_on_the_wire_costs_nothing(book: Path) -> None:
    junk = b'not json\n\n{"jsonrpc":"2.0"}\n[]\n\xff\xfe\x00\n{"a":' + b"[" * 5000 + b"\n"
    done = subprocess.run(
        [sys.executable, *PROGRAM, "--db", str(book), "mcp"],
        input=requests(INITIALIZE, READY) + junk + b'{"jsonrpc":"2.0","id":9,"method":"tools/list"}',
        capture_output=True, env=environment(), timeout=60, check=False,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[-1]["id"] == 9
    assert answers[-1]["result"]["tools"]
    assert done.returncode == 0


@pytest.mark.parametrize("ending", ["end of input", "SIGTERM", "SIGINT"])
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_it_ends_when_it_is_asked_to(book: Path, ending: str, busy: bool) -> None:
    process, stdin, stdout = started(book)
    stdin.write(requests(INITIALIZE, READY, called("keyword_search", query="RF trip")))
    stdin.flush()
    assert [json.loads(stdout.readline())["id"] for _ in range(2)] == [1, 2]
    if busy:
        stdin.write(requests(called("sql_query", sql=ENDLESS)).replace(b'"id": 1', b'"id": 3'))
        stdin.flush()
    if ending == "end of input":
        stdin.close()
    else:
        process.send_signal(getattr(signal, ending))
    code = process.wait(20)
    errors = process.stderr.read().decode() if process.stderr else ""
    assert code == 0, errors
    assert "Traceback" not in errors
    stdout.close()


def test_cancelled_queries_make_room_and_are_not_answered(book: Path) -> None:
    """As many endless queries as there are places: only because they stop is the last call answered, and first."""
    process, stdin, stdout = started(book)
    endless = [called("sql_query", sql=ENDLESS)] * AT_ONCE
    numbers = range(2, 2 + AT_ONCE)
    cancels = [{"method": "notifications/cancelled", "params": {"requestId": number}} for number in numbers]
    stdin.write(requests(INITIALIZE, READY, *endless, called("browse"), *cancels))
    stdin.flush()
    assert json.loads(stdout.readline())["id"] == 1
    answer = json.loads(stdout.readline())
    assert answer["id"] == 2 + AT_ONCE
    assert not answer["result"]["isError"]
    stdin.close()
    assert process.wait(20) == 0
    assert stdout.read() == b""


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def test_a_client_that_stops_reading_ends_it(book: Path) -> None:
    process, stdin, stdout = started(book)
    stdout.close()
    stdin.write(requests(INITIALIZE))
    stdin.flush()
    assert process.wait(20) == 0
    assert process.stderr is not None
    assert b"Traceback" not in process.stderr.read()


def test_wrong_options_are_said_on_standard_error(book: Path) -> None:
    for options, message in [
        (("--port", "80"), "--host and --port need --http"),
        (("--http", "--host", "0.0.0.0"), "other machines could read the logbook"),
    ]:
        done = subprocess.run(
            [sys.executable, *PROGRAM, "--db", str(book), "mcp", *options],
            capture_output=True, env=environment(), timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (2, b"")
        assert message in done.stderr.decode()
