"""Cases QS01 to QS33: what people type, and what search engines made of it. Each with neighbours of its kind."""

from __future__ import annotations

import apsw
import psycopg
import pytest
from logbooks import MakeLogbook, entry, exact, found, messages

from ariel_lite.backends.base import Backend
from ariel_lite.compose import Logbook
from ariel_lite.config import ARIELConfig
from ariel_lite.errors import DatabaseQueryError, InvalidRequestError, QuerySyntaxError
from ariel_lite.registry import Registry
from ariel_lite.service import ARIELSearchService

MAGNETS = ("Magnet BR-QF-12 tripped on overtemperature", "BR line filter changed, QF family fine, 12 pumps checked")


@pytest.mark.parametrize("query", ["BR-QF-12", "br-qf-12", '"BR-QF-12"', "magnet BR-QF-12", "(BR-QF-12)", "QF-12"])
def test_qs01_a_bare_hyphenated_name_is_one_adjacent_sequence(make_logbook: MakeLogbook, query: str) -> None:
    assert found(make_logbook(MAGNETS), query) == ["E1"]


@pytest.mark.parametrize("query", ["BODY:12", "lexemes:12", "entry_index:12", "rowid:12", "raw_text:12", "rank:12"])
def test_qs03_text_before_a_colon_is_never_a_column(make_logbook: MakeLogbook, query: str) -> None:
    name = query.partition(":")[0]
    assert found(make_logbook([f"valve {query} leaks", "12 dosimeters exchanged", f"{name} seen"]), query) == ["E1"]


@pytest.mark.parametrize(
    "query", ['"PIO-1384"', '"2026.4.10"', '"10.0.2.17"', "PIO-1384", "2026.4.10", "10.0.2.17", '"IOC 10.0.2.17 release"']
)  # fmt: skip
def test_qs05_a_quoted_name_finds_what_the_bare_one_does(make_logbook: MakeLogbook, query: str) -> None:
    book = make_logbook(["Ticket PIO-1384 opened for IOC 10.0.2.17 release 2026.4.10", "pio 1384x unrelated"])
    assert found(book, query) == ["E1"]


def test_qs06_apostrophes_are_part_of_words(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["Operators don't touch the RF phase", "RF phase stable", "O'Neil reset the operator's PC"])
    assert exact(book, "don't touch") == ["E1"]
    assert exact(book, "don’t touch") == ["E1"]
    assert exact(book, "dont") == ["E1"]
    assert exact(book, "operator's") == ["E3", "E1"]
    assert exact(book, '"operator\'s"') == ["E3", "E1"]
    assert exact(book, "O'Neil") == exact(book, "oneil") == ["E3"]
    assert exact(book, "' RF '") == ["E2", "E1"]


@pytest.mark.parametrize("query", ["", "   ", "\t\n"])
def test_qs08_a_blank_query_without_a_filter_is_refused(make_logbook: MakeLogbook, query: str) -> None:
    with pytest.raises(ValueError, match="empty") as refused:
        make_logbook(["shift summary", "orbit drift"]).search(query)
    assert isinstance(refused.value, InvalidRequestError)
    assert refused.value.hint


@pytest.mark.parametrize("query", ['""', "---", "::", "*", "?!", "()", '"?!"', "**", "-", "…", "NOT", "AND OR", "-*"])
def test_qs08_punctuation_alone_finds_nothing_and_says_why(make_logbook: MakeLogbook, query: str) -> None:
    book = make_logbook(["shift summary", "orbit drift *", ""])
    result = book.search(query)
    assert result.entries == ()
    assert any(note.level == "warning" and "nothing" in note.message for note in result.diagnostics)


def test_qs08_a_blank_query_with_a_filter_lists_newest_first(make_logbook: MakeLogbook) -> None:
    book = make_logbook([entry("A", "x", author="Ada"), entry("B", "", author="Ada"), entry("C", "y", author="Bo")])
    assert found(book, " ", author="ada") == ["A", "B"]


@pytest.mark.parametrize(
    "query", ["NOT dump", "-dump", '-"beam dump"', "-(dump)", "NOT (beam dump)", "NOT NOT NOT dump"]
)
def test_qs10_a_query_that_only_excludes_returns_all_else(make_logbook: MakeLogbook, query: str) -> None:
    assert found(make_logbook(["beam dump", "orbit correction", ""]), query) == ["E3", "E2"]


