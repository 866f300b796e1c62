"""Each adapter reads its facility's form; what holds for all of them is in test_records.py."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from ingestion_bench import Bench

from ariel_lite.errors import AdapterNotFoundError, IngestionError
from ariel_lite.ingestion.adapters import als_logbook
from ariel_lite.ingestion.adapters.generic_json import create_adapter
from ariel_lite.ingestion.base import AdapterOptions, FacilityAdapter, IncomingEntry, NewEntry
from ariel_lite.records import field_values
from ariel_lite.registry import ADAPTERS, Registry

ALS = {
    "id": "70042",
    "timestamp": "1709573460",
    "author": "M. Tillery",
    "subject": "Re: BTS jitter",
    "details": "Chiller set to <b>0.5</b> F.",
    "category": "Utilities,Shift Summary",
    "tag": "BTS",
    "linkedto": "70035",
    "level": "Info",
    "attachments": [{"url": "https://als.example/x.png"}],
    "shift": "owl",
}
JLAB = {
    "lognumber": 8800139,
    "created": {"timestamp": "1709573460"},
    "author": {"username": "wilk", "firstname": "Dorota", "lastname": "Wilk"},
    "title": "Cold box",
    "body": {"content": "<p>speed<br>mismatch</p>", "type": "text/html"},
    "books": ["MAIN", "CRYO"],
    "tags": ["trip"],
    "attachments": [],
}
ORNL = {
    "ID": 530233,
    "logbook": "Technical",
    "event_time": "2024-03-04T11:31:00-06:00",
    "entry_time": "2024-03-04T12:00:00-06:00",
    "author": "H. S.",
    "title": "Cavity",
    "content": "Processed",
    "segment": "SCL",
    "area": "Linac",
    "reference": "530222",
}
WHEN = datetime(2024, 3, 4, 17, 31, tzinfo=UTC)


def test_als_records(bench: Bench) -> None:
    report = bench.ingest([ALS, {**ALS, "id": "2", "linkedto": "0"}], "als_logbook")
    entry = bench.entry("70042")
    assert (report.source_system, report.added) == ("ALS eLog", 2)
    assert (entry["source_system"], entry["timestamp"], entry["author"]) == ("ALS eLog", WHEN, "M. Tillery")
    assert entry["raw_text"] == "Re: BTS jitter\n\nChiller set to <b>0.5</b> F."
    assert entry["attachments"] == [{"url": "https://als.example/x.png"}]
    assert entry["metadata"] == {
        "title": "Re: BTS jitter",
        "categories": ["Utilities", "Shift Summary"],
        "tags": ["BTS"],
        "linked_to": "70035",
        "level": "Info",
        "shift": "owl",
    }
    assert "linked_to" not in bench.entry("2")["metadata"]


@pytest.mark.parametrize(
    "wrap", [lambda r: [r], lambda r: {"entries": [r]}, lambda r: {"stat": "ok", "data": {"n": 1, "entries": [r]}}]
)
def test_jlab_records(bench: Bench, wrap: Any) -> None:
    import_as_document = wrap(JLAB)
    report = bench.ingest(import_as_document, "jlab_logbook", "jlab.json")
    entry = bench.entry("8800139")
    assert (report.source_system, entry["timestamp"], entry["author"]) == ("JLab Logbook", WHEN, "Dorota Wilk")
    assert entry["raw_text"] == "Cold box\n\nspeed\nmismatch"
    assert entry["metadata"]["html_original"] == "<p>speed<br>mismatch</p>"
    assert entry["metadata"]["author"]["username"] == "wilk"
    assert field_values(entry)["logbook"][:2] == ["MAIN", "CRYO"]
    assert entry["metadata"]["books"] == ["MAIN", "CRYO"]
    assert entry["metadata"]["tags"] == ["trip"]


def test_jlab_text_bodies_are_literal(bench: Bench) -> None:
    bench.ingest(
        [
            {
                **JLAB,
                "body": {"content": "x <p> & y", "type": "text"},
                "author": "wilk",
                "created": "2024-03-04T17:31:00Z",
                "books": "MAIN",
            }
        ],
        "jlab_logbook",
    )
    entry = bench.entry("8800139")
    assert (entry["raw_text"], entry["author"], entry["timestamp"]) == ("Cold box\n\nx <p> & y", "wilk", WHEN)
    assert entry["metadata"]["logbook"] == "MAIN"


def test_ornl_records(bench: Bench) -> None:
    bench.ingest([ORNL, {**ORNL, "ID": 2, "event_time": None}], "ornl_logbook")
    entry = bench.entry("530233")
    assert (entry["source_system"], entry["timestamp"], entry["raw_text"]) == (
        "ORNL Logbook",
        WHEN,
        "Cavity\n\nProcessed",
    )
    assert entry["metadata"] == {
        "title": "Cavity",
        "logbook": "Technical",
        "entry_time": "2024-03-04T12:00:00-06:00",
        "segment": "SCL",
        "area": "Linac",
        "reference": "530222",
        "linked_to": "530222",
    }
    assert bench.entry("2")["timestamp"] == datetime(2024, 3, 4, 18, 0, tzinfo=UTC)


def test_generic_records(bench: Bench) -> None:
    full = {
        "id": 7,
        "timestamp": "2024-03-04T17:31:00Z",
        "author": "A",
        "title": "T",
        "text": "a\r\nb",
        "tags": "rf, vacuum",
        "categories": ["Ops"],
        "books": ["Main"],
        "linked_to": 6,
        "level": "Fault",
        "metadata": {"shift": "day", "title": "old"},
        "event_time": "2024-03-04T17:00:00Z",
        "empty": None,
        "machine": {"ring": 1},
    }
    bench.ingest({"entries": [full]}, name="a.json")
    entry = bench.entry("7")
    assert (entry["raw_text"], entry["source_system"]) == ("T\n\na\nb", "Generic JSON")
    assert entry["metadata"] == {
        "title": "T",
        "tags": ["rf", "vacuum"],
        "categories": ["Ops"],
        "logbook": "Main",
        "books": ["Main"],
        "linked_to": "6",
        "level": "Fault",
        "shift": "day",
        "event_time": "2024-03-04T17:00:00Z",
        "machine": {"ring": 1},
    }


def test_generic_days_ago_count_from_today_in_the_zone(bench: Bench) -> None:
    lines = [
        {"id": "a", "when": {"days_ago": 2, "time": "08:30"}, "text": "x"},
        {"id": "b", "when": {"days_ago": "x"}, "text": "y"},
    ]
    options = AdapterOptions(str(bench.write("w.jsonl", lines)), clock=lambda: datetime(2026, 3, 5, 1, tzinfo=UTC))
    first, second = create_adapter(options).read()
    assert isinstance(first, IncomingEntry)
    assert first.entry["timestamp"] == datetime(2026, 3, 3, 8, 30, tzinfo=UTC)
    assert "unreadable" in getattr(second, "reason", "")


def test_in16_html_only_where_the_source_declares_it(bench: Bench) -> None:
    body = "<p>beam&nbsp;lost</p><script>secretword</script>"
    base = {"timestamp": "2024-03-04T17:31:00Z", "text": body}
    bench.ingest([{"id": "h", "format": "html", **base}, {"id": "t", **base}])
    assert bench.entry("h")["raw_text"] == "beam lost"
    assert bench.entry("h")["metadata"]["html_original"] == body
    assert bench.entry("t")["raw_text"] == body


def test_an_exported_entry_comes_back_as_it_was(bench: Bench) -> None:
    exported = {
        "entry_id": "9",
        "source_system": "ALS eLog",
        "timestamp": "2024-03-04T17:31:00+00:00",
        "author": "A",
        "title": "T",
        "raw_text": "T\n\nbody",
        "attachments": [],
        "metadata": {"title": "T", "tags": ["rf"]},
        "summary": "short",
        "keywords": ["rf"],
        "created_at": "2025-01-01T00:00:00Z",
        "updated_at": "2025-01-01T00:00:00Z",
        "enhancement_status": {},
    }
    bench.ingest([exported])
    entry = bench.entry("9")
    assert (entry["source_system"], entry["raw_text"], entry["timestamp"]) == ("ALS eLog", "T\n\nbody", WHEN)
    assert (entry["metadata"], entry["summary"], entry["keywords"]) == ({"title": "T", "tags": ["rf"]}, "short", ["rf"])


@pytest.mark.parametrize("name", ["generic_json", "als_logbook", "jlab_logbook", "ornl_logbook"])
def test_a_file_of_another_adapter_is_rejected_in_words(bench: Bench, name: str) -> None:
    report = bench.ingest([{"something": 1, "timestamp": "2024-01-01"}], name)
    assert report.exit_code == 1
    assert "right adapter" in report.first_rejects[0].reason


def test_fetch_entries_gives_what_read_gives(bench: Bench) -> None:
    adapter = als_logbook.create_adapter(AdapterOptions(str(bench.write("a.jsonl", [ALS, "broken"]))))
    assert isinstance(adapter, FacilityAdapter)
    assert asyncio.run(kinds(adapter)) == ["IncomingEntry", "Reject"]
    assert asyncio.run(adapter.count_entries()) is None
    with pytest.raises(IngestionError, match="takes no new entries"):
        asyncio.run(adapter.create_entry(NewEntry("s", "d", "a")))


async def kinds(adapter: FacilityAdapter) -> list[str]:
    return [type(item).__name__ async for item in adapter.fetch_entries()]


def test_adapters_are_found_by_file_name() -> None:
    registry = Registry()
    names = registry.names(ADAPTERS)
    assert {"generic_json", "als_logbook", "jlab_logbook", "ornl_logbook"} <= set(names)
    assert all(registry.load(ADAPTERS, name).source_system_name for name in names)
    with pytest.raises(AdapterNotFoundError):
        registry.load(ADAPTERS, "als_logbok")
