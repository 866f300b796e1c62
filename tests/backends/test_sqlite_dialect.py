"""PostgreSQL's SELECT on a SQLite file: the answers that PostgreSQL 18 gives to the same rows."""

from __future__ import annotations

from typing import Any

import pytest

from ariel_lite.backends.readonly_sql.sql_guard import check_statement
from ariel_lite.backends.sqlite.readonly import run_readonly
from ariel_lite.backends.sqlite.readonly_sql.dialect import to_sqlite
from ariel_lite.errors import SqlRefusedError

IDS = "SELECT entry_id FROM enhanced_entries WHERE {} ORDER BY entry_id"

CONDITIONS: list[tuple[str, str]] = [
    ("raw_text ILIKE '%beam drop%'", "E1"),
    ("raw_text LIKE '%beam drop%'", ""),
    ("raw_text ILIKE '%été%'", "E3"),
    ("raw_text NOT ILIKE '%T%'", ""),
    ("raw_text LIKE '%10\\%%'", "E1"),
    ("raw_text LIKE '%!%%' ESCAPE '!'", "E1"),
    ("raw_text LIKE '%set point%'", "E1 E2"),
    ("raw_text ILIKE ANY(ARRAY['%DUMP%', '%tripped'])", "E3 E4"),
    ("raw_text ILIKE '%' || lower('VACUUM') || '%'", "E2"),
    ("raw_text ~ 'BR-QF-\\d+'", "E3"),
    ("raw_text ~* '\\mvacuum\\M'", "E2"),
    ("raw_text !~* 'vacuum|dump|beam'", "E3"),
    ("raw_text ~ '^the.*limit$'", "E4"),
    ("timestamp >= '2026-03-05'", "E2 E3 E4"),
    ("timestamp > '2026-03-05'", "E3 E4"),
    ("timestamp < '2026-03-05 00:00:00+00'", "E1"),
    ("timestamp = '2026-03-01T08:00:00Z'", "E1"),
    ("timestamp >= '2026-03-06T02:00:00+02:00'", "E4"),
    ("timestamp BETWEEN '2026-03-05' AND '2026-03-06'", "E2 E3 E4"),
    ("timestamp::date = '2026-03-05'", "E2 E3"),
    ("timestamp::date BETWEEN '2026-03-01' AND '2026-03-05'", "E1 E2 E3"),
    ("timestamp::date IN ('2026-03-01', '2026-03-06')", "E1 E4"),
    ("timestamp >= date '2026-03-05' AND timestamp < date '2026-03-05' + 1", "E2 E3"),
    ("timestamp < '2026-03-05'::date + interval '1 day'", "E1 E2 E3"),
    ("date_trunc('day', timestamp) = '2026-03-05'", "E2 E3"),
    ("date(timestamp) = make_date(2026, 3, 6)", "E4"),
    ("timestamp AT TIME ZONE 'America/Los_Angeles' < '2026-03-05'", "E1 E2"),
    ("timestamp > timestamptz '2026-03-06' - interval '1 day'", "E3 E4"),
    ("timestamp - interval '1 month' < '2026-02-02'", "E1"),
    ("timestamp > now() - interval '100 years' AND timestamp < now() + '1 century'", "E1 E2 E3 E4"),
    ("now() - timestamp > interval '1 hour' OR timestamp > current_date", "E1 E2 E3 E4"),
    ("timestamp = (SELECT max(timestamp) FROM enhanced_entries)", "E4"),
    ("timestamp::time > '20:00'", "E3"),
    ("extract(hour FROM timestamp) BETWEEN 1 AND 8", "E1"),
    ("metadata->>'level' = '3'", "E1"),
    ("(metadata->>'level')::int > 2", "E1 E2"),
    ("metadata->'level' = '10'", "E2"),
    ('metadata @> \'{"tags": ["rf"]}\'', "E1 E3"),
    ("metadata ? 'shift'", "E4"),
    ("metadata->'tags' ? 'vac'", "E3"),
    ("(metadata->>'flag')::boolean", "E4"),
    ("metadata::text ILIKE '%OWL%'", "E4"),
    ("jsonb_array_length(attachments) > 0", "E2"),
    ("attachments <> '[]'", "E2"),
    ("'rf' = ANY(keywords)", "E1"),
    ("NOT ('rf' = ANY(keywords))", "E2 E4"),
    ("'rf' <> ALL(keywords)", "E2 E4"),
    ("keywords @> ARRAY['rf', 'beam']", "E1"),
    ("keywords && ARRAY['rf', 'vacuum leak']", "E1 E2"),
    ("keywords IS NULL", "E3"),
    ("keywords = '{}'", "E4"),
    ("author = ANY(ARRAY['JANE', 'O''Neil'])", "E1 E3 E4"),
    ("author = ANY('{JANE}')", "E3 E4"),
    ("author = ANY(SELECT author FROM enhanced_entries WHERE entry_id = 'E3')", "E3 E4"),
    ("summary IS DISTINCT FROM 'beam lost'", "E2 E3 E4"),
    ("summary IS NOT DISTINCT FROM NULL", "E2 E3 E4"),
    ("(author, entry_id) IN (('JANE', 'E3'))", "E3"),
    (
        "EXISTS (SELECT 1 FROM enhanced_entries o WHERE o.author = enhanced_entries.author AND o.entry_id <> 'E3')",
        "E1 E2 E3 E4",
    ),
]

