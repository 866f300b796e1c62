"""`enhance` with the semantic processor, as a user calls it; and what `status` and `show` say of it."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import HASHING, Call, start, until

from ariel_lite.compose import open_logbook
from ariel_lite.config import ARIELConfig

NAME = "semantic_processor"
NOBODY = (
    "enhancement_modules: {semantic_processor: {provider: openai, model: {model_id: small}}}\n"
    "api: {providers: {openai: {base_url: 'http://127.0.0.1:9/v1', timeout_seconds: 2}}}\n"
)
ENTRIES = 610


def counts(called: Call) -> Any:
    """What `status` says of the modules."""
    return called("status", "--json").document["details"]["enhancement"]


def test_both_enhancers_run_in_their_order_and_nothing_is_done_twice(ours: Call) -> None:
    first = ours("enhance", "--json").document["modules"]
    assert [found["module"] for found in first] == [NAME, "text_embedding"]
    assert first[0]["done"] + first[0]["blank"] == ENTRIES
    assert [found["waiting"] for found in first] == [0, 0]
    again = ours("enhance", "--json").document["modules"]
    assert [found["done"] for found in again] == [0, 0]
    assert ours("doctor").code == 0


def test_parts_force_and_the_counts_of_status(ours: Call) -> None:
    part = ours("enhance", "--module", NAME, "--limit", "100", "--json").document["modules"]
    assert [(found["module"], found["done"], found["waiting"]) for found in part] == [(NAME, 100, ENTRIES - 100)]
    assert counts(ours) == {NAME: {"complete": 100, "failed": 0, "pending": ENTRIES - 100}}
    shown = " ".join(ours("status").out.split())
    assert f"{NAME} 100 complete, {ENTRIES - 100} pending" in shown
    ours("enhance")
    found = counts(ours)
    assert found[NAME] == {"complete": ENTRIES, "failed": 0, "pending": 0}
    assert found["text_embedding"] == {"complete": ENTRIES, "failed": 0, "pending": 0}
    forced = ours("enhance", "--module", NAME, "--force", "--limit", "10", "--json").document["modules"][0]
    assert (forced["done"], forced["waiting"]) == (10, ENTRIES - 10)


def test_an_entry_shows_its_words_and_is_found_by_them(ours: Call) -> None:
    ours("enhance", "--module", NAME)
    (entry,) = ours("show", "TP-0579", "--json").document["entries"]
    assert entry["enhancement_status"][NAME]["status"] == "complete"
    assert "dust" in entry["keywords"]
    assert entry["summary"]
    assert "Signature of a charged dust grain" in ours("show", "TP-0579").out


def test_an_entry_that_failed_is_told_and_tried_again(ours: Call, sample: str) -> None:
    with open_logbook(sample, config=ARIELConfig()) as book:
        book.service.backend.mark_failed(NAME, {"TP-0001": "no answer"})
    assert counts(ours)[NAME]["failed"] == 1
    assert "1 failed" in ours("status").out
    ours("enhance", "--module", NAME)
    assert counts(ours)[NAME] == {"complete": ENTRIES, "failed": 0, "pending": 0}


def test_a_model_that_is_not_there_does_not_keep_vectors_from_being_made(ours: Call, tmp_path: Path) -> None:
    (tmp_path / "settings.yml").write_text(HASHING + NOBODY, encoding="utf-8")
    found = ours("enhance", "--json")
    words, vectors = found.document["modules"]
    assert found.code == 1
    assert words["error"]["code"] == "generation_failed"
    assert (words["done"], words["interrupted"]) == (0, False)
    assert (vectors["done"], vectors["waiting"]) == (ENTRIES, 0)
    alone = ours("enhance", "--module", NAME)
    assert alone.code == 1
    assert alone.err.startswith("error: ")
    assert counts(ours)[NAME]["pending"] == ENTRIES


def test_half_a_model_is_a_configuration_error(ours: Call, tmp_path: Path) -> None:
    half = "enhancement_modules: {semantic_processor: {provider: openai}}\n"
    (tmp_path / "settings.yml").write_text(HASHING + half, encoding="utf-8")
    found = ours("enhance", "--json")
    assert (found.code, found.document["error"]["code"]) == (2, "configuration_error")


def test_switched_off_it_is_left_out(ours: Call, tmp_path: Path) -> None:
    off = "enhancement_modules: {semantic_processor: {enabled: false}}\n"
    (tmp_path / "settings.yml").write_text(HASHING + off, encoding="utf-8")
    assert [found["module"] for found in ours("enhance", "--json").document["modules"]] == ["text_embedding"]
    assert NAME not in counts(ours)


@pytest.mark.skipif(sys.platform == "win32", reason="there, Ctrl-C goes to every process of the console")
def test_ctrl_c_keeps_what_is_stored(tmp_path: Path) -> None:
    path = str(tmp_path / "many.db")
    total = 20_000
    with open_logbook(path, config=ARIELConfig()) as book:
        book.add(
            [{"entry_id": f"E{n}", "raw_text": f"ion pump {n} of sector {n % 12} exchanged"} for n in range(total)]
        )
    process = start("--db", path, "enhance", "--module", NAME, "--json")
    try:
        until(lambda: _done(path))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert b"run 'ariel-lite enhance' again to go on" in err
    assert b'"interrupted": true' in out
    assert 0 < _done(path) < total


def _done(location: str) -> int:
    with open_logbook(location, config=ARIELConfig(), read_only=True) as book:
        return book.service.backend.enhancement_counts(NAME)["complete"]
