"""Fields, filters and exclusions: what they compare and how they combine."""

from __future__ import annotations

import pytest
from logbooks import PICTURE, MakeLogbook, entry, exact, found

from ariel_lite.errors import QuerySyntaxError

GIVEN = (
    entry("E1", "beam dump", at="2026-03-01", author="Ada Kestrel", source="ALS eLog", tags=["RF", "Night shift"], logbook="Main"),
    entry("E2", "beam", at="2026-03-02", author="Bo Lind", source="JLab Logbook", tag="rf", books=["MAIN", "Ops"], attachments=[PICTURE]),
    entry("E3", "vacuum", at="2026-03-03", author="Ada Lind", source="ALS eLog", categories=["RF"], logbook_name="Main ring"),
    entry("E4", "author:ada", at="2026-03-04", source="Generic JSON", category="Safety", linked_to="E1"),
    entry("E5", "", at="2026-03-05", author="Kestrel, Ada", linked_to="0", tags=["rf station"]),
)  # fmt: skip


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("author:ada", ["E5", "E3", "E1"]),
        ("author:KESTREL", ["E5", "E1"]),
        ('author:"ada k"', ["E1"]),
        ("author:nobody", []),
        ("author:ada author:lind", ["E3"]),
        ("author:kestrel OR author:lind", ["E5", "E3", "E2", "E1"]),
        ("-author:ada", ["E4", "E2"]),
        ("source:als", ["E3", "E1"]),
        ('source:"als elog"', ["E3", "E1"]),
        ("tag:rf", ["E2", "E1"]),
        ("tag:RF", ["E2", "E1"]),
        ('tag:"night shift"', ["E1"]),
        ("tag:night", []),
        ("logbook:main", ["E2", "E1"]),
        ("logbook:ops", ["E2"]),
        ('logbook:"main ring"', ["E3"]),
        ("category:rf", ["E3"]),
        ("category:safety", ["E4"]),
        ("id:E3", ["E3"]),
        ("id:e3", []),
        ("id:E", []),
        ("has:attachment", ["E2"]),
        ("has:attachments", ["E2"]),
        ("has:link", ["E4"]),
        ("-has:attachment -has:link", ["E5", "E3", "E1"]),
        ("date:2026-03-02..2026-03-03", ["E3", "E2"]),
        ("NOT (author:ada OR has:link)", ["E2"]),
        ('"author:ada"', ["E4"]),
    ],
)
def test_fields_alone_list_newest_first(make_logbook: MakeLogbook, query: str, expected: list[str]) -> None:
    assert exact(make_logbook(GIVEN), query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("beam author:ada", {"E1"}),
        ("beam OR author:ada", {"E1", "E2", "E3", "E5"}),
        ("beam OR -author:ada", {"E1", "E2", "E4"}),
        ("(beam OR vacuum) source:als", {"E1", "E3"}),
        ("beam -tag:rf OR vacuum", {"E3"}),
        ("(beam author:bo) OR (vacuum author:ada)", {"E2", "E3"}),
        ("beam (date:2026-03-01 OR has:attachment)", {"E1", "E2"}),
        ("NOT (beam author:ada)", {"E2", "E3", "E4", "E5"}),
        ("(dump OR author:bo) -(vacuum OR id:E2)", {"E1"}),
        ("-beam OR dump", {"E1", "E3", "E4", "E5"}),
        ("(-beam -vacuum) OR author:bo", {"E2", "E4", "E5"}),
        ("beam OR (-beam -vacuum)", {"E1", "E2", "E4", "E5"}),
    ],
)
def test_fields_combine_with_text(make_logbook: MakeLogbook, query: str, expected: set[str]) -> None:
    assert set(exact(make_logbook(GIVEN), query)) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"author": "ada"}, ["E5", "E3", "E1"]),
        ({"author": "ada", "source_system": "als"}, ["E3", "E1"]),
        ({"start_date": "2026-03-03"}, ["E5", "E4", "E3"]),
        ({"end_date": "2026-03-02", "author": "lind"}, ["E2"]),
        ({"source_system": "ALS ELOG", "start_date": "2026-03-02", "end_date": "2026-03-04"}, ["E3"]),
        ({"author": "ada", "exclude_entry_ids": ["E3", "E9"]}, ["E5", "E1"]),
        ({"author": "  ", "start_date": "2026-03-05"}, ["E5"]),
    ],
)  # fmt: skip
def test_filters_of_a_call(make_logbook: MakeLogbook, options: dict[str, object], expected: list[str]) -> None:
    book = make_logbook(GIVEN)
    assert found(book, "", **options) == expected
    assert found(book, "NOT zzz", **options) == expected


def test_filters_hold_for_every_kind_of_query(make_logbook: MakeLogbook) -> None:
    book = make_logbook(GIVEN)
    for query in ("beam", "beam OR vacuum", "beam OR tag:rf", '"beam"', "be*", "beem", "NOT zzz", "-vacuum OR id:E2"):
        assert set(found(book, query, author="bo")) == {"E2"}, query
        assert "E1" not in found(book, query, exclude_entry_ids=["E1"]), query


@pytest.mark.parametrize("name", ["author", "source", "logbook", "tag", "category", "id", "has", "date"])
@pytest.mark.parametrize("form", ["{}:", '{}:""', "{}:  beam", '{}:" "', "-{}:", "beam ({}:)"])
def test_an_empty_value_is_refused(make_logbook: MakeLogbook, name: str, form: str) -> None:
    with pytest.raises(QuerySyntaxError) as refused:
        make_logbook().search(form.format(name))
    assert refused.value.position == form.index("{")
    assert refused.value.hint


def test_an_unknown_flag_is_refused(make_logbook: MakeLogbook) -> None:
    with pytest.raises(QuerySyntaxError) as refused:
        make_logbook().search("beam has:nothing")
    assert refused.value.position == 9
    assert "has:attachment" in refused.value.hint


def test_a_field_behind_another_word_character_is_text(make_logbook: MakeLogbook) -> None:
    book = make_logbook([("E1", "Update:status:3 done"), ("E2", "x-author:ada")])
    assert exact(book, "Update:status:3") == ["E1"]
    assert exact(book, "x-author:ada") == ["E2"]


def test_a_changed_entry_is_found_by_its_new_values_only(make_logbook: MakeLogbook) -> None:
    book = make_logbook([entry("E1", "beam dump", author="Ada", tags=["rf"])])
    book.service.backend.upsert([entry("E1", "vacuum leak", author="Bo", tags=["vac"], at="2025-01-01")])
    for gone in ("beam", "dump", "author:ada", "tag:rf", "date:2026"):
        assert exact(book, gone) == [], gone
    for new in ("vacuum", '"vacuum leak"', "author:bo", "tag:vac", "date:2025-01-01"):
        assert exact(book, new) == ["E1"], new


def test_a_removed_entry_is_found_no_more(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["beam dump", "beam"])
    assert book.service.backend.delete(["E1"]) == 1
    assert exact(book, "beam") == exact(book, "NOT zzz") == ["E2"]
    assert found(book, "dmup") == []


def test_summary_and_keywords_are_searched_too(make_logbook: MakeLogbook) -> None:
    book = make_logbook(
        [entry("E1", "text", summary="klystron arc", keywords=["septum", "water leak"]), entry("E2", "text")]
    )
    for query in ("klystron", "septum", '"water leak"', "text arc"):
        assert exact(book, query) == ["E1"], query
