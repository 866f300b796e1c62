"""`eval` as a user calls it, on a small collection and with the hashing provider."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from commands import Call

METRICS = {"ndcg@10", "recall@10", "recall@50", "mrr", "success@1"}
DOCUMENTS = (
    "klystron tripped on overvoltage",
    "klystron filament current adjusted",
    "vacuum leak at the septum flange",
    "planned access cancelled",
)
SETTINGS = "embedding: {provider: hashing, model: hashing}\n"


def json_lines(path: Path, records: list[Mapping[str, Any]]) -> None:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A collection; its settings lie beside it."""
    made = tmp_path / "small"
    made.mkdir()
    json_lines(made / "docs.jsonl", [{"id": f"d{n}", "title": "", "text": text} for n, text in enumerate(DOCUMENTS)])
    json_lines(made / "queries.jsonl", [{"id": "1", "text": "septum leak"}, {"id": "2", "text": "NOT the klystron"}])
    (made / "qrels.tsv").write_text("query\tdocument\tgrade\n1\td2\t1\n2\td0\t2\n2\td1\t1\n", encoding="utf-8")
    (tmp_path / "hashing.yml").write_text(SETTINGS, encoding="utf-8")
    return made


@pytest.fixture
def judge(call: Call) -> Call:
    """`eval` with the hashing provider."""

    def called(*arguments: str) -> Any:
        return call("--config", "hashing.yml", "eval", *arguments)

    return called


def test_the_document(judge: Call, folder: Path) -> None:
    found = judge("--collection", str(folder), "--json")
    assert (found.code, found.err) == (0, "")
    assert found.document["collection"] == "small"
    assert found.document["documents"] == 4
    modes = found.document["modes"]
    assert list(modes) == ["keyword", "semantic", "hybrid"]
    for figures in modes.values():
        assert figures.keys() >= METRICS
        assert figures["queries"] == 2
        assert figures["recall@50"] <= 1
        low, high = figures["intervals"]["ndcg@10"]
        assert 0 <= low <= figures["ndcg@10"] <= high <= 1
    assert modes["hybrid"]["recall@50"] == 1


def test_one_mode_and_no_vectors_for_keyword(judge: Call, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "hashing.yml").write_text("embedding: {model: no-such-model}\n", encoding="utf-8")
    found = judge("--collection", str(folder), "--mode", "keyword", "--json")
    assert found.code == 0
    assert list(found.document["modes"]) == ["keyword"]
    refused = judge("--collection", str(folder), "--mode", "hybrid", "--json")
    assert refused.code == 2
    assert "no-such-model" in refused.document["error"]["message"]


def test_the_table_fits_80_columns(judge: Call, folder: Path) -> None:
    found = judge("--collection", str(folder))
    assert found.code == 0
    assert "ndcg@10" in found.out
    assert "95 %" in found.out
    assert max(map(len, found.out.splitlines())) <= 80


def test_a_logbook_that_is_kept(judge: Call, folder: Path, tmp_path: Path) -> None:
    first = judge("--collection", str(folder), "--work", "kept", "--json")
    assert len(list((tmp_path / "kept").glob("*.db"))) == 1
    assert judge("--collection", str(folder), "--work", "kept", "--json").document == first.document


def test_recording_and_comparing(judge: Call, folder: Path) -> None:
    recorded = judge("--collection", str(folder), "--record", "--baseline", "base.json", "--json")
    assert recorded.code == 0
    assert recorded.document["baseline"] is None
    same = judge("--collection", str(folder), "--baseline", "base.json", "--json")
    assert (same.code, same.document["below_floor"]) == (0, [])
    change = same.document["modes"]["hybrid"]["compared"]["all"]["ndcg@10"]
    assert change == {"change": 0, "interval": [0, 0], "verdict": "noise"}
    assert (
        "against the baseline: ndcg@10 +0.000 noise"
        in judge("--collection", str(folder), "--baseline", "base.json", "--mode", "keyword").out
    )


