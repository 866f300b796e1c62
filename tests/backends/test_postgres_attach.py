"""A database that ARIEL made: used as it is, nothing of it altered, what others write noticed."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from logbooks import entry, found

from ariel_lite.backends.postgres.backend import PostgresBackend
from ariel_lite.compose import Logbook, open_logbook
from ariel_lite.errors import DatabaseConnectionError, DatabaseQueryError

ARIEL = """
CREATE TABLE enhanced_entries (entry_id TEXT PRIMARY KEY, source_system TEXT NOT NULL, timestamp TIMESTAMPTZ NOT NULL,
    author TEXT DEFAULT '', raw_text TEXT NOT NULL, attachments JSONB DEFAULT '[]', metadata JSONB DEFAULT '{}',
    created_at TIMESTAMPTZ DEFAULT now(), updated_at TIMESTAMPTZ DEFAULT now(), enhancement_status JSONB DEFAULT '{}');
CREATE INDEX idx_timestamp ON enhanced_entries (timestamp DESC);
CREATE INDEX idx_text ON enhanced_entries USING gin (to_tsvector('english', raw_text));
CREATE FUNCTION touch() RETURNS trigger AS $$ BEGIN NEW.updated_at = clock_timestamp(); RETURN NEW; END $$
    LANGUAGE plpgsql;
CREATE TRIGGER touch BEFORE UPDATE ON enhanced_entries FOR EACH ROW EXECUTE FUNCTION touch();
CREATE TABLE ingestion_runs (id SERIAL PRIMARY KEY, started_at TIMESTAMPTZ NOT NULL, completed_at TIMESTAMPTZ,
    source_system TEXT NOT NULL, entries_added INTEGER DEFAULT 0, entries_updated INTEGER DEFAULT 0,
    entries_failed INTEGER DEFAULT 0, status TEXT DEFAULT 'running', error_message TEXT, metadata JSONB DEFAULT '{}');
CREATE TABLE ariel_migrations (name TEXT PRIMARY KEY, applied_at TIMESTAMPTZ DEFAULT now(), checksum TEXT);
CREATE EXTENSION vector;
CREATE TABLE text_embeddings_nomic (id SERIAL PRIMARY KEY, entry_id TEXT UNIQUE REFERENCES enhanced_entries (entry_id)
    ON DELETE CASCADE, embedding vector(3), created_at TIMESTAMPTZ DEFAULT now());
INSERT INTO enhanced_entries (entry_id, source_system, timestamp, author, raw_text, metadata) VALUES
    ('A1', 'ALS eLog', '2026-03-05 08:00+00', 'Jane Doe', 'klystron trip at BR-QF-12', '{"tags": ["rf"]}'),
    ('A2', 'ALS eLog', '2026-03-06 08:00+00', NULL, 'vacuum leak', NULL),
    ('A3', 'JLab Logbook', '2026-03-07 08:00+00', 'Øyvind Å', 'beam back', '{"books": ["Ops"]}');
