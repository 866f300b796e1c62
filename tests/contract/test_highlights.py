"""Highlights of a search: what was found is marked, whatever the query was made of; nothing else is markup."""

from __future__ import annotations

import html
import re

import pytest
from logbooks import MakeLogbook, entry, fragments

HOSTILE = 'beam <img src=x onerror=alert(1)> <script>alert(2)</script> " onmouseover=alert(3) x=" javascript:alert(4)'
FAKE = "see <mark>fake</mark> <b>fake</b> beam \u0001fake\u0002"


@pytest.mark.parametrize("text", [HOSTILE, FAKE])
@pytest.mark.parametrize("query", ["beam", '"beam"', "be*", "beam OR x", "baem"])
def test_wb01_wb03_markup_in_a_text_stays_text(make_logbook: MakeLogbook, text: str, query: str) -> None:
    shown = " ".join(fragments(make_logbook([text]), query))
    assert set(re.findall(r"<[^>]*>", shown)) == {"<b>", "</b>"}
    assert "<b>beam</b>" in shown
    assert "<b>fake</b>" not in shown
    assert '"' not in shown


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("trip", ["trips", "tripped"]),
        ('"trips"', ["trips"]),
        ('"klystron trips"', ["Klystron trips"]),
        ("klyst*", ["Klystron"]),
        ("BR-QF-12", ["BR_QF_12"]),
        ("QF-12", ["QF_12"]),
        ("1.9GeV", ["1.9 GeV"]),
        ("klystron -vacuum", ["Klystron"]),
        ("klystron NOT (vacuum OR trp)", ["Klystron"]),
        ("klystron OR septum", ["Klystron"]),
        ("klystron source:json", ["Klystron"]),
        ("the klystron", ["Klystron"]),
        ("kylstron tripped", ["Klystron", "trips", "tripped"]),
        ("source:json", []),
        ("-vacuum", []),
    ],
)
def test_what_was_found_is_marked(make_logbook: MakeLogbook, query: str, marked: list[str]) -> None:
    book = make_logbook(["Klystron trips again at BR_QF_12 near 1.9 GeV; the phase tripped"])
    shown = " ".join(fragments(book, query))
    assert re.findall(r"<b>(.*?)</b>", shown) == marked


def test_a_match_deep_in_a_long_entry_is_shown(make_logbook: MakeLogbook) -> None:
    text = "ünïcode wörds and more " * 2_000 + "then a quench of the magnet " + "øther wörds " * 2_000
    (fragment,) = fragments(make_logbook([text]), "quench")
    assert "then a <b>quench</b> of the magnet" in fragment
    assert fragment.startswith("…")
    assert fragment.endswith("…")
    assert html.unescape(fragment.replace("<b>", "").replace("</b>", "")).strip("…") in text


def test_at_most_three_fragments(make_logbook: MakeLogbook) -> None:
    text = ("quench " + "filler " * 60) * 9
    assert len(fragments(make_logbook([text]), "quench")) == 3


def test_summary_and_keywords_are_shown_where_they_matched(make_logbook: MakeLogbook) -> None:
    book = make_logbook([entry("E1", "text", summary="klystron <arc>", keywords=["septum"])])
    assert "<b>klystron</b> &lt;arc&gt;" in fragments(book, "klystron")[0]
    assert "<b>septum</b>" in " ".join(fragments(book, "septum"))


def test_highlights_may_be_left_out(make_logbook: MakeLogbook) -> None:
    book = make_logbook(["beam"])
    assert book.search("beam", mode="keyword", include_highlights=False).entries[0]["_highlights"] == []
