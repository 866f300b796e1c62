"""The bench's second part on a small logbook: vectors lie as described, the nearest are all found, hybrid runs whole."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest

from ariel_lite.backends.values import VectorModel
from ariel_lite.cli.bench import bench, report_lines
from ariel_lite.cli.layout import columns, plain
from ariel_lite.cli.output import Output
from ariel_lite.cli.session import Session
from ariel_lite.compose import open_logbook
from ariel_lite.embeddings.manifest import find_model
from ariel_lite.errors import ConfigurationError
from ariel_lite.evaluation.bench import NEAREST_QUERIES, BenchOptions, run_bench
from ariel_lite.evaluation.bench_clusters import BLOCK, DIMENSION, Clusters
from ariel_lite.evaluation.bench_embedding import BareLoop, packaged_provider, sample_texts
from ariel_lite.evaluation.bench_hybrid import KnownQueries, hybrid_service
from ariel_lite.evaluation.bench_process import NOTHING, SEARCH, peak_bytes, run_child
from ariel_lite.evaluation.bench_queries import SENTENCE_WORDS, Corpus, draw_sentences
from ariel_lite.evaluation.bench_report import BenchReport
from ariel_lite.evaluation.bench_vector_report import VectorReport
from ariel_lite.evaluation.bench_vectors import Truth
from ariel_lite.evaluation.synthetic import synthetic_entries

CLASSES = [
    "rare", "common", "AND", "OR", "NOT", "phrase", "prefix", "identifier", "author filter", "date filter", "typo",
    "no hit", "sentence",
]  # fmt: skip
ENTRIES = 3_000
QUERIES = 4
TEXTS = 24


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the bench makes its files."""
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the logbook of the run is kept."""
    return tmp_path_factory.mktemp("kept") / "bench.db"


@pytest.fixture(scope="module")
def whole(scratch: Path, kept: Path) -> BenchReport:
    """One run."""
    options = BenchOptions(entries=ENTRIES, queries=QUERIES, rounds=1, keep=kept, vectors=True, texts=TEXTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(scratch))
        return run_bench(options)


@pytest.fixture(scope="module")
def report(whole: BenchReport) -> VectorReport:
    """Its second part."""
    assert whole.vectors is not None
    return whole.vectors


def test_every_entry_has_a_vector_in_the_logbook_that_was_searched(
    report: VectorReport, kept: Path, scratch: Path
) -> None:
    assert report.stored.vectors == ENTRIES
    assert kept.stat().st_size == report.stored.file_bytes
    assert list(scratch.iterdir()) == []
    with open_logbook(kept, read_only=True) as book:
        counts = book.service.backend.vector_counts(Clusters(0).model)
    assert (counts.current, counts.missing, counts.stale) == (ENTRIES, 0, 0)


def test_the_nearest_are_complete_with_and_without_filters(report: VectorReport) -> None:
    assert [figures.name for figures in report.nearest] == ["all entries", "one week", "author"]
    for figures in report.nearest:
        assert figures.queries == NEAREST_QUERIES
        assert figures.recall == 1.0, figures.name
    everything, week, author = (figures.allowed for figures in report.nearest)
    assert everything == ENTRIES
    assert 50 < week < 200
    assert 10 < author < ENTRIES / 5


def test_every_class_of_hybrid_searches_uses_both_legs(report: VectorReport) -> None:
    assert [figures.name for figures in report.hybrid] == CLASSES
    for figures in report.hybrid:
        assert figures.queries == QUERIES
        assert figures.hits > 0, figures.name
        assert figures.degraded == 0, figures.name
    assert report.overall.queries == QUERIES * (len(CLASSES) - 1)


def test_the_model_gives_what_the_bare_loop_gives(report: VectorReport) -> None:
    embedding = report.embedding
    assert embedding.texts == TEXTS
    assert 60 < embedding.words < 130
    assert embedding.agreement > 0.9999
    assert embedding.peak_bytes is None or 50e6 < embedding.peak_bytes < 400e6


def test_the_first_search_of_a_process_finds_something_with_the_model(report: VectorReport) -> None:
    assert report.first.entries == TEXTS
    assert report.first.hits > 0
    assert 0 < report.first.bare < report.first.whole


def test_the_document_is_json_with_every_figure(whole: BenchReport) -> None:
    document = json.loads(json.dumps(whole.to_dict(), allow_nan=False))
    vectors = document["vectors"]
    assert set(vectors) == {
        "stored", "first_nearest_ms", "neighbour_cosines", "nearest", "hybrid", "embedding", "first_search",
    }  # fmt: skip
    assert list(vectors["hybrid"]) == [*CLASSES, "all"]
    for figures in (*vectors["nearest"].values(), *vectors["hybrid"].values()):
        assert 0 < figures["ms"]["p50"] <= figures["ms"]["p95"] <= figures["ms"]["max"]
    names = [target["name"] for target in document["targets"]][6:]
    assert names == [
        "nearest recall", "nearest p95", "one week recall", "author recall", "one week p50", "author p50",
        "hybrid p95", "embedding/bare", "embedding peak", "first search",
    ]  # fmt: skip


def test_the_table_has_a_line_for_each_and_keeps_80_columns(whole: BenchReport) -> None:
    lines = list(map(plain, report_lines(whole)))
    assert max(map(columns, lines)) <= 80
    for name in ("all entries ", "one week ", "author ", "sentence ", "embedding ", "first search "):
        assert any(line.startswith(name) for line in lines), name
    assert sum(line.endswith((" met", " missed")) for line in lines) == 16


def test_the_flag_adds_the_second_part_to_the_command(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    small = ["--entries", "150", "--queries", "1", "--rounds", "1", "--texts", "8", "--clock", "cpu", "--json"]
    bench.main([*small, "--vectors"], standalone_mode=False, obj=Session(Output(as_json=True)))
    document = json.loads(capfdbinary.readouterr().out)
    assert document["vectors"]["stored"]["vectors"] == 150
    assert document["vectors"]["embedding"]["texts"] == 8


def test_members_depend_on_the_seed_and_their_number_only() -> None:
    clusters = Clusters(3)
    members = clusters.members(0, BLOCK + 10)
    assert members.shape == (BLOCK + 10, DIMENSION)
    assert members.dtype == np.float32
    np.testing.assert_array_equal(Clusters(3).members(BLOCK - 5, 15), members[BLOCK - 5 :])
    np.testing.assert_allclose(np.linalg.norm(members, axis=1), 1, atol=1e-5)
    assert not np.array_equal(Clusters(4).members(0, 1), members[:1])
    assert len(clusters.members(7, 0)) == 0
    assert clusters.model == VectorModel("bench-clusters", DIMENSION, "bench-clusters-3")


def test_vectors_lie_in_clusters_and_queries_near_members() -> None:
    clusters = Clusters(0)
    members = clusters.members(0, 20_000)
    queries = clusters.queries(50, len(members))
    nearest = np.sort(queries @ members.T, axis=1)[:, ::-1]
    assert 0.65 < np.median(nearest[:, 0]) < 0.85
    assert 0.35 < np.median(nearest[:, 1:10]) < 0.7
    assert np.median(nearest) < 0.15
    among = members[:300] @ members.T
    np.fill_diagonal(among, 0)
    assert 0.5 < np.median(among.max(axis=1)) < 0.75


def test_a_text_always_has_the_same_query() -> None:
    clusters = Clusters(0)
    np.testing.assert_array_equal(clusters.query_of("RF trip", 500), Clusters(0).query_of("RF trip", 500))
    assert clusters.query_of("RF trip", 500) @ clusters.query_of("vacuum leak", 500) < 0.9
    provider = KnownQueries(clusters, 500)
    np.testing.assert_array_equal(provider.embed(["RF trip"], query=True)[0], clusters.query_of("RF trip", 500))
    assert provider.embed([]).shape == (0, DIMENSION)


def test_the_share_counts_equals_as_right_and_what_is_missing_or_not_allowed_as_wrong() -> None:
    rows = np.arange(1, 31)
    angles = np.repeat(np.linspace(0, 1.4, 15), 2)
    truth = Truth(rows, np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32))
    query = np.array([1, 0], dtype=np.float32)
    assert truth.share(query, np.arange(1, 11), None) == 1.0
    assert truth.share(query, np.array([*range(1, 10), 30]), None) == 0.9
    assert truth.share(query, np.array([1] * 10), None) == 0.1
    odd = np.arange(1, 31, 2)
    assert truth.share(query, odd[:10], odd) == 1.0
    assert truth.share(query, np.arange(1, 11), odd) == 0.5
    assert truth.share(query, np.array([3, 5]), np.array([3, 5])) == 1.0
    assert truth.share(query, np.array([3]), np.array([3, 5])) == 0.5
    equal = Truth(rows, np.repeat(query[None], 30, axis=0))
    assert equal.share(query, np.arange(21, 31), None) == 1.0
    nothing = np.array([], dtype=np.int64)
    assert truth.share(query, nothing, nothing) == 1.0


def test_hybrid_takes_the_vectors_of_the_bench_whatever_is_configured(kept: Path, whole: BenchReport) -> None:
    with open_logbook(kept, read_only=True) as book:
        service = hybrid_service(book.service.config, book.service.backend, Clusters(0), whole.ingested.entries)
        found = service.search_now("beam", mode="hybrid", advanced_params={"explain": True})
    assert not found.degraded
    assert any(entry["_ranks"]["semantic"] for entry in found.entries)


def test_sentences_are_words_of_an_entry_in_their_order() -> None:
    corpus = Corpus(300, 1)
    texts = [" ".join(text.lower().split()) for text in corpus.survey(synthetic_entries(300))]
    sentences = draw_sentences(corpus, 20)
    assert len(set(sentences)) == 20
    assert sentences == draw_sentences(corpus, 20)
    for sentence in sentences:
        words = sentence.split()
        assert len(words) == SENTENCE_WORDS
        assert any(set(words) <= set(text.replace(".", " ").split()) for text in texts), sentence


def test_the_bare_loop_gives_the_vectors_of_the_provider_in_their_order() -> None:
    texts = ["Vacuum leak at the gate valve. " * 3, "trip", *sample_texts(4, 2)]
    bare = BareLoop(find_model("all-MiniLM-L6-v2")).embed(texts)
    np.testing.assert_allclose(bare, packaged_provider().embed(texts), atol=1e-4)


def test_a_process_says_what_it_did_and_a_failed_one_why(tmp_path: Path) -> None:
    assert run_child(NOTHING).said == ()
    (tmp_path / "none.txt").write_text("a file, not a folder")
    with pytest.raises(ConfigurationError, match="cannot be made"):
        run_child(SEARCH, str(tmp_path / "none.txt" / "x.db"), "beam")
    peak = peak_bytes()
    assert peak is None or peak > 20e6
