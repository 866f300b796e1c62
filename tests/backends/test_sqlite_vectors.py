"""Vectors in the SQLite file: sqlite-vec's tables, what happens without it, other programs, transactions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import numpy as np
import pytest
import sqlite_vec
from logbooks import entries
from meanings import MeaningRegistry, book_over, configuration, enhance, ids, model_of, notes

from ariel_lite.backends.sqlite.backend import SQLiteBackend
from ariel_lite.backends.sqlite.readonly import run_readonly
from ariel_lite.backends.values import EntryVectors
from ariel_lite.compose import Logbook, open_backend
from ariel_lite.embeddings.base import is_storable
from ariel_lite.errors import DatabaseQueryError

TESTS = Path(__file__).parent.parent


def opened(path: Path, *, read_only: bool = False) -> Logbook:
    """The file's logbook, over a backend of its own."""
    backend = open_backend(str(path), configuration(), MeaningRegistry(), create=not read_only, read_only=read_only)
    return book_over(backend, configuration())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed file of three entries with vectors."""
    file = tmp_path / "logbook.db"
    with opened(file) as book:
        book.service.backend.upsert(entries("vacuum", "orbit | kicker", "dose"))
        enhance(book)
    return file


@pytest.fixture
def book(path: Path) -> Iterator[Logbook]:
    """The file, opened."""
    with opened(path) as logbook:
        yield logbook


def with_sqlite_vec(path: Path) -> apsw.Connection:
    """A plain connection of another program, with sqlite-vec."""
    connection = apsw.Connection(str(path))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    return connection


def stored_ids(path: Path, table: str) -> list[int]:
    """The keys of a vec0 table."""
    connection = with_sqlite_vec(path)
    found = [int(key) for (key,) in connection.execute(f"SELECT id FROM {table} ORDER BY id")]
    connection.close()
    return found


def test_the_tables_are_cosine_tables_that_other_programs_can_search(path: Path) -> None:
    connection = with_sqlite_vec(path)
    query = np.array([5, 0, 0, 0, 0, 0, 0, 0], dtype=np.float32).tobytes()
    found = connection.execute(
        "SELECT entry_id, distance FROM text_embeddings_compass WHERE embedding MATCH ? AND k = 1", (query,)
    ).fetchall()
    assert found == [("E1", pytest.approx(0, abs=1e-6))]
    connection.close()
    assert len(stored_ids(path, "text_windows_compass")) == 2


def test_an_edit_takes_the_vectors_and_windows_along(path: Path, book: Logbook) -> None:
    book.service.backend.upsert(entries(("E2", "cafeteria")))
    assert stored_ids(path, "text_embeddings_compass") == [1, 3]
    assert stored_ids(path, "text_windows_compass") == []


def test_a_deletion_takes_the_vectors_and_windows_along(path: Path, book: Logbook) -> None:
    assert book.service.backend.delete(["E2", "E3"]) == 2
    assert stored_ids(path, "text_embeddings_compass") == [1]
    assert stored_ids(path, "text_windows_compass") == []


def test_fewer_windows_leave_none_behind(path: Path, book: Logbook) -> None:
    book.service.backend.upsert(entries(("E2", "orbit | kicker | dose | vacuum")))
    enhance(book)
    assert len(stored_ids(path, "text_windows_compass")) == 4
    book.service.backend.upsert(entries(("E2", "orbit | kicker | dose")))
    enhance(book)
    assert len(stored_ids(path, "text_windows_compass")) == 3


def test_vc15_a_deletion_that_fails_halfway_takes_nothing(path: Path, book: Logbook) -> None:
    connection = with_sqlite_vec(path)
    connection.execute(
        "CREATE TRIGGER keep BEFORE DELETE ON embedding_state WHEN old.row_id = 3"
        " BEGIN SELECT raise(ABORT, 'spurious'); END"
    )
    with pytest.raises(DatabaseQueryError, match="spurious"):
        book.service.backend.delete(["E1", "E2", "E3"])
    connection.execute("DROP TRIGGER keep")
    connection.close()
    assert stored_ids(path, "text_embeddings_compass") == [1, 2, 3]
    assert len(stored_ids(path, "text_windows_compass")) == 2
    assert ids(book, "orbit", "keyword") == ["E2"]
    assert ids(book, "pressure") == ["E1"]
    assert book.service.backend.delete(["E1", "E2", "E3"]) == 3
    assert stored_ids(path, "text_embeddings_compass") == []


def test_vc15_long_ids_are_deleted_like_others(path: Path, book: Logbook) -> None:
    name = "an identifier that is much longer than twelve bytes"
    book.service.backend.upsert(entries((name, "septum")))
    enhance(book)
    assert ids(book, "cooling") == [name]
    assert book.service.backend.delete([name]) == 1
    assert ids(book, "cooling") == []
    assert stored_ids(path, "text_embeddings_compass") == [1, 2, 3]


@pytest.fixture
def without_sqlite_vec(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Logbook]:
    """The file, opened where sqlite-vec's library is missing."""
    monkeypatch.setattr(sqlite_vec, "loadable_path", lambda: "/missing/vec0")
    with opened(path) as logbook:
        yield logbook


def test_vc16_without_sqlite_vec_semantic_says_what_is_missing(without_sqlite_vec: Logbook) -> None:
    for mode, found in (("keyword", ["E1"]), ("semantic", []), ("hybrid", ["E1"])):
        result = without_sqlite_vec.search("vacuum", mode=mode)
        assert [hit["entry_id"] for hit in result.entries] == found
        assert result.degraded == (mode != "keyword")
        assert all("sqlite-vec" in note.message for note in result.diagnostics)
        assert len(result.diagnostics) == (mode != "keyword")


