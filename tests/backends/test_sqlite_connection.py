"""Opening a file: what cannot be opened says so in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ariel_lite.backends.sqlite.backend import open_backend
from ariel_lite.config import ARIELConfig
from ariel_lite.errors import DatabaseConnectionError


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("a file, not a folder")
    with pytest.raises(DatabaseConnectionError, match="cannot be made") as refused:
        open_backend(str(tmp_path / "plain" / "book.db"), ARIELConfig(), create=True)
    assert refused.value.hint
