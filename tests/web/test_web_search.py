"""POST /api/search and /api/facets."""

from __future__ import annotations

from typing import Any

import pytest
from asking import MakePage, error, ids
from logbooks import PICTURE, entry
from starlette.testclient import TestClient

LOGBOOK = [
    entry("E1", "Beam lost\n\nRF trip in cavity 2", at="2026-03-05T23:30:00", author="A. Smith", tags=["rf", "trip"]),
    entry("E2", "Vacuum leak near the beam dump", at="2025-11-01", author="B. Jones", source="ALS eLog", logbook="vac"),
    entry("E3", "Beam back at 300 mA", at="2026-01-31T23:59:59", author="A. Smith", attachments=[PICTURE]),
]


def search(page: TestClient, query: str = "", **fields: Any) -> Any:
    return page.post("/api/search", json={"query": query, "mode": "keyword", **fields})


def test_an_answer_has_ariels_fields_and_ours(make_page: MakePage) -> None:
    page = make_page(
        LOGBOOK, {"facility": {"timezone": "America/Halifax"}, "entry_url_template": "https://x/{entry_id}"}
    )
    answer = search(page, "rf trip").json()
    assert (answer["total_results"], answer["returned"], answer["offset"], answer["mode"]) == (1, 1, 0, "keyword")
    assert answer["search_modes_used"] == ["keyword"]
    assert answer["sources"] == ["E1"]
    assert answer["reasoning"] == "contains rf and trip"
    assert answer["execution_time_ms"] > 0
    assert (answer["answer"], answer["degraded"], answer["diagnostics"]) == (None, False, [])
    found = answer["entries"][0]
    assert found["timestamp"] == "2026-03-05T19:30:00-04:00"
    assert (found["title"], found["author"], found["source_system"]) == ("Beam lost", "A. Smith", "Generic JSON")
    assert found["highlights"] == ["Beam lost\n\n<b>RF</b> <b>trip</b> in cavity 2"]
    assert (found["match"], found["raw_text_truncated"], found["keywords"]) == ("exact", False, [])
    assert found["source_url"] == "https://x/E1"


def test_long_texts_are_cut_in_lists_and_whole_on_their_own(make_page: MakePage) -> None:
    text = "beam " + "x" * 5000
    page = make_page([("E1", text)])
    found = search(page, "beam").json()["entries"][0]
    assert (len(found["raw_text"]), found["raw_text_truncated"]) == (2000, True)
    whole = page.get("/api/entries/E1").json()
    assert (whole["raw_text"], whole["raw_text_truncated"]) == (text, False)


def test_attachments_have_every_key(make_page: MakePage) -> None:
    found = search(make_page(LOGBOOK), "300").json()["entries"][0]["attachments"]
    assert found == [
        {
            "url": "scope.png",
            "type": None,
            "filename": "scope.png",
            "thumbnail_url": None,
            "caption": None,
            "missing": False,
        }
    ]


def test_filters_limit_a_search_and_list_without_words(make_page: MakePage) -> None:
    page = make_page(LOGBOOK)
    assert ids(search(page, "beam", author="smith", start_date="2026-02")) == ["E1"]
    assert ids(search(page, author="smith")) == ["E1", "E3"]
    assert ids(search(page, source_system="als")) == ["E2"]
    assert ids(search(page, start_date="2026-01", end_date="2026-01")) == ["E3"]
    answer = search(page, author="smith").json()
    assert (answer["total_results"], answer["reasoning"]) == (2, "author contains smith")


def test_a_blank_query_without_a_filter_is_refused(make_page: MakePage) -> None:
    page = make_page(LOGBOOK)
    for fields in ({}, {"author": "  "}, {"advanced_params": {"strict": True}}):
        fault = error(search(page, " ", **fields), 400)
        assert (fault["code"], fault["hint"]) == ("validation_error", "type a word or a field, or choose a filter")


def test_faults_of_a_query_have_a_position(make_page: MakePage) -> None:
    fault = error(search(make_page(), "beam date:2024-02-31"), 400)
    assert (fault["code"], fault["position"]) == ("query_syntax", 10)
    assert "2024-02-31" in fault["message"]


def test_what_was_mended_is_said(make_page: MakePage) -> None:
    page = make_page(LOGBOOK)
    assert search(page, '"beam lost').json()["diagnostics"][0]["source"] == "query"
    assert error(search(page, '"beam lost', advanced_params={"strict": True}), 400)["code"] == "query_syntax"


def test_typos_are_approximate_and_have_no_total_of_matches(make_page: MakePage) -> None:
    page = make_page([f"cavity {n}" for n in range(30)])
    answer = search(page, "cavitty").json()
    assert {found["match"] for found in answer["entries"]} == {"fuzzy"}
    assert "Did you mean cavity (for cavitty)?" in answer["diagnostics"][0]["message"]
    assert answer["total_results"] is None


