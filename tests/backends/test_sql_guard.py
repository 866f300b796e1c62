"""Which statements the read-only SQL tool runs at all."""

from __future__ import annotations

import pytest

from ariel_lite.backends.readonly_sql.sql_guard import MAX_CHARACTERS, check_statement
from ariel_lite.errors import SqlRefusedError

ACCEPTED = [
    "SELECT entry_id FROM enhanced_entries WHERE raw_text ILIKE '%beam drop%'",
    "-- a leading comment\n/* and another */ SELECT 1",
    "SELECT 1;",
    "SELECT 1; -- and that was all",
    "SELECT ';', 'DROP TABLE x', $$DELETE; FROM$$ FROM enhanced_entries",
    "SELECT entry_id FROM enhanced_entries -- limit",
    "SELECT entry_id FROM enhanced_entries LIMIT 5;",
    "SELECT 'limit' FROM enhanced_entries",
    "SELECT entry_id FROM enhanced_entries WHERE raw_text LIKE '%update%' OR raw_text LIKE '%;%'",
    "SELECT replace(raw_text, 'drop', '') FROM enhanced_entries",
    "SELECT id, replace(body, 'drop', '') FROM enhanced_entries",
    "WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a) SELECT * FROM b",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT n FROM t",
    "(SELECT 1) UNION ALL (SELECT 2 LIMIT 1) ORDER BY 1",
    "((SELECT 1))",
    'SELECT * FROM public."enhanced_entries" e',
    "SELECT ENTRY_ID FROM Enhanced_Entries",
    "SELECT e.entry_id, q.n FROM enhanced_entries e, LATERAL (SELECT count(*) AS n FROM enhanced_entries) q",
    "SELECT tag FROM enhanced_entries e CROSS JOIN LATERAL jsonb_array_elements_text(e.metadata->'tags') AS t(tag)",
    "SELECT EXTRACT(year FROM timestamp), author IS DISTINCT FROM 'x' FROM enhanced_entries",
    "SELECT count(*) FILTER (WHERE author = 'x') OVER (PARTITION BY author) FROM enhanced_entries",
    "SELECT entry_id FROM text_embeddings_minilm ORDER BY embedding <=> '[1,2]' LIMIT 3",
    "SELECT current_date, current_timestamp, now() - interval '7 days'",
    "SELECT g FROM generate_series(1, 10000) AS g",
    "SELECT d FROM generate_series(date '2026-01-01', now(), interval '1 day') AS d",
    "WITH pg_shadow AS (SELECT 1 AS x) SELECT x FROM pg_shadow",
    "WITH a AS (WITH pg_shadow AS (SELECT 1 AS x) SELECT * FROM pg_shadow) SELECT * FROM a",
    "SELECT 'pg_sleep(10)', 'current_setting' AS \"pg_read_file\"",
]

TABLES = [
    "SELECT * FROM sqlite_master",
    "SELECT * FROM main.sqlite_master",
    'SELECT * FROM "sqlite_master"',
    "SELECT * FROM `sqlite_master`",
    "SELECT * FROM [sqlite_master]",
    "SELECT * FROM settings",
    "SELECT * FROM enhanced_entries, pg_shadow",
    "SELECT * FROM enhanced_entries e JOIN pg_authid ON true",
    "SELECT * FROM (enhanced_entries JOIN pg_authid ON true)",
    "SELECT * FROM/**/pg_shadow",
    'SELECT * FROM "pg_shadow"',
    'SELECT * FROM "pg_catalog"."pg_shadow"',
    "SELECT * FROM pg_catalog.pg_shadow",
    "SELECT * FROM ONLY pg_shadow",
    'SELECT * FROM U&"pg\\005fshadow"',
    'SELECT * FROM "Enhanced_Entries"',
    "SELECT * FROM other.enhanced_entries",
    "SELECT * FROM db.public.enhanced_entries",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM text_windows_minilm",
    "SELECT (SELECT 1 FROM pg_shadow)",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM pg_shadow)",
    "SELECT 1 IN (TABLE pg_shadow)",
    "SELECT 1 = ANY(SELECT 1 FROM pg_shadow)",
    "SELECT ARRAY(SELECT usename FROM pg_shadow)",
    "SELECT 1 LIMIT (SELECT count(*) FROM pg_shadow)",
    "SELECT 1 UNION SELECT 1 FROM pg_shadow",
    "WITH a AS (WITH pg_shadow AS (SELECT 1) SELECT * FROM pg_shadow) SELECT * FROM pg_shadow",
    "WITH pg_shadow AS (SELECT * FROM pg_shadow) SELECT * FROM pg_shadow",
    "WITH b AS (SELECT * FROM pg_shadow), pg_shadow AS (SELECT 1) SELECT * FROM b",
    "(WITH pg_shadow AS (SELECT 1) SELECT 1) UNION SELECT 1 FROM pg_shadow",
    "WITH pg_shadow AS (SELECT 1) SELECT * FROM public.pg_shadow",
]

