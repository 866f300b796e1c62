"""CL03: with --json, standard output is exactly one JSON document on every path, and the exit code tells the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Call, environment, run

OK = (
    ("search", "klystron"),
    ("search", "zzqqxyw", "--no-fuzzy"),
    ("search", "klystrn"),
    ("search", "the"),
    ("search", "rf", "--explain"),
    ("search", "--author", "lindqvist"),
    ("show", "TP-0465"),
    ("browse", "--limit", "2"),
    ("browse", "--page", "999"),
    ("sql", "SELECT entry_id, metadata, timestamp FROM enhanced_entries LIMIT 2"),
    ("export", "septum", "--output", "out.csv"),
    ("quickstart",),
    ("add", "--title", "A note"),
    ("status",),
    ("migrate",),
    ("reindex",),
    ("doctor",),
    ("backup", "copy.db"),
    ("purge", "--yes"),
)

REFUSED = (
    (2, "validation_error", ("search",)),
    (2, "query_syntax", ("search", "date:2024-13")),
    (2, "query_syntax", ("search", "author:")),
    (2, "query_syntax", ("search", "a*")),
    (2, "query_syntax", ("search", "--strict-query", "(rf")),
    (2, "query_syntax", ("search", "rf", "--after", "2025-02-30")),
    (2, "validation_error", ("search", "rf", "--after", "2025", "--before", "2024")),
    (2, "configuration_error", ("search", "rf", "--mode", "nonsense")),
    (2, "validation_error", ("search", "rf", "--mode", "keyword", "--threshold", "0.5")),
    (2, "usage_error", ("search", "rf", "--limit", "many")),
    (2, "usage_error", ("search", "rf", "--offset", "-1")),
    (2, "usage_error", ("search", "rf", "--no-such-option")),
    (1, "not_found", ("show", "no-such-entry")),
    (2, "validation_error", ("show",)),
    (2, "validation_error", ("show", "TP-0001", "--output", "x")),
    (1, "not_found", ("show", "TP-0001", "--attachment", "att-000000000000")),
    (2, "usage_error", ("browse", "--page", "0")),
    (2, "query_syntax", ("browse", "--before", "tomorrow")),
    (2, "validation_error", ("add", "--text", " ")),
    (2, "validation_error", ("add", "--title", "x", "--attach", "missing.png")),
    (2, "validation_error", ("add", "--title", "x", "--time", "03/04/2009")),
    (2, "validation_error", ("ingest",)),
    (2, "validation_error", ("ingest", "--source", "missing.json")),
    (2, "adapter_not_found", ("ingest", "--source", "logbook.db", "--adapter", "nonsense")),
    (2, "validation_error", ("ingest", "--source", "logbook.db")),
    (1, "ingestion_failed", ("ingest", "--source", "missing.json", "--adapter", "generic_json")),
    (2, "validation_error", ("ingest", "--source", "logbook.db", "--adapter", "generic_json", "--timezone", "Nowhere")),
    (2, "query_syntax", ("ingest", "--source", "x.json", "--since", "whenever")),
    (2, "sql_refused", ("sql", "DELETE FROM enhanced_entries")),
    (2, "validation_error", ("sql", "  ")),
    (2, "usage_error", ("sql",)),
    (2, "validation_error", ("export",)),
    (2, "usage_error", ("export", "--format", "pdf")),
    (1, "output_failed", ("export", "--output", "no/such/folder/x.csv")),
    (2, "validation_error", ("backup", "logbook.db")),
    (2, "usage_error", ("backup",)),
    (2, "validation_error", ("restore", "missing.db", "--yes")),
    (2, "validation_error", ("purge",)),
    (2, "usage_error", ("no-such-command",)),
    (2, "usage_error", ("status", "too", "many")),
)


@pytest.mark.parametrize("arguments", OK, ids=" ".join)
def test_cl03_success_is_one_document(call: Call, sample: str, arguments: tuple[str, ...]) -> None:
    called = call("--db", sample, *arguments, "--json")
    assert called.code == 0, called.err
    assert "error" not in called.document


@pytest.mark.parametrize(("code", "name", "arguments"), REFUSED, ids=[" ".join(case[2]) for case in REFUSED])
def test_cl03_every_refusal_is_one_document(
    call: Call, sample: str, code: int, name: str, arguments: tuple[str, ...]
) -> None:
    called = call("--db", sample, *arguments, "--json")
    error = called.document["error"]
    assert (called.code, error["code"]) == (code, name)
    assert set(error) == {"code", "message", "hint", "position"}
    assert "\n" not in error["message"]
    assert error["hint"]
    assert called.err.startswith(f"error: {error['message']}\n")
    assert "Traceback" not in called.err


@pytest.mark.parametrize("command", ["search rf", "show TP-0001", "browse", "sql x", "export -- x", "doctor", "status"])
def test_cl03_a_missing_logbook_is_one_document_and_stays_missing(call: Call, tmp_path: Path, command: str) -> None:
    words = command.split()
    if words[0] == "export":
        words = ["export", "--output", "x.csv", "rf"]
    called = call("--db", "absent.db", *words, "--json")
    assert called.code == 1
    assert called.document["error"]["code"] == "database_unavailable"
    assert list(tmp_path.glob("absent*")) == []


def test_cl03_a_wrong_configuration_is_one_document(call: Call, tmp_path: Path) -> None:
    (tmp_path / "settings.yml").write_text("ariel:\n  databse: {uri: x}\n", encoding="utf-8")
    called = call("--config", "settings.yml", "search", "rf", "--json")
    assert called.code == 2
    assert called.document["error"]["code"] == "configuration_error"
    assert "database" in called.document["error"]["hint"]


def test_cl03_json_behind_two_dashes_is_a_word(call: Call, sample: str) -> None:
    called = call("--db", sample, "search", "--no-fuzzy", "--", "klystron", "--json")
    assert called.code == 0
    assert not called.out.startswith("{")


def test_cl03_the_first_search_of_a_process_prints_nothing_else(sample: str) -> None:
    done = run("--db", sample, "search", "klystron trip", "--json", env=environment(PYTHONWARNINGS="default"))
    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert document["query"] == "klystron trip"
    assert [entry["entry_id"] for entry in document["entries"]][:2] == ["TP-0465", "TP-0466"]


def test_cl03_a_usage_error_of_a_process_is_one_document(sample: str) -> None:
    done = run("--db", sample, "search", "--json", "--nonsense")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == "usage_error"


def test_search_document_has_the_shape_of_the_contract(call: Call, sample: str) -> None:
    document = call(
        "--db", sample, "search", "klystron", "trip", "--mode", "keyword", "--limit", "1", "--json"
    ).document
    assert {"query", "search_modes", "answer", "sources", "reasoning", "diagnostics", "entries"} <= set(document)
    assert document["search_modes"] == ["keyword"]
    assert set(document["entries"][0]) == {
        "entry_id", "timestamp", "author", "title", "score", "source_system", "raw_text", "highlights", "match",
    }  # fmt: skip


def test_status_document_says_which_logbook_and_why(call: Call, sample: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARIEL_LITE_DB", sample)
    by_environment = call("status", "--json").document
    assert by_environment["database"] == {"uri": sample, "connected": True, "chosen_by": "ARIEL_LITE_DB"}
    assert by_environment["entries"] == 610
    absent = call("--db", "absent.db", "status", "--json").document
    assert (absent["status"], absent["database"]["connected"]) == ("error", False)
    assert absent["database"]["chosen_by"] == "--db"


def test_ingest_document_has_the_shape_of_the_contract(call: Call, sample: str, tmp_path: Path) -> None:
    (tmp_path / "mixed.jsonl").write_text(
        '{"id": "A", "timestamp": "2026-03-05T10:00:00Z", "text": "good"}\n{"id": "B"\n', encoding="utf-8"
    )
    called = call("--db", sample, "ingest", "--source", "mixed.jsonl", "--json")
    counts = {key: called.document[key] for key in ("source_system", "added", "updated", "unchanged", "rejected")}
    assert called.code == 0
    assert counts == {"source_system": "Generic JSON", "added": 1, "updated": 0, "unchanged": 0, "rejected": 1}
    assert Path(called.document["rejects_file"]).exists()
    assert called.document["adapter"] == "generic_json"
    strict = call("--db", sample, "ingest", "--source", "mixed.jsonl", "--strict", "--json")
    assert (strict.code, strict.document["unchanged"]) == (1, 1)


def test_ingest_of_nothing_valid_is_an_error_document(call: Call, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"id": 1, "text": "no time"}\n', encoding="utf-8")
    called = call("--db", "new.db", "ingest", "--source", "bad.jsonl", "--adapter", "generic_json", "--json")
    assert called.code == 1
    assert called.document["error"]["code"] == "ingestion_failed"
    assert called.document["rejected"] == 1


@pytest.mark.parametrize("text", ["ariel: 5", "ariel: [1]", "ariel: ''"])
def test_a_block_that_is_no_mapping_is_named(call: Call, tmp_path: Path, text: str) -> None:
    (tmp_path / "odd.yml").write_text(text)
    error = call("--config", "odd.yml", "status", "--json").document["error"]
    assert (error["code"], error["message"]) == (
        "configuration_error", "setting ariel: input should be a mapping of settings",
    )  # fmt: skip


def test_a_configuration_that_cannot_be_read_says_why_once(call: Call, tmp_path: Path) -> None:
    called = call("--config", str(tmp_path), "status")
    assert (called.code, called.err.count(str(tmp_path)), "Errno" in called.err) == (2, 1, False)
