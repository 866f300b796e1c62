"""Evaluating modes on small collections; vectors are those of the hashing provider."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from logbooks import entries

from ariel_lite.config import ARIELConfig
from ariel_lite.errors import ConfigurationError, InvalidRequestError, SearchExecutionError
from ariel_lite.evaluation.collections import Collection, JudgedQuery
from ariel_lite.evaluation.metrics import METRICS
from ariel_lite.evaluation.scorecard import (
    MODES,
    ModeScores,
    Scorecard,
    embed,
    evaluate,
    judged_logbook,
    needs_vectors,
    store,
)
from ariel_lite.service import ARIELSearchService

CONFIG = ARIELConfig.from_dict({"embedding": {"provider": "hashing", "model": "hashing"}})
TEXTS = {
    "A": "klystron tripped on overvoltage",
    "B": "klystron filament current adjusted",
    "C": "vacuum leak at the septum flange",
    "D": "planned access cancelled",
    "E": "not found in author list",
}
QUERIES = (
    JudgedQuery("1", "klystron", {"A": 2, "B": 1}, "exact"),
    JudgedQuery("2", "septum leak", {"C": 3}, "exact"),
    JudgedQuery("3", "klystron -filament", {"A": 3}, "negation", kept=True),
    JudgedQuery("4", "neutrino", {}, "no_answer"),
    JudgedQuery("5", "septun", {}, "no_answer"),
)


def collection(*, plain: bool = False, queries: tuple[JudgedQuery, ...] = QUERIES) -> Collection:
    """The texts above, judged."""
    return Collection(
        name="small",
        queries=queries,
        documents=len(TEXTS),
        entries=lambda: iter(entries(*TEXTS.items())),
        zone="America/Halifax",
        plain=plain,
        documents_hash="0" * 64,
        fingerprint="1" * 64,
    )


@pytest.fixture
def service() -> Iterator[ARIELSearchService]:
    """The collection's logbook, without vectors."""
    with judged_logbook(collection(), CONFIG) as opened:
        store(opened, collection())
        yield opened


def ask(service: ARIELSearchService, text: str, relevant: dict[str, int], *, plain: bool, mode: str) -> ModeScores:
    """One query's scores."""
    return evaluate(service, [JudgedQuery("q", text, relevant)], mode, plain=plain)


def test_a_golden_set_in_keyword_mode(service: ARIELSearchService) -> None:
    scores = evaluate(service, QUERIES, "keyword", plain=False)
    assert set(scores.scores) == {"1", "2", "3"}
    assert scores.scores["2"] == scores.scores["3"] == dict.fromkeys(METRICS, 1.0)
    assert {name: summary.queries for name, summary in scores.groups.items()} == {"exact": 2, "negation": 1}
    assert scores.without_answer == ("4", "5")
    assert scores.unanswered == {"4"}
    assert scores.approximate == {"5"}


def test_the_json_shape(service: ARIELSearchService) -> None:
    scores = evaluate(service, QUERIES, "keyword", plain=False)
    document = Scorecard(collection(), (scores,)).to_dict()
    assert document["collection"] == "small"
    mode = document["modes"]["keyword"]
    assert set(mode) == {*METRICS, "queries", "intervals", "classes", "no_answer"}
    assert mode["queries"] == 3
    assert mode["recall@50"] == 1
    assert set(mode["classes"]) == {"exact", "negation"}
    assert set(mode["classes"]["exact"]) == {*METRICS, "queries", "intervals"}
    assert mode["no_answer"] == {"queries": 2, "unanswered": 0.5, "approximate": 0.5}


def test_only_queries_without_an_answer(service: ARIELSearchService) -> None:
    scores = evaluate(service, QUERIES[3:], "keyword", plain=False)
    assert scores.summary is None
    assert scores.to_dict()["queries"] == 0


