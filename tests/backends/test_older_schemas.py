"""Logbooks of an older schema: brought up to date when they are opened for writing, readable as they are before."""

from __future__ import annotations

from pathlib import Path

import apsw
import psycopg
import pytest
from logbooks import entries
from read_only_media import read_only_media

from ariel_lite.backends.base import Backend
from ariel_lite.backends.postgres.backend import PostgresBackend
from ariel_lite.backends.sqlite.backend import SQLiteBackend
from ariel_lite.errors import DatabaseConnectionError, DatabaseQueryError
from ariel_lite.query.nodes import Everything

MODULE = "semantic_processor"
BEFORE_DRAFTS = """
DROP VIEW noted_enhancements; DROP TRIGGER enhancement_noted; DROP TRIGGER enhancement_renoted;
DROP TRIGGER enhancement_gone; DROP TABLE enhancement_state; DROP TABLE enhancement_claims; DROP TABLE drafts;
DROP TABLE staged_files; DELETE FROM settings WHERE key = 'edited'; DELETE FROM ariel_migrations WHERE name LIKE '0003%'; PRAGMA user_version = 2;
"""
BEFORE_DRAFTS_ON_THE_SERVER = """
DROP TABLE ariel_lite_drafts, ariel_lite_staged_files, ariel_lite_enhancement_claims;
UPDATE ariel_lite_settings SET value = '1' WHERE key = 'schema';
"""


def fill(backend: Backend) -> None:
    backend.upsert(entries("klystron trip", "beam back", "septum"))
    backend.mark_complete(MODULE, ["E1"])
    backend.mark_failed(MODULE, {"E2": "x"})
    backend.save_draft("d1", {})


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    path = tmp_path / "old.db"
    backend = SQLiteBackend(path, create=True)
    fill(backend)
    backend.close()
    with apsw.Connection(str(path)) as connection:
        connection.execute(BEFORE_DRAFTS)
    connection.close()
    return path


@pytest.fixture
def old_database(url: str) -> str:
    backend = PostgresBackend(url, create=True)
    fill(backend)
    backend.close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(BEFORE_DRAFTS_ON_THE_SERVER)
    return url


def check_reading(backend: Backend) -> None:
    assert [entry["entry_id"] for entry in backend.get_entries(["E3", "E1"])] == ["E3", "E1"]
    assert backend.count(Everything()) == 3
    assert backend.enhancement_counts(MODULE) == {"complete": 1, "failed": 1, "pending": 1}
    assert [entry["entry_id"] for entry in backend.incomplete(MODULE)] == ["E2", "E3"]
    assert (backend.drafts(), backend.get_draft("d1"), backend.staged_file("att-1")) == ([], None, None)
    assert backend.check() == []
    assert len(list(backend.iterate_changed(Everything(), None))) == 3
    with pytest.raises(DatabaseQueryError, match="reading only"):
        backend.save_draft("d1", {})


def check_writing(backend: Backend) -> None:
    assert backend.enhancement_counts(MODULE) == {"complete": 1, "failed": 1, "pending": 1}
    assert backend.mark_pending(MODULE, "failed") == 1
    assert [pending.entry_id for pending in backend.claim_unenhanced(MODULE, "w", 9)] == ["E2", "E3"]
    assert backend.save_draft("d1", {"a": 1}) == backend.get_draft("d1")
    assert backend.check() == []


def test_an_older_file_is_read_as_it_is_and_migrated_for_writing(old_file: Path) -> None:
    before = old_file.read_bytes()
    reader = SQLiteBackend(old_file, read_only=True)
    check_reading(reader)
    reader.close()
    assert old_file.read_bytes() == before
    writer = SQLiteBackend(old_file)
    assert writer.migrate() == ["0003_create_authoring_tables"]
    with apsw.Connection(str(old_file)) as file:
        assert file.execute("SELECT count(*) FROM settings WHERE key = 'edited'").get == 1
    check_writing(writer)
    writer.close()


def test_an_older_file_on_read_only_media_is_read(old_file: Path) -> None:
    with read_only_media(old_file.parent):
        reader = SQLiteBackend(old_file, read_only=True)
        check_reading(reader)
        reader.close()


def test_a_backup_of_an_older_file_is_restored(old_file: Path, tmp_path: Path) -> None:
    backend = SQLiteBackend(tmp_path / "new.db", create=True)
    backend.upsert(entries("one"))
    assert backend.restore(old_file) == 3
    check_writing(backend)
    backend.close()


def test_drafts_and_notes_are_in_a_backup(tmp_path: Path) -> None:
    backend = SQLiteBackend(tmp_path / "a.db", create=True)
    fill(backend)
    backend.stage_file("att-1", "a.txt", "text/plain", b"abc")
    backend.backup(tmp_path / "copy.db")
    backend.close()
    other = SQLiteBackend(tmp_path / "b.db", create=True)
    other.restore(tmp_path / "copy.db")
    staged = other.staged_file("att-1")
    assert staged is not None
    assert staged.data == b"abc"
    assert len(other.drafts()) == 1
    assert other.enhancement_counts(MODULE) == {"complete": 1, "failed": 1, "pending": 1}
    other.close()


def test_a_file_from_before_vectors_is_refused_for_reading(old_file: Path) -> None:
    with apsw.Connection(str(old_file)) as connection:
        connection.pragma("user_version", 1)
    connection.close()
    with pytest.raises(DatabaseConnectionError, match="older schema"):
        SQLiteBackend(old_file, read_only=True)


def test_notes_that_do_not_agree_are_found_and_mended(tmp_path: Path) -> None:
    backend = SQLiteBackend(tmp_path / "a.db", create=True)
    fill(backend)
    with apsw.Connection(str(tmp_path / "a.db")) as connection:
        connection.execute("DELETE FROM enhancement_state; INSERT INTO enhancement_state VALUES ('x', 'complete', 1)")
    connection.close()
    assert [problem.repairable for problem in backend.check()] == [True]
    backend.reindex()
    assert backend.check() == []
    assert backend.enhancement_counts(MODULE) == {"complete": 1, "failed": 1, "pending": 1}
    backend.close()


def test_other_programs_notes_count(tmp_path: Path) -> None:
    backend = SQLiteBackend(tmp_path / "a.db", create=True)
    fill(backend)
    noted = """{"semantic_processor": {"status": "complete"}, "odd": [], "other": {"status": 3}}"""
    with apsw.Connection(str(tmp_path / "a.db")) as connection:
        connection.execute(
            "UPDATE enhanced_entries SET enhancement_status = ? WHERE entry_id IN ('E2', 'E3')", (noted,)
        )
    connection.close()
    assert backend.enhancement_counts(MODULE) == {"complete": 3, "failed": 0, "pending": 0}
    assert backend.check() == []
    backend.close()


def test_an_older_database_is_read_as_it_is_and_migrated_for_writing(old_database: str) -> None:
    reader = PostgresBackend(old_database, read_only=True)
    check_reading(reader)
    reader.close()
    writer = PostgresBackend(old_database)
    assert writer.migrate() == ["0002_create_authoring_tables"]
    check_writing(writer)
    writer.close()
