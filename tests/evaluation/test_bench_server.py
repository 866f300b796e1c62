"""The bench on a database server: the same queries, honest about what there is not, and careful with what it finds."""

from __future__ import annotations

import json
from collections.abc import Iterator

import psycopg
import pytest
from logbooks import entries, entry
from postgres_server import drop_database, new_database

from ariel_lite.backends.postgres.backend import PostgresBackend
from ariel_lite.cli.bench import bench, server_lines
from ariel_lite.cli.layout import columns, plain
from ariel_lite.cli.output import Output
from ariel_lite.cli.session import Session
from ariel_lite.errors import ARIELException, InvalidRequestError
from ariel_lite.evaluation.bench import NEAREST_QUERIES, BenchOptions
from ariel_lite.evaluation.bench_clusters import Clusters
from ariel_lite.evaluation.bench_report import Ingested
from ariel_lite.evaluation.bench_server import BENCH, run_server_bench
from ariel_lite.evaluation.bench_server_report import ServerReport, ServerSample
from ariel_lite.query.nodes import Everything

CLASSES = [
    "rare", "common", "AND", "OR", "NOT", "phrase", "prefix", "identifier", "author filter", "date filter", "typo",
    "no hit",
]  # fmt: skip
ENTRIES = 600
SMALL = BenchOptions(entries=ENTRIES, queries=3, rounds=1)


@pytest.fixture(scope="module")
def filled() -> Iterator[str]:
    """A database in which the bench has been."""
    url = new_database()
    run_server_bench(BenchOptions(entries=ENTRIES, queries=1, rounds=1), url)
    yield url
    drop_database(url)


@pytest.fixture(scope="module")
def report(filled: str) -> ServerReport:
    """A second run in the same database, with vectors."""
    return run_server_bench(BenchOptions(entries=ENTRIES, queries=3, rounds=2, vectors=True), filled)


def test_every_class_is_measured_and_finds_what_it_should(report: ServerReport) -> None:
    assert [figures.name for figures in report.classes] == CLASSES
    assert [figures.queries for figures in report.classes] == [3] * len(CLASSES)
    for sample in report.samples:
        assert len(sample.seconds) == 2
        assert (sample.hits > 0) is (sample.kind != "no hit"), sample.text
        assert sample.approximate is (sample.kind == "typo"), sample.text


def test_a_second_run_takes_the_entries_of_the_first(report: ServerReport, filled: str) -> None:
    assert report.is_reused
    assert report.ingested.entries == ENTRIES
    backend = PostgresBackend(filled, read_only=True)
    assert backend.count(Everything()) == ENTRIES
    assert [run.entries_added for run in backend.runs(BENCH)] == [ENTRIES]
    assert backend.vector_counts(Clusters(0).model).current == ENTRIES
    backend.close()


def test_the_nearest_are_complete_under_filters_and_hybrid_runs_whole(report: ServerReport) -> None:
    assert report.vectors is not None
    assert [figures.name for figures in report.vectors.nearest] == ["all entries", "one week", "author"]
    for figures in report.vectors.nearest:
        assert figures.queries == NEAREST_QUERIES
        assert figures.recall == 1.0
    assert [figures.name for figures in report.vectors.hybrid] == [*CLASSES, "sentence", "all"]
    assert {figures.degraded for figures in report.vectors.hybrid} == {0}


def test_the_document_says_what_was_measured_where_and_has_no_floor(report: ServerReport, filled: str) -> None:
    document = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert set(document) == {
        "machine", "database", "entries", "seed", "rounds", "clock", "ingest", "first_search_ms", "first_typo_ms",
        "classes", "overall", "matching", "vectors", "targets",
    }  # fmt: skip
    assert document["database"]["server"].startswith("PostgreSQL ")
    assert "pgvector" in document["database"]["server"]
    assert document["ingest"]["earlier_run"] is True
    assert set(document["classes"]["AND"]) == {"queries", "mean_hits", "approximate", "ms"}
    assert [target["name"] for target in document["targets"]] == [
        "keyword p50", "keyword p95", "no hit max", "nearest p95", "one week recall", "author recall",
    ]  # fmt: skip


