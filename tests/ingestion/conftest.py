"""An empty logbook to ingest into."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ingestion_bench import Bench

from ariel_lite.backends.sqlite.backend import open_backend
from ariel_lite.config import ARIELConfig


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """An empty logbook."""
    backend = open_backend(str(tmp_path / "logbook.db"), ARIELConfig(), create=True)
    yield Bench(tmp_path, backend)
    backend.close()


@pytest.fixture
def record() -> Callable[..., dict[str, Any]]:
    """A valid generic record; keywords replace its values."""

    def make(entry_id: str = "1", text: str = "RF trip", **values: Any) -> dict[str, Any]:
        return {"id": entry_id, "timestamp": "2026-03-05T10:00:00Z", "author": "A. Smith", "text": text, **values}

    return make
