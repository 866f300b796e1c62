"""The token table of the contract, row by row: what each text is to a search, bare and quoted."""

from __future__ import annotations

import pytest
from logbooks import MakeLogbook, exact

ROWS = [
    ("1.9", {"1.9"}, {"1-9", "1 9", "19", "1", "9", "1.90"}),
    ("1-9", {"1-9", "1 9", "1_9"}, {"1.9", "9-1", "19"}),
    ("2026.4.10", {"2026.4.10", "2026-4-10", "2026 4 10"}, {"2026.4", "4.10", "2026.4.1", "2026.10.4"}),
    ("10.0.2.17", {"10.0.2.17", "10 0 2 17"}, {"10.0.2.1", "10.0.217", "10.0"}),
    ("2e-7", {"2e-7", "2E-7", "2e-07"}, {"2e+7", "2.0e-7", "2e7", "2e -7", "2 e 7"}),
    ("2E+7", {"2e+7", "2E7", "2e7"}, {"2e-7", "2.0e7"}),
    ("-3", {"-3", "x=-3", "(-3)", "[-3]", "x:-3", "−3", "at -3 mm"}, {"3", "x-3", "1-3", "3--3"}),
    ("−3", {"-3"}, {"3"}),
    ("x=-3", {"x=-3", "x -3"}, {"x=3", "x 3"}),
    ("3--5", {"3--5", "3-5", "3 5"}, {"3 -5", "5-3"}),
    ("10-20", {"10-20", "10 20"}, {"10 -20", "1020", "20-10"}),
    ("BR-QF-12", {"BR-QF-12", "BR_QF_12", "BR:QF:12", "br qf 12", "SR:BR-QF-12"}, {"BRQF12", "BR-QF-1", "QF-12", "BR-12-QF"}),
    ("SR01C:BPM1", {"SR01C:BPM1", "sr01c bpm1", "SR01C:BPM1:X"}, {"SR01C:BPM12", "BPM1:SR01C", "SR01C"}),
    ("DS-7604NI", {"DS-7604NI"}, {"DS-7604", "DS-7604 NI", "7604"}),
    ("1384x", {"1384x"}, {"1384", "1384 x"}),
    ("3D", {"3D", "3d"}, {"3", "3 D"}),
    ("10k", {"10k", "10K"}, {"10", "10 k"}),
    ("2e", {"2e"}, {"2", "2 e"}),
    ("0x1F", {"0x1F", "0X1f"}, {"0", "0 x1F"}),
    ("24h", {"24h", "24 h"}, {"24", "h"}),
    ("12V", {"12V", "12 V"}, {"12", "12 kV", "12mV"}),
    ("5uA", {"5uA", "5µA", "5μA", "5 uA", "5 µA"}, {"5mA", "5 A"}),
    ("1.9GeV", {"1.9GeV", "1.9 GeV"}, {"1.9", "1.9 MeV", "9 GeV", "GeV 1.9"}),
    ("60%", {"60%", "60 %"}, {"60", "6%", "60 of 100"}),
    ("5Å", {"5Å", "5 Å", "5 angstrom"}, {"5", "5 A"}),
    ("don't", {"don't", "dont", "DON’T"}, {"don", "do not"}),
    ("O'Neil", {"O'Neil", "oneil", "O’Neil"}, {"Neil", "O Neil"}),
    ("R&D", {"R&D", "R & D", "r d"}, {"RD", "R", "D R"}),
    ("I/O", {"I/O", "i o"}, {"IO", "O/I"}),
    ("Straße", {"Straße", "strasse", "STRASSE"}, {"strase"}),
    ("Økland", {"Økland", "okland"}, {"kland"}),
    ("Paweł", {"Paweł", "pawel"}, {"pawe"}),
    ("ısı", {"ısı", "isi", "ISI"}, {"is"}),
    ("æther", {"æther", "aether"}, {"ather"}),
    ("œuvre", {"œuvre", "oeuvre"}, {"ouvre"}),
    ("đat", {"đat", "dat"}, {"at"}),
    ("þor", {"þor", "thor"}, {"tor"}),
    ("ガ", {"ガ", "ｶﾞ"}, {"カ"}),
    ("йод", {"йод", "ЙОД"}, {"иод"}),
    ("user@host", {"user@host", "user host"}, {"user", "host user"}),
    ("st.cmd", {"st.cmd", "st cmd"}, {"stcmd", "cmd"}),
    ("C:\\ioc", {"C:\\ioc", "c ioc"}, {"ioc", "C:\\ocs"}),
    ("😀", {"😀", "ok😀ok"}, {"😁", "ok"}),
]  # fmt: skip


