"""The bench on a small logbook: all classes are measured, queries find what they should, nothing is left behind."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from ariel_lite.compose import open_logbook
from ariel_lite.errors import InvalidRequestError
from ariel_lite.evaluation.bench import BenchOptions, run_bench
from ariel_lite.evaluation.bench_floor import Floor, quoted
from ariel_lite.evaluation.bench_queries import BenchQuery, Corpus, draw_queries
from ariel_lite.evaluation.bench_report import BenchReport, Ingested, Sample, compare
from ariel_lite.evaluation.synthetic import synthetic_entries, write_synthetic

CLASSES = [
    "rare", "common", "AND", "OR", "NOT", "phrase", "prefix", "identifier", "author filter", "date filter", "typo",
    "no hit",
]  # fmt: skip
ENTRIES = 2_000
QUERIES = 10


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the bench makes its files."""
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the logbook of the run is kept."""
    return tmp_path_factory.mktemp("kept") / "bench.db"


@pytest.fixture(scope="module")
def report(scratch: Path, kept: Path) -> BenchReport:
    """One run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(scratch))
        return run_bench(BenchOptions(entries=ENTRIES, queries=QUERIES, rounds=1, keep=kept))


def _samples(report: BenchReport, kind: str) -> list[Sample]:
    return [sample for sample in report.samples if sample.kind == kind]


def test_every_class_is_measured_with_as_many_different_queries_as_asked(report: BenchReport) -> None:
    assert [comparison.name for comparison in report.classes] == CLASSES
    assert [comparison.queries for comparison in report.classes] == [QUERIES] * len(CLASSES)
    for kind in CLASSES:
        assert len({sample.text for sample in _samples(report, kind)}) == QUERIES
    assert report.overall.queries == QUERIES * len(CLASSES)
    assert report.matching.queries == QUERIES * (len(CLASSES) - 2)


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if kind not in ("typo", "no hit")])
def test_queries_of_words_that_occur_match_exactly(report: BenchReport, kind: str) -> None:
    for sample in _samples(report, kind):
        assert sample.hits > 0, sample.text
        assert not sample.approximate, sample.text


def test_common_words_fill_the_page_and_rare_ones_do_not(report: BenchReport) -> None:
    assert {sample.hits for sample in _samples(report, "common")} == {10}
    assert all(sample.hits < 10 for sample in _samples(report, "rare"))


def test_typos_are_found_approximately_and_unheard_words_not_at_all(report: BenchReport) -> None:
    assert all(sample.hits and sample.approximate for sample in _samples(report, "typo"))
    assert {sample.hits for sample in _samples(report, "no hit")} == {0}


def test_the_logbook_came_through_the_ingestion_and_only_it_is_left(
    report: BenchReport, scratch: Path, kept: Path
) -> None:
    assert list(scratch.iterdir()) == []
    assert report.ingested.entries == ENTRIES
    assert kept.stat().st_size == report.ingested.file_bytes
    with open_logbook(kept, read_only=True) as book:
        assert book.status().entry_count == ENTRIES
        runs = book.service.backend.runs()
        assert [run.entries_added for run in runs] == [ENTRIES]


def test_the_document_is_json_with_every_figure(report: BenchReport) -> None:
    document = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert set(document) == {
        "machine", "entries", "seed", "rounds", "clock", "ingest", "first_search_ms", "first_typo_ms", "classes",
        "overall", "matching", "targets",
    }  # fmt: skip
    assert list(document["classes"]) == CLASSES
    for comparison in (*document["classes"].values(), document["overall"], document["matching"]):
        assert set(comparison) == {"queries", "mean_hits", "approximate", "ours_ms", "floor_ms", "ratio"}
        for side in ("ours_ms", "floor_ms"):
            times = comparison[side]
            assert 0 < times["p50"] <= times["p95"] <= times["max"]
    assert set(document["ingest"]) == {"entries", "seconds", "entries_per_second", "file_bytes"}
    assert {"cores", "load", "system", "processor", "python", "sqlite", "apsw"} == set(document["machine"])
    names = [target["name"] for target in document["targets"]]
    assert names == ["ingest", "file", "p50 over floor", "p95 over floor", "typo p95", "no hit p95"]