@pytest.mark.parametrize("mode", MODES)
def test_a_collections_queries_are_mere_words(service: ARIELSearchService, mode: str) -> None:
    embed(service)
    for text in ("NOT found in author list", "planned access -cancelled", 'access "planned'):
        relevant = {"E": 1} if "author" in text else {"D": 1}
        assert ask(service, text, relevant, plain=True, mode=mode).scores["q"]["success@1"] == 1


def test_users_queries_keep_their_operators(service: ARIELSearchService) -> None:
    found = ask(service, "access -cancelled", {"D": 1}, plain=False, mode="keyword")
    assert found.scores["q"]["recall@50"] == 0


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_plain_queries_have_no_threshold(mode: str) -> None:
    strict = {"search_modules": {mode: {"settings": {"similarity_threshold": 0.99}}}}
    config = ARIELConfig.from_dict({"embedding": {"provider": "hashing", "model": "hashing"}, **strict})
    with judged_logbook(collection(), config) as opened:
        store(opened, collection())
        embed(opened)
        near = "vacuum trouble"
        assert ask(opened, near, {"C": 1}, plain=True, mode=mode).scores["q"]["recall@10"] == 1
        assert ask(opened, near, {"C": 1}, plain=False, mode=mode).scores["q"]["recall@10"] == 0


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_a_mode_without_vectors_is_not_scored(service: ARIELSearchService, mode: str) -> None:
    with pytest.raises(SearchExecutionError, match=rf"{mode} could not run query 1 .*enhance"):
        evaluate(service, QUERIES, mode, plain=False)


def test_a_mode_without_its_model_is_not_scored() -> None:
    config = ARIELConfig.from_dict({"embedding": {"model": "no-such-model"}})
    with judged_logbook(collection(), config) as opened:
        store(opened, collection())
        with pytest.raises(SearchExecutionError, match="no-such-model"):
            evaluate(opened, QUERIES, "semantic", plain=False)


def test_modes_that_need_vectors(service: ARIELSearchService) -> None:
    assert needs_vectors(service, MODES)
    assert not needs_vectors(service, ["keyword"])
    with pytest.raises(ConfigurationError, match="unknown search mode"):
        needs_vectors(service, ["semantic", "nonsense"])


def test_the_zone_is_the_collections(service: ARIELSearchService) -> None:
    assert service.config.facility.timezone == "America/Halifax"


def test_a_logbook_that_is_kept_is_used_again(tmp_path: Path) -> None:
    stored: list[int] = []
    embedded: list[int] = []
    for _ in range(2):
        with judged_logbook(collection(), CONFIG, tmp_path / "work") as service:
            store(service, collection(), stored.append)
            embed(service, embedded.append)
            assert evaluate(service, QUERIES, "semantic", plain=False).scores["2"]["success@1"] == 1
    assert sum(stored) == sum(embedded) == len(TEXTS)
    assert len(list((tmp_path / "work").glob("small-*.db"))) == 1


def test_a_logbook_that_is_half_filled_is_filled_up(tmp_path: Path) -> None:
    with judged_logbook(collection(), CONFIG, tmp_path) as service:
        service.backend.upsert(entries(("A", TEXTS["A"])))
    with judged_logbook(collection(), CONFIG, tmp_path) as service:
        store(service, collection())
        assert evaluate(service, QUERIES, "keyword", plain=False).scores["2"]["mrr"] == 1


def test_a_logbook_with_other_entries_is_refused(tmp_path: Path) -> None:
    with judged_logbook(collection(), CONFIG, tmp_path) as service:
        service.backend.upsert(entries(("Z", "another")))
        with pytest.raises(InvalidRequestError, match="holds 6 entries, the collection 5"):
            store(service, collection())


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(InvalidRequestError, match="cannot be used"),
        judged_logbook(collection(), CONFIG, tmp_path / "file"),
    ):
        pass


def test_the_depth_limits_what_is_asked_for(service: ARIELSearchService) -> None:
    query = replace(QUERIES[0], text="klystron")
    scores = evaluate(service, [query], "keyword", plain=False, depth=1)
    assert scores.scores["1"]["recall@50"] == 0.5
