"""Cases TK01 to TK20: what is a word, on every path. Each with neighbours of its kind."""

from __future__ import annotations

import pytest
from logbooks import MakeLogbook, entry, exact, found


@pytest.mark.parametrize("query", ["真空", '"真空"', "真", "の真空が", "加速", "加速器 悪化", "真空*"])
def test_tk01_words_in_text_without_blanks(make_logbook: MakeLogbook, query: str) -> None:
    assert exact(make_logbook(["加速器の真空が悪化", "磁石電源正常", "空と真"]), query) == (
        ["E1"] if query != "真" else ["E3", "E1"]
    )


@pytest.mark.parametrize(
    ("query", "text"),
    [("ビーム", "ビームダンプ"), ("진공", "고진공펌프"), ("ポンプ", "ﾎﾟﾝﾌﾟ交換"), ("pump", "真空pump停止")],
)
def test_tk01_kana_hangul_and_mixed_scripts(make_logbook: MakeLogbook, query: str, text: str) -> None:
    assert exact(make_logbook([text, "other"]), query) == ["E1"]


@pytest.mark.parametrize("query", ["cavity RF", "RF", '"RF trip"', "RF trip", "rf -ok"])
def test_tk03_short_words_are_enforced(make_logbook: MakeLogbook, query: str) -> None:
    assert exact(make_logbook(["cavity RF trip", "cavity cooling ok"]), query) == ["E1"]


def test_tk03_one_letter_counts(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["sector B tripped", "sector C tripped"])
    assert exact(book, "sector b") == ["E1"]
    assert exact(book, "sector C") == ["E2"]


@pytest.mark.parametrize(
    ("query", "text"),
    [("okland", "Økland on shift"), ("Økland", "OKLAND on shift"), ("pawel", "Paweł fixed it"), ("filament", "the ﬁlament"),
     ("strasse", "Straße 4"), ("STRASSE", "straße"), ("thor", "Þor"), ("aether", "Æther"), ("oeuvre", "œuvre"), ("dat", "Đat"),
     ("cafe", "cafe\u0301"), ("café", "CAFÉ"), ("naive", "naïve"), ("αβγ", "ΆΒΓ"), ("ＲＦ", "RF")],
)  # fmt: skip
def test_tk05_letters_fold(make_logbook: MakeLogbook, query: str, text: str) -> None:
    book = make_logbook([text, "unrelated"])
    assert exact(book, query) == exact(book, f'"{query}"') == ["E1"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [("istanbul", ["E1"]), ("İSTANBUL", ["E1"]), ("ISI sensoru", ["E2"]), ("ısı", ["E2"]), ("author:ILGAZ", ["E1"]),
     ("author:ilgaz", ["E1"]), ("istanbull", ["E1"]), ("tag:ISI", ["E2"])],
)  # fmt: skip
def test_tk06_turkish_letters_fold_the_same_on_every_path(
    make_logbook: MakeLogbook, query: str, expected: list[str]
) -> None:
    given = [entry("E1", "İstanbul team", author="Ilgaz"), entry("E2", "ısı sensörü", tags=["ısı"])]
    assert found(make_logbook(given), query) == expected


@pytest.mark.parametrize(
    "query", ["author:änne", "author:ÖRN", "author:anne", 'author:"ÄNNE ÖRN"', "source:éLOG", "tag:größe", "logbook:ÉTÉ",
              "category:ZÜRICH"]
)  # fmt: skip
def test_tk08_fields_fold_case_and_accents(make_logbook: MakeLogbook, query: str) -> None:
    home = {"tags": ["GRÖSSE"], "logbook": "été", "categories": ["zürich"]}
    given = [entry("E1", "x", author="Änne Örn", source="Elog A", **home), entry("E2", "y", author="Bo")]
    assert found(make_logbook(given), query) == ["E1"]


