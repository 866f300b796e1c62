"""Entries that agents write: drafts for people, entries, files from allowed folders, publishing."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Inside, environment, with_agent
from shelf import SOURCE, Shelf, install

from ariel_lite.compose import open_logbook
from ariel_lite.config import ARIELConfig
from ariel_lite.ingestion.drafts import draft_content, finish_draft, new_file, stage_file

PNG = b"\x89PNG\r\n\x1a\nscope"
WORDS = {"subject": "Septum sparks", "details": "every 40 min", "author": "agent 7"}


@pytest.fixture
def mine(book: Path, tmp_path: Path) -> Path:
    """A logbook that a test may change."""
    return Path(shutil.copy(book, tmp_path / "logbook.db"))


@pytest.fixture
def plots(tmp_path: Path) -> Path:
    """A folder of files that may be attached."""
    folder = tmp_path / "plots"
    folder.mkdir()
    (folder / "scope.png").write_bytes(PNG)
    (folder / "notes.txt").write_text("thyratron spare list")
    (tmp_path / "secret.txt").write_text("password")
    return folder


def test_a_draft_waits_for_a_person(inside: Inside, mine: Path, plots: Path) -> None:
    async def work(agent: Agent) -> None:
        made = await agent.ask(
            "entry_create", **WORDS, logbook="RF", shift="Owl", tags=["septum"], file_paths=[str(plots / "scope.png")]
        )
        assert set(made) == {"draft_id", "url", "message"}
        assert made["url"] == f"http://127.0.0.1:8085/new?draft={made['draft_id']}"
        assert (await agent.ask("keyword_search", query="septum sparks"))["entries"] == []

    inside(work, mine, allow_write=True, folders=(plots,))
    with open_logbook(mine, config=ARIELConfig()) as opened:
        backend = opened.service.backend
        [draft] = backend.drafts()
        content = draft_content(draft)
        assert (content.subject, content.logbook, content.shift, content.tags) == (
            "Septum sparks", "RF", "Owl", ["septum"],
        )  # fmt: skip
        made = finish_draft(backend, draft.draft_id, source_system="ARIEL Web")
        assert made["metadata"]["created_via"] == "ariel-mcp"
        [file] = backend.attachments_of(made["entry_id"])
        assert backend.get_attachment(file.attachment_id).data == PNG  # type: ignore[union-attr]


def test_an_entry_can_be_written_at_once(inside: Inside, mine: Path, plots: Path) -> None:
    with open_logbook(mine, config=ARIELConfig()) as opened:
        staged = stage_file(opened.service.backend, new_file("plot.png", PNG)).attachment_id

    async def work(agent: Agent) -> None:
        made = await agent.ask(
            "entry_create", **WORDS, draft=False, artifact_ids=[staged], file_paths=[str(plots / "notes.txt")]
        )
        assert (made["source_system"], made["attachment_count"]) == ("ARIEL MCP", 2)
        assert made["message"] == f"Entry {made['entry_id']} created successfully"
        [found] = (await agent.ask("keyword_search", query="septum sparks"))["entries"]
        assert (found["entry_id"], found["author"]) == (made["entry_id"], "agent 7")
        assert "entry_url" not in found
        in_file = await agent.ask("keyword_search", query='"thyratron spare list"')
        assert in_file["sources"] == [made["entry_id"]]
        whole = await agent.ask("entry_get", entry_id=made["entry_id"])
        assert [file["filename"] for file in whole["attachments"]] == ["plot.png", "notes.txt"]

    inside(work, mine, allow_write=True, folders=(plots,), entry_url_template="https://log.example/{entry_id}")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"subject": " "}, "needs subject"),
        ({"details": ""}, "needs details"),
        ({"details": None}, "needs the argument 'details'"),
        ({"tags": "rf"}, "tags"),
        ({"artifact_ids": ["att-000000000000"]}, "no file 'att-000000000000' waiting"),
        ({"file_paths": ["{plots}/../secret.txt"]}, "no file .*secret.txt' that may be attached"),
        ({"file_paths": ["{plots}/link.txt"]}, "no file .*link.txt' that may be attached"),
        ({"file_paths": ["{plots}/absent.png"]}, "no file .*absent.png' that may be attached"),
        ({"file_paths": ["{plots}"]}, "no file .* that may be attached"),
        ({"file_paths": ["scope.png"]}, "no file 'scope.png' that may be attached"),
        ({"file_paths": ["/etc/passwd"]}, "no file '/etc/passwd' that may be attached"),
        ({"file_paths": ["{plots}/a\x00b"]}, "no file .* that may be attached"),
        ({"file_paths": ["{plots}/scope.png"] * 11}, "11 files are too many"),
    ],
)
@pytest.mark.parametrize("draft", [True, False], ids=["draft", "entry"])
def test_what_cannot_be_written_leaves_nothing(
    inside: Inside, mine: Path, plots: Path, changes: dict[str, Any], message: str, draft: bool
) -> None:
    os.symlink(plots.parent / "secret.txt", plots / "link.txt")
    if "file_paths" in changes:
        changes = {"file_paths": [path.format(plots=plots) for path in changes["file_paths"]]}

    async def work(agent: Agent) -> None:
        envelope = await agent.fails("entry_create", **{**WORDS, "draft": draft, **changes})
        assert envelope["error_type"] == "validation_error"
        assert re.search(message, envelope["error_message"])
        assert (await agent.ask("browse"))["total_count"] == 5

    inside(work, mine, allow_write=True, folders=(plots,))
    with open_logbook(mine, config=ARIELConfig()) as opened:
        assert opened.service.backend.drafts() == []


def test_no_folder_is_allowed_by_default(inside: Inside, mine: Path, plots: Path) -> None:
    async def work(agent: Agent) -> None:
        envelope = await agent.fails("entry_create", **WORDS, file_paths=[str(plots / "scope.png")])
        assert "nowhere" in envelope["suggestions"][0]

    inside(work, mine, allow_write=True)


def test_an_entry_is_published_over_stdio(mine: Path, tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    path = os.pathsep.join((environment()["PYTHONPATH"], str(install(tmp_path / "site"))))
    config = tmp_path / "config.yml"
    settings = {"ingestion": shelf.settings(), "mcp": {"allow_write": True, "file_folders": [str(tmp_path)]}}
    config.write_text(json.dumps({"ariel": settings}), encoding="utf-8")

    async def work(agent: Agent) -> None:
        local = (await agent.ask("entry_create", **WORDS, draft=False))["entry_id"]
        shelf.fails("refuse")
        envelope = await agent.fails("entry_publish", entry_id=local)
        assert envelope["error_type"] == "ingestion_failed"
        assert f"it stays here as {local}" in envelope["error_message"]
        assert envelope["suggestions"] == ["make room"]
        shelf.fails()
        done = await agent.ask("entry_publish", entry_id=local, logbook="RF")
        assert (done["entry_id"], done["source_system"], done["sync_status"]) == ("1000", SOURCE, "synced")
        assert (await agent.ask("keyword_search", query="septum sparks"))["sources"] == ["1000"]
        assert (await agent.fails("entry_publish", entry_id=local))["error_type"] == "not_found"
        assert "already" in (await agent.fails("entry_publish", entry_id="8731"))["error_message"]

    with_agent(work, mine, before=("--config", str(config)), PYTHONPATH=path)
    assert [(record["title"], record["logbook"]) for record in shelf.records] == [("Septum sparks", "RF")]


def test_publishing_without_a_source_says_what_is_missing(inside: Inside, mine: Path) -> None:
    async def work(agent: Agent) -> None:
        local = (await agent.ask("entry_create", **WORDS, draft=False))["entry_id"]
        envelope = await agent.fails("entry_publish", entry_id=local)
        assert envelope["error_type"] == "configuration_error"
        assert "ingestion.adapter" in envelope["suggestions"][0]

    inside(work, mine, allow_write=True)


def test_a_server_that_may_not_write_opens_the_file_to_read_only(mine: Path) -> None:
    os.chmod(mine, 0o444)
    before = mine.read_bytes()

    async def work(agent: Agent) -> None:
        assert (await agent.ask("keyword_search", query="RF trip"))["sources"] == ["8731"]

    with_agent(work, mine, log=sys.stderr)
    assert mine.read_bytes() == before