def test_a_logbook_of_ones_own_entries_is_measured_too(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    write_synthetic(file, 300, seed=9)
    report = run_bench(BenchOptions(entries=5, queries=2, rounds=1, source=file))
    assert report.ingested.entries == 300
    assert [comparison.name for comparison in report.classes] == CLASSES


@pytest.mark.parametrize("content", ["", "not json\n"])
def test_a_file_without_entries_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "none.jsonl"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidRequestError, match="holds no entries"):
        run_bench(BenchOptions(source=file))


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "precious.db"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(InvalidRequestError, match="exists already"):
        run_bench(BenchOptions(entries=ENTRIES, keep=file))
    assert file.read_text(encoding="utf-8") == "mine"


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def interrupted(message: str) -> None:
        if message.startswith("measuring"):
            assert list(tmp_path.iterdir()) != []
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_bench(BenchOptions(entries=100, queries=1), interrupted)
    assert list(tmp_path.iterdir()) == []


def _drawn(seed: int) -> list[BenchQuery]:
    corpus = Corpus(500, seed)
    for _ in corpus.survey(synthetic_entries(500)):
        pass
    return draw_queries(corpus, 5)


def test_queries_depend_on_the_logbook_and_the_seed_only() -> None:
    assert _drawn(1) == _drawn(1)
    assert _drawn(1) != _drawn(2)


def test_the_floor_is_asked_for_the_same_words_without_fields(tmp_path: Path) -> None:
    by_class = {query.kind: query for query in _drawn(1)}
    assert by_class["AND"].floor == quoted(*by_class["AND"].text.split())
    assert by_class["OR"].floor == " OR ".join(f'"{word}"' for word in by_class["OR"].text.split(" OR "))
    assert by_class["NOT"].floor == " NOT ".join(f'"{word}"' for word in by_class["NOT"].text.split(" NOT "))
    assert by_class["phrase"].floor == by_class["phrase"].text
    assert by_class["prefix"].floor == f'"{by_class["prefix"].text[:-1]}"*'
    for kind in ("author filter", "date filter"):
        assert by_class[kind].floor == quoted(by_class[kind].text.split()[0])
    floor = Floor(tmp_path / "floor.db", (entry["raw_text"] for entry in synthetic_entries(500)))
    for query in _drawn(1):
        assert bool(floor.search(query.floor)) is (query.kind not in ("typo", "no hit")), query
    floor.close()


def test_a_word_with_a_quote_stays_one_word_of_the_floor() -> None:
    assert quoted('a"b', "c") == '"a""b" "c"'


def test_percentiles_count_every_round_and_targets_follow_the_number_of_entries() -> None:
    fast = Sample("AND", "a b", (0.001, 0.003), (0.001, 0.001), 10, False)
    slow = Sample("typo", "c", (0.100, 0.200), (0.002, 0.002), 0, True)
    comparison = compare("both", [fast, slow])
    assert comparison.ours.p50 == pytest.approx(51.5)
    assert comparison.ours.most == pytest.approx(200)
    assert (comparison.queries, comparison.hits, comparison.approximate) == (2, 5.0, 1)
    report = BenchReport(0, 2, "wall", Ingested(13_500, 1.0, 21_000_000), (1.0, 2.0), (fast, slow))
    verdicts = {target.name: (target.limit, target.is_met) for target in report.targets}
    assert verdicts["file"] == (22.0, True)
    assert verdicts["ingest"] == (10_000.0, True)
    assert verdicts["typo p95"] == (50.0, False)
    assert report.matching.ours.most == pytest.approx(3)
