"""Cutting messy logbook text into sentences."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ariel_lite.generation.sentences import split_sentences


def cut(text: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(text)]


def kinds(text: str) -> list[tuple[str, str]]:
    return [(sentence.kind, sentence.text) for sentence in split_sentences(text)]


@pytest.mark.parametrize(
    "sentences",
    [
        # shouting, names and numbers before the full stop
        ["FIRST FAULT = CATHODE OVERCURRENT KLY-3.", "NOT THE CAVITY, CAVITY 2 IS INNOCENT.", "BEAM BACK 22:40."],
        ["Pressure 1.9e-10 Torr at 1.9 GeV.", "Lifetime 14.2 h."],
        ["Ramped to 4.1 kV, 12.5 A.", "Held 20 min.", "Done."],
        ["NEG strips: 45 min at 450 °C, 48 A.", "Peak pressure 2.2e-6 Torr."],
        ["Phase B 82% for 97 ms.", "MOD-2 breaker tripped."],
        ["Old: 0.7 A.", "For months it had been fading."],
        ["Host 10.0.2.17 refused.", "Restarted st.cmd by hand."],
        # abbreviations
        ["Pump runs approx. 5 % too fast, i.e. nothing to worry about."],
        ["See Fig. 3 and ref. 12 for the temp. trend."],
        ["Valve No. 7 stuck, cf. entry of Dr. Nowak."],
        ["Tested e.g. The big one, vs. Nowak's, ca. 3 h."],
        ["Signed by K. Ferreira and Å. Lindqvist."],
        ["On 2025-07-01 B. Whynot repaired it."],
        ["Not yet, no.", "The valve is shut."],
        ["Pumps, valves etc.", "All were checked."],
        ["Access until 4 p.m.", "Then beam."],
        ["Am 3. März war Stromausfall.", "Alles wieder gut."],
        ["Le 14. juillet rien.", "Bonne nuit."],
        # addresses and paths
        ["See https://elog.example.org/2024/05/?id=7.8&x=1.", "Next shift please read."],
        ["Mail a.b@lab.org about /opt/ops/refill.py.", "It crashed."],
        ['Log says "no reading from SR:DCCT:Current." in red.'],
        # other signs
        ["Who did that?", "Nobody knows!", "Really..."],
        ["Lost beam... again at 3 o'clock."],
        ["Lost beam…", "Then it came back."],
        ["(Not the first time.)", "Second trip."],
        ["The tuner went crazy (it always does. Do not believe it) and stopped."],
        ["Run `caput X.VAL 3. Then wait` and look."],
        ["He said “Fine. Go on.” and left."],
        ["表示だけの問題です。", "測定値は正しい。"],
        # writers who begin with small letters
        ["beam dumped 0800.", "mags off 0805.", "see you in january"],
        ["220 mA all nite. lifetime 14.5, resid. gas ok"],
    ],
)
def test_prose(sentences: list[str]) -> None:
    assert cut(" ".join(sentences) if "。" not in sentences[0] else "".join(sentences)) == sentences


def test_a_line_is_a_sentence_where_its_writer_ended_it() -> None:
    text = "0756 rain on the roof loud, no leaks seen on rounds\nshutter of bl05 closed behind them\nall quiet"
    assert cut(text) == text.split("\n")


def test_wrapped_lines_are_joined() -> None:
    text = (
        "The magnet restore of this morning used the wrong snapshot because the\n"
        "list is sorted by name and not by date. That file has the sextupoles\n"
        "off. Sorting is now newest first."
    )
    assert cut(text) == [
        "The magnet restore of this morning used the wrong snapshot because the list is sorted by name and not by date.",
        "That file has the sextupoles off.",
        "Sorting is now newest first.",
    ]


@pytest.mark.parametrize("marker", ["-", "*", "•", "1.", "2)", "a)", "+", "–", ">"])
def test_a_list_item_is_whole_and_without_its_marker(marker: str) -> None:
    text = (
        f"Found in the loop:\n{marker} one O-ring. It was old.\n{marker} two cable ties\n  and a paper clip\n\nClosed."
    )
    assert kinds(text) == [
        ("line", "Found in the loop:"),
        ("item", "one O-ring. It was old."),
        ("item", "two cable ties and a paper clip"),
        ("prose", "Closed."),
    ]


@pytest.mark.parametrize(
    "dump",
    [
        "SR01C:BPM1:X 0.123\nSR01C:BPM1:Y -0.02\nSR02C:BPM1:X 0.5",
        "current 220.2\nlifetime 14.1 h\neff 93 %",
        "| I (mA) | length |\n|---:|---:|\n| 50 | 27 |",
        "PV\tvalue\tunit\nA\t1\tmm",
        "name    value    unit\nQF      1.25     A",
        "```\ncaput SR:X 1. Then wait.\n\nDone.\n```",
        "<table><tr><td>BR-KE-1</td><td>5.0</td></tr></table>",
    ],
)
def test_a_dump_is_one_block_that_is_not_quoted(dump: str) -> None:
    sentences = split_sentences(f"Readings. All fine.\n\n{dump}\n\nNothing else happened.")
    assert [sentence.text for sentence in sentences if sentence.is_quotable] == [
        "Readings.",
        "All fine.",
        "Nothing else happened.",
    ]
    assert [sentence.kind for sentence in sentences].count("data") == 1


def test_a_reading_alone_is_a_line() -> None:
    assert kinds("Night was quiet.\nlifetime 14.1 h") == [("prose", "Night was quiet."), ("line", "lifetime 14.1 h")]


@pytest.mark.parametrize("blanks", [1, 199, 500])
def test_many_blanks_between_sentences(blanks: int) -> None:
    assert cut(f"Beam lost.{' ' * blanks}Refilled.") == ["Beam lost.", "Refilled."]


def test_a_bracket_that_is_never_closed_does_not_swallow_the_text() -> None:
    text = "Note (see below. " + " ".join(f"Round {n} brought nothing (at all)." for n in range(30))
    assert len(cut(text)) > 20


@pytest.mark.parametrize("text", ["", " \n\t\n ", ".", "...", "- ", "``` ", "|"])
def test_next_to_nothing(text: str) -> None:
    assert all(sentence.text for sentence in split_sentences(text))


@given(st.text(alphabet="aB3 .,!?\n\r\t-*|`()“”\"'…。é°", max_size=200))
def test_sentences_are_slices_in_order_that_hold_all_words(text: str) -> None:
    sentences = split_sentences(text)
    for sentence in sentences:
        assert " ".join(text[sentence.start : sentence.end].split()) == sentence.text
    assert all(before.end <= after.start for before, after in pairwise(sentences))
    kept = "".join(sentence.text for sentence in sentences)
    assert [sign for sign in kept if sign in "Bé°"] == [sign for sign in text if sign in "Bé°"]


@pytest.mark.parametrize(
    "text", ["klystron tripped because of arcs " * 200, "x" * 5000, "电" * 2500, " ".join(["y" * 999] * 5)]
)
def test_text_without_an_end_is_cut_between_words(text: str) -> None:
    sentences = split_sentences(text)
    assert len(sentences) > 2
    assert max(len(sentence.text) for sentence in sentences) <= 1000
    joined = (" " if " " in text else "").join(sentence.text for sentence in sentences)
    assert joined == text.strip()
