"""MC08: a failure is never an empty list, and an empty list always means that nothing is there."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest
from agents import Agent, Inside
from logbooks import entry

from ariel_lite.compose import open_logbook
from ariel_lite.config import ARIELConfig
from ariel_lite.enhancement.text_embedding import create_enhancer
from ariel_lite.registry import Registry

READING = {
    "keyword_search": {"query": "RF trip"},
    "hybrid_search": {"query": "RF trip"},
    "sql_query": {"sql": "SELECT count(*) FROM enhanced_entries"},
    "browse": {},
    "filter_options": {},
    "entry_get": {"entry_id": "8731"},
    "entries_by_ids": {"entry_ids": ["8731"]},
}


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another program has the file for itself."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("journal_mode", "delete")
        connection.pragma("locking_mode", "exclusive")
        connection.execute("BEGIN EXCLUSIVE")
        yield


def copied(book: Path, folder: Path) -> Path:
    """A logbook of this test's own."""
    return Path(shutil.copy(book, folder / "logbook.db"))


def test_a_missing_file_fails_every_call_until_it_is_there(inside: Inside, book: Path, tmp_path: Path) -> None:
    path = tmp_path / "logbook.db"

    async def work(agent: Agent) -> None:
        assert set(READING) <= set(await agent.tools())
        assert (await agent.ask("capabilities"))["search_modes"]
        for tool, arguments in READING.items():
            envelope = await agent.fails(tool, **arguments)
            assert envelope["error_type"] == "database_unavailable"
            assert str(path) in envelope["error_message"]
            assert envelope["suggestions"]
            assert envelope["details"]["retriable"] is True
        status = await agent.ask("status")
        assert (status["healthy"], status["database_connected"], status["entry_count"]) == (False, False, None)
        assert str(path) in status["errors"][0]
        assert not path.exists()
        copied(book, tmp_path)
        for tool, arguments in READING.items():
            await agent.ask(tool, **arguments)

    inside(work, path)


def test_a_locked_file_fails_and_is_read_when_it_is_free(inside: Inside, book: Path, tmp_path: Path) -> None:
    path = copied(book, tmp_path)

    async def work(agent: Agent) -> None:
        with locked(path):
            envelope = await agent.fails("keyword_search", query="RF trip")
            assert envelope["error_type"] in ("database_unavailable", "database_error")
            assert envelope["details"]["retriable"] is True
            assert envelope["suggestions"]
            assert (await agent.ask("status"))["healthy"] is False
        assert (await agent.ask("keyword_search", query="RF trip"))["sources"] == ["8731"]

    inside(work, path)


def test_a_file_that_is_no_logbook_fails(inside: Inside, tmp_path: Path) -> None:
    path = tmp_path / "logbook.db"
    path.write_bytes(b"no database at all " * 100)

    async def work(agent: Agent) -> None:
        for tool, arguments in READING.items():
            assert (await agent.fails(tool, **arguments))["error_message"]

    inside(work, path)


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be replaced there")
def test_a_restored_file_is_the_one_that_is_read(inside: Inside, book: Path, tmp_path: Path) -> None:
    path = copied(book, tmp_path)

    async def work(agent: Agent) -> None:
        assert (await agent.ask("keyword_search", query="RF trip"))["sources"] == ["8731"]
        with open_logbook(tmp_path / "other.db", config=ARIELConfig()) as other:
            other.add({"entry_id": "NEW", "raw_text": "RF trip", "timestamp": "2026-03-05T10:00:00Z"})
        os.replace(tmp_path / "other.db", path)
        assert (await agent.ask("keyword_search", query="RF trip"))["sources"] == ["NEW"]
        path.unlink()
        assert (await agent.fails("keyword_search", query="RF trip"))["error_type"] == "database_unavailable"

    inside(work, path)


