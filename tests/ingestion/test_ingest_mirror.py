"""Deletions at the source: mirrored only when the source was read as a whole, and never in another source."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from ingestion_bench import Bench

MakeRecord = Callable[..., dict[str, Any]]


@pytest.fixture
def filled(bench: Bench, record: MakeRecord) -> Bench:
    """Three entries of the source and one of another, under an id that the source uses too."""
    bench.ingest([record("1", "other", source_system="Other")])
    bench.ingest([record("1"), record("2"), record("3")])
    assert bench.ids() == ["1", "2", "3", "Generic JSON:1"]
    return bench


def test_in05_what_the_source_no_longer_has_goes(filled: Bench, record: MakeRecord) -> None:
    report = filled.ingest([record("1"), record("3")], mirror=True)
    assert (report.removed, report.unchanged, report.exit_code) == (1, 2, 0)
    assert filled.ids() == ["1", "3", "Generic JSON:1"]
    assert filled.backend.check() == []


def test_another_source_with_the_same_id_stays(filled: Bench, record: MakeRecord) -> None:
    filled.ingest([record("2")], mirror=True)
    assert filled.ids() == ["1", "2"]
    assert filled.entry("1")["source_system"] == "Other"


def test_a_rejected_record_with_an_id_is_not_gone(filled: Bench, record: MakeRecord) -> None:
    report = filled.ingest([record("1"), record("2", timestamp="n/a")], mirror=True)
    assert (report.removed, report.rejected) == (1, 1)
    assert filled.ids() == ["1", "2", "Generic JSON:1"]


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ('{"entries": [{"id": "2", "timestamp": "2026-03-05", "text": "x"}', {}, "could not be read"),
        ([{"id": "2", "timestamp": "2026-03-05", "text": "x"}, "broken"], {}, "no readable id"),
        ([{"id": "2", "timestamp": "2026-03-05", "text": "x"}], {"limit": 5}, "only a part"),
        (
            [{"id": "2", "timestamp": "2026-03-05", "text": "x"}],
            {"since": datetime(2026, 1, 1, tzinfo=UTC)},
            "only a part",
        ),
        ([], {}, "could not be read"),
        ({"entries": []}, {}, "no valid entries"),
    ],
)
def test_nothing_goes_when_the_source_was_not_read_as_a_whole(
    filled: Bench, content: Any, options: dict[str, Any], words: str
) -> None:
    report = filled.ingest(content, mirror=True, **options)
    assert report.removed == 0
    assert len(filled.ids()) == 4
    assert any(words in note for note in report.notes)


def test_without_mirroring_nothing_goes(filled: Bench, record: MakeRecord) -> None:
    assert filled.ingest([record("2")]).removed == 0
    assert len(filled.ids()) == 4


def test_in05_a_record_marked_as_deleted_goes_at_once(filled: Bench, record: MakeRecord) -> None:
    lines = [{"id": "1", "deleted": True}, {"id": 2, "deleted": True}, {"id": "77", "deleted": True}, {"deleted": True}]
    dry = filled.ingest(lines, dry_run=True)
    assert (dry.removed, len(filled.ids())) == (2, 4)
    report = filled.ingest([*lines, record("2", "back again")])
    assert (report.removed, report.rejected, report.added) == (2, 1, 1)
    assert filled.ids() == ["1", "2", "3"]
    assert filled.entry("1")["source_system"] == "Other"
