"""`search` for people: filters, options that only some modes have, faults in the query, what follows a page."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Call, write_entries

DAYS = (
    {"id": "E1", "timestamp": "2026-03-05T09:31:00Z", "text": "morning of the last day", "author": "Ann Smith"},
    {"id": "E2", "timestamp": "2026-03-05T23:59:59.900Z", "text": "one second to midnight", "author": "Bob Stone"},
    {"id": "E3", "timestamp": "2026-03-06T00:00:00Z", "text": "next day", "author": "Zoë Müller"},
)


@pytest.fixture
def days(call: Call, tmp_path: Path) -> str:
    """A logbook of three entries around a midnight."""
    assert call("--db", "days.db", "ingest", "--source", write_entries(tmp_path / "days.jsonl", DAYS)).code == 0
    return "days.db"


def ids(call: Call, *arguments: str) -> list[str]:
    called = call(*arguments, "--json")
    assert called.code == 0, called.err
    return [entry["entry_id"] for entry in called.document["entries"]]


def test_dt01_without_a_query_a_filter_lists_the_newest_first_to_the_end_of_the_day(call: Call, days: str) -> None:
    assert ids(call, "--db", days, "search", "--after", "2026-03-01", "--before", "2026-03-05") == ["E2", "E1"]
    assert ids(call, "--db", days, "browse", "--after", "2026-03-01", "--before", "2026-03-05") == ["E2", "E1"]
    assert ids(call, "--db", days, "search", "date:2026-03-01..2026-03-05") == ["E2", "E1"]


def test_dt11_a_reversed_range_is_refused_everywhere(call: Call, days: str) -> None:
    for command in (("search", "day"), ("search",), ("browse",), ("export",)):
        called = call("--db", days, *command, "--after", "2026-03-10", "--before", "2026-03-01")
        assert called.code == 2
        assert called.err.startswith("error: the end")


def test_filters_ignore_case_and_accents(call: Call, days: str) -> None:
    assert ids(call, "--db", days, "search", "--author", "muller") == ["E3"]
    assert ids(call, "--db", days, "search", "day", "--author", "SMITH") == ["E1"]
    assert ids(call, "--db", days, "search", "day", "--source", "elog") == []


def test_words_may_be_one_argument_or_several(call: Call, days: str) -> None:
    once = ids(call, "--db", days, "search", '"next day" OR midnight')
    assert once == ids(call, "--db", days, "search", '"next day"', "OR", "midnight")
    assert set(once) == {"E2", "E3"}


def test_two_dashes_let_a_query_begin_with_a_dash(call: Call, days: str) -> None:
    called = call("--db", days, "search", "--json", "--", "-midnight")
    assert [entry["entry_id"] for entry in called.document["entries"]] == ["E3", "E1"]
    refused = call("--db", days, "search", "-midnight")
    assert refused.code == 2
    assert "write -- before words that start with a dash" in refused.err


def test_a_fault_in_the_query_is_pointed_at(call: Call, days: str) -> None:
    called = call("--db", days, "search", "真空 date:2024-13 trip")
    assert called.code == 2
    lines = called.err.splitlines()
    assert lines[1] == "  真空 date:2024-13 trip"
    assert lines[2] == " " * len("  xxxx date:") + "^"
    assert lines[3].startswith("hint: use YYYY")


def test_a_fault_far_inside_a_long_query_is_pointed_at(call: Call, days: str) -> None:
    called = call("--db", days, "search", "beam " * 30 + "date:2024-13 " + "loss " * 20)
    shown, caret = called.err.splitlines()[1:3]
    assert len(shown) < 80
    assert shown[caret.index("^") :].startswith("2024-13")


def test_open_brackets_are_mended_and_reported_or_refused(call: Call, days: str) -> None:
    lenient = call("--db", days, "search", "(midnight")
    assert lenient.code == 0
    assert "warning: a bracket is never closed" in lenient.out
    strict = call("--db", days, "search", "--strict-query", "(midnight")
    assert (strict.code, strict.out) == (2, "")


def test_no_fuzzy_finds_only_what_is_there(call: Call, days: str) -> None:
    assert ids(call, "--db", days, "search", "midnigth") == ["E2"]
    assert ids(call, "--db", days, "search", "midnigth", "--no-fuzzy") == []


def test_a_threshold_is_for_modes_that_have_one(call: Call, days: str) -> None:
    called = call("--db", days, "search", "day", "--mode", "keyword", "--threshold", "0.3")
    assert called.code == 2
    assert called.err.startswith("error: the mode keyword has no threshold\nhint: ")


def test_pages_follow_each_other(call: Call, sample: str) -> None:
    first = call("--db", sample, "search", "rf", "--mode", "keyword", "--limit", "2")
    assert "2 shown; the next ones: --offset 2" in first.out
    whole = ids(call, "--db", sample, "search", "rf", "--mode", "keyword", "--limit", "4")
    pages = [
        ids(call, "--db", sample, "search", "rf", "--mode", "keyword", "--limit", "2", "--offset", offset)
        for offset in ("0", "2")
    ]
    assert pages[0] + pages[1] == whole
    assert "no entry matches after the first 900" in call("--db", sample, "search", "rf", "--offset", "900").out


def test_too_large_a_limit_is_clamped_and_reported(call: Call, days: str) -> None:
    called = call("--db", days, "search", "day", "--mode", "keyword", "--limit", "1000")
    assert called.code == 0
    assert "note: 1000 results were asked for; 100 is what one search gives" in called.out


def test_explain_shows_tree_sentence_and_statement(call: Call, days: str) -> None:
    out = call("--db", days, "search", "day", "author:smith", "--mode", "keyword", "--explain").out
    for part in (
        "\nsyntax\n",
        "\nbound\n",
        "\nsentence\n  contains day, author contains smith\n",
        "\nruns\n",
        "MATCH ?",
    ):
        assert part in out


def test_times_are_in_the_configured_zone(call: Call, days: str, tmp_path: Path) -> None:
    (tmp_path / "zone.yml").write_text("facility:\n  timezone: America/Halifax\n", encoding="utf-8")
    called = call("--config", "zone.yml", "--db", days, "search", "midnight")
    assert "2026-03-05 19:59 -04:00" in called.out
    assert ids(call, "--config", "zone.yml", "--db", days, "search", "date:2026-03-05") == ["E3", "E2", "E1"]


def test_dt05_both_readings_of_the_repeated_hour_are_found_and_told_apart(call: Call, tmp_path: Path) -> None:
    entries = (
        {"id": "E1", "timestamp": "2026-11-01T08:30:00Z", "text": "first 01:30"},
        {"id": "E2", "timestamp": "2026-11-01T09:30:00Z", "text": "second 01:30"},
    )
    (tmp_path / "zone.yml").write_text("facility:\n  timezone: America/Los_Angeles\n", encoding="utf-8")
    base = ("--config", "zone.yml", "--db", "dst.db")
    assert call(*base, "ingest", "--source", write_entries(tmp_path / "dst.jsonl", entries)).code == 0
    out = call(*base, "search", "--after", "2026-11-01T01:00", "--before", "2026-11-01T01:59:59").out
    assert "E1  2026-11-01 01:30 -07:00" in out
    assert "E2  2026-11-01 01:30 -08:00" in out
