"""Opening a file: what cannot be opened says so in one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from ariel_lite.backends.sqlite.backend import open_backend
from ariel_lite.backends.sqlite.connection import Connections
from ariel_lite.config import ARIELConfig
from ariel_lite.errors import DatabaseConnectionError, DatabaseQueryError


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("a file, not a folder")
    with pytest.raises(DatabaseConnectionError, match="cannot be made") as refused:
        open_backend(str(tmp_path / "plain" / "book.db"), ARIELConfig(), create=True)
    assert refused.value.hint


def test_a_file_that_another_program_keeps_to_itself_is_called_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "book.db"
    open_backend(str(path), ARIELConfig(), create=True).close()
    monkeypatch.setattr("ariel_lite.backends.sqlite.connection.BUSY_SECONDS", 0.05)
    keeper = apsw.Connection(str(path))
    keeper.pragma("locking_mode", "exclusive")
    keeper.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(DatabaseConnectionError, match=r"busy|locked|another program") as refused:
            open_backend(str(path), ARIELConfig())
    finally:
        keeper.close()
    assert "doctor" not in refused.value.hint


@pytest.fixture
def connections(tmp_path: Path) -> Iterator[Connections]:
    path = tmp_path / "book.db"
    open_backend(str(path), ARIELConfig(), create=True).close()
    opened = Connections(path)
    yield opened
    opened.close()


def write_what_cannot_be_committed(connections: Connections) -> None:
    with connections.writing() as db:
        db.pragma("defer_foreign_keys", True)
        db.execute("INSERT INTO attachment_files VALUES ('a', 'none', 'a.txt', 'text/plain', 'none', 1, '')")


def test_a_commit_that_fails_leaves_no_transaction_open(connections: Connections) -> None:
    with pytest.raises(DatabaseQueryError, match="FOREIGN KEY"):
        write_what_cannot_be_committed(connections)
    assert not connections.get().in_transaction
    with connections.writing() as db:
        db.execute("INSERT INTO attachment_blobs VALUES ('b', x'00')")
    assert apsw.Connection(str(connections.path)).execute("SELECT count(*) FROM attachment_blobs").get == 1
    assert connections.get().execute("SELECT count(*) FROM attachment_files").get == 0


def test_a_write_amid_a_read_is_refused_instead_of_lost(connections: Connections) -> None:
    with (
        connections.reading(),
        pytest.raises(DatabaseQueryError, match="amid a read") as refused,
        connections.writing(),
    ):
        pass
    assert refused.value.hint
