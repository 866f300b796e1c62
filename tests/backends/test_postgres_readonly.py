"""The read-only SQL tool on a server: what it answers, and what it refuses even behind the guard."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from logbooks import entry
from postgres_server import drop_database, new_database

from ariel_lite.backends.postgres import readonly
from ariel_lite.backends.postgres.backend import PostgresBackend
from ariel_lite.backends.postgres.readonly import run_readonly
from ariel_lite.backends.readonly_sql.sql_guard import CheckedStatement
from ariel_lite.backends.sqlite import readonly as sqlite_readonly
from ariel_lite.backends.sqlite.backend import SQLiteBackend
from ariel_lite.errors import DatabaseConnectionError, SearchTimeoutError, SqlRefusedError

ENTRIES = [
    entry("E1", "vacuum leak; beam drop 10%", at="2026-03-01T08:00", author="O'Neil", level=3, tags=["rf"]),
    entry("E2", "Vacuum fine, 1.9 GeV", at="2026-03-05T23:59:59.999999", author="Søren", level=10),
    entry("E3", "klystron", at="2026-03-06", author="JANE", summary="tube", keywords=["a b", "c"]),
]
HONEST = [
    "SELECT count(*) FROM enhanced_entries",
    "SELECT entry_id, author FROM enhanced_entries WHERE raw_text ILIKE '%vacuum%' ORDER BY entry_id",
    "SELECT entry_id FROM enhanced_entries WHERE raw_text LIKE '%10\\%%'",
    "SELECT timestamp, metadata, keywords, summary FROM enhanced_entries ORDER BY timestamp DESC",
    "SELECT EXTRACT(month FROM timestamp) AS m, count(*) AS n FROM enhanced_entries GROUP BY 1",
    "SELECT entry_id FROM enhanced_entries WHERE summary IS DISTINCT FROM 'tube' ORDER BY 1",
    "WITH a AS (SELECT * FROM enhanced_entries), b AS (SELECT author FROM a) SELECT count(*) FROM b",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT sum(n) FROM t",
    "/* leading */ SELECT ';' AS semicolon",
    "SELECT metadata ->> 'level' AS level FROM enhanced_entries WHERE metadata ? 'level' ORDER BY entry_id",
    "SELECT 1 AS x, 2 AS x, NULL AS nothing, TRUE AS yes",
    "SELECT avg(length(raw_text))::numeric(10, 2) AS mean FROM enhanced_entries",
    "SELECT entry_id FROM enhanced_entries WHERE FALSE",
    "SELECT date_trunc('day', timestamp) AS day FROM enhanced_entries WHERE entry_id = 'E2'",
    "SELECT n FROM generate_series(1, 150) AS n",
]
REFUSED = [
    "SELECT * FROM enhanced_entries, pg_user",
    'SELECT * FROM "pg_catalog"."pg_shadow"',
    "SELECT * FROM/**/pg_shadow",
    "WITH a AS (TABLE pg_shadow) SELECT * FROM a",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_ls_dir('.')",
    "SELECT pg_sleep(1)",
    "SELECT pg_terminate_backend(1)",
    "SELECT set_config('a.b', 'c', false)",
    "SELECT current_setting('data_directory')",
    "SELECT pg_advisory_lock(1)",
    "SELECT lo_import('/etc/passwd')",
    "SELECT query_to_xml('SELECT 1', true, true, '')",
    "SELECT * FROM dblink('', 'SELECT 1') AS t(a int)",
    "COPY enhanced_entries TO STDOUT",
    "SELECT * FROM ariel_lite_settings",
    "DELETE FROM enhanced_entries",
    "SELECT 1; SELECT 2",
    "EXPLAIN SELECT 1",
    "SELECT no_column FROM enhanced_entries",
    "SELECT * FROM text_embeddings_absent",
]
BEHIND_THE_GUARD = [
    "DELETE FROM enhanced_entries RETURNING entry_id",
    "SELECT 1) AS x; DELETE FROM enhanced_entries; SELECT * FROM (SELECT 1",
    "SELECT 1) AS x; COMMIT; DELETE FROM enhanced_entries; SELECT * FROM (SELECT 1",
    "SELECT nextval('ingestion_runs_id_seq')",
    "SELECT set_config('transaction_read_only', 'off', true)) AS a; UPDATE enhanced_entries SET author = ''; SELECT (1",
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    made = new_database()
    backend = PostgresBackend(made, create=True)
    backend.upsert(ENTRIES)
    backend.close()
    yield made
    drop_database(made)


@pytest.mark.parametrize("statement", HONEST)
def test_honest_statements_give_what_sqlite_gives(url: str, statement: str, tmp_path: Path) -> None:
    file = SQLiteBackend(tmp_path / "twin.db", create=True)
    file.upsert(ENTRIES)
    file.close()
    assert run_readonly(url, statement) == sqlite_readonly.run_readonly(str(tmp_path / "twin.db"), statement)


@pytest.mark.parametrize("statement", REFUSED)
def test_tricks_are_refused(url: str, statement: str) -> None:
    with pytest.raises(SqlRefusedError):
        run_readonly(url, statement)


@pytest.mark.parametrize("statement", BEHIND_THE_GUARD)
def test_nothing_changes_even_without_the_guard(url: str, statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def blind(text: str) -> CheckedStatement:
        return CheckedStatement(readonly.check_statement("SELECT 1").expression, frozenset(), text, text)

    checked = blind(statement)
    monkeypatch.setattr(readonly, "check_statement", lambda text: checked)
    with pytest.raises(SqlRefusedError):
        run_readonly(url, statement)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*), count(DISTINCT author) FROM enhanced_entries").fetchone() == (3, 3)


def test_row_floods_are_cut(url: str) -> None:
    flood = "SELECT n, lpad('x', 100) AS pad FROM generate_series(1, 9000) AS n"
    answer = run_readonly(url, flood, max_rows=10_000)
    assert (answer["row_count"], answer["truncated"]) == (200, True)
    assert run_readonly(url, flood, max_rows=0)["row_count"] == 1
    wide = "SELECT string_agg(lpad('x', 1000), '') AS w FROM generate_series(1, 900) AS n, generate_series(1, 5) AS m GROUP BY m"
    assert run_readonly(url, wide)["row_count"] == 2
    with pytest.raises(SqlRefusedError, match="larger than 2 MB"):
        run_readonly(url, "SELECT string_agg(lpad('x', 1000), '') FROM generate_series(1, 3000) AS n")


def test_endless_statements_are_stopped(url: str) -> None:
    endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"
    began = time.monotonic()
    with pytest.raises(SearchTimeoutError):
        run_readonly(url, endless, time_limit=0.2)
    assert time.monotonic() - began < 30


def test_a_password_never_shows() -> None:
    with pytest.raises(DatabaseConnectionError) as caught:
        run_readonly("postgresql://op:S3cret-w0rd@127.0.0.1:1/x", "SELECT 1")
    assert "S3cret" not in str(caught.value)


def test_values_are_fit_for_json(url: str) -> None:
    statement = (
        "SELECT DATE '2026-03-05' AS d, INTERVAL '1 day 2 hours' AS i, 1.50::numeric AS n, 'NaN'::double precision AS f,"
        " ARRAY[1, 2] AS a, jsonb_build_object('k', 1) AS j"
    )
    row: dict[str, Any] = run_readonly(url, statement)["rows"][0]
    assert row == {"d": "2026-03-05", "i": "1 day 02:00:00", "n": 1.5, "f": None, "a": [1, 2], "j": {"k": 1}}
