"""Reading one entry and what stands around it; filter values; capabilities and status."""

from __future__ import annotations

from urllib.parse import quote

import numpy as np
import pytest
from asking import MakePage, error, ids
from logbooks import FIRST, entry

from ariel_lite import __version__
from ariel_lite.backends.values import EntryVectors, VectorModel
from ariel_lite.query.syntax_table import SYNTAX

STRANGE_IDS = ("a/b:c", "/", "a b", "é😀", "50%", "a?b=c&d", "#1", "a+b", "upload", "../x", "a//b", "'\"<>")


@pytest.mark.parametrize("entry_id", STRANGE_IDS)
def test_ids_of_any_characters(make_page: MakePage, entry_id: str) -> None:
    page = make_page([(entry_id, "beam lost")])
    assert page.get(f"/api/entries/{quote(entry_id, safe='')}").json()["entry_id"] == entry_id
    assert page.get(f"/api/context/{quote(entry_id, safe='')}").json()["previous"] is None


def test_matches_are_marked_in_the_whole_text(make_page: MakePage) -> None:
    text = "Beams & <b>\n\n  a   1\n  b\t2 beam"
    page = make_page([("E1", text)])
    marked = page.get("/api/entries/E1", params={"query": "beam author:nobody"}).json()
    assert marked["raw_text"] == text
    assert marked["highlighted_text"] == "<b>Beams</b> &amp; &lt;b&gt;\n\n  a   1\n  b\t2 <b>beam</b>"
    for query in (None, " ", "date:never"):
        assert page.get("/api/entries/E1", params={"query": query} if query else {}).json()["highlighted_text"] is None


@pytest.mark.parametrize("entry_id", ["nothing", "a%00b", "%ff", "x" * 3000])
def test_an_id_that_is_not_there(make_page: MakePage, entry_id: str) -> None:
    page = make_page(["beam"])
    for path in ("/api/entries/", "/api/context/", "/api/attachments/", "/api/drafts/"):
        assert error(page.get(path + entry_id), 404)["code"] == "not_found"


def test_neighbours_in_time_are_the_lists(make_page: MakePage) -> None:
    moments = [FIRST.replace(minute=minute) for minute in (3, 3, 3, 1, 1, 7)]
    page = make_page([entry(name, "x", at=moment) for name, moment in zip("bacedf", moments, strict=True)])
    newest_first = ids(page.get("/api/entries"))
    assert newest_first == ["f", "a", "b", "c", "d", "e"]
    for at, entry_id in enumerate(newest_first):
        around = page.get(f"/api/context/{entry_id}").json()
        assert (around["next"] or {}).get("entry_id") == (newest_first[at - 1] if at else None)
        assert (around["previous"] or {}).get("entry_id") == (newest_first[at + 1] if at < 5 else None)


def test_a_thread_goes_both_ways(make_page: MakePage) -> None:
    page = make_page(
        [
            entry("q", "question", at="2026-01-01"),
            entry("a1", "answer", at="2026-01-03", linked_to="q"),
            entry("a2", "answer", at="2026-01-02", linked_to=["q", "gone"]),
            entry("a3", "answer to an answer", at="2026-01-04", linked_to="a1"),
            entry("a4", "answer to one that is not here", at="2026-01-05", linked_to="gone"),
            entry("other", "x", at="2026-01-02", linked_to="0"),
        ]
    )
    for start in ("q", "a1", "a2", "a3", "a4"):
        thread = [one["entry_id"] for one in page.get(f"/api/context/{start}").json()["thread"]]
        assert thread == [one for one in ("q", "a2", "a1", "a3", "a4") if one != start]
    assert page.get("/api/context/other").json()["thread"] == []


def test_a_thread_that_runs_in_a_circle_ends(make_page: MakePage) -> None:
    page = make_page([entry(f"E{n}", "x", linked_to=f"E{(n + 1) % 80}") for n in range(80)])
    assert len(page.get("/api/context/E0").json()["thread"]) == 50