FUNCTIONS = [
    "SELECT pg_sleep(10)",
    "SELECT PG_SLEEP(10)",
    "SELECT pg_catalog.pg_sleep(10)",
    'SELECT "pg_sleep"(10)',
    'SELECT U&"pg\\005fsleep"(10)',
    "SELECT 1 --\r, pg_sleep(10)",
    "SELECT /* a /* b */ */ pg_sleep(10)",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT * FROM pg_ls_dir('/')",
    "SELECT pg_terminate_backend(1)",
    "SELECT set_config('a', 'b', false)",
    "SELECT current_setting('x')",
    "SELECT pg_advisory_lock(1)",
    "SELECT lo_import('x')",
    "SELECT query_to_xml('SELECT 1', true, true, '')",
    "SELECT * FROM dblink('x', 'y')",
    "SELECT nextval('x')",
    "SELECT version()",
    "SELECT current_user",
    "SELECT user",
    "SELECT session_user",
    "SELECT current_schema",
    "SELECT load_extension('x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT fts3_tokenizer('x')",
    "SELECT hex(zeroblob(400000000))",
    "SELECT printf('%.*c', 500000000, 'x')",
    "SELECT randomblob(100000000)",
    "SELECT repeat('x', 1000000000)",
    "SELECT lpad('x', 1000000000)",
    "SELECT rpad('x', length(raw_text)) FROM enhanced_entries",
    "SELECT group_concat(body) FROM enhanced_entries, entries, entries",
    "SELECT generate_series(1, 1000000000)",
    "SELECT generate_series(1, (SELECT 10))",
    "SELECT generate_series(1, 10, 0)",
    "SELECT generate_series(date '0001-01-01', date '9999-01-01', interval '1 second')",
    "SELECT * FROM now()",
    "SELECT to_tsvector('a') @@ to_tsquery('b')",
]

STATEMENTS = [
    "WITH x AS (SELECT 1) DELETE FROM enhanced_entries",
    "WITH x AS (SELECT 1) DELETE FROM enhanced_entries -- limit",
    "WITH x AS (SELECT 1) UPDATE entries SET body='' RETURNING id",
    "WITH x AS (DELETE FROM enhanced_entries RETURNING *) SELECT * FROM x",
    "WITH x AS (INSERT INTO enhanced_entries VALUES (1) RETURNING *) SELECT * FROM x",
    "UPDATE enhanced_entries SET author='' RETURNING entry_id",
    "PRAGMA query_only=0",
    "PRAGMA table_info(entries)",
    "ATTACH 'x' AS y",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE SELECT 1",
    "VALUES(1)",
    "SELECT * FROM (VALUES (1)) AS v",
    "TABLE enhanced_entries",
    "(TABLE enhanced_entries)",
    "WITH x AS (TABLE pg_shadow) SELECT * FROM x",
    "FROM enhanced_entries",
    "SELECT 1; SELECT 2",
    "SELECT 1; DELETE FROM enhanced_entries",
    "SELECT * INTO x FROM enhanced_entries",
    "SELECT 1 FROM enhanced_entries FOR UPDATE",
    "SELECT * FROM enhanced_entries TABLESAMPLE SYSTEM (1)",
    "COPY enhanced_entries TO '/srv/entries.csv'",
    "COPY (SELECT 1) TO PROGRAM 'x'",
    "DO $$ BEGIN END $$",
    "SET x = 1",
    "SHOW all",
    "CALL x()",
    "SELECT 'pg_shadow'::regclass",
    "SELECT regclass 'pg_shadow'",
    "SELECT 1::oid",
    "SELECT 'x'::pg_catalog.text",
    "SELECT 1 OPERATOR(pg_catalog.+) 2",
    "SELECT $1",
    "SELECT :x",
    "SELECT ?",
    "SELECT x'41'",
    "SELECT E'\\x41'",
    "",
    " ; ",
    "-- nothing",
    "SELECT 'a\x00b'",
    "SELECT '\ud800'",
    "SELECT 'open",
    "SELECT (",
    "SELECT " + "(" * 100 + "1" + ")" * 100,
    "SELECT " + "NOT " * 2000 + "true",
    "SELECT " + "1+" * 4000 + "1",
]