def test_a_mode_that_cannot_run_says_so(make_page: MakePage) -> None:
    answer = make_page(LOGBOOK).post("/api/search", json={"query": "beam", "mode": "semantic"}).json()
    assert answer["entries"] == []
    assert answer["degraded"] is True
    assert [note["level"] for note in answer["diagnostics"]] == ["warning"]
    assert "enhance" in answer["diagnostics"][0]["message"]


def test_an_unknown_mode_names_the_known_ones(make_page: MakePage) -> None:
    page = make_page(LOGBOOK, {"search_modules": {"semantic": {"enabled": False}}})
    assert "keyword" in error(search(page, "beam", mode="clever"), 400)["hint"]
    assert error(search(page, "beam", mode="semantic"), 400)["code"] == "module_not_enabled"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"limit": 3}, "limit"),
        ({"max_results": 0}, "max_results"),
        ({"max_results": 101}, "max_results"),
        ({"max_results": "10"}, "max_results"),
        ({"offset": -1}, "offset"),
        ({"offset": 2**63}, "offset"),
        ({"query": 3}, "query"),
        ({"advanced_params": []}, "advanced_params"),
    ],
)
def test_unknown_and_wrong_fields_are_refused(make_page: MakePage, fields: dict[str, Any], named: str) -> None:
    fault = error(make_page().post("/api/search", json={"query": "beam", **fields}), 422)
    assert fault["code"] == "validation_error"
    assert named in fault["message"]


def test_advanced_parameters_are_the_modes(make_page: MakePage) -> None:
    page = make_page(LOGBOOK)
    assert ids(search(page, "beem", advanced_params={"fuzzy_fallback": False})) == []
    assert "fuzzy_fallback" in error(search(page, "beam", advanced_params={"fuzy": 1}), 400)["hint"]
    assert (
        error(search(page, "beam", advanced_params={"offset": 1}), 400)["message"]
        == "advanced_params cannot set offset"
    )
    explained = search(page, "beam", advanced_params={"explain": True}).json()["explanation"]
    assert explained["sentence"] == "contains beam"
    assert explained["statements"]


def test_facets_count_the_matches(make_page: MakePage) -> None:
    page = make_page(LOGBOOK, {"facility": {"timezone": "Asia/Kolkata"}})
    counts = page.post("/api/facets", json={"query": "beam"}).json()
    assert (counts["total"], counts["scope"]) == (3, "matches")
    assert counts["fields"]["author"] == [{"value": "A. Smith", "count": 2}, {"value": "B. Jones", "count": 1}]
    assert counts["fields"]["source_system"][0] == {"value": "Generic JSON", "count": 2}
    assert counts["fields"]["logbook"] == [{"value": "vac", "count": 1}]
    assert counts["fields"]["tag"] == [{"value": "rf", "count": 1}, {"value": "trip", "count": 1}]
    assert counts["fields"]["year"] == [{"value": "2026", "count": 2}, {"value": "2025", "count": 1}]
    months = [{"month": "2025-11", "count": 1}, {"month": "2026-02", "count": 1}, {"month": "2026-03", "count": 1}]
    assert counts["timeline"] == months


def test_facets_of_words_that_nothing_holds_count_what_the_filters_allow(make_page: MakePage) -> None:
    page = make_page(LOGBOOK)
    counts = page.post("/api/facets", json={"query": "zyzzyva author:smith -cavity"}).json()
    assert (counts["total"], counts["scope"]) == (1, "filters")
    assert counts["timeline"] == [{"month": "2026-01", "count": 1}]


def test_facets_of_nothing_at_all_and_of_the_whole_logbook(make_page: MakePage) -> None:
    page = make_page(LOGBOOK)
    assert page.post("/api/facets", json={}).json()["total"] == 3
    nothing = page.post("/api/facets", json={"query": "beam", "author": "nobody"}).json()
    assert (nothing["total"], nothing["timeline"], nothing["fields"]["author"]) == (0, [], [])


def test_every_facet_can_be_added_to_the_query(make_page: MakePage) -> None:
    page = make_page(LOGBOOK)
    names = {"author": "author", "source_system": "source", "logbook": "logbook", "tag": "tag", "year": "date"}
    counts = page.post("/api/facets", json={"query": "beam"}).json()
    narrowed = [
        (f'beam {names[facet]}:"{value["value"]}"', value["count"])
        for facet, values in counts["fields"].items()
        for value in values
    ]
    narrowed += [(f"beam date:{month['month']}", month["count"]) for month in counts["timeline"]]
    assert len(narrowed) == 12
    for query, count in narrowed:
        assert (
            search(page, query.replace('date:"2026"', "date:2026").replace('date:"2025"', "date:2025")).json()[
                "total_results"
            ]
            == count
        )
