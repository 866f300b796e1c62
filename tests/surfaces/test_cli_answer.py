"""`search --mode rag` for people and for programs: the answer, its numbered sources, what else was found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Call, write_entries

SHIFTS = (
    {
        "id": "R1",
        "timestamp": "2026-02-01T21:15:00Z",
        "author": "Ada",
        "title": "RF trip",
        "text": "Klystron KLY-3 tripped on cathode overcurrent because the gun arced for the third time this quarter.",
    },
    {
        "id": "R2",
        "timestamp": "2026-02-09T08:00:00Z",
        "author": "Bo",
        "text": "Klystron KLY-3 exchanged, no trip since.",
    },
    {"id": "V1", "timestamp": "2026-02-05T08:00:00Z", "author": "Cy", "text": "Klystron gallery was painted blue."},
)
WORDS_ONLY = "search_modules: {hybrid: {enabled: false}}\n"


@pytest.fixture
def shifts(call: Call, tmp_path: Path) -> tuple[str, ...]:
    """The beginning of a command over the shifts, with searches by words."""
    Path("words.yaml").write_text(WORDS_ONLY, encoding="utf-8")
    assert call("--db", "s.db", "ingest", "--source", write_entries(tmp_path / "s.jsonl", SHIFTS)).code == 0
    return ("--db", "s.db", "--config", "words.yaml", "search", "--mode", "rag")


def test_an_answer_for_people(call: Call, shifts: tuple[str, ...]) -> None:
    called = call(*shifts, "klystron trip")
    assert (called.code, called.err) == (0, "")
    lines = called.out.splitlines()
    assert max(map(len, lines)) <= 80
    start = lines.index("Klystron KLY-3 tripped on cathode overcurrent because the gun arced for the")
    assert lines[start + 1 :] == [
        "third time this quarter. [1]",
        "Klystron KLY-3 exchanged, no trip since. [2]",
        "",
        "Sources",
        "[1] R1  2026-02-01 21:15 +00:00 · Ada · Generic JSON",
        "    RF trip",
        "[2] R2  2026-02-09 08:00 +00:00 · Bo · Generic JSON",
        "    Klystron KLY-3 exchanged, no trip since.",
        "",
        "Also found",
        "V1  2026-02-05 08:00 +00:00 · Cy · Generic JSON",
        "  Klystron gallery was painted blue.",
    ]


def test_the_document(call: Call, shifts: tuple[str, ...]) -> None:
    document = call(*shifts, "klystron trip", "--json").document
    assert document["search_modes"] == ["rag"]
    assert document["answer"].endswith("Klystron KLY-3 exchanged, no trip since. [2]")
    assert document["sources"] == ["R1", "R2"]
    assert [entry["entry_id"] for entry in document["entries"]] == ["R2", "R1", "V1"]
    assert document["entries"][0]["ranks"]["confidence"] == 1.0
    assert (document["degraded"], document["diagnostics"]) == (False, [])


def test_no_answer_shows_the_nearest_entries(call: Call, shifts: tuple[str, ...]) -> None:
    called = call(*shifts, "who repainted the klystron hall of building 12?")
    assert called.code == 0
    assert "\nThe logbook does not say.\n\nNearest entries\n" in called.out
    assert "V1" in called.out
    document = call(*shifts, "who repainted the klystron hall of building 12?", "--json").document
    assert (document["answer"], document["sources"]) == ("The logbook does not say.", [])


def test_the_explanation(call: Call, shifts: tuple[str, ...]) -> None:
    out = call(*shifts, "klystron trip", "--explain").out
    for words in (
        "generator\n  extractive",
        "entries\n",
        "confidence: 1.0",
        "sentences\n",
        "used: true",
        "used: false",
    ):
        assert words in out
    document = call(*shifts, "klystron trip", "--explain", "--json").document
    assert {line["entry_id"] for line in document["explanation"]["sentences"]} == {"R1", "R2", "V1"}


def test_a_model_that_is_down_is_said_and_no_key_is_shown(call: Call, shifts: tuple[str, ...]) -> None:
    settings = {
        "search_modules": {"hybrid": {"enabled": False}, "rag": {"provider": "openai", "model": "m"}},
        "api": {"providers": {"openai": {"base_url": "http://127.0.0.1:9", "api_key": "sk-very-secret-4711"}}},
    }
    Path("words.yaml").write_text(json.dumps(settings), encoding="utf-8")
    called = call(*shifts, "klystron trip")
    assert called.code == 0
    assert "warning: OpenAI-compatible server at http://127.0.0.1:9 cannot be reached" in called.out
    assert "is it running?" in called.out
    assert "KLY-3 exchanged, no trip since. [2]" in called.out
    assert "4711" not in called.out + called.err
    assert call(*shifts, "klystron trip", "--json").document["degraded"] is True


def test_no_terminal_codes_of_an_entry_are_printed(call: Call, tmp_path: Path) -> None:
    Path("words.yaml").write_text(WORDS_ONLY, encoding="utf-8")
    text = "Klystron \u001b[31mtripped\u001b[0m on \u202eovercurrent today."
    path = write_entries(tmp_path / "h.jsonl", [{"id": "H1", "text": text, "title": "\u001b]0;x\u0007Klystron"}])
    assert call("--db", "h.db", "ingest", "--source", path).code == 0
    out = call("--db", "h.db", "--config", "words.yaml", "search", "--mode", "rag", "klystron").out
    assert "[1]" in out
    assert not {"\u001b", "\u0007", "\u202e"} & set(out)
