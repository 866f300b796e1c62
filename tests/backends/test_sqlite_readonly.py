"""The read-only SQL tool on a file: limits, the second wall behind the guard, and what never changes."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
import sqlite_vec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from read_only_media import read_only_media

from ariel_lite.backends.sqlite.readonly import reading_connection, run_readonly
from ariel_lite.errors import ARIELException, DatabaseConnectionError, SearchTimeoutError, SqlRefusedError

ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"

BEHIND_THE_GUARD = [
    "DELETE FROM main.enhanced_entries",
    "UPDATE main.enhanced_entries SET author = ''",
    "INSERT INTO main.enhanced_entries (entry_id) VALUES ('x')",
    "CREATE TABLE main.x (a)",
    "CREATE TEMP TABLE x (a)",
    "DROP VIEW temp.enhanced_entries",
    "ATTACH ':memory:' AS y",
    "PRAGMA query_only = 0",
    "PRAGMA writable_schema = 1",
    "PRAGMA journal_mode = DELETE",
    "VACUUM",
    "REINDEX",
    "ANALYZE",
    "BEGIN IMMEDIATE",
    "SAVEPOINT x",
    "SELECT * FROM sqlite_master",
    "SELECT count(*) FROM sqlite_master",
    "SELECT * FROM main.settings",
    "SELECT count(*) FROM main.settings",
    "SELECT * FROM pragma_table_list",
    "SELECT * FROM dbstat",
    "SELECT load_extension('x')",
    "SELECT hex(zeroblob(400000000))",
    "SELECT printf('%.*c', 500000000, 'x')",
    "SELECT group_concat(a.raw_text, (SELECT group_concat(value) FROM json_each('[' || replace('x', 'x', '1') || ']')))"
    " FROM main.enhanced_entries a, json_each(pg_series(1, 300, 1)), json_each(pg_series(1, 300, 1))",
]

TOO_LARGE = [
    "SELECT string_agg(raw_text, '') FROM enhanced_entries, generate_series(1, 300), generate_series(1, 300)",
    "SELECT array_agg(raw_text) FROM enhanced_entries, generate_series(1, 300), generate_series(1, 300)",
    "SELECT string_agg(DISTINCT raw_text || a || '.' || b, '') FROM enhanced_entries, generate_series(1, 300) a,"
    " generate_series(1, 300) b",
    "WITH RECURSIVE t(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM t) SELECT max(length(s)) FROM t",
    "SELECT s, s || 'b', s || 'c' FROM (SELECT string_agg(lpad('x', 1000), '') AS s FROM generate_series(1, 1900)) t",
]

REFUSED = [
    "WITH x AS (SELECT 1) DELETE FROM enhanced_entries",
    "UPDATE enhanced_entries SET author = '' RETURNING entry_id",
    "PRAGMA query_only=0",
    "ATTACH 'x' AS y",
    "SELECT load_extension('x')",
    "SELECT * FROM sqlite_master",
    "VALUES (1)",
    "EXPLAIN SELECT 1",
    "SELECT 1; SELECT 2",
]


@pytest.fixture
def many_rows(sql_logbook: str) -> str:
    with closing(apsw.Connection(sql_logbook)) as connection:
        connection.executemany(
            "INSERT INTO enhanced_entries (entry_id, timestamp, raw_text) VALUES (?, '2026-01-01T00:00:00.000000Z', ?)",
            ((f"N{number:04}", "x" * 20_000) for number in range(300)),
        )
    return sql_logbook


def content(path: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM enhanced_entries ORDER BY row_id").fetchall()


def test_the_answer_has_its_four_parts_and_sees_the_write_ahead_log(sql_logbook: str) -> None:
    assert Path(f"{sql_logbook}-wal").stat().st_size > 0
    assert run_readonly(sql_logbook, "SELECT entry_id FROM enhanced_entries ORDER BY 1 LIMIT 1;") == {
        "columns": ["entry_id"],
        "rows": [{"entry_id": "E1"}],
        "row_count": 1,
        "truncated": False,
    }


def test_an_empty_answer_has_its_columns(sql_logbook: str) -> None:
    answer = run_readonly(sql_logbook, "SELECT entry_id, author AS who FROM enhanced_entries WHERE false")
    assert answer == {"columns": ["entry_id", "who"], "rows": [], "row_count": 0, "truncated": False}


@pytest.mark.parametrize(
    ("sql", "max_rows", "count", "truncated"),
    [
        ("SELECT entry_id FROM enhanced_entries -- limit", 50, 50, True),
        ("SELECT 'limit' FROM enhanced_entries", 0, 1, True),
        ("SELECT entry_id FROM enhanced_entries", 5_000, 200, True),
        ("SELECT entry_id FROM enhanced_entries LIMIT 5;", 5, 5, False),
        ("SELECT entry_id FROM enhanced_entries LIMIT 6", 5, 5, True),
    ],
)
def test_rows_are_capped_while_fetching(many_rows: str, sql: str, max_rows: int, count: int, truncated: bool) -> None:
    answer = run_readonly(many_rows, sql, max_rows=max_rows)
    assert (answer["row_count"], len(answer["rows"]), answer["truncated"]) == (count, count, truncated)


def test_the_answer_is_at_most_two_megabytes(many_rows: str) -> None:
    answer = run_readonly(many_rows, "SELECT raw_text FROM enhanced_entries WHERE entry_id LIKE 'N%'", max_rows=200)
    assert answer["truncated"]
    assert 1_900_000 < len(json.dumps(answer)) < 2_100_000


@pytest.mark.parametrize("sql", TOO_LARGE)
def test_values_and_rows_cannot_grow_without_end(sql_logbook: str, sql: str) -> None:
    with pytest.raises(SqlRefusedError):
        run_readonly(sql_logbook, sql)


@pytest.mark.parametrize(
    "sql", [ENDLESS, "SELECT count(*) FROM " + ", ".join(f"generate_series(1,9999) g{n}" for n in "abc")]
)
def test_what_runs_too_long_is_stopped(sql_logbook: str, sql: str) -> None:
    with pytest.raises(SearchTimeoutError, match=r"0\.2 s"):
        run_readonly(sql_logbook, sql, time_limit=0.2)
    assert run_readonly(sql_logbook, "SELECT 1 AS x")["rows"] == [{"x": 1}]


def test_an_endless_recursion_still_gives_its_first_rows(sql_logbook: str) -> None:
    sql = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t"
    answer = run_readonly(sql_logbook, sql, max_rows=3)
    assert [row["n"] for row in answer["rows"]] == [1, 2, 3]
    assert answer["truncated"]


def test_a_pattern_that_would_backtrack_for_ever_does_not(many_rows: str) -> None:
    answer = run_readonly(many_rows, "SELECT count(*) FROM enhanced_entries WHERE raw_text ~ '(x+x+)+y'")
    assert answer["rows"] == [{"count": 0}]


@pytest.mark.parametrize("sql", REFUSED)
def test_refusals_change_nothing_and_the_next_call_is_read_only(sql_logbook: str, sql: str) -> None:
    before = content(sql_logbook)
    with pytest.raises(SqlRefusedError):
        run_readonly(sql_logbook, sql)
    with pytest.raises(SqlRefusedError):
        run_readonly(sql_logbook, "DELETE FROM enhanced_entries")
    assert content(sql_logbook) == before


@pytest.mark.parametrize("sql", BEHIND_THE_GUARD)
def test_the_connection_itself_can_only_read(sql_logbook: str, sql: str) -> None:
    before = content(sql_logbook)
    with closing(reading_connection(sql_logbook, sql, (), time.monotonic() + 5)) as connection:
        with pytest.raises(apsw.Error):
            connection.execute(sql).fetchall()
        assert connection.readonly("main")
    assert content(sql_logbook) == before


def test_values_are_safe_for_json(sql_logbook: str) -> None:
    sql = "SELECT embedding, 1e999 AS big, ln(-1) AS bad, author FROM text_embeddings_small, enhanced_entries LIMIT 1"
    answer = run_readonly(sql_logbook, sql)
    row = json.loads(json.dumps(answer, allow_nan=False))["rows"][0]
    assert row == {"embedding": "0000803f000000000000000000000000", "big": None, "bad": None, "author": "O'Neil"}


def test_a_table_of_vectors_that_is_not_there_is_named_with_those_that_are(sql_logbook: str) -> None:
    with pytest.raises(SqlRefusedError, match="text_embeddings_other") as caught:
        run_readonly(sql_logbook, "SELECT entry_id FROM text_embeddings_other")
    assert "text_embeddings_small" in caught.value.hint


def test_vectors_of_sqlite_vec(sql_logbook: str) -> None:
    with closing(apsw.Connection(sql_logbook)) as connection:
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.execute(
            "CREATE VIRTUAL TABLE text_embeddings_v USING vec0(entry_id TEXT PRIMARY KEY, embedding float[2])"
        )
        connection.execute("INSERT INTO text_embeddings_v VALUES ('E1', '[1,0]'), ('E2', '[0,1]'), ('E3', '[1,1]')")
    sql = (
        "SELECT entry_id FROM text_embeddings_v ORDER BY embedding <=> "
        "(SELECT embedding FROM text_embeddings_v WHERE entry_id = 'E2')"
    )
    assert [row["entry_id"] for row in run_readonly(sql_logbook, sql)["rows"]] == ["E2", "E3", "E1"]
    with pytest.raises(SqlRefusedError, match="text_embeddings_v_chunks"):
        run_readonly(sql_logbook, "SELECT * FROM text_embeddings_v_chunks")


def test_unreadable_files_are_connection_errors(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("not a database at all, just a note " * 50, encoding="utf-8")
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE x (a)")
    for name in ("absent.db", "note.txt", "other.db"):
        with pytest.raises(DatabaseConnectionError):
            run_readonly(str(tmp_path / name), "SELECT 1")
    assert not (tmp_path / "absent.db").exists()


def test_a_file_on_read_only_media(sql_logbook: str, tmp_path: Path) -> None:
    folder = tmp_path / "media"
    folder.mkdir()
    with closing(apsw.Connection(sql_logbook)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(sql_logbook, folder / "copy.db")
    with read_only_media(folder):
        assert run_readonly(str(folder / "copy.db"), "SELECT count(*) FROM enhanced_entries")["rows"] == [{"count": 4}]


SEEDS = [
    "SELECT entry_id, author FROM enhanced_entries WHERE timestamp > now() - interval '7 days' ORDER BY timestamp DESC",
    "WITH a AS (SELECT author, count(*) AS n FROM enhanced_entries GROUP BY 1) SELECT * FROM a WHERE n = ANY('{1,2}')",
    "SELECT DISTINCT ON (author) author, metadata->'tags'->>0, to_char(timestamp, 'Day') FROM enhanced_entries",
    "SELECT k, rank() OVER (ORDER BY count(*)) FROM enhanced_entries, unnest(keywords) AS k GROUP BY k HAVING true",
    "(SELECT 1) UNION ALL SELECT (raw_text ~* 'a|b')::int FROM enhanced_entries; -- end",
]
WORDS = (
    "SELECT FROM WHERE ( ) [ ] ' \" ; -- /* */ , . :: -> ->> @> || $$ E' NULL DISTINCT interval '1' DELETE INTO VALUES "
    "sqlite_master TABLE UNION EXCEPT WITH RECURSIVE AS CASE END * + - ~ 1e999 -1 \\ % _ \x00 \ud800"
)
PIECES = st.one_of(st.text(max_size=4), st.sampled_from(WORDS.split(" ")))


@st.composite
def mutations(draw: st.DrawFn) -> str:
    sql = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(sql)))
        end = min(len(sql), start + draw(st.integers(0, 12)))
        sql = sql[:start] + draw(PIECES) + sql[end:]
    return sql


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sql=mutations())
def test_no_mutation_of_a_statement_crashes_or_writes(sql_logbook: str, sql: str) -> None:
    before = content(sql_logbook)
    outcome = answer_or_message(sql_logbook, sql)
    assert json.dumps(outcome, allow_nan=False)
    assert isinstance(outcome, dict) or (outcome and "\n" not in outcome)
    assert content(sql_logbook) == before


def answer_or_message(path: str, sql: str) -> dict[str, Any] | str:
    try:
        return run_readonly(path, sql, time_limit=2)
    except ARIELException as refusal:
        return refusal.message
