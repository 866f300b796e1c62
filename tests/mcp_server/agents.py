"""Agents as tests have them: the official client over a real process or a real port, and calls in few words."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

import ariel_lite

CHECKOUT = Path(ariel_lite.__file__).resolve().parent.parent
PROGRAM = ("-m", "ariel_lite")


Inside = Callable[..., None]
"""What the fixture `inside` gives: `inside(work, path, allow_write=False, folders=(), **settings)`."""


class Told(NamedTuple):
    """What a tool answered: a JSON object, and whether the call failed."""

    document: dict[str, Any]
    is_error: bool


class Agent:
    """A client in few words."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> Told:
        """Call a tool; its one text is strict JSON."""
        result = await self.client.call_tool(tool, arguments)
        [content] = result.content
        return Told(json.loads(content.text, parse_constant=_no_json), bool(result.is_error))

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The answer of a call that must not fail."""
        told = await self.call(tool, **arguments)
        assert not told.is_error, told.document
        return told.document

    async def fails(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The envelope of a call that must fail."""
        told = await self.call(tool, **arguments)
        assert told.is_error, told.document
        assert told.document["error"] is True
        assert told.document["error_message"]
        return told.document

    async def tools(self) -> dict[str, Any]:
        """The tools by name."""
        return {tool.name: tool for tool in (await self.client.list_tools()).tools}


def environment(**changes: str) -> dict[str, str]:
    """This process's environment, with the package under test in reach."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ARIEL_LITE_")}
    return {**kept, "PYTHONPATH": str(CHECKOUT), **changes}


@asynccontextmanager
async def agent_on(
    database: str | Path, *options: str, before: tuple[str, ...] = (), log: TextIO = sys.stderr, **changes: str
) -> AsyncIterator[Agent]:
    """An agent that starts `ariel-lite mcp` for a logbook and talks to it over stdio."""
    arguments = [*PROGRAM, "--db", str(database), *before, "mcp", *options]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environment(**changes))
    async with Client(stdio_client(server, errlog=log)) as client:
        yield Agent(client)


@asynccontextmanager
async def agent_at(url: str, **headers: str) -> AsyncIterator[Agent]:
    """An agent that talks to a server over HTTP."""
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield Agent(client)


def with_agent(work: Callable[[Agent], Awaitable[None]], database: str | Path, *options: str, **settings: Any) -> None:
    """Let an agent do something over stdio."""

    async def main() -> None:
        async with agent_on(database, *options, **settings) as agent:
            await work(agent)

    anyio.run(main)


def _no_json(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")
