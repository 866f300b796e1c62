"""Filling and reading a logbook: quickstart, ingest, add, show, browse, export."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from pathlib import Path

import pytest
from commands import Call, environment, run, write_entries

import ariel_lite
from ariel_lite.bundled import sample_logbook

SAMPLES = sample_logbook().parent
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def test_quickstart_makes_a_logbook_says_what_and_what_next(call: Call) -> None:
    called = call("--db", "first.db", "quickstart")
    assert called.code == 0
    assert called.out.startswith("Made the logbook first.db with 610 entries")
    assert "\nTP-0465  " in called.out
    assert "ariel-lite --db first.db status" in called.out


def test_quickstart_twice_changes_nothing(call: Call) -> None:
    assert call("--db", "first.db", "quickstart").code == 0
    second = call("--db", "first.db", "quickstart", "--json").document
    assert (second["ingest"]["added"], second["ingest"]["unchanged"]) == (0, 610)
    assert call("--db", "first.db", "browse", "--json").document["total"] == 610


def test_what_quickstart_suggests_works(call: Call) -> None:
    out = call("--db", "first.db", "quickstart").out
    suggested = [line.split("first.db ", 1)[1] for line in out.splitlines() if line.startswith("  ariel-lite --db")]
    assert len(suggested) >= 5
    for command in suggested:
        words = [word.strip("'") for word in command.split("  ")[0].split(" ")]
        called = call("--db", "first.db", *words)
        assert called.code == 0, command
        assert "no entry matches" not in called.out, command


def test_quickstart_does_not_mix_into_a_real_logbook(call: Call) -> None:
    assert call("--db", "mine.db", "add", "--title", "A real entry").code == 0
    called = call("--db", "mine.db", "quickstart")
    assert called.code == 2
    assert "the sample would mix with them" in called.err
    assert call("--db", "mine.db", "browse", "--json").document["total"] == 1


@pytest.mark.parametrize(
    ("name", "adapter", "count"),
    [
        ("logbook.json", "generic_json", 610),
        ("als_logbook.jsonl", "als_logbook", 25),
        ("jlab_logbook.json", "jlab_logbook", 20),
        ("ornl_logbook.json", "ornl_logbook", 20),
    ],
)
def test_ingest_guesses_the_format_and_says_so(call: Call, name: str, adapter: str, count: int) -> None:
    called = call("--db", "guess.db", "ingest", "--source", str(SAMPLES / name))
    assert called.code == 0
    said = " ".join(called.out.split())
    assert f"with {adapter} (guessed from the file)" in said
    assert f"{count} added, 0 updated, 0 unchanged, 0 rejected" in said


def test_a_wrong_source_makes_no_logbook(call: Call, tmp_path: Path) -> None:
    for adapter in ((), ("--adapter", "generic_json")):
        assert call("--db", "new.db", "ingest", "--source", "absent.json", *adapter).code in (1, 2)
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_stores_and_makes_nothing(call: Call, tmp_path: Path) -> None:
    source = write_entries(tmp_path / "in.jsonl", [{"id": "A", "text": "a"}])
    called = call("--db", "new.db", "ingest", "--source", source, "--dry-run", "--json")
    assert (called.code, called.document["added"], called.document["dry_run"]) == (0, 1, True)
    assert not (tmp_path / "new.db").exists()


def test_ingest_takes_its_source_from_the_configuration(call: Call, tmp_path: Path) -> None:
    write_entries(tmp_path / "in.jsonl", [{"id": "A", "text": "a"}])
    (tmp_path / "settings.yml").write_text(
        "ariel:\n  database: {uri: book.db}\n  ingestion: {adapter: generic_json, source_url: in.jsonl}\n",
        encoding="utf-8",
    )
    called = call("--config", "settings.yml", "ingest", "--json")
    assert (called.document["added"], called.document["adapter_chosen_by"]) == (1, "configuration")
    assert call("--config", "settings.yml", "status", "--json").document["database"]["chosen_by"] == "configuration"


def test_ambiguous_times_need_a_form(call: Call, tmp_path: Path) -> None:
    source = write_entries(tmp_path / "in.jsonl", [{"id": "A", "text": "a", "timestamp": "03/04/2009"}])
    refused = call("--db", "x.db", "ingest", "--source", source)
    assert refused.code == 1
    assert "--date-format" in refused.out
    stored = call("--db", "x.db", "ingest", "--source", source, "--date-format", "%d/%m/%Y", "--timezone", "Asia/Tokyo")
    assert stored.code == 0
    assert call("--db", "x.db", "browse", "--json").document["entries"][0]["timestamp"] == "2009-04-02T15:00:00+00:00"


def test_add_keeps_text_fields_and_attachments(call: Call, tmp_path: Path) -> None:
    (tmp_path / "scope.png").write_bytes(PICTURE)
    made = call(
        "--db", "mine.db", "add", "--title", "Kicker misfire", "--text", "At turn 3.", "--author", "Zoë",
        "--tag", "kicker", "--tag", "study", "--logbook", "Operations", "--attach", "scope.png",
        "--time", "2026-03-05 10:00", "--json",
    ).document  # fmt: skip
    entry = call("--db", "mine.db", "show", made["entry_id"], "--json").document["entries"][0]
    assert (entry["title"], entry["author"], entry["source_system"]) == ("Kicker misfire", "Zoë", "ARIEL CLI")
    assert entry["raw_text"] == "Kicker misfire\n\nAt turn 3."
    assert entry["timestamp"] == "2026-03-05T10:00:00+00:00"
    assert entry["metadata"]["tags"] == ["kicker", "study"]
    found = call("--db", "mine.db", "search", "tag:study has:attachment logbook:operations", "--json").document
    assert [hit["entry_id"] for hit in found["entries"]] == [made["entry_id"]]
    attachment = made["attachments"][0]["attachment_id"]
    assert (
        call("--db", "mine.db", "show", made["entry_id"], "--attachment", attachment, "--output", "out.png").code == 0
    )
    assert (tmp_path / "out.png").read_bytes() == PICTURE


def test_add_reads_standard_input(tmp_path: Path) -> None:
    text = "Wasserfluß niedrig\n\nSektor 7, 5 µA".encode()
    assert run("--db", "mine.db", "add", "--title", "Notiz", stdin=text, cwd=tmp_path).returncode == 0
    refused = run("--db", "mine.db", "add", stdin=b"\xff\xfe\xff", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.startswith(b"error: standard input is not UTF-8 text")
    entries = json.loads(run("--db", "mine.db", "browse", "--json", cwd=tmp_path).stdout)["entries"]
    assert [entry["raw_text"] for entry in entries] == ["Notiz\n\nWasserfluß niedrig\n\nSektor 7, 5 µA"]


def test_add_takes_text_from_the_editor(tmp_path: Path) -> None:
    script = tmp_path / "editor.py"
    script.write_text("import sys\nopen(sys.argv[1], 'w').write('A title\\n\\nThe text.\\n')\n", encoding="utf-8")
    env = environment(EDITOR=f"{sys.executable} {script}")
    assert run("--db", "mine.db", "add", "--edit", env=env, cwd=tmp_path).returncode == 0
    entry = json.loads(run("--db", "mine.db", "browse", "--json", cwd=tmp_path).stdout)["entries"][0]
    assert (entry["title"], entry["raw_text"]) == ("A title", "A title\n\nThe text.")


def test_too_large_an_attachment_adds_nothing(call: Call, tmp_path: Path) -> None:
    with (tmp_path / "large.bin").open("wb") as handle:
        handle.truncate(10 * 1024 * 1024 + 1)
    called = call("--db", "mine.db", "add", "--title", "x", "--attach", "large.bin")
    assert called.code == 2
    assert not (tmp_path / "mine.db").exists()


def test_show_prints_what_is_there_and_names_what_is_not(call: Call, sample: str) -> None:
    called = call("--db", sample, "show", "TP-0465", "no-such-id")
    assert called.code == 1
    assert "FIRST FAULT = CATHODE OVERCURRENT KLY-3." in called.out
    assert called.err.startswith("error: no entry has the id no-such-id\n")
    both = call("--db", sample, "show", "TP-0465", "no-such-id", "--json").document
    assert [entry["entry_id"] for entry in both["entries"]] == ["TP-0465"]
    assert both["error"]["code"] == "not_found"


def test_show_does_not_overwrite_a_file_that_it_was_not_told(call: Call, sample: str, tmp_path: Path) -> None:
    document = call("--db", sample, "show", "TP-0537", "--json").document
    stored = document["entries"][0]["files"][0]
    (tmp_path / stored["filename"]).write_bytes(b"mine")
    called = call("--db", sample, "show", "TP-0537", "--attachment", stored["attachment_id"])
    assert called.code == 2
    assert (tmp_path / stored["filename"]).read_bytes() == b"mine"


def test_browse_pages_in_both_directions(call: Call, sample: str) -> None:
    newest = call("--db", sample, "browse", "--limit", "3", "--json").document
    assert (newest["total"], newest["page"], newest["total_pages"]) == (610, 1, 204)
    oldest = call("--db", sample, "browse", "--limit", "3", "--page", "204", "--oldest", "--json").document
    assert oldest["entries"][-1]["entry_id"] == newest["entries"][0]["entry_id"]
    assert (
        "page 1 of 204, 610 entries in all; the next one: --page 2"
        in call("--db", sample, "browse", "--limit", "3").out
    )


@pytest.mark.parametrize("attachments", [True, False], ids=["with files", "without files"])
def test_an_export_reads_back_unchanged(call: Call, sample: str, attachments: bool) -> None:
    option = ("--attachments",) if attachments else ()
    assert call("--db", sample, "export", "--output", "out.jsonl", *option).code == 0
    again = call("--db", sample, "ingest", "--adapter", "generic_json", "--source", "out.jsonl", "--json").document
    assert (again["added"], again["updated"], again["unchanged"]) == (0, 0, 610)


def test_an_export_with_files_fills_another_logbook(call: Call, sample: str) -> None:
    assert call("--db", sample, "export", "--output", "out.jsonl", "--attachments").code == 0
    assert call("--db", "copy.db", "ingest", "--source", "out.jsonl").code == 0
    source = str(sample_logbook())
    original = call("--db", "copy.db", "ingest", "--adapter", "generic_json", "--source", source, "--json").document
    assert (original["added"], original["updated"], original["unchanged"]) == (0, 0, 610)
    assert call("--db", "copy.db", "status", "--json").document["details"]["attachments"] == 5


def test_export_filters_and_orders(call: Call, sample: str, tmp_path: Path) -> None:
    assert call("--db", sample, "export", "septum", "--after", "2025", "--newest", "--output", "out.jsonl").code == 0
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows
    assert all(row["timestamp"] >= "2025" and "septum" in row["raw_text"].lower() for row in rows)
    assert [row["timestamp"] for row in rows] == sorted((row["timestamp"] for row in rows), reverse=True)


def test_export_as_csv_and_markdown(call: Call, sample: str, tmp_path: Path) -> None:
    assert call("--db", sample, "export", "--output", "out.csv").code == 0
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    whole = {
        entry["entry_id"]: entry for entry in call("--db", sample, "show", "TP-0095", "--json").document["entries"]
    }
    assert len(rows) == 610
    assert next(row for row in rows if row["entry_id"] == "TP-0095")["raw_text"] == whole["TP-0095"]["raw_text"]
    markdown = call("--db", sample, "export", "id:TP-0465", "--format", "markdown").out
    assert markdown.startswith("## RF TRIP, KLYSTRON GUN ARC KLY-3\n")


def test_an_export_that_fails_leaves_the_old_file(call: Call, sample: str, tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("old", encoding="utf-8")
    assert call("--db", sample, "export", "date:2024-13", "--output", "out.csv").code == 2
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == "old"
    assert call("--db", sample, "export", "--output", sample).code == 2
    assert call("--db", sample, "doctor").code == 0


def test_the_sample_is_found_where_a_wheel_puts_it(tmp_path: Path) -> None:
    package = tmp_path / "site" / "ariel_lite"
    shutil.copytree(Path(ariel_lite.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__", "_data"))
    shutil.copytree(SAMPLES, package / "_data" / "sample_data")
    env = environment(PYTHONPATH=str(tmp_path / "site"))
    done = run("--db", "first.db", "quickstart", env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"Made the logbook first.db with 610 entries")