def test_below_the_floor_exits_with_1(judge: Call, folder: Path, tmp_path: Path) -> None:
    judge("--collection", str(folder), "--mode", "keyword", "--record", "--baseline", "base.json")
    baseline = json.loads((tmp_path / "base.json").read_text(encoding="utf-8"))
    baseline["modes"]["keyword"]["queries"] = {"1": [1.0] * 5, "2": [1.0] * 5}
    (tmp_path / "base.json").write_text(json.dumps(baseline), encoding="utf-8")
    compared = ("--collection", str(folder), "--mode", "keyword", "--baseline", "base.json")
    found = judge(*compared, "--json")
    assert found.code == 1
    assert {fall["metric"] for fall in found.document["below_floor"]} == {"ndcg@10", "recall@50"}
    assert "below the floor: keyword, all" in judge(*compared).out


def test_a_golden_set_of_ones_own(judge: Call, folder: Path, tmp_path: Path) -> None:
    entries = [{"id": f"X{n}", "timestamp": "2026-03-05T10:00:00Z", "text": t} for n, t in enumerate(DOCUMENTS)]
    (tmp_path / "logbook.json").write_text(json.dumps({"entries": entries}), encoding="utf-8")
    json_lines(
        tmp_path / "mine.jsonl",
        [
            {"id": "1", "class": "negation", "query": "klystron -filament", "relevant": {"X0": 3}},
            {"id": "2", "class": "exact", "query": "septum", "relevant": {"X2": 3}, "kept": True},
            {"id": "3", "class": "no_answer", "query": "neutrino", "relevant": {}},
        ],
    )
    whole = judge("--golden", "mine.jsonl", "--mode", "keyword", "--json").document["modes"]["keyword"]
    assert whole["queries"] == 2
    assert {name: group["ndcg@10"] for name, group in whole["classes"].items()} == {"negation": 1, "exact": 1}
    assert whole["no_answer"] == {"queries": 1, "unanswered": 1, "approximate": 0}
    kept = judge("--golden", "mine.jsonl", "--mode", "keyword", "--kept", "only", "--json")
    assert list(kept.document["modes"]["keyword"]["classes"]) == ["exact"]
    table = judge("--golden", "mine.jsonl", "--mode", "keyword").out
    assert "no answer" in table
    assert "100%" in table


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--collection", "nowhere"], "cannot be read"),
        (["--golden", "nowhere.jsonl"], "cannot be read"),
        (["--collection", "small", "--golden", "x"], "both given"),
        (["--collection", "small", "--mode", "nonsense"], "unknown search mode"),
        (["--collection", "small", "--kept", "only"], "no query is left"),
        (["--collection", "small", "--depth", "10"], "50<=x<=100"),
        (["--collection", "small", "--record"], "needs a file"),
        (["--collection", "small", "--record", "--kept", "without"], "needs all queries"),
        (["--collection", "small", "--baseline", "nowhere.json"], "cannot be read"),
        (["--collection", "small", "--work", "hashing.yml"], "is a file"),
    ],
)
def test_bad_calls_say_what_is_wrong_and_exit_with_2(
    judge: Call, folder: Path, arguments: list[str], said: str
) -> None:
    found = judge(*arguments, "--json")
    assert found.code == 2
    assert said in found.document["error"]["message"]
    assert len(found.err.splitlines()) == 2


def test_a_baseline_of_something_else_is_refused(judge: Call, folder: Path) -> None:
    judge("--collection", str(folder), "--mode", "keyword", "--record", "--baseline", "base.json")
    (folder / "qrels.tsv").write_text("1\td2\t1\n", encoding="utf-8")
    found = judge("--collection", str(folder), "--mode", "keyword", "--baseline", "base.json")
    assert found.code == 2
    assert "base.json was recorded of small" in found.err


def test_without_ir_measures(judge: Call, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    found = judge("--collection", str(folder), "--mode", "keyword")
    assert found.code == 2
    assert found.err.splitlines() == [
        "error: the scorecard needs the package ir-measures",
        "hint: pip install 'ariel-lite[eval]'",
    ]
    assert judge("--help").code == 0
