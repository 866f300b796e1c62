"""A logbook on a database server is served like a file."""

from __future__ import annotations

from agents import Agent, with_agent
from logbooks import entry
from postgres_server import new_database

from ariel_lite.compose import create_ariel_service


def test_the_tools_on_a_database_server() -> None:
    url = new_database()
    service = create_ariel_service(location=url, create=True)
    service.backend.upsert([
        entry("8731", "RF trip", author="K. Ferreira"),
        entry("TP/2:7", "Müller: 5 µA, 真空"),
    ])  # fmt: skip
    service.close()

    async def work(agent: Agent) -> None:
        assert (await agent.ask("keyword_search", query="rf trips"))["sources"] == ["8731"]
        assert (await agent.ask("keyword_search", query="真空"))["sources"] == ["TP/2:7"]
        rows = await agent.ask("sql_query", sql="SELECT author FROM enhanced_entries WHERE raw_text ILIKE '%trip%'")
        assert rows["rows"] == [{"author": "K. Ferreira"}]
        assert (await agent.ask("browse"))["total_count"] == 2
        made = await agent.ask("entry_create", subject="a", details="b", draft=False)
        assert (await agent.ask("entry_get", entry_id=made["entry_id"]))["raw_text"] == "a\n\nb"
        assert "draft_id" in await agent.ask("entry_create", subject="a", details="b")
        status = await agent.ask("status")
        assert (status["healthy"], status["entry_count"]) == (True, 3)

    with_agent(work, url, "--allow-write")


def test_a_server_that_is_away_fails_calls_without_the_password() -> None:
    async def work(agent: Agent) -> None:
        envelope = await agent.fails("keyword_search", query="RF trip")
        assert envelope["error_type"] == "database_unavailable"
        status = await agent.ask("status")
        assert status["database_connected"] is False
        assert "S3cret" not in str(envelope) + str(status)

    with_agent(work, "postgresql://op:S3cret-w0rd@127.0.0.1:1/logbook")