def test_vc16_without_sqlite_vec_all_else_works(without_sqlite_vec: Logbook, path: Path) -> None:
    book, backend = without_sqlite_vec, without_sqlite_vec.service.backend
    assert book.status().entry_count == 3
    assert ids(book, "id:E2", "keyword") == ["E2"]
    assert book.browse().total == 3
    assert run_readonly(str(path), "SELECT entry_id FROM enhanced_entries", max_rows=10)["row_count"] == 3
    assert backend.upsert(entries(("E9", "new"))).added == ["E9"]
    assert backend.upsert(entries(("E1", "septum"))).updated == ["E1"]
    assert backend.delete(["E3"]) == 1
    assert ids(book, "septum", "keyword") == ["E1"]
    assert backend.check() == []
    with pytest.raises(DatabaseQueryError, match="sqlite-vec"):
        enhance(book)


def test_vc16_what_was_changed_without_sqlite_vec_is_right_once_it_is_back(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as missing, opened(path) as book:
        missing.setattr(sqlite_vec, "loadable_path", lambda: "/missing/vec0")
        book.service.backend.upsert(entries(("E1", "septum")))
        book.service.backend.delete(["E3"])
    with opened(path) as book:
        assert ids(book, "pressure") == []
        assert ids(book, "radiation") == []
        assert book.service.backend.vector_counts(model_of(book)).missing == 1
        enhance(book)
        assert ids(book, "cooling") == ["E1"]
        assert ids(book, "pressure") == []


BARE = """
import sqlite3, sys

class Connection:
    '''What a Python built without loadable extensions has.'''

sqlite3.Connection, sqlite3.connect = Connection, None
from meanings import book_over, configuration, ids, MeaningRegistry
from ariel_lite.compose import open_backend
book = book_over(open_backend(sys.argv[1], configuration(), MeaningRegistry()), configuration())
for mode in ("keyword", "semantic", "hybrid"):
    print(ids(book, "vacuum", mode))
book.close()
"""


def test_vc16_a_python_that_cannot_load_extensions_searches_by_meaning(path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
    command = [sys.executable, "-c", BARE, str(path)]
    done = subprocess.run(command, env=environment, text=True, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["['E1']"] * 3


def test_what_another_program_changed_is_never_found_by_its_old_text(path: Path, book: Logbook) -> None:
    assert ids(book, "pressure") == ["E1"]
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE enhanced_entries SET raw_text = 'septum' WHERE entry_id = 'E1'")
    connection.close()
    book.service.backend.reindex()
    assert ids(book, "pressure") == []
    assert "1 of 3 entries have no current vector" in notes(book, "pressure")
    enhance(book)
    assert ids(book, "cooling") == ["E1"]


def test_what_another_program_deleted_leaves_no_vector_that_counts(path: Path, book: Logbook) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM enhanced_entries WHERE entry_id = 'E1'")
    connection.close()
    backend = book.service.backend
    backend.reindex()
    assert ids(book, "pressure", similarity_threshold=-1) == ["E3", "E2"]
    assert [table.entry_count for table in backend.embedding_tables()] == [2]
    assert backend.vector_counts(model_of(book)).current == 2
    assert backend.status().unindexed == 0


def test_an_index_made_anew_keeps_the_vectors(book: Logbook) -> None:
    book.service.backend.reindex(everything=True)
    assert enhance(book).done == 0
    assert ids(book, "pressure") == ["E1"]


def test_purge_removes_the_tables_in_a_process_that_never_searched(path: Path) -> None:
    with opened(path) as book:
        book.service.backend.purge(entries=True)
        assert book.service.backend.embedding_tables() == []
    connection = apsw.Connection(str(path))
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema")]
    connection.close()
    assert not [name for name in names if name.startswith("text_")]


def test_a_restored_logbook_is_searched_by_its_own_vectors(path: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "other.db") as book:
        backend = book.service.backend
        assert isinstance(backend, SQLiteBackend)
        backend.upsert(entries("kicker"))
        enhance(book)
        assert ids(book, "misfire") == ["E1"]
        backend.restore(path)
        assert ids(book, "misfire", similarity_threshold=-1)[0] == "E2"
        assert ids(book, "pressure") == ["E1"]


def test_a_backup_carries_the_vectors(path: Path, tmp_path: Path, book: Logbook) -> None:
    backend = book.service.backend
    assert isinstance(backend, SQLiteBackend)
    backend.backup(tmp_path / "copy.db")
    with opened(tmp_path / "copy.db", read_only=True) as copy:
        assert ids(copy, "pressure") == ["E1"]


def test_an_entry_of_very_many_windows_stays_apart_from_the_next(tmp_path: Path) -> None:
    count = 9000
    with opened(tmp_path / "long.db") as book:
        backend, model = book.service.backend, model_of(book)
        backend.upsert(entries("long", "short"))
        long, short = backend.claim_pending(model, "worker", 9)
        east, north = (np.eye(8, dtype=np.float32)[place] for place in (0, 1))
        backend.store_vectors(model, [EntryVectors(long, east, np.tile(east, (count, 1)))])
        backend.store_vectors(model, [EntryVectors(short, north, np.stack([north, north]))])
        assert ids(book, "pressure") == ["E1"]
        assert ids(book, "klystron") == ["E2"]
        backend.delete(["E1"])
        assert ids(book, "klystron") == ["E2"]
    assert len(stored_ids(tmp_path / "long.db", "text_windows_compass")) == 2


def test_every_stored_vector_is_of_length_1(path: Path) -> None:
    connection = with_sqlite_vec(path)
    for table in ("text_embeddings_compass", "text_windows_compass"):
        for (blob,) in connection.execute(f"SELECT embedding FROM {table}"):
            vector = np.frombuffer(blob, dtype=np.float32)
            assert is_storable(vector)
            assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-6)
    connection.close()