def test_qs10_exclusions_alone_obey_filters_and_list_newest_first(make_logbook: MakeLogbook) -> None:
    given = [entry(f"E{n}", text, author=who, at=f"2026-03-0{n}") for n, text, who in ((1, "a", "Ada"), (2, "b", "Bo"), (3, "dump", "Ada"), (4, "c", "Ada"))]  # fmt: skip
    book = make_logbook(given)
    assert found(book, "-dump", author="ada") == ["E4", "E1"]
    assert found(book, "-dump -author:bo") == ["E4", "E1"]
    assert found(book, "NOT date:2026-03-02") == ["E4", "E3", "E1"]


SPIKES = ("vacuum spike near septum", "vacuum spike, pump test planned")


@pytest.mark.parametrize(
    "query", ["vacuum -planned", "vacuum NOT planned", "-planned vacuum", 'vacuum -"pump test"', "vacuum -(pump planned)",
              "vacuum -plan*", "vacuum -Planned", "spikes -tests"]
)  # fmt: skip
def test_qs11_a_leading_minus_excludes(make_logbook: MakeLogbook, query: str) -> None:
    assert found(make_logbook(SPIKES), query) == ["E1"]


@pytest.mark.parametrize("query", ['vacuum "-planned', 'vacuum -"planned', "vacuum -(planned", "vacuum (-planned"])
def test_qs11_an_open_quote_or_bracket_does_not_turn_an_exclusion_round(make_logbook: MakeLogbook, query: str) -> None:
    assert found(make_logbook(SPIKES), query) == ["E1"]


@pytest.mark.parametrize(
    "query", ["gap scan 10-20 mm at 60-85%", "10-20 mm", '"10-20 mm"', "60-85 %", "current 60-85%"]
)
def test_qs13_ranges_of_numbers_are_not_exclusions(make_logbook: MakeLogbook, query: str) -> None:
    book = make_logbook(["Gap scan 10-20 mm at current 60-85 % of nominal", "gap scan 10 to 20 mm, 60 %"])
    assert found(book, query) == ["E1"]


OPERATORS = ("RF and Torr trends compared", "Torr gauge; the RF was off", "gate valve near the septum")


def test_qs15_operators_of_fts5_are_words_or_blanks(make_logbook: MakeLogbook) -> None:
    book = make_logbook(OPERATORS)
    assert set(exact(book, "RF + Torr")) == {"E1", "E2"}
    assert set(exact(book, "^Torr")) == {"E1", "E2"}
    assert exact(book, "NEAR(gate septum)") == ["E3"]
    assert exact(book, "NEAR(gate septum, 2)") == []
    assert exact(book, "near the septum") == ["E3"]
    assert set(exact(book, "{lexemes} : RF")) == set()


@pytest.mark.parametrize("query", ["rf and trip", "rf or trip", "rf not trip", "rf near trip"])
def test_qs15_operators_in_lower_case_are_words(make_logbook: MakeLogbook, query: str) -> None:
    middle = query.split()[1]
    wanted = ["E1"] if middle in ("not", "near") else ["E1", "E2"]
    assert sorted(exact(make_logbook([query, "rf trip"]), query)) == wanted


@pytest.mark.parametrize(
    ("query", "position"),
    [
        ("kicker (spare", 7),
        ("kicker spare)", 12),
        ("(kicker", 0),
        ("kicker)", 6),
        ("((kicker) spare", 0),
        ("kicker ()", 7),
    ],
)
def test_qs16_a_stray_bracket_is_mended_and_reported(make_logbook: MakeLogbook, query: str, position: int) -> None:
    book = make_logbook(["kicker (spare) installed", "other"])
    assert found(book, query) == ["E1"]
    assert any("bracket" in text and f"character {position + 1}" in text for text in messages(book, query))
    with pytest.raises(QuerySyntaxError) as refused:
        book.search(query, strict=True)
    assert refused.value.position == position


def test_qs16_empty_brackets_alone_find_nothing(make_logbook: MakeLogbook) -> None:
    assert found(make_logbook(["kicker"]), "()") == []


