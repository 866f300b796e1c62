"""Looking after a logbook: status, backup and restore, doctor, reindex, purge; and what is no logbook at all."""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw
import pytest
from commands import Call, write_entries
from read_only_media import read_only_media

from ariel_lite import open_logbook


def damage(path: str, statement: str) -> None:
    """Change a logbook behind its back."""
    connection = apsw.Connection(path)
    connection.execute(statement)
    connection.close()


def total(call: Call, path: str) -> int:
    entries: int = call("--db", path, "browse", "--json").document["total"]
    return entries


def test_so15_four_things_that_are_no_logbook_get_four_messages(call: Call, tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    (tmp_path / "text.db").write_text("no database at all, just some text", encoding="utf-8")
    other = apsw.Connection(str(tmp_path / "other.db"))
    other.execute("CREATE TABLE t (x)")
    other.close()
    messages = set()
    for name in ("absent.db", "empty.db", "text.db", "other.db", "."):
        called = call("--db", name, "search", "rf")
        assert called.code == 1
        message, hint = called.err.splitlines()
        messages.add(message.replace(name, ""))
        assert hint.startswith("hint: ")
    assert len(messages) == 5
    assert not (tmp_path / "absent.db").exists()
    assert (tmp_path / "empty.db").stat().st_size == 0
    assert (tmp_path / "text.db").read_text(encoding="utf-8") == "no database at all, just some text"


def test_backup_and_restore_round_trip(call: Call, sample: str) -> None:
    assert call("--db", sample, "backup", "copy.db").code == 0
    assert apsw.Connection("copy.db").pragma("journal_mode") == "delete"
    assert call("--db", sample, "add", "--title", "after the backup").code == 0
    assert total(call, sample) == 611
    assert call("--db", sample, "restore", "copy.db", "--yes").code == 0
    assert total(call, sample) == 610
    assert call("--db", sample, "doctor").code == 0
    assert call("--db", "elsewhere.db", "restore", "copy.db").code == 0
    assert total(call, "elsewhere.db") == 610


def test_backup_does_not_overwrite_what_it_was_not_told_to(call: Call, sample: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    assert call("--db", sample, "backup", "notes.txt").code == 2
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert call("--db", sample, "backup", sample).code == 2
    assert call("--db", sample, "backup", "notes.txt", "--overwrite").code == 0
    assert total(call, "notes.txt") == 610


def test_restore_needs_a_yes_and_a_whole_backup(call: Call, sample: str, tmp_path: Path) -> None:
    assert call("--db", sample, "backup", "copy.db").code == 0
    asked = call("--db", sample, "restore", "copy.db")
    assert asked.code == 2
    assert "--yes" in asked.err
    (tmp_path / "broken.db").write_bytes((tmp_path / "copy.db").read_bytes()[:50_000])
    (tmp_path / "text.db").write_text("no logbook, just a line of text", encoding="utf-8")
    for source in ("broken.db", "text.db"):
        assert call("--db", sample, "restore", source, "--yes").code == 1
        assert total(call, sample) == 610
        assert call("--db", "new.db", "restore", source).code == 1
        assert not (tmp_path / "new.db").exists()


def test_so06_restore_is_refused_while_another_program_writes(call: Call, sample: str) -> None:
    assert call("--db", sample, "backup", "copy.db").code == 0
    assert call("--db", sample, "add", "--title", "after the backup").code == 0
    writer = apsw.Connection(sample)
    writer.execute("BEGIN IMMEDIATE")
    refused = call("--db", sample, "restore", "copy.db", "--yes")
    writer.execute("ROLLBACK")
    writer.close()
    assert refused.code == 1
    assert "in use by another program" in refused.err
    assert total(call, sample) == 611


def test_so06_a_reader_sees_the_restored_contents(call: Call, sample: str) -> None:
    assert call("--db", sample, "backup", "copy.db").code == 0
    assert call("--db", sample, "add", "--title", "septimontium").code == 0
    with open_logbook(sample) as book:
        assert len(book.search("septimontium").entries) == 1
        assert call("--db", sample, "restore", "copy.db", "--yes").code == 0
        assert book.search("septimontium", fuzzy_fallback=False, mode="keyword").entries == ()
        assert book.status().entry_count == 610


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entry_index_data SET block = zeroblob(length(block)) WHERE id > 10",
        "DELETE FROM entry_index_data WHERE id > 10",
        "DELETE FROM entry_index_docsize WHERE id < 100",
        "DELETE FROM entry_state WHERE row_id < 100",
        "DELETE FROM vocabulary WHERE term < 'm'",
        "UPDATE enhanced_entries SET raw_text = 'changed elsewhere' WHERE row_id = 5",
        "UPDATE settings SET value = 'another' WHERE key = 'analyzer'",
    ],
)
def test_so10_doctor_finds_a_damaged_index_and_makes_a_new_one(call: Call, sample: str, statement: str) -> None:
    damage(sample, statement)
    found = call("--db", sample, "doctor")
    assert found.code == 1
    assert found.out.startswith("problem: ")
    assert "doctor --repair" in found.out
    document = call("--db", sample, "doctor", "--json")
    assert (document.code, document.document["healthy"]) == (1, False)
    assert document.document["problems"]
    repaired = call("--db", sample, "doctor", "--repair", "--json")
    assert (repaired.code, repaired.document["healthy"], repaired.document["reindexed"]) == (0, True, 610)
    hits = call("--db", sample, "search", "klystron trip", "--mode", "keyword", "--json").document["entries"]
    assert [hit["entry_id"] for hit in hits][:2] == ["TP-0465", "TP-0466"]


