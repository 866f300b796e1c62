"""A server's logbook and a file beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ariel_lite.compose import Logbook, open_logbook

HASHING = {"embedding": {"provider": "hashing", "model": "hashing"}}


@pytest.fixture
def server(url: str) -> Iterator[Logbook]:
    """A logbook on the server, with quick vectors."""
    with open_logbook(url, config=HASHING) as book:
        yield book


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Logbook]:
    """A logbook in a file, with quick vectors."""
    with open_logbook(tmp_path / "logbook.db", config=HASHING) as book:
        yield book