SIGNS = r"Set HV to 50% on I/O card #3, path C:\ioc\st.cmd, user@host, a=1, [ok], R&D"


@pytest.mark.parametrize("query", ["50%", "I/O", "#3", r"C:\ioc", "user@host", "a=1", "[ok]", "R&D", r"C:\ioc\st.cmd"])
def test_qs18_punctuated_text_is_found(make_logbook: MakeLogbook, query: str) -> None:
    book = make_logbook([SIGNS, "other"])
    assert exact(book, query) == exact(book, f'"{query}"') == ["E1"]


@pytest.mark.parametrize("form", ["{}", "{}beam", "beam{}", "be{}am", "beam {}", "{} beam", '"{}beam"', "({}beam)"])
def test_qs18_any_printable_character_anywhere_is_no_fault(make_logbook: MakeLogbook, form: str) -> None:
    book = make_logbook(["beam"])
    for code in range(32, 127):
        query = form.format(chr(code))
        try:
            book.search(query)
        except QuerySyntaxError as refused:
            assert refused.hint, query
        except InvalidRequestError:
            assert not query.strip(), query


@pytest.mark.parametrize("query", ["a,b", "x;y", "`x`", "~x", "$PATH", "<tag>", "|", "{a}"])
def test_qs18_signs_never_fail(make_logbook: MakeLogbook, query: str) -> None:
    assert exact(make_logbook(["beam"]), query) == []


@pytest.mark.parametrize("query", ["pump \udcff", "\ud800pump", "pu\x00mp pump", "pump\x00", "\x07pump\x1b"])
def test_qs20_what_cannot_be_encoded_is_a_blank_and_reported(make_logbook: MakeLogbook, query: str) -> None:
    book = make_logbook(["pump", "pu mp pump"])
    assert "E2" in found(book, query)
    assert any("cannot be searched" in message for message in messages(book, query))


@pytest.mark.parametrize(
    "query", ["“beam dump”", "„beam dump“", "«beam dump»", "‹beam dump›", "”beam dump”", "＂beam dump＂", "「beam dump」",
              "‚beam dump‘"]
)  # fmt: skip
def test_qs21_quotes_of_every_kind_make_phrases(make_logbook: MakeLogbook, query: str) -> None:
    book = make_logbook(["beam dump armed", "dump the log; beam later"])
    assert exact(book, query) == (["E1"] if "‚" not in query else ["E1", "E2"])


def test_qs23_a_colon_behind_a_word_is_punctuation(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["TODO: align kicker", "align"])
    for query in ("TODO: align", "TODO : align", ":TODO align:"):
        assert exact(book, query) == ["E1"]


def test_qs23_a_broken_index_is_a_failure_not_an_empty_answer(fresh_backend: Backend, registry: Registry) -> None:
    fresh_backend.upsert([entry("E1", "TODO: align kicker")])
    if fresh_backend.name == "sqlite":
        with apsw.Connection(fresh_backend.location) as connection:
            connection.execute("DROP TABLE entry_index_data")
    else:
        with psycopg.connect(fresh_backend.location) as server:
            server.execute("DROP TABLE ariel_lite_lexemes CASCADE")
    book = Logbook(ARIELSearchService(ARIELConfig(), fresh_backend, registry))
    with pytest.raises(DatabaseQueryError):
        book.search("TODO: align", mode="keyword")


PRECEDENCE = ("rf trip", "rf trip planned", "vacuum trip", "vacuum planned")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("rf OR vacuum NOT planned", {"E1", "E2", "E3"}),
        ("(rf OR vacuum) NOT planned", {"E1", "E3"}),
        ("rf vacuum OR trip", {"E1", "E2", "E3"}),
        ("rf (vacuum OR trip)", {"E1", "E2"}),
        ("rf AND vacuum OR planned", {"E2", "E4"}),
        ("planned OR rf AND vacuum", {"E2", "E4"}),
        ("NOT rf vacuum", {"E3", "E4"}),
        ("NOT (rf OR vacuum trip)", {"E4"}),
        ("rf OR NOT trip", {"E1", "E2", "E4"}),
        ("vacuum (trip OR -trip)", {"E3", "E4"}),
        ("vacuum OR (-vacuum -planned)", {"E1", "E3", "E4"}),
    ],
)
def test_qs25_not_binds_before_and_before_or(make_logbook: MakeLogbook, query: str, expected: set[str]) -> None:
    assert set(exact(make_logbook(PRECEDENCE), query)) == expected