def test_what_cannot_be_mended_is_said_and_exits_with_1(call: Call, sample: str) -> None:
    damage(sample, "DELETE FROM attachment_blobs")
    called = call("--db", sample, "doctor", "--repair")
    assert called.code == 1
    assert "attachments have lost their data" in called.out


def test_status_and_searches_notice_what_is_not_indexed_until_reindex(call: Call, sample: str) -> None:
    damage(
        sample,
        "INSERT INTO enhanced_entries (entry_id, source_system, timestamp, author, raw_text, attachments, metadata,"
        " created_at, updated_at, enhancement_status) SELECT 'other', source_system, timestamp, author, 'zirconflex',"
        " attachments, metadata, created_at, updated_at, enhancement_status FROM enhanced_entries LIMIT 1",
    )
    assert call("--db", sample, "status", "--json").document["details"]["unindexed"] == 1
    assert "ariel-lite reindex" in call("--db", sample, "search", "zirconflex").out
    assert call("--db", sample, "reindex", "--json").document["indexed"] == 1
    found = call("--db", sample, "search", "zirconflex", "--json").document
    assert [hit["entry_id"] for hit in found["entries"]] == ["other"]


def test_purge_needs_a_yes(call: Call, sample: str) -> None:
    assert call("--db", sample, "purge").code == 2
    assert total(call, sample) == 610
    assert call("--db", sample, "purge", "--yes", "--json").document["removed"] == 610
    assert total(call, sample) == 0
    assert call("--db", sample, "doctor").code == 0


def test_migrate_makes_an_empty_logbook_and_leaves_a_full_one(call: Call, sample: str) -> None:
    assert call("--db", "new.db", "migrate").code == 0
    assert total(call, "new.db") == 0
    assert call("--db", sample, "migrate", "--json").document["entries"] == 610


def test_rejected_records_stay_in_the_status_until_they_are_read(call: Call, tmp_path: Path) -> None:
    entries = [{"id": "A", "text": "a"}, {"id": "B", "text": "b", "timestamp": "n/a"}]
    source = write_entries(tmp_path / "in.jsonl", entries)
    assert call("--db", "x.db", "ingest", "--source", source).code == 0
    assert "1 records were rejected" in " ".join(call("--db", "x.db", "status").out.split())
    write_entries(tmp_path / "in.jsonl", [{"id": "A", "text": "a"}, {"id": "B", "text": "b"}])
    assert call("--db", "x.db", "ingest", "--source", source).code == 0
    assert call("--db", "x.db", "status", "--json").document["ingestion_problems"] == []


def test_a_logbook_on_read_only_media_can_be_searched(call: Call, sample: str, tmp_path: Path) -> None:
    folder = tmp_path / "media"
    folder.mkdir()
    assert call("--db", sample, "backup", str(folder / "copy.db")).code == 0
    with read_only_media(folder):
        called = call("--db", str(folder / "copy.db"), "search", "klystron", "--json")
    assert called.code == 0
    assert called.document["entries"]
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    "words", [("add", "--text", "x", "--author", "y"), ("restore", "b.db", "--yes"), ("reindex",), ("purge", "--yes")]
)
def test_a_logbook_that_may_not_be_written_says_so(
    call: Call, sample: str, tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert call("--db", sample, "backup", "b.db").code == 0
    folder = tmp_path / "media"
    folder.mkdir()
    shutil.copy("b.db", folder / "copy.db")
    with read_only_media(folder):
        called = call("--db", str(folder / "copy.db"), *words)
    assert called.code == 1
    assert "copy.db may not be written" in called.err
    assert "hint: check the permissions of the file and its folder" in called.err
