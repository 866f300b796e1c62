"""A sample of fuzzed queries through the command line: answered or refused with one line, never a traceback."""

from __future__ import annotations

import json
import random
import string
from pathlib import Path

import pytest

from ariel_lite import open_logbook
from ariel_lite.cli.main import main

PLANTED = "Septum SEP-2 arced at 1.9 GeV, vacuum 2e-7 Torr near SR03C:BPM4 (plunger stuck)"
WORDS = ["septum", "SEP-2", "arced", "1.9 GeV", "vacuum", "2e-7", "SR03C:BPM4", "plunger", '"plunger stuck"', "sept*"]
NOISE = [" ", "  ", "(", ")", " AND ", " OR ", " NOT ", '"', "“", " - ", " -- ", "*", " the ", " ?! ", ",", "\t"]
ODD = string.printable[:95] + "äßø真空🔥µ−’“”«»\u200b\u0301"
QUERIES = 120


@pytest.fixture(scope="module")
def logbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fuzz") / "book.db"
    with open_logbook(path) as book:
        book.add([{"entry_id": "E1", "raw_text": PLANTED}, {"entry_id": "E2", "raw_text": "quiet owl shift"}])
    return path


def search(logbook: Path, query: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, object]]:
    capsys.readouterr()
    code = main(["--db", str(logbook), "search", "--json", "--mode", "keyword", "--", query])
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    document: dict[str, object] = json.loads(shown.out)
    return code, document


@pytest.mark.parametrize("seed", range(4))
def test_any_characters_are_answered_or_refused(logbook: Path, seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(seed)
    for _ in range(QUERIES // 4):
        query = "".join(chance.choices(ODD, k=chance.randint(0, 40)))
        code, document = search(logbook, query, capsys)
        assert code in (0, 2), query
        assert ("entries" in document) == (code == 0), query


@pytest.mark.parametrize("seed", range(4))
def test_a_planted_entry_is_found_among_noise(logbook: Path, seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(seed)
    found = 0
    for _ in range(QUERIES // 4):
        chosen = chance.sample(WORDS, chance.randint(1, 3))
        query = (
            " ".join(chosen) + " " + chance.choice([part for part in NOISE if "NOT" not in part and "-" not in part])
        )
        code, document = search(logbook, query, capsys)
        assert code == 0, query
        entries = document["entries"]
        assert isinstance(entries, list)
        found += any(entry["entry_id"] == "E1" for entry in entries)
    assert found >= 0.95 * (QUERIES // 4)