def test_without_vectors_a_search_by_meaning_fails_and_hybrid_is_degraded(inside: Inside, book: Path) -> None:
    async def work(agent: Agent) -> None:
        envelope = await agent.fails("semantic_search", query="RF trip")
        assert envelope["error_type"] == "search_incomplete"
        assert "no entry has a vector" in envelope["error_message"]
        assert envelope["suggestions"] == ["run 'ariel-lite enhance'"]
        assert envelope["details"]["degraded"] is True
        found = await agent.ask("hybrid_search", query="RF trip")
        assert (found["sources"], found["degraded"]) == (["8731"], True)
        assert any("ariel-lite enhance" in note["message"] for note in found["diagnostics"])
        nowhere = await agent.fails("hybrid_search", query="unobtainium")
        assert nowhere["details"]["degraded"] is True

    inside(work, book)


def test_a_missing_model_is_said(inside: Inside, embedded_book: Path) -> None:
    async def work(agent: Agent) -> None:
        envelope = await agent.fails("semantic_search", query="RF trip")
        assert "no-such-model" in envelope["error_message"]
        assert (await agent.ask("hybrid_search", query="RF trip"))["degraded"] is True

    inside(work, embedded_book, embedding={"model": "no-such-model"})


def test_real_emptiness_is_an_empty_list(inside: Inside, embedded_book: Path) -> None:
    async def work(agent: Agent) -> None:
        for tool in ("keyword_search", "semantic_search", "hybrid_search"):
            answer = await agent.ask(tool, query="RF trip", author="nobody")
            assert (answer["entries"], answer["results_found"], answer["degraded"]) == ([], 0, False)
        assert (await agent.ask("keyword_search", query="unobtainium"))["entries"] == []
        assert (await agent.ask("browse", author="nobody"))["total_count"] == 0
        assert (await agent.ask("sql_query", sql="SELECT 1 AS x FROM enhanced_entries WHERE false"))["rows"] == []

    inside(work, embedded_book)


def test_a_partial_index_is_said(inside: Inside, book: Path, tmp_path: Path) -> None:
    path = copied(book, tmp_path)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(
            "INSERT INTO enhanced_entries (entry_id, source_system, timestamp, raw_text, created_at, updated_at)"
            " VALUES ('FOREIGN', 'Other', ?1, 'RF trip by another program', ?1, ?1)",
            ("2026-03-05T10:00:00.000000Z",),
        )

    async def work(agent: Agent) -> None:
        answer = await agent.ask("keyword_search", query="RF trip")
        assert answer["sources"] == ["8731"]
        assert any("not in the index" in note["message"] for note in answer["diagnostics"])
        status = await agent.ask("status")
        assert status["healthy"] is False
        assert any("reindex" in error for error in status["errors"])

    inside(work, path)


def test_vectors_of_a_part_are_said(inside: Inside, book: Path, tmp_path: Path) -> None:
    path = copied(book, tmp_path)
    with open_logbook(path, config=ARIELConfig()) as opened:
        create_enhancer(ARIELConfig(), Registry()).run(opened.service.backend)
        opened.service.backend.upsert([entry("LATE", "klystron gun arc")])

    async def work(agent: Agent) -> None:
        answer = await agent.ask("semantic_search", query="beam lost by a person")
        assert answer["sources"][0] == "OPS"
        assert any("1 of 6 entries have no current vector" in note["message"] for note in answer["diagnostics"])

    inside(work, path)


def test_a_search_that_takes_too_long_fails(inside: Inside, write_leaks: Callable[[int], Path]) -> None:
    async def work(agent: Agent) -> None:
        envelope = await agent.fails("keyword_search", query="vacuum OR leak")
        assert envelope["error_type"] == "timeout"
        assert envelope["suggestions"]

    inside(work, write_leaks(3000), search_timeout_seconds=1e-9)


def test_a_fault_of_ours_is_an_envelope_without_a_traceback(
    inside: Inside, book: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ariel_lite.service.ARIELSearchService.browse", None)

    async def work(agent: Agent) -> None:
        envelope = await agent.fails("browse")
        assert envelope["error_type"] == "internal_error"
        assert "Traceback" not in str(envelope)
        assert (await agent.ask("keyword_search", query="RF trip"))["sources"] == ["8731"]

    inside(work, book)
    assert "browse failed" in caplog.text