@pytest.mark.parametrize(("query", "same", "other"), ROWS, ids=[row[0] for row in ROWS])
def test_a_text_is_found_by_what_is_the_same_to_a_search(
    make_logbook: MakeLogbook, query: str, same: set[str], other: set[str]
) -> None:
    book = make_logbook([(text, f"at {text}") for text in sorted(same | other)])
    assert set(exact(book, query)) == same
    assert set(exact(book, f'"{query}"')) == same


@pytest.mark.parametrize(("query", "same", "other"), ROWS, ids=[row[0] for row in ROWS])
def test_a_text_in_the_middle_of_a_sentence(
    make_logbook: MakeLogbook, query: str, same: set[str], other: set[str]
) -> None:
    book = make_logbook([(text, f"Seen ({text}), then lost") for text in sorted(same | other)])
    assert set(exact(book, f"seen {query} lost")) == same


UNITS = ["V", "kV", "mA", "MA", "uA", "W", "MW", "kHz", "Hz", "GHz", "eV", "keV", "GeV", "T", "mT", "G", "kG", "Pa", "mbar", "Torr",
         "mTorr", "K", "C", "nF", "mH", "J", "N", "mm", "nm", "ms", "us", "kg", "l", "kΩ", "ohm", "kohm", "mrad", "%", "°C", "degC",
         "degF", "deg", "dB", "dBm", "ppm", "ppb", "rpm", "Å", "angstrom", "min", "h", "d", "a.u."]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_a_number_and_its_unit_with_and_without_a_blank(make_logbook: MakeLogbook, unit: str) -> None:
    book = make_logbook(
        [f"read 42{unit} there", f"read 42 {unit} there", f"read 42 and {unit}", "read 42 there", f"read 421{unit}"]
    )
    for query in (
        f"42{unit}",
        f"42 {unit}",
        f'"42{unit}"',
        f'"42 {unit}"',
        f"read 42{unit}",
        f'"read 42 {unit} there"',
    ):
        assert set(exact(book, query)) == {"E1", "E2"}, query


@pytest.mark.parametrize("text", ["42Ma", "42gev", "42torr", "42KHZ", "42abc", "42mAh", "42V3"])
def test_what_is_no_unit_is_not_split(make_logbook: MakeLogbook, text: str) -> None:
    book = make_logbook([text, "42 " + text[2:]])
    assert exact(book, text) == ["E1"]
    assert exact(book, "42") == ["E2"]


def test_marks_are_kept_outside_latin_and_greek(make_logbook: MakeLogbook) -> None:
    book = make_logbook([("й", "край"), ("и", "краи"), ("ガ", "ガ"), ("カ", "カ")])
    assert exact(book, "край") == ["й"]
    assert exact(book, "краи") == ["и"]


@pytest.mark.parametrize(
    "word", ["on", "off", "up", "down", "in", "out", "no", "not", "over", "under", "before", "after"]
)
def test_state_words_are_never_ignored(make_logbook: MakeLogbook, word: str) -> None:
    book = make_logbook([f"valve {word} at noon", "valve at noon"])
    assert exact(book, f"valve {word}") == ["E1"]
    assert exact(book, f"valve -{word}") == ["E2"]
    assert exact(book, f'"valve {word}"') == ["E1"]


@pytest.mark.parametrize("word", ["the", "of", "a", "is", "and", "with"])
def test_empty_words_are_ignored_bare_and_count_in_phrases(make_logbook: MakeLogbook, word: str) -> None:
    book = make_logbook([f"valve {word} noon", "valve noon"])
    assert set(exact(book, f"valve {word} noon")) == {"E1", "E2"}
    assert exact(book, f'"valve {word} noon"') == ["E1"]
    assert exact(book, f'"{word}"') == ["E1"]


@pytest.mark.parametrize(
    ("query", "text"), [("tripped", "trips"), ("trip", "tripping"), ("cavities", "cavity"), ("Magnets", "magnet")]
)
def test_words_are_stemmed(make_logbook: MakeLogbook, query: str, text: str) -> None:
    assert exact(make_logbook([text]), query) == ["E1"]
    assert exact(make_logbook([text]), f'"{query}"') == []


def test_parts_that_hold_a_digit_are_never_stemmed(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["BPM1s moved", "BPM1 moved"])
    assert exact(book, "BPM1s") == ["E1"]
    assert exact(book, "BPM1") == ["E2"]
