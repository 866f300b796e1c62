"""Fifty clients for a minute while another program ingests: nothing fails, nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from web_load import under_load

from ariel_lite.compose import open_logbook
from ariel_lite.evaluation.synthetic import synthetic_entries


@pytest.mark.slow
def test_many_clients_while_another_program_ingests(tmp_path: Path) -> None:
    location = str(tmp_path / "logbook.db")
    with open_logbook(location) as book:
        book.service.backend.upsert(list(synthetic_entries(30_000)))
    load, missing = under_load(location, clients=50, seconds=60, think=0, ingested=20_000)
    assert load.faults == []
    assert missing == 0
    assert set(load.times) == {"search", "facets", "browse", "entry", "write"}