VALUES: list[tuple[str, list[Any]]] = [
    ("7 / 2, 7 / 2.0, 7 % 3, 2 ^ 3, round(2.5), round(-2.5), round(1.005, 2)", [3, 3.5, 1, 8, 3, -3, 1.01]),
    ("'3'::int, 3.7::int, '1.5'::numeric, 1::numeric / 4, 1.239::numeric(5,2)", [3, 4, 1.5, 0.25, 1.24]),
    ("greatest(1, NULL, 2), least(3, 2), coalesce(NULL, 'x'), nullif('a', 'a')", [2, 2, "x", None]),
    ("1 = 1, NULL IS NULL, 'a' LIKE 'A', (1 = 1)::text", [True, True, False, "true"]),
    ("split_part('a,b,c', ',', 2), left('abc', 2), right('abc', 2), left('abc', -1)", ["b", "ab", "bc", "ab"]),
    ("position('b' IN 'abc'), strpos('abc', 'c'), length('äö'), upper('ä'), initcap('a bC')", [2, 3, 2, "Ä", "A Bc"]),
    ("substring('abcdef' FROM 2 FOR 3), substr('abc', 2), substring('abc' FROM -1 FOR 3)", ["bcd", "bc", "a"]),
    (
        "concat('a', NULL, 1), concat_ws('-', 'a', NULL, 'b'), lpad('7', 3, '0'), reverse('ab')",
        ["a1", "a-b", "007", "ba"],
    ),
    (
        "trim(BOTH 'x' FROM 'xax'), btrim(' a '), translate('abc', 'ab', 'x'), chr(65), ascii('A')",
        ["a", "a", "xc", "A", 65],
    ),
    ("date '2026-01-31' + interval '1 month'", ["2026-02-28T00:00:00.000000Z"]),
    ("date '2026-03-05' + 3, date '2026-03-05' - date '2026-03-01'", ["2026-03-08", 4]),
    (
        "timestamptz '2026-03-05 10:00' - timestamptz '2026-03-01 08:30', interval '1 day' * 3",
        ["4 days 01:30:00", "3 days"],
    ),
    ("'2026-03-05 10:00+02'::timestamptz, '10:30'::time", ["2026-03-05T08:00:00.000000Z", "10:30:00"]),
    (
        "date_trunc('week', timestamptz '2026-03-05'), date_trunc('quarter', timestamptz '2026-05-05')",
        ["2026-03-02T00:00:00.000000Z", "2026-04-01T00:00:00.000000Z"],
    ),
    (
        "extract(dow FROM date '2026-03-01'), extract(epoch FROM interval '90 minutes'), date_part('year', date '2026-03-01')",
        [0, 5400, 2026],
    ),
    ("to_char(timestamptz '2026-03-05 14:07:09', 'FMDay, DD Mon YYYY HH12:MI AM')", ["Thursday, 05 Mar 2026 02:07 PM"]),
    ("to_char(1234.5, 'FM9,999.00'), to_char(7, '000')", ["1,234.50", " 007"]),
    (
        "to_timestamp(0), date_bin('6 hours', timestamptz '2026-03-05 08:00', timestamptz '2026-01-01')",
        ["1970-01-01T00:00:00.000000Z", "2026-03-05T06:00:00.000000Z"],
    ),
    (
        "(timestamptz '2026-03-05 08:00')::text, '{\"bb\": 1, \"a\": [2]}'::jsonb::text",
        ["2026-03-05 08:00:00+00", '{"a": [2], "bb": 1}'],
    ),
    (
        "'{\"a\": {\"b\": 1.5}}'::jsonb #>> '{a,b}', '[1, true]'::jsonb -> 1, '[1, true]'::jsonb ->> 1",
        ["1.5", True, "true"],
    ),
    (
        "ARRAY['a', 'b'], (ARRAY['a', 'b'])[2], array_length(ARRAY['a', 'b'], 1), cardinality('{}'::text[])",
        [["a", "b"], "b", 2, 0],
    ),
    ("array_to_string(string_to_array('a b', ' '), '+'), '{a,\"b c\"}'::text[]::text", ["a+b", '{a,"b c"}']),
    ("jsonb_build_object('a', 1, 'b', true), jsonb_typeof('[]'::jsonb)", [{"a": 1, "b": True}, "array"]),
    ("CASE WHEN 1 > 2 THEN 'x' ELSE 'y' END, CASE 'a' WHEN 'a' THEN 1 END, (SELECT 2)", ["y", 1, 2]),
]