def test_similar_entries_come_from_the_vectors(make_page: MakePage) -> None:
    page = make_page(["one", "two", "three", "four"])
    around = page.get("/api/context/E1").json()
    assert (around["similar"], around["note"]) == ([], "there are no vectors yet; 'ariel-lite enhance' makes them")
    service = page.service  # type: ignore[attr-defined]
    embedder = service.context.embedder
    model = VectorModel(embedder.name, embedder.dimension, embedder.fingerprint)
    made = {"E1": (1, 0), "E2": (0.6, 0.8), "E3": (0.8, 0.6)}
    waiting = [pending for pending in service.backend.claim_pending(model, "test", 10) if pending.entry_id in made]
    vectors = {name: np.array([*pair, *[0] * (model.dimension - 2)], dtype=np.float32) for name, pair in made.items()}
    service.backend.store_vectors(
        model, [EntryVectors(one, vectors[one.entry_id], vectors[one.entry_id][None]) for one in waiting]
    )
    around = page.get("/api/context/E1").json()
    assert [(one["entry_id"], one["score"]) for one in around["similar"]] == [("E3", 0.8), ("E2", 0.6)]
    assert page.get("/api/context/E4").json()["note"] == "this entry has no vector yet; 'ariel-lite enhance' makes it"


def test_values_of_filters(make_page: MakePage) -> None:
    page = make_page([entry(f"E{n}", "x", author="ABA"[n], logbook="ops", tags=["rf"] * n) for n in range(3)])
    assert page.get("/api/filter-options/authors").json() == {
        "field": "authors",
        "options": [{"value": "A", "label": "A", "count": 2}, {"value": "B", "label": "B", "count": 1}],
    }
    assert [page.get(f"/api/filter-options/{name}").json()["options"][0]["value"] for name in ("logbooks", "tags")] == [
        "ops",
        "rf",
    ]
    assert "authors" in error(page.get("/api/filter-options/colours"), 422)["message"]


def test_capabilities_tell_modes_syntax_and_facility(make_page: MakePage) -> None:
    page = make_page(config={"facility": {"name": "Lab", "timezone": "Europe/Berlin"}})
    told = page.get("/api/capabilities").json()
    assert (told["version"], told["default_mode"]) == (__version__, "keyword")
    assert told["facility"] == {"name": "Lab", "timezone": "Europe/Berlin"}
    assert {mode["name"] for mode in told["categories"]["direct"]["modes"]} >= {"keyword", "semantic", "hybrid"}
    assert [line["example"] for line in told["syntax"]] == [line.queries[0] for line in SYNTAX]
    assert not [line for line in told["syntax"] if "`" in line["meaning"]]


def test_status_counts_and_masks(make_page: MakePage) -> None:
    status = make_page(["beam", "vacuum"]).get("/api/status").json()
    assert (status["healthy"], status["database_connected"], status["entry_count"]) == (True, True, 2)
    assert (status["details"]["indexed"], status["errors"], status["embedding_tables"]) == (2, [], [])


def test_the_configuration_is_shown_only_when_asked_for_and_masked(make_page: MakePage) -> None:
    assert error(make_page().get("/api/config"), 404)["hint"] == "web.expose_config: true shows it"
    config = {
        "database": {"uri": "postgresql://me:geheim@host/db?password=geheim"},
        "web": {"expose_config": True, "token": "geheim"},
        "api": {"providers": {"x": {"api_key": "geheim", "base_url": "https://u:geheim@x/"}}},
        "ingestion": {
            "write": {"auth_user": "geheim", "auth_password": "geheim"},
            "settings": {"headers": {"Authorization": ["geheim"]}, "columns": {"author": "Name"}},
        },
    }
    reply = make_page(config=config, token="").get("/api/config")
    assert "geheim" not in reply.text
    shown = reply.json()["config"]
    assert shown["database"]["uri"] == "postgresql://me:***@host/db?password=***"
    assert shown["ingestion"]["settings"]["columns"] == {"author": "Name"}
    assert shown["ingestion"]["write"]["auth_user"] == "***"
