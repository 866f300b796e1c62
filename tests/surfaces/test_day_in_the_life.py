"""A day with the program, each step a process of its own: the sample, a server to follow, questions, a new entry that is
published, a watcher that is killed, and everything still there afterwards."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from als_server import Logbook, als_server
from commands import run, start

NOW = int(time.time())
STORY = (
    (
        "Septum does not reach full current",
        "The injector septum reached only 80 percent. The cooling water was too warm.",
    ),
    (
        "Re: septum",
        "The septum recovered after the chiller CH-7 was reset. The cause was a stuck bypass valve in the chiller.",
    ),
    ("Orbit feedback off", "Orbit feedback switched off for machine studies with the new lattice."),
)


@pytest.fixture
def book() -> Iterator[Logbook]:
    with als_server() as book:
        for index, (subject, details) in enumerate(STORY):
            book.put(f"als-{index}", NOW - 7200 + index * 600, subject, details=details)
        yield book


class Day:
    """The command line of one logbook."""

    def __init__(self, folder: Path, book: Logbook) -> None:
        ingestion = {
            "adapter": "als_logbook", "source_url": book.url, "chunk_days": 20_000,
            "write": {"enabled": True, "write_url": book.url, "auth_user": "op", "auth_password": "geheim"},
        }  # fmt: skip
        self.config = folder / "config.yml"
        self.config.write_text(yaml.safe_dump({"ariel": {"ingestion": ingestion}}))
        self.where = ("--config", str(self.config), "--db", str(folder / "day.db"))

    def __call__(self, *arguments: str) -> Any:
        """A command that must succeed; its JSON document."""
        done = run(*self.where, *arguments, "--json")
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    def ask(self, question: str) -> tuple[str, list[str]]:
        """(answer, ids of the cited entries); every citation of the answer has its source."""
        document = self("search", "--mode", "rag", question)
        cited = {int(number) for number in re.findall(r"\[(\d+)\]", document["answer"])}
        assert cited == set(range(1, len(document["sources"]) + 1))
        known = {entry["entry_id"] for entry in document["entries"]}
        assert set(document["sources"]) <= known
        return document["answer"], document["sources"]

    def found(self, query: str) -> list[str]:
        """Ids of what a search finds."""
        return [entry["entry_id"] for entry in self("search", "--mode", "keyword", query)["entries"]]


def test_a_day_in_the_life(tmp_path: Path, book: Logbook) -> None:
    day = Day(tmp_path, book)
    sample = day("quickstart")["ingest"]["added"]

    report = day("sync", "--no-enhance")
    assert (report["ingest"]["added"], report["problems"]) == (len(STORY), [])
    modules = {module["module"]: module for module in day("enhance")["modules"]}
    assert modules["text_embedding"]["done"] >= sample
    assert all(module["waiting"] == 0 and not module["failed"] for module in modules.values())
    assert day("status")["entries"] == sample + len(STORY)

    answer, sources = day.ask("what was the cause of the trouble with chiller CH-7")
    assert "als-1" in sources
    assert "CH-7" in answer
    answer, sources = day.ask("what was the first fault of the klystron trip KLY-3")
    assert "TP-0465" in sources
    answer, sources = day.ask("who won the football world cup in 1990")
    assert (answer, sources) == ("The logbook does not say.", [])

    text = "Chiller CH-7 got a new bypass valve"
    added = day("add", "--title", "Bypass valve exchanged", "--text", text, "--author", "A. Smith", "--publish")
    published = book.posted[0]
    assert published.findtext("entry/subject") == "Bypass valve exchanged"
    (at_the_server,) = book.records.keys() - {f"als-{index}" for index in range(len(STORY))}
    assert at_the_server in json.dumps(added)

    watcher = start(*day.where, "watch", "--interval", "0.05", "--json")
    assert watcher.stdout is not None
    watcher.stdout.readline()
    book.put("als-night", int(time.time()), "Quadrupole QF-3 water leak", details="Flow switch of QF-3 tripped.")
    while not json.loads(watcher.stdout.readline())["ingest"]["added"]:
        pass
    watcher.kill()
    watcher.communicate()

    again = day("sync")
    assert (again["ingest"]["added"], again["problems"]) == (0, [])
    assert day.found('"new bypass valve"') == [at_the_server]
    assert day.found("QF-3 leak author:smith") == ["als-night"]
    status = day("status")
    assert (status["entries"], status["ingestion_problems"]) == (sample + len(STORY) + 2, [])
    assert day("doctor")["healthy"]