QUERIES: list[tuple[str, list[list[Any]]]] = [
    ("SELECT count(*) FROM enhanced_entries", [[4]]),
    ("WITH a AS (SELECT author, count(*) AS n FROM enhanced_entries GROUP BY author), b AS (SELECT max(n) AS m FROM a) SELECT author FROM a, b WHERE n = m", [["JANE"]]),
    ("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 4) SELECT sum(n) FROM t", [[10]]),
    ("WITH RECURSIVE d AS (SELECT min(timestamp) AS ts FROM enhanced_entries UNION ALL SELECT ts + interval '2 days' FROM d WHERE ts < '2026-03-04') SELECT count(*) FROM d", [[3]]),
    ("WITH enhanced_entries AS (SELECT author FROM enhanced_entries WHERE author = 'JANE') SELECT count(*) FROM enhanced_entries", [[2]]),
    ("WITH x AS (SELECT timestamp::date AS day, count(*) FROM enhanced_entries GROUP BY 1) SELECT day, count FROM x WHERE day > '2026-03-04' ORDER BY day", [["2026-03-05", 2], ["2026-03-06", 1]]),
    ("SELECT a FROM (SELECT entry_id, timestamp FROM enhanced_entries) AS s(a, b) WHERE b < '2026-03-02'", [["E1"]]),
    ("SELECT unnest(keywords) AS k, count(*) FROM enhanced_entries GROUP BY k ORDER BY k", [["beam", 1], ["rf", 1], ["vacuum leak", 1]]),
    ("SELECT tag, count(*) FROM enhanced_entries e, jsonb_array_elements_text(e.metadata->'tags') AS tag GROUP BY tag ORDER BY 2 DESC, 1", [["rf", 2], ["vac", 1]]),
    ("SELECT e.entry_id, t.tag FROM enhanced_entries e LEFT JOIN LATERAL jsonb_array_elements_text(e.metadata->'tags') AS t(tag) ON true WHERE e.entry_id < 'E3' ORDER BY 1", [["E1", "rf"], ["E2", None]]),
    ("SELECT kv.k, kv.v FROM enhanced_entries, jsonb_each_text(metadata) AS kv(k, v) WHERE entry_id = 'E4' ORDER BY 1", [["flag", "true"], ["shift", "owl"]]),
    ("SELECT * FROM generate_series(10, 1, -4)", [[10], [6], [2]]),
    ("SELECT d::date, count(entry_id) FROM generate_series('2026-03-04'::timestamptz, '2026-03-05', '1 day') AS d LEFT JOIN enhanced_entries ON timestamp >= d AND timestamp < d + interval '1 day' GROUP BY d ORDER BY d", [["2026-03-04", 0], ["2026-03-05", 2]]),
    ("SELECT DISTINCT ON (author) author, entry_id FROM enhanced_entries ORDER BY author, timestamp DESC LIMIT 1", [["JANE", "E4"]]),
    ("SELECT entry_id, timestamp - lag(timestamp) OVER (ORDER BY timestamp) FROM enhanced_entries ORDER BY timestamp LIMIT 2", [["E1", None], ["E2", "3 days 16:00:00"]]),
    ("SELECT entry_id, row_number() OVER (PARTITION BY author ORDER BY timestamp DESC) FROM enhanced_entries WHERE author = 'JANE' ORDER BY 2", [["E4", 1], ["E3", 2]]),
    ("SELECT count(*) FILTER (WHERE raw_text ILIKE '%set point%'), count(DISTINCT author) FROM enhanced_entries", [[2, 3]]),
    ("SELECT string_agg(DISTINCT author, '; '), string_agg(entry_id, ',' ORDER BY timestamp DESC) FROM enhanced_entries", [["JANE; O'Neil; Søren Økland", "E4,E3,E2,E1"]]),
    ("SELECT array_agg(entry_id ORDER BY entry_id DESC), jsonb_agg(metadata->'level' ORDER BY entry_id) FROM enhanced_entries WHERE author = 'JANE'", [[["E4", "E3"], [2, None]]]),
    ("SELECT summary FROM enhanced_entries ORDER BY summary LIMIT 2", [["beam lost"], [None]]),
    ("SELECT summary FROM enhanced_entries ORDER BY summary DESC LIMIT 1", [[None]]),
    ("SELECT entry_id FROM enhanced_entries ORDER BY entry_id OFFSET 3", [["E4"]]),
    ("SELECT entry_id FROM enhanced_entries ORDER BY entry_id FETCH FIRST 1 ROWS ONLY", [["E1"]]),
    ("(SELECT entry_id FROM enhanced_entries ORDER BY entry_id LIMIT 1) UNION ALL (SELECT 'x') ORDER BY 1 DESC", [["x"], ["E1"]]),
    ("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3", [[1]]),
    ("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY (metadata->>'level')::int) FROM enhanced_entries", [[3]]),
    ("SELECT metadata->'tags', keywords, attachments FROM enhanced_entries WHERE entry_id = 'E1'", [[["rf"], ["beam", "rf"], []]]),
    ("SELECT entry_id, round((1 - (embedding <=> '[1,1,0,0]'))::numeric, 3) FROM text_embeddings_small ORDER BY embedding <=> '[1,1,0,0]' LIMIT 2", [["E2", 1], ["E3", 0.949]]),
    ("SELECT e.author FROM enhanced_entries e JOIN text_embeddings_small USING (entry_id) ORDER BY 1 LIMIT 1", [["JANE"]]),
]  # fmt: skip

