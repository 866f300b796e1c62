"""MC10: a long call keeps nobody waiting, and stops when its caller goes away."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from agents import Agent, Inside, agent_on

from ariel_lite.backends.postgres import readonly as postgres_readonly
from ariel_lite.backends.sqlite import readonly as sqlite_readonly
from ariel_lite.errors import SearchTimeoutError
from ariel_lite.mcp_server.work import AT_ONCE, Workers

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def test_calls_and_pings_are_answered_while_a_query_runs(book: Path) -> None:
    async def main() -> None:
        async with agent_on(book) as agent, anyio.create_task_group() as group:
            await agent.ask("sql_query", sql="SELECT 1 AS x")
            ended: list[str] = []

            async def endless() -> None:
                ended.append((await agent.fails("sql_query", sql=ENDLESS))["error_type"])

            group.start_soon(endless)
            await anyio.sleep(0.2)
            for _ in range(3):
                assert (await agent.ask("keyword_search", query="RF trip"))["sources"] == ["8731"]
                await agent.tools()
            assert not ended  # the query is still running: nothing waited for it
            group.cancel_scope.cancel()

    anyio.run(main)


def test_pings_are_answered_when_every_place_is_taken(inside: Inside, book: Path) -> None:
    async def work(agent: Agent) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(AT_ONCE + 4):
                group.start_soon(lambda: agent.call("sql_query", sql=ENDLESS))
            await anyio.sleep(0.2)
            assert await agent.tools()
            with anyio.move_on_after(0.2) as waiting:
                await agent.call("browse")
            assert waiting.cancelled_caught  # no place is free
            group.cancel_scope.cancel()
        assert (await agent.ask("browse"))["total_count"] == 5  # and now there is

    inside(work, book)


def test_a_cancelled_call_stops_its_work(inside: Inside, book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = threading.Event()
    started = threading.Event()
    run = sqlite_readonly.run_readonly

    def watched(*arguments: Any, **options: Any) -> Any:
        started.set()
        try:
            return run(*arguments, **options)
        except SearchTimeoutError as fault:
            assert fault.message == "the statement was stopped"
            stopped.set()
            raise

    monkeypatch.setattr(sqlite_readonly, "run_readonly", watched)

    async def work(agent: Agent) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: agent.call("sql_query", sql=ENDLESS))
            await anyio.to_thread.run_sync(started.wait, 10)
            group.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(stopped.wait, 5)  # long before its own limit of 10 s

    inside(work, book)


def test_cancelled_searches_leave_the_logbook_usable(inside: Inside, write_leaks: Callable[[int], Path]) -> None:
    async def work(agent: Agent) -> None:
        for tool, arguments in (("browse", {"page_size": 100}), ("keyword_search", {"query": "vacuum OR leak"})):
            for _ in range(20):
                with anyio.move_on_after(0.003):
                    await agent.call(tool, **arguments)
        assert (await agent.ask("browse"))["total_count"] == 500
        assert (await agent.ask("keyword_search", query="vacuum"))["results_found"] == 10

    inside(work, write_leaks(500))


def test_the_sql_tool_stops_when_it_is_told(backend: Any) -> None:
    run = {"sqlite": sqlite_readonly, "postgres": postgres_readonly}[backend.name].run_readonly
    asked = time.monotonic()
    with pytest.raises(SearchTimeoutError):
        run(backend.location, ENDLESS, should_stop=lambda: time.monotonic() > asked + 0.2)
    assert run(backend.location, "SELECT 1 AS x", should_stop=lambda: False)["rows"] == [{"x": 1}]


def test_work_is_told_when_nobody_waits_any_more() -> None:
    told = threading.Event()

    def work(should_stop: Callable[[], bool]) -> None:
        while not should_stop():
            time.sleep(0.01)
        told.set()

    async def main() -> None:
        workers = Workers()
        with anyio.move_on_after(0.05):
            await workers.run(work)
        assert await anyio.to_thread.run_sync(told.wait, 5)
        assert await workers.run(lambda should_stop: should_stop()) is False

    anyio.run(main)
