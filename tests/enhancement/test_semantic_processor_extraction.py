"""Keywords and summaries out of an entry's own words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ariel_lite.enhancement.extraction.frequencies import Frequencies
from ariel_lite.enhancement.extraction.keywords import LONGEST_KEYWORD, MOST_KEYWORDS, KeywordFinder
from ariel_lite.enhancement.extraction.summary import Summariser, sentences_of, shortened
from ariel_lite.text.tokenise import Analyzer

ANALYZER = Analyzer()
OTHERS = (
    ["beam current stable, lifetime fine"] * 30
    + ["ion pump current high", "ion pump exchanged", "the ion pump again"]
    + ["orbit correction applied", "orbit feedback tripped", "corrector swapped"] * 3
)


def frequencies(*texts: str) -> Frequencies:
    counted = Frequencies()
    for text in (*OTHERS, *texts):
        counted.add(ANALYZER, text)
    return counted


def keywords(text: str, most: int = MOST_KEYWORDS) -> tuple[str, ...]:
    return KeywordFinder(frequencies(text), ANALYZER, most).keywords(text)


def summary(text: str, longest: int = 300) -> str:
    return Summariser(KeywordFinder(frequencies(text), ANALYZER), ANALYZER, longest).summary(text)


@pytest.mark.parametrize(
    ("text", "keyword"),
    [
        ("SR09C:BPM2 reads zero", "SR09C:BPM2"),
        ("KLY-3 tripped", "KLY-3"),
        ("gauge VGC_07 is back", "VGC_07"),
        ("see /opt/ops/refill.py for it", "/opt/ops/refill.py"),
        ("the ion pump of sector 4", "ion pump"),
        ("Thyratron reservoir", "Thyratron"),
        ("LLRF was reset", "LLRF"),
        ("turn-by-turn data are late", "turn-by-turn"),
        ("Kühlung wieder in Betrieb", "Kühlung"),
    ],
)
def test_names_terms_and_rare_words_are_kept_as_written(text: str, keyword: str) -> None:
    assert keyword in keywords(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "12.5 kV, 30 s",
        "at 02:10 it was 450 °C",
        "30x 10k 2nd",
        "and then it was again",
        "2024-05-18",
        "👍",
        "5µA",
    ],
)
def test_numbers_counts_times_and_empty_words_are_no_keywords(text: str) -> None:
    assert keywords(text) == ()


def test_a_word_of_most_entries_tells_nothing() -> None:
    found = keywords("beam beam beam quench of the wiggler, valves closed, helium recovered, heater replaced")
    assert "beam" not in found
    assert "quench" in found


def test_the_most_telling_comes_first_and_none_repeats_another() -> None:
    found = keywords("Septum cooling\n\nThe septum cooling failed. Septum water flow switch, septum, ion pump. " * 2)
    assert found[0].lower().startswith("septum")
    folded = [word for keyword in found for word in keyword.lower().split()]
    assert len(folded) == len(set(folded))


def test_a_table_of_names_leaves_room_for_words() -> None:
    names = " ".join(f"SR{number:02d}C:BPM{number}" for number in range(1, 30))
    found = keywords(f"Calibration of monitors with the wire scanner, resolution measured {names}")
    assert sum(":" in keyword for keyword in found) <= MOST_KEYWORDS / 2
    assert len(found) == MOST_KEYWORDS
    assert "wire" in found


def test_a_short_entry_has_few_keywords() -> None:
    assert len(keywords("Contactor burnt, swapped")) == 1
    assert keywords("Contactor burnt, swapped", 0) == ()


def test_the_words_of_a_keyword_stand_side_by_side_in_the_text() -> None:
    text = "The ion pump, current monitor and orbit feedback of sector SR-04 failed"
    for keyword in keywords(text):
        assert keyword in text


LONG = (
    "Vacuum incident\n\nAt 03:10 the gate valve closed because the gauge in sector 5 saw 2e-6 Torr. Everybody was surprised. "
    "The leak was found at the flange of the scraper feedthrough, whose bolts had lost their torque after the bake-out.\n"
    "| a | b |\n| 1 | 2 |\n\nWe tightened the bolts in two rounds and pumped with the turbo cart, e.g. for three hours. "
    "Then we waited. The pressure is back at 4e-10 Torr. Dr. Wrona signed the permit. It was a long night for all of us. "
    "Coffee helped. The next shift shall look at the gauge every hour and write the pressure into the table."
)


def test_a_summary_is_one_or_two_whole_sentences_of_the_text() -> None:
    made = summary(LONG)
    assert 0 < len(made) <= 300
    for sentence in made.replace(". ", ".|").split("|"):
        assert sentence in " ".join(LONG.split())
    assert "|" not in made
    assert "Vacuum incident" not in made


@pytest.mark.parametrize("text", ["", "Beam lost.", "x" * 5000, "| a | b |\n" * 200, "1.5 2.5 3.5\n" * 200])
def test_no_summary_of_what_is_short_or_no_prose(text: str) -> None:
    assert summary(text) == ""


def test_a_summary_of_very_long_sentences_is_cut_at_a_word() -> None:
    made = summary(("Because " + "the pressure rose and fell and " * 30 + "nobody knew. ") * 4, 80)
    assert made.endswith("…")
    assert len(made) <= 80


def test_sentences_end_neither_at_abbreviations_nor_inside_numbers() -> None:
    found = [
        s.text
        for s in sentences_of("Dr. Wrona measured 2.5 kV at the tank, e.g. Friday. Nothing was wrong with it at all.")
    ]
    assert found == ["Dr. Wrona measured 2.5 kV at the tank, e.g. Friday.", "Nothing was wrong with it at all."]


@given(st.text(max_size=400), st.integers(1, 50))
def test_cutting_keeps_the_limit(text: str, longest: int) -> None:
    assert len(shortened(text, longest)) <= longest


@given(st.text(max_size=1500))
def test_any_text_gives_bounded_keywords_without_line_ends(text: str) -> None:
    found = keywords(text)
    assert len(found) <= MOST_KEYWORDS
    for keyword in found:
        assert keyword.strip() == keyword != ""
        assert len(keyword) <= 3 * LONGEST_KEYWORD
        assert "\n" not in keyword
    assert len(summary(text)) <= 300
