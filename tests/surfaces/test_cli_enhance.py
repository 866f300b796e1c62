"""`enhance`, `reembed` and `models` as a user calls them."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import CHECKOUT, HASHING, Call, environment, run, start, until

from ariel_lite.backends.values import VectorModel
from ariel_lite.compose import open_logbook
from ariel_lite.config import ARIELConfig

ENTRIES = 610


@pytest.fixture
def bare(ours: Call) -> Call:
    """The same, the sample without any vectors."""
    for table in ours("models", "--json").document["tables"]:
        name = table["table"].removeprefix("text_embeddings_").replace("_", "-")
        assert ours("reembed", "--drop", "--model", name).code == 0
    return ours


def module(document: Any, name: str = "text_embedding") -> Any:
    """The report of an enhancer."""
    return next(found for found in document["modules"] if found["module"] == name)


def vectors(called: Call) -> Any:
    """The counts of the configured model's vectors."""
    return called("models", "--json").document["vectors"]


def test_enhancing_in_parts_and_then_nothing_more(bare: Call) -> None:
    part = module(bare("enhance", "--module", "text_embedding", "--limit", "100", "--json").document)
    assert (part["done"], part["waiting"], part["failed"], part["interrupted"]) == (100, ENTRIES - 100, {}, False)
    rest = module(bare("enhance", "--json").document)
    assert (rest["done"], rest["waiting"]) == (ENTRIES - 100, 0)
    again = bare("enhance", "--module", "text_embedding")
    assert (again.code, again.out, again.err) == (0, "text_embedding: 0 entries done\n", "")


def test_only_what_changed_is_embedded_again(bare: Call, sample: str) -> None:
    bare("enhance")
    with open_logbook(sample, config=ARIELConfig()) as book:
        entry = book.get("TP-0001")
        assert entry is not None
        book.service.backend.upsert([{**entry, "raw_text": "another text"}])
        book.add({"entry_id": "NEW", "raw_text": "one more"})
    assert vectors(bare)["missing"] == 2
    assert module(bare("enhance", "--json").document)["done"] == 2


def test_force_embeds_everything(bare: Call) -> None:
    bare("enhance", "--limit", "10")
    assert module(bare("enhance", "--force", "--json").document)["done"] == ENTRIES


def test_counts_and_hints_of_models(bare: Call) -> None:
    before = vectors(bare)
    assert (before["current"], before["missing"], before["stale"]) == (0, ENTRIES, 0)
    assert "'ariel-lite enhance' makes the missing vectors" in bare("models").out
    bare("enhance")
    after = bare("models", "--json").document
    assert (after["vectors"]["current"], after["vectors"]["missing"]) == (ENTRIES, 0)
    assert {"table": "text_embeddings_hashing", "entries": ENTRIES, "dimension": 256} in after["tables"]
    assert "'ariel-lite" not in bare("models").out


def test_stale_vectors_are_counted_and_made_anew(bare: Call, tmp_path: Path) -> None:
    bare("enhance")
    module_settings = "enhancement_modules: {text_embedding: {models: [{name: hashing, max_input_tokens: 64}]}}\n"
    (tmp_path / "settings.yml").write_text(HASHING + module_settings, encoding="utf-8")
    assert vectors(bare)["stale"] == ENTRIES
    assert "'ariel-lite reembed' makes stale vectors anew" in bare("models").out
    assert module(bare("reembed", "--json").document)["done"] == ENTRIES
    assert vectors(bare)["current"] == ENTRIES


def test_reembed_for_another_model_and_its_end(bare: Call) -> None:
    assert module(bare("reembed", "--model", "other", "--json").document)["done"] == ENTRIES
    assert vectors(bare)["current"] == 0
    assert module(bare("reembed", "--model", "other", "--continue", "--json").document)["done"] == 0
    assert bare("reembed", "--model", "other", "--drop", "--json").document == {"model": "other", "dropped": ENTRIES}
    gone = bare("reembed", "--model", "other", "--drop")
    assert gone.code == 2
    assert "no vectors of a model other" in gone.err


