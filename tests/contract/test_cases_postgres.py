"""Keyword cases PG01 to PG11: queries that PostgreSQL's own parsers misread. They hold on every backend."""

from __future__ import annotations

import pytest
from logbooks import MakeLogbook, entry, exact, found, fragments


@pytest.mark.parametrize(
    "query",
    [
        "kicker NOT misfire",
        "kicker AND NOT misfire",
        "kicker NOT misfires",
        'kicker NOT "misfire at 3"',
        "NOT misfire kicker",
    ],
)
def test_pg01_not_excludes(make_logbook: MakeLogbook, query: str) -> None:
    assert exact(make_logbook(["kicker healthy", "kicker misfire at 3"]), query) == ["E1"]


@pytest.mark.parametrize("query", ["QF-12", "BR-QF", "-12 magnet OR QF-12", "qf_12", '"qf-12"', "magnet QF-12"])
def test_pg03_a_part_of_a_name_with_a_number(make_logbook: MakeLogbook, query: str) -> None:
    assert exact(make_logbook(["magnet BR-QF-12 tripped", "magnet QF fine"]), query) == ["E1"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [("up and down", ["E1"]), ("on", []), ("the", []), ('"the"', ["E3"]), ('"up and down"', ["E1"]), ("up", ["E1"]), ("and", []),
     ("the OR a", []), ("NOT the", []), ("the orbit", ["E2", "E3"])],
)  # fmt: skip
def test_pg05_empty_words_never_return_the_whole_logbook(
    make_logbook: MakeLogbook, query: str, expected: list[str]
) -> None:
    assert found(make_logbook(["up and down", "orbit", "the orbit"]), query) == expected


MARKUP = "<img src=x onerror=alert(1)> beam & <script>x</script> dump, p < 1e-9"


@pytest.mark.parametrize("query", ["beam", "beam dump", "img", "script", '"beam & <script>"', "1e-9"])
def test_pg06_highlights_hold_no_markup_of_the_text(make_logbook: MakeLogbook, query: str) -> None:
    shown = "".join(fragments(make_logbook([MARKUP]), query))
    bare = shown.replace("<b>", "").replace("</b>", "")
    assert "<" not in bare
    assert "<b>" in shown
    assert bare == "&lt;img src=x onerror=alert(1)&gt; beam &amp; &lt;script&gt;x&lt;/script&gt; dump, p &lt; 1e-9"


def test_pg08_nul_in_a_stored_text_hides_nothing(make_logbook: MakeLogbook) -> None:
    book = make_logbook([("E1", "alpha\x00beta quench"), ("E2", "ok")])
    assert exact(book, "quench") == ["E1"]
    assert exact(book, "alpha beta") == ["E1"]


@pytest.mark.parametrize(
    "query", ["beam &", "foo !bar", "a:*b", "SR01C:BPM1 &", "!SR01C:BPM1", "SR01C:BPM1 | x", "<-> SR01C:BPM1"]
)
def test_pg10_operators_of_tsquery_are_text(make_logbook: MakeLogbook, query: str) -> None:
    expected = ["E1"] if "SR01C" in query and " x" not in query else []
    assert exact(make_logbook([entry("E1", "SR01C:BPM1")]), query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [("BPM*", {"E1", "E2"}), ("bpm*", {"E1", "E2"}), ("BPM1*", {"E1"}), ("BPM17*", {"E1"}), ("BPM", {"E2"}), ("spike BPM*", set()),
     ("BP* -BPM1*", {"E2"}), ("(BPM*)", {"E1", "E2"})],
)  # fmt: skip
def test_pg11_a_star_is_a_prefix(make_logbook: MakeLogbook, query: str, expected: set[str]) -> None:
    assert set(exact(make_logbook(["BPM17", "BPM", "BEAM PM"]), query)) == expected
