"""Opening a file: what cannot be opened says so in one line."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from ariel_lite.backends.sqlite.backend import open_backend
from ariel_lite.config import ARIELConfig
from ariel_lite.errors import DatabaseConnectionError


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
