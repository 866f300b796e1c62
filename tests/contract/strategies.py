"""Random small corpora and random queries over them, for Hypothesis."""

from __future__ import annotations

from datetime import datetime, timedelta

from brute_force import Bare, Both, Either, Field, Neither, Phrase, Prefix, Tree
from hypothesis import strategies as st
from logbooks import PICTURE, entry

from ariel_lite.records import EnhancedLogbookEntry

PLAIN = (
    "beam", "beams", "dump", "dumped", "trip", "trips", "tripping", "RF", "septum", "vacuum", "on", "off", "not",
    "under", "Straße", "strasse", "Økland", "café", "cafés", "don't",
)  # fmt: skip
NAMES = (
    "BR-QF-12", "BR_QF_12", "br:qf:12", "QF-12", "BR-QF-21", "SR01C:BPM1", "SR01C:BPM17", "I/O", "R&D", "st.cmd",
    "user@host", "DS-7604NI", "真空", "真", "ビーム", "Квант-2",
)  # fmt: skip
NUMBERS = (
    "2e-7", "2E-7", "2e+7", "10.0.2.17", "2026.4.10", "1.9 GeV", "1.9GeV", "5µA", "5uA", "-3 mm", "3 mm", "60%",
    "10-20", "1.9", "12",
)  # fmt: skip
EMPTY_WORDS = ("the", "of", "is")
BEGINNINGS = ("be", "beam", "tri", "dum", "RF", "BR", "BR-QF", "BR-QF-1", "QF", "SR01C:BPM1", "SR01C:B", "Øk", "ビー")
AUTHORS = ("Ada Kestrel", "Bo Lind", "Änne Örn", "j_m", "jsmith", "100%duty", "")
AUTHOR_PARTS = ("ada", "Kestrel", "ÄNNE", "orn", "j_m", "%", "_", "lind", "Ada Kestrel", "n", "nobody")
SOURCES = ("ALS eLog", "Generic JSON")
TAGS = ("RF", "Vacuum shift", "Größe")
LOGBOOKS = ("Main", "Op's log")
DATES = (
    "2026", "2026-03", "2026-03-05", "2026-03-06", "2025-12-31", "2026-03-04..2026-03-05", "2026-03..", "..2025-12",
    ">=2026-03-05", "<2026-03-05", ">2026-03-05", "<=2026-03", "1999",
)  # fmt: skip
FIRST_DAYS = (datetime(2026, 3, 5), datetime(2026, 3, 4, 22), datetime(2025, 12, 31, 20), datetime(2026, 3, 6))

_spoken = st.sampled_from((*PLAIN, *PLAIN, *NAMES, *NUMBERS, *EMPTY_WORDS))
_plain = st.sampled_from(PLAIN)
_texts = st.one_of(
    st.lists(_spoken, min_size=1, max_size=12).map(" ".join),
    st.lists(_plain, min_size=1, max_size=12).map(" ".join),
    st.lists(_spoken, min_size=3, max_size=8).map(", ".join),
    st.builds(
        lambda words, times: "; ".join(words * times),
        st.lists(_spoken, min_size=5, max_size=9),
        st.sampled_from((1, 70)),
    ),
    st.sampled_from(("", "  ", "the", "?!", "😀 ok")),
)


@st.composite
def corpora(draw: st.DrawFn) -> list[EnhancedLogbookEntry]:
    """Up to 14 entries; some share their time, some are empty, some have several hundred words."""
    made = []
    for number in range(draw(st.integers(1, 14))):
        at = draw(st.sampled_from(FIRST_DAYS)) + timedelta(hours=draw(st.integers(0, 3)))
        made.append(
            entry(
                f"E{number}",
                draw(_texts),
                at=at,
                author=draw(st.sampled_from(AUTHORS)),
                source=draw(st.sampled_from(SOURCES)),
                attachments=[PICTURE] if draw(st.booleans()) else [],
                tags=draw(st.lists(st.sampled_from(TAGS), max_size=2, unique=True)),
                logbook=draw(st.sampled_from(LOGBOOKS)),
                linked_to=draw(st.sampled_from(("", "E0"))),
            )
        )
    return made


fields = st.one_of(
    st.builds(Field, st.just("author"), st.sampled_from(AUTHOR_PARTS)),
    st.builds(Field, st.just("date"), st.sampled_from(DATES)),
    st.builds(Field, st.just("tag"), st.sampled_from(("rf", "vacuum shift", "GRÖSSE", "vacuum"))),
    st.builds(Field, st.just("logbook"), st.sampled_from(("main", "op's log", "ma"))),
    st.builds(Field, st.just("source"), st.sampled_from(("als", "JSON", "generic json", "elog x"))),
    st.builds(Field, st.just("id"), st.sampled_from(("E0", "E3", "e0"))),
    st.builds(Field, st.just("has"), st.sampled_from(("attachment", "link"))),
)


@st.composite
def leaves(draw: st.DrawFn, kinds: tuple[str, ...]) -> Tree:
    """One leaf; a kind that is named twice is twice as likely."""
    kind = draw(st.sampled_from(kinds))
    if kind == "field":
        return draw(fields)
    if kind == "prefix":
        return Prefix(draw(st.sampled_from(BEGINNINGS)))
    if kind == "exact":
        return Phrase(draw(_spoken), draw(quotes))
    if kind == "phrase":
        return Phrase(" ".join(draw(st.lists(_spoken, min_size=2, max_size=3))), draw(quotes))
    return Bare(draw(st.sampled_from(PLAIN) if kind == "word" else _spoken))


quotes = st.sampled_from(('""', "“”", "«»"))
TEXT_KINDS = ("word", "word", "any", "any", "exact", "phrase", "prefix")


@st.composite
def trees(draw: st.DrawFn, kinds: tuple[str, ...] = (*TEXT_KINDS, "field"), depth: int = 3) -> Tree:
    """Query trees: fields, exclusions inside OR, phrases, beginnings, exact words, down to `depth` levels of brackets."""
    shape = draw(st.sampled_from(SHAPES)) if depth else "leaf"
    if shape == "leaf":
        return draw(leaves(kinds))
    inner = trees(kinds, depth - 1)
    if shape == "not":
        return Neither(draw(inner), draw(st.booleans()))
    children = tuple(draw(inner) for _ in range(draw(st.integers(2, 3))))
    return Either(children) if shape == "or" else Both(children, draw(st.sampled_from((" ", " AND "))))


SHAPES = ("leaf", "leaf", "leaf", "not", "and", "or", "or", "or")


def batches(size: int) -> st.SearchStrategy[list[Tree]]:
    """Queries for one corpus."""
    several = st.one_of(trees(), trees(TEXT_KINDS), trees((*TEXT_KINDS, *["field"] * 4)))
    return st.lists(several, min_size=size, max_size=size)