NAMES = [
    ("SELECT count(*), max(author), lower(author) FROM enhanced_entries GROUP BY author", "count max lower"),
    ("SELECT timestamp::date, author || 'x', 1, '2'::int FROM enhanced_entries", "timestamp ?column? ?column?_2 int4"),
    ("SELECT CASE WHEN true THEN 1 END, extract(year FROM now()), 'x' AS \"Two Words\"", "case extract Two Words"),
    ("SELECT count(*), count(author) FROM enhanced_entries", "count count_2"),
]

WITHOUT_COUNTERPART = [
    "SELECT regexp_replace(raw_text, 'a', 'b') FROM enhanced_entries",
    "SELECT age(now(), timestamp) FROM enhanced_entries",
    "SELECT author FROM enhanced_entries GROUP BY ROLLUP(author)",
    "SELECT 1 WHERE 'a' SIMILAR TO 'b'",
    "SELECT q.n FROM enhanced_entries e, LATERAL (SELECT count(*) AS n FROM enhanced_entries) q",
    "SELECT 1 EXCEPT ALL SELECT 1",
    "SELECT metadata || '{}'::jsonb FROM enhanced_entries",
    "SELECT raw_text ~ '(?=a)' FROM enhanced_entries",
    "SELECT * FROM unnest(ARRAY['a']) WITH ORDINALITY",
    "SELECT entry_id FROM enhanced_entries FETCH FIRST 1 ROWS WITH TIES",
]