@pytest.mark.parametrize(
    "query", ['orbit author:"Ada Kestrel"', 'author:"Ada Kestrel" orbit', "orbit author:“ada kestrel”", 'author:"KESTREL" orbit',
              'orbit author:"Ada  Kestrel"', 'orbit NOT author:"Bo Lind"']
)  # fmt: skip
def test_qs26_a_field_takes_a_quoted_value(make_logbook: MakeLogbook, query: str) -> None:
    given = [
        entry("E1", "orbit ok", author="Ada Kestrel"),
        entry("E2", "Ada Kestrel reported orbit ok", author="Bo Lind"),
    ]
    assert found(make_logbook(given), query) == ["E1"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [("author:j_m", ["E1"]), ("author:%", ["E3"]), ("author:100%duty", ["E3"]), ("author:_", ["E1"]), ("author:j%m", []),
     ("author:\\_", []), ("author:*", []), ("author:?", [])],
)  # fmt: skip
def test_qs28_wildcards_in_a_value_are_literal(make_logbook: MakeLogbook, query: str, expected: list[str]) -> None:
    authors = {"E1": "j_m", "E2": "jsmith", "E3": "100%duty"}
    book = make_logbook([entry(name, "a", author=author) for name, author in authors.items()])
    assert found(book, query) == expected
    assert found(book, "", author=query.partition(":")[2]) == expected


DATED = (("E1", "2026-03-05T08:00:00"), ("E2", "2026-03-06T08:00:00"), ("E3", "2026-12-31T23:00:00"))


@pytest.mark.parametrize(
    ("query", "expected"),
    [("date:2026-03-05", ["E1"]), ("date:2026-03", ["E2", "E1"]), ("date:2026-12", ["E3"]), ("date:2026", ["E3", "E2", "E1"]),
     ("date:yesterday", []), ('date:"2026-03-05"', ["E1"]), ("date:2026-03-05..2026-03-06", ["E2", "E1"]), ("-date:2026-03", ["E3"])],
)  # fmt: skip
def test_qs30_partial_dates_are_whole_units(make_logbook: MakeLogbook, query: str, expected: list[str]) -> None:
    assert found(make_logbook([entry(name, "x", at=at) for name, at in DATED]), query) == expected


@pytest.mark.parametrize(
    "query", ["date:2026-13", "date:2026-02-30", "date:", "date:soon", "x date:2026-13", "-date:2026-13", 'date:""']
)
def test_qs30_an_impossible_date_is_refused(make_logbook: MakeLogbook, query: str) -> None:
    with pytest.raises(QuerySyntaxError) as refused:
        make_logbook(["x"]).search(query)
    assert refused.value.hint
    assert refused.value.position is not None


@pytest.mark.parametrize(
    ("query", "expected"),
    [("UPDATE:STATUS", ["E1"]), ('"author: field"', ["E2"]), ("SR:author:X", ["E3"]), ("Author:lind", ["E4"]),
     ("coauthor:lind", ["E5"])],
)  # fmt: skip
def test_qs31_only_a_field_name_at_a_tokens_start_is_a_field(
    make_logbook: MakeLogbook, query: str, expected: list[str]
) -> None:
    texts = (
        "UPDATE:STATUS went to 3",
        "entry form shows author: field twice",
        "SR:author:X",
        "Author:lind",
        "coauthor:lind",
    )
    assert found(make_logbook(texts), query) == expected


@pytest.mark.parametrize(
    "query", ['"caput --version"', '"caput -version"', '"ran caput --version on"', "“caput --version”"]
)
def test_qs33_a_minus_in_quotes_is_text(make_logbook: MakeLogbook, query: str) -> None:
    book = make_logbook(["ran caput --version on the IOC", "IOC idle"])
    assert found(book, query) == ["E1"]
    assert found(book, "-" + query) == ["E2"]
    assert found(book, '"IOC OR idle"') == []
    assert found(book, '"(idle)"') == ["E2"]