def test_other_numbers_are_stored_anew(url: str) -> None:
    assert not run_server_bench(BenchOptions(entries=150, queries=1, rounds=1), url).is_reused
    assert run_server_bench(BenchOptions(entries=150, queries=1, rounds=1), url).is_reused
    again = run_server_bench(BenchOptions(entries=120, queries=1, rounds=1, seed=3), url)
    assert (again.is_reused, again.ingested.entries) == (False, 120)
    backend = PostgresBackend(url)
    assert backend.count(Everything()) == 120
    backend.upsert([entry("mine", "a precious entry", source="ARIEL CLI")])
    backend.close()
    with pytest.raises(InvalidRequestError, match="not the bench's"):
        run_server_bench(SMALL, url)


def test_an_interrupted_run_is_begun_anew(url: str) -> None:
    def interrupted(message: str) -> None:
        if message == "ingesting":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_server_bench(SMALL, url, interrupted)
    report = run_server_bench(BenchOptions(entries=100, queries=1, rounds=1), url)
    assert (report.is_reused, report.ingested.entries) == (False, 100)


@pytest.mark.parametrize("kind", ["entries", "draft", "ARIEL"])
def test_what_the_bench_did_not_make_is_refused_and_left_as_it_is(url: str, kind: str) -> None:
    if kind == "ARIEL":
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                "CREATE TABLE enhanced_entries (entry_id TEXT PRIMARY KEY, source_system TEXT, timestamp TIMESTAMPTZ,"
                " author TEXT, raw_text TEXT, attachments JSONB, metadata JSONB, created_at TIMESTAMPTZ,"
                " updated_at TIMESTAMPTZ, enhancement_status JSONB)"
            )
    else:
        backend = PostgresBackend(url, create=True)
        if kind == "draft":
            backend.save_draft("d1", {"subject": "mine"})
        else:
            backend.upsert(entries("mine"))
        backend.close()
    before = contents(url)
    with pytest.raises(ARIELException, match=r"not the bench's|not prepared"):
        run_server_bench(SMALL, url)
    assert contents(url) == before


def contents(url: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1").fetchall()
        counted = connection.execute("SELECT count(*) FROM enhanced_entries").fetchall()
    return [*tables, *counted]


@pytest.mark.parametrize("options", [BenchOptions(clock="cpu"), BenchOptions(keep="x")])  # type: ignore[arg-type]
def test_options_that_only_a_file_has_are_refused(url: str, options: BenchOptions) -> None:
    with pytest.raises(InvalidRequestError):
        run_server_bench(options, url)


def test_the_command_measures_the_server_that_db_names(filled: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--entries", str(ENTRIES), "--queries", "1", "--rounds", "1"]
    session = Session(Output(as_json=True))
    session.choose(filled, None)
    bench.main([*arguments, "--json"], standalone_mode=False, obj=session)
    document = json.loads(capsys.readouterr().out)
    assert document["database"]["server"].startswith("PostgreSQL")
    session = Session(Output(as_json=False))
    session.choose(filled, None)
    bench.main(arguments, standalone_mode=False, obj=session)
    lines = capsys.readouterr().out.splitlines()
    for name in ("rare", "author filter", "no hit", "all", "all that match"):
        assert sum(line.startswith(f"{name} ") for line in lines) >= 1, name
    assert sum(line.endswith((" met", " missed")) for line in lines) == 3
    assert not any("floor" in line for line in lines)


def test_the_table_keeps_80_columns(report: ServerReport) -> None:
    slow = tuple(ServerSample(kind, "q", (98.7654, 123.4567), 0, False) for kind in ("author filter", "no hit"))
    made = ServerReport("x", report.server, 0, 2, Ingested(10**6, 9e5, 10**11), True, (9e5, 9e5), slow, report.vectors)
    widths = [columns(plain(line)) for line in server_lines(made)]
    assert max(widths[1:]) <= 80