BAD_VALUES = [
    ("SELECT timestamp > 'soon' FROM enhanced_entries", "invalid input syntax for type timestamp"),
    ("SELECT '2026-02-30'::date", "out of range"),
    ("SELECT author::int FROM enhanced_entries", "invalid input syntax for type integer"),
    ("SELECT raw_text::jsonb FROM enhanced_entries", "invalid input syntax for type json"),
    ("SELECT now() AT TIME ZONE 'Mars/Base'", "time zone"),
    ("SELECT timestamp + 1 FROM enhanced_entries", "not defined"),
    ("SELECT body FROM enhanced_entries", "no such column: body"),
    ("SELECT row_id FROM enhanced_entries", "no such column: row_id"),
    ("SELECT lower() FROM enhanced_entries", "lower"),
    ("SELECT raw_text ~ '(((a{9}){99}){99})' FROM enhanced_entries", "repeats too much"),
]


def rows(path: str, sql: str) -> list[list[Any]]:
    return [list(row.values()) for row in run_readonly(path, sql)["rows"]]


@pytest.mark.parametrize(("condition", "expected"), CONDITIONS)
def test_conditions(sql_logbook: str, condition: str, expected: str) -> None:
    assert [row[0] for row in rows(sql_logbook, IDS.format(condition))] == expected.split()


@pytest.mark.parametrize(("expressions", "expected"), VALUES)
def test_expressions(sql_logbook: str, expressions: str, expected: list[Any]) -> None:
    found = rows(sql_logbook, f"SELECT {expressions}")[0]
    assert found == expected
    assert [isinstance(value, bool) for value in found] == [isinstance(value, bool) for value in expected]


@pytest.mark.parametrize(("sql", "expected"), QUERIES)
def test_queries(sql_logbook: str, sql: str, expected: list[list[Any]]) -> None:
    assert rows(sql_logbook, sql) == expected


@pytest.mark.parametrize(("sql", "expected"), NAMES)
def test_columns_are_named_as_postgresql_names_them(sql_logbook: str, sql: str, expected: str) -> None:
    assert " ".join(run_readonly(sql_logbook, sql)["columns"]) == expected


@pytest.mark.parametrize("sql", WITHOUT_COUNTERPART)
def test_what_sqlite_lacks_is_said(sql: str) -> None:
    with pytest.raises(SqlRefusedError, match="no counterpart on SQLite") as caught:
        to_sqlite(check_statement(sql))
    assert caught.value.hint


@pytest.mark.parametrize(("sql", "message"), BAD_VALUES)
def test_bad_values_are_errors_as_in_postgresql(sql_logbook: str, sql: str, message: str) -> None:
    with pytest.raises(SqlRefusedError, match=message) as caught:
        run_readonly(sql_logbook, sql)
    assert "\n" not in caught.value.message


def test_star_shows_the_contract_columns_only(sql_logbook: str) -> None:
    columns = run_readonly(sql_logbook, "SELECT * FROM enhanced_entries LIMIT 1")["columns"]
    assert columns[:3] == ["entry_id", "source_system", "timestamp"]
    assert "row_id" not in columns
    assert len(columns) == 12


def test_a_literal_compared_with_a_moment_is_translated_once() -> None:
    sql = to_sqlite(check_statement("SELECT 1 FROM enhanced_entries WHERE timestamp >= '2026-03-05'"))
    assert sql.endswith("WHERE \"timestamp\" >= '2026-03-05T00:00:00.000000Z'")