INSERT INTO text_embeddings_nomic (entry_id, embedding) VALUES ('A1', '[1, 0, 0]');
"""
SHAPE = """
SELECT 'column', table_name, column_name || ' ' || data_type || coalesce(column_default, '') FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name NOT LIKE 'ariel_lite%' AND table_name NOT LIKE 'text_windows%'
UNION ALL SELECT 'index', tablename, indexdef FROM pg_indexes WHERE tablename = 'enhanced_entries'
UNION ALL SELECT 'trigger', event_object_table, trigger_name FROM information_schema.triggers
UNION ALL SELECT 'constraint', conrelid::regclass::text, conname FROM pg_constraint WHERE conrelid = 'enhanced_entries'::regclass
ORDER BY 1, 2, 3
"""


def run(url: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def ariel(url: str) -> str:
    run(url, ARIEL)
    return url


@pytest.fixture
def book(ariel: str) -> Iterator[Logbook]:
    with open_logbook(ariel) as opened:
        opened.service.backend.reindex()
        yield opened


def test_an_attached_database_is_searched_after_reindex_and_says_so_before(ariel: str) -> None:
    with open_logbook(ariel) as book:
        backend = book.service.backend
        assert backend.attached
        assert backend.index_gap() == "3 entries are not indexed yet"
        result = book.search("klystron", mode="keyword")
        assert not result.entries
        assert any("not indexed yet" in note.message for note in result.diagnostics)
        assert [e["entry_id"] for e in book.browse().entries] == ["A3", "A2", "A1"]
        assert (backend.status().unindexed, backend.status().indexed) == (3, 0)
        seen: list[int] = []
        assert backend.reindex(progress=seen.append) == 3
        assert sum(seen) == 3
        assert found(book, "br_qf_12") == ["A1"]
        assert found(book, "author:oyvind OR tag:RF") == ["A3", "A1"]
        assert backend.get_entries(["A2"])[0]["author"] == ""
        assert (backend.index_gap(), backend.reindex(), backend.check()) == ("", 0, [])


def test_nothing_of_ariel_is_altered(ariel: str) -> None:
    before = run(ariel, SHAPE)
    with open_logbook(ariel) as book:
        backend = book.service.backend
        backend.reindex()
        backend.upsert([entry("B1", "a new one"), entry("A1", "klystron fine", source="ALS eLog")])
        backend.finish_run(backend.start_run("ALS eLog"), added=1, updated=1, failed=0, error=None, metadata={"x": 1})
        after = [line for line in run(ariel, SHAPE) if line[1] != "attachment_files"]
        assert after == before
        backend.purge(entries=False)
    names = [name for (name,) in run(ariel, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")]
    assert names == [
        "ariel_migrations",
        "attachment_files",
        "enhanced_entries",
        "ingestion_runs",
        "text_embeddings_nomic",
    ]
    assert run(ariel, "SELECT count(*) FROM enhanced_entries") == [(4,)]
    assert run(ariel, "SELECT count(*) FROM text_embeddings_nomic") == [(1,)]


def test_purge_keeps_a_database_usable_and_reports_it(book: Logbook) -> None:
    backend = book.service.backend
    backend.purge(entries=False)
    assert (backend.status().entries, backend.status().unindexed) == (3, 3)
    assert backend.reindex() == 3
    assert found(book, "klystron") == ["A1"]
    backend.purge(entries=True)
    assert backend.status().entries == 0
    assert backend.upsert([entry("N1", "new")]).added == ["N1"]


def test_what_others_write_is_counted_and_indexed(book: Logbook, ariel: str) -> None:
    backend = book.service.backend
    run(ariel, "INSERT INTO enhanced_entries VALUES ('A4', 'ALS eLog', '2026-03-08 08:00+00', 'X', 'septum sparks')")
    assert backend.index_gap() == "1 entry is not indexed yet"
    run(ariel, "UPDATE enhanced_entries SET raw_text = 'klystron replaced' WHERE entry_id = 'A1'")
    run(ariel, "DELETE FROM enhanced_entries WHERE entry_id = 'A3'")
    assert backend.status().unindexed == 2
    assert {problem.repairable for problem in backend.check()} == {True}
    assert len(backend.check()) == 3
    assert backend.reindex() == 2
    assert sorted(found(book, "replaced OR sparks OR beam", fuzzy_fallback=False)) == ["A1", "A4"]
    assert found(book, "trip", fuzzy_fallback=False) == []
    assert backend.check() == []
    assert "leak" in [c.word for c in backend.vocabulary().candidates("leek")]


def test_the_gap_is_remembered_only_while_nothing_changes(book: Logbook, ariel: str) -> None:
    backend = book.service.backend
    assert (backend.index_gap(), backend.index_gap()) == ("", "")
    added = "INSERT INTO enhanced_entries VALUES ('{}', 'ALS eLog', '2026-03-08 08:00+00', 'X', 'septum sparks')"
    with psycopg.connect(ariel) as other:
        other.execute(added.format("A4").encode())
        assert backend.index_gap() == ""
        other.commit()
        assert backend.index_gap() == "1 entry is not indexed yet"
        other.execute(added.format("A5").encode())
        other.rollback()
        assert backend.index_gap() == "1 entry is not indexed yet"
    with backend.transaction():
        assert backend.index_gap() == "1 entry is not indexed yet"
        backend.delete(["A4"])
        assert backend.index_gap() == ""
        backend.upsert([entry("B1", "new")])
        run(ariel, "DELETE FROM ariel_migrations")
    assert backend.index_gap() == ""


def test_an_edit_elsewhere_is_not_taken_for_unchanged(book: Logbook, ariel: str) -> None:
    backend = book.service.backend
    given = entry("A2", "vacuum leak", at="2026-03-06T08:00", source="ALS eLog")
    assert backend.upsert([given]).unchanged == 1
    run(ariel, "UPDATE enhanced_entries SET raw_text = 'edited by ARIEL' WHERE entry_id = 'A2'")
    assert backend.upsert([given]).updated == ["A2"]
    assert backend.get_entries(["A2"])[0]["raw_text"] == "vacuum leak"
    assert backend.check() == []


def test_a_touched_entry_is_no_change(book: Logbook, ariel: str) -> None:
    run(ariel, """UPDATE enhanced_entries SET enhancement_status = '{"semantic_processor": {"status": "pending"}}'""")
    backend = book.service.backend
    assert (backend.status().unindexed, backend.reindex(), backend.check()) == (0, 0, [])


def test_summaries_stand_beside_where_ariel_has_no_column(book: Logbook) -> None:
    backend = book.service.backend
    assert backend.upsert([entry("S1", "text", summary="about septa", keywords=["kicker", "pulse"])]).added == ["S1"]
    stored = backend.get_entries(["S1"])[0]
    assert (stored["summary"], stored["keywords"]) == ("about septa", ["kicker", "pulse"])
    assert found(book, "septa") == ["S1"]
    assert found(book, '"kicker pulse"') == ["S1"]
    assert backend.upsert([entry("S1", "text", summary="about septa", keywords=["kicker", "pulse"])]).unchanged == 1
    assert backend.check() == []


def test_vectors_of_ariel_are_listed_but_not_compared(book: Logbook) -> None:
    backend = book.service.backend
    tables = [
        (table.table_name, table.entry_count, table.dimension, table.is_active) for table in backend.embedding_tables()
    ]
    assert tables == [("text_embeddings_nomic", 1, 3, False)]
    assert not backend.has_vectors()


def test_reading_needs_a_prepared_database(ariel: str) -> None:
    with pytest.raises(DatabaseConnectionError, match="not prepared"):
        PostgresBackend(ariel, read_only=True)
    PostgresBackend(ariel).close()
    reader = PostgresBackend(ariel, read_only=True)
    with pytest.raises(DatabaseQueryError, match="reading only"):
        reader.upsert([entry("E1", "x")])
    reader.close()


def test_an_empty_database_is_made_a_logbook_only_when_asked(url: str) -> None:
    with pytest.raises(DatabaseConnectionError, match="holds no logbook"):
        PostgresBackend(url)
    made = PostgresBackend(url, create=True)
    assert not made.attached
    made.upsert([entry("E1", "x")])
    made.purge(entries=False)
    assert made.status().entries == 0
    made.close()


def test_another_table_of_that_name_is_refused(url: str) -> None:
    run(url, "CREATE TABLE enhanced_entries (entry_id TEXT PRIMARY KEY, title TEXT)")
    with pytest.raises(DatabaseQueryError, match="has no column"):
        PostgresBackend(url)