@pytest.mark.parametrize("query", ['"sector 6"', '"Resume at 10"', '"6 resume"', "sector 6", '"at 10 "', '"(at) 10!"'])
def test_tk10_punctuation_behind_a_number_breaks_no_phrase(make_logbook: MakeLogbook, query: str) -> None:
    assert exact(make_logbook(["Moved to sector 6. Resume at 10.", "sector 60"]), query) == ["E1"]


NUMBERS = ("pressure 2e-7 Torr", "gain 2e+7", "offset -3 mm", "offset 3 mm")


@pytest.mark.parametrize(
    ("query", "expected"),
    [("2e-7", ["E1"]), ('"2e-7"', ["E1"]), ("2e+7", ["E2"]), ("2E7", ["E2"]), ("-3 mm", ["E3"]), ('"-3 mm"', ["E3"]),
     ("3 mm", ["E4"]), ("-3", ["E3"]), ("−3 mm", ["E3"]), ("offset -3", ["E3"]), ("offset NOT -3", ["E4"]), ("2e7 Torr", [])],
)  # fmt: skip
def test_tk11_sign_and_exponent_of_a_number_count(make_logbook: MakeLogbook, query: str, expected: list[str]) -> None:
    assert exact(make_logbook(NUMBERS), query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [("5uA", {"E2", "E3"}), ("5µA", {"E2", "E3"}), ("5 μA", {"E2", "E3"}), ('"5µA"', {"E2", "E3"}), ("10^-7 Torr", {"E1"}),
     ("10⁻⁷ Torr", {"E1"}), ("1e-7 Torr", {"E1"}), ("5mA", set())],
)  # fmt: skip
def test_tk13_micro_signs_and_superscripts(make_logbook: MakeLogbook, query: str, expected: set[str]) -> None:
    assert set(exact(make_logbook(["base 10⁻⁷ Torr", "5µA leakage", "5μA leakage"]), query)) == expected


@pytest.mark.parametrize("query", ["BR-QF-12", "BR_QF_12", "BR:QF:12", "br.qf.12", "BR/QF/12", "BR--QF--12"])
def test_tk15_separators_inside_names_are_equivalent(make_logbook: MakeLogbook, query: str) -> None:
    book = make_logbook(["BR_QF_12 off", "BR-QF-12 off", "BR:QF:12 off", "BR QF 12 off", "BRQF12", "BR-QF-1"])
    assert set(exact(book, query)) == {"E1", "E2", "E3", "E4"}
    assert set(exact(book, f'"{query}"')) == {"E1", "E2", "E3", "E4"}


def test_tk16_text_behind_a_huge_token_is_found(make_logbook: MakeLogbook) -> None:
    blob = "QUJD" * 200_000
    book = make_logbook(["A" * 70_000, f"{blob} then the word quench", "A" * 69_999 + " x"])
    assert exact(book, "quench") == ["E2"]
    assert exact(book, "A" * 900) == []
    assert set(exact(book, "AAAA*")) == {"E1", "E3"}


def test_tk16_long_words_differ_by_their_ends(make_logbook: MakeLogbook) -> None:
    stem = "z" * 500
    book = make_logbook([stem + "1", stem + "2"])
    assert exact(book, stem + "1") == ["E1"]
    assert exact(book, stem + "2") == ["E2"]


@pytest.mark.parametrize(
    "query",
    ["ioc-a", "example.org", "st.cmd", "cmd", "example", "5064", "org:5064", "ioc-a.example.org:5064", "a.example"],
)
def test_tk18_hosts_and_paths_are_found_by_their_parts(make_logbook: MakeLogbook, query: str) -> None:
    assert exact(make_logbook(["reboot ioc-a.example.org:5064 after st.cmd edit", "unrelated"]), query) == ["E1"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("station 2", ["E1"]),
        ('"RF station 3"', ["E2"]),
        ("station 3", ["E2"]),
        ("2", ["E1"]),
        ('"2"', ["E1"]),
        ("RF -2", []),
    ],
)
def test_tk20_single_digits_count(make_logbook: MakeLogbook, query: str, expected: list[str]) -> None:
    assert exact(make_logbook(["RF station 2 tripped", "RF station 3 tripped"]), query) == expected