@pytest.mark.parametrize("sql", ACCEPTED)
def test_honest_statements_pass(sql: str) -> None:
    assert check_statement(sql).sql.lstrip("(").startswith(("SELECT", "WITH"))


@pytest.mark.parametrize("sql", TABLES + FUNCTIONS + STATEMENTS)
def test_everything_else_is_refused_in_one_line_with_a_hint(sql: str) -> None:
    with pytest.raises(SqlRefusedError) as caught:
        check_statement(sql)
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 300
    assert "sqlglot" not in caught.value.message
    assert caught.value.hint
    assert not caught.value.is_retriable


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("SELECT pg_sleep(1)", "pg_sleep"),
        ("SELECT * FROM pg_shadow", "pg_shadow"),
        ("WITH x AS (SELECT 1) DELETE FROM enhanced_entries", "DELETE"),
        ("EXPLAIN SELECT 1", "EXPLAIN"),
        ("VALUES (1)", "VALUES"),
        ("TABLE x", "TABLE"),
        ("SELECT 1; SELECT 2", "one statement"),
        ("SELECT 1; DROP TABLE x", "one statement"),
        ("SELECT 'x'::regclass", "regclass"),
    ],
)
def test_the_message_names_what_is_refused(sql: str, word: str) -> None:
    with pytest.raises(SqlRefusedError, match=word):
        check_statement(sql)


def test_tables_are_the_real_ones() -> None:
    checked = check_statement(
        "WITH settings AS (SELECT * FROM ENHANCED_ENTRIES) "
        "SELECT * FROM settings JOIN Text_Embeddings_A USING (entry_id)"
    )
    assert checked.tables == {"enhanced_entries", "text_embeddings_a"}


def test_a_with_query_may_bear_the_name_of_the_real_table() -> None:
    assert (
        check_statement("WITH enhanced_entries AS (SELECT 1 AS x) SELECT x FROM enhanced_entries").tables == frozenset()
    )


@pytest.mark.parametrize(
    ("sql", "written"),
    [
        ("select 1 /* x */ -- y", "SELECT 1"),
        ("SELECT $$it's$$, 'a''b'", "SELECT 'it''s', 'a''b'"),
        ("SELECT E'a\\nb'", "SELECT 'a\nb'"),
        (r"SELECT E'\\ \' ', N'x'", r"SELECT '\ '' ', 'x'"),
        ("SELECT 'C:\\x'", "SELECT 'C:\\x'"),
        ("SELECT a <=> '[1]' < 0.5", "SELECT a <=> '[1]' < 0.5"),
        ("SELECT a->'b'->>0, lower(a #>> '{x,y}')", "SELECT a -> 'b' ->> 0, lower(a #>> '{x,y}')"),
        ("SELECT string_agg(DISTINCT a, ', ' ORDER BY a)", "SELECT string_agg(DISTINCT a, ', ' ORDER BY a)"),
        ("SELECT 'x' = ANY(keywords)", "SELECT 'x' = ANY(keywords)"),
    ],
)
def test_the_text_for_postgresql_is_written_from_the_tree(sql: str, written: str) -> None:
    assert check_statement(sql).sql == written


@pytest.mark.parametrize("sql", ACCEPTED)
def test_the_written_text_passes_again_unchanged(sql: str) -> None:
    written = check_statement(sql).sql
    assert check_statement(written).sql == written


def test_length_limit() -> None:
    fits = f"SELECT '{'x' * (MAX_CHARACTERS - 9)}'"
    assert len(fits) == MAX_CHARACTERS
    assert check_statement(fits).sql == fits
    with pytest.raises(SqlRefusedError, match="20,000"):
        check_statement(fits + " ")