def test_another_dimension_is_refused_with_the_command_that_helps(bare: Call, tmp_path: Path) -> None:
    bare("enhance", "--limit", "10")
    wider = "enhancement_modules: {text_embedding: {models: [{name: hashing, dimension: 300}]}}\n"
    (tmp_path / "settings.yml").write_text(HASHING + wider, encoding="utf-8")
    refused = bare("enhance", "--module", "text_embedding")
    assert refused.code == 1
    assert "reembed --model hashing --drop" in refused.err
    assert bare("reembed", "--model", "hashing", "--drop").code == 0
    assert bare("enhance", "--module", "text_embedding", "--limit", "10").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["enhance", "--module", "nonsense"], "unknown enhancer 'nonsense'"),
        (["enhance", "--limit", "0"], "x>=1"),
        (["reembed", "--drop", "--continue"], "both given"),
        (["reembed", "--drop", "--model", "nonsense"], "no vectors of a model nonsense"),
    ],
)
def test_bad_calls_exit_with_2(ours: Call, arguments: list[str], said: str) -> None:
    found = ours(*arguments, "--json")
    assert found.code == 2
    assert said in found.document["error"]["message"]


def test_an_enhancer_that_is_switched_off(ours: Call, tmp_path: Path) -> None:
    off = HASHING + "enhancement_modules: {text_embedding: {enabled: false}}\n"
    (tmp_path / "settings.yml").write_text(off, encoding="utf-8")
    named = ours("enhance", "--module", "text_embedding", "--json")
    assert (named.code, named.document["error"]["code"]) == (2, "module_not_enabled")
    modules = [found["module"] for found in ours("enhance", "--json").document["modules"]]
    assert "text_embedding" not in modules


def test_an_unknown_model_is_an_error_with_the_known_ones(call: Call, sample: str, tmp_path: Path) -> None:
    (tmp_path / "wrong.yml").write_text("embedding: {model: nonsense}\n", encoding="utf-8")
    found = call("--db", sample, "--config", "wrong.yml", "enhance", "--module", "text_embedding")
    assert found.code == 2
    assert "all-minilm-l6-v2" in found.err
    listed = call("--db", sample, "--config", "wrong.yml", "models", "--json")
    assert listed.code == 0
    assert "nonsense" in listed.document["note"]


def test_models_without_a_logbook(call: Call) -> None:
    found = call("--db", "nowhere.db", "models", "--json")
    assert found.code == 0
    assert found.document["models"][0]["name"] == "all-minilm-l6-v2"
    assert found.document["models"][0]["faults"] == []
    assert found.document["vectors"] is None
    assert "nowhere.db" in found.document["note"]
    assert "all whole" in call("--db", "nowhere.db", "models").out


def test_a_damaged_model_is_told_and_exits_with_1(tmp_path: Path) -> None:
    for folder in ("ariel_lite", "models"):
        shutil.copytree(CHECKOUT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    tokenizer = tmp_path / "models" / "all-minilm-l6-v2" / "tokenizer.json"
    tokenizer.write_bytes(tokenizer.read_bytes()[:-1] + b" ")
    tokenizer.with_name("NOTICE").unlink()
    found = run("models", "--json", env=environment(PYTHONPATH=str(tmp_path)), cwd=tmp_path)
    assert found.returncode == 1
    faults = " ".join(json.loads(found.stdout)["models"][0]["faults"])
    assert "tokenizer.json is damaged" in faults
    assert "NOTICE" in faults


@pytest.mark.skipif(sys.platform == "win32", reason="there, Ctrl-C goes to every process of the console")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_stopped_run_keeps_and_reports_what_is_stored(sample: str, bare: Call, name: str) -> None:
    process = start("--db", sample, "enhance", "--module", "text_embedding", "--json")
    try:
        until(lambda: _vectors(sample))
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert b"run 'ariel-lite enhance' again to go on" in err
    assert b'"interrupted": true' in out
    stored = _vectors(sample)
    assert 0 < stored < ENTRIES


def _vectors(location: str) -> int:
    with open_logbook(location, config=ARIELConfig(), read_only=True) as book:
        return sum(table.entry_count for table in book.status().embedding_tables)


def test_entries_that_another_run_holds_are_said(bare: Call, sample: str) -> None:
    with open_logbook(
        sample, config=ARIELConfig.from_dict({"embedding": {"provider": "hashing", "model": "hashing"}})
    ) as book:
        embedder = book.service.context.embedder
        model = VectorModel(embedder.name, embedder.dimension, embedder.fingerprint)
        held = book.service.backend.claim_pending(model, "another run", 10)
        done = bare("enhance", "--module", "text_embedding")
        limited = bare("enhance", "--module", "text_embedding", "--limit", "1")
        book.service.backend.release_claims("another run")
    assert len(held) == 10
    assert done.out.splitlines()[0] == f"text_embedding: {ENTRIES - 10} entries done, 10 still waiting"
    assert done.out.splitlines()[1].startswith("note: another run holds those that wait")
    assert "note:" not in limited.out
