"""A small logbook file for the SQL tool, made with SQLite alone."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

TABLE = """
CREATE TABLE enhanced_entries (
    row_id INTEGER PRIMARY KEY AUTOINCREMENT, entry_id TEXT UNIQUE, source_system TEXT, timestamp TEXT, author TEXT,
    raw_text TEXT, attachments TEXT, metadata TEXT, created_at TEXT, updated_at TEXT, enhancement_status TEXT,
    summary TEXT, keywords TEXT);
CREATE INDEX enhanced_entries_timestamp ON enhanced_entries (timestamp);
CREATE TABLE settings (key TEXT, value TEXT);
INSERT INTO settings VALUES ('secret', 'x');
CREATE TABLE text_embeddings_small (id INTEGER PRIMARY KEY, entry_id TEXT UNIQUE, embedding BLOB, created_at TEXT);
"""

ENTRIES = [
    (
        "E1",
        "2026-03-01T08:00:00",
        "O'Neil",
        "Beam DROP at 10%: set point; update after copy",
        {"level": 3, "tags": ["rf"]},
    ),
    ("E2", "2026-03-05T00:00:00", "Søren Økland", "Vacuum leak, set point changed to 1.9 GeV", {"level": 10}),
    ("E3", "2026-03-05T23:59:59.999999", "JANE", "ÉTÉ shift: BR-QF-12 tripped", {"level": 2, "tags": ["rf", "vac"]}),
    ("E4", "2026-03-06T00:00:00", "JANE", "the injector dump limit", {"shift": "owl", "flag": True}),
]
SUMMARIES = {"E1": "beam lost"}
KEYWORDS = {"E1": ["beam", "rf"], "E2": ["vacuum leak"], "E4": []}


def stored(moment: str) -> str:
    return moment + ("Z" if "." in moment else ".000000Z")


@pytest.fixture
def sql_logbook(tmp_path: Path) -> Iterator[str]:
    """The path of a file whose rows are still in its write-ahead log."""
    path = tmp_path / "logbook.db"
    with apsw.Connection(str(path)) as connection:
        pass
    connection.pragma("journal_mode", "wal")
    connection.execute(TABLE)
    for entry_id, moment, author, text, metadata in ENTRIES:
        keywords = json.dumps(KEYWORDS[entry_id]) if entry_id in KEYWORDS else None
        attachments = json.dumps([{"url": "http://x/1.png"}] if entry_id == "E2" else [])
        when = stored(moment)
        row = (entry_id, "ALS eLog", when, author, text, attachments, json.dumps(metadata), when, when, "{}")
        connection.execute(
            "INSERT INTO enhanced_entries (entry_id, source_system, timestamp, author, raw_text, attachments, metadata,"
            " created_at, updated_at, enhancement_status, summary, keywords) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            (*row, SUMMARIES.get(entry_id), keywords),
        )
    for number, entry_id in enumerate(("E1", "E2", "E3")):
        vector = struct.pack("4f", 1.0, float(number), 0.0, 0.0)
        connection.execute(
            "INSERT INTO text_embeddings_small (entry_id, embedding, created_at) VALUES (?, ?, ?)",
            (entry_id, vector, stored("2026-03-07T00:00:00")),
        )
    yield str(path)
    connection.close()
