"""Thousands of odd inputs: each is answered or refused, and an entry's own words find it whatever stands around them."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import pytest
from logbooks import MakeLogbook

from ariel_lite.compose import Logbook
from ariel_lite.errors import ARIELException

WORDS = [
    "beam", "dump", "klystron", "trip", "vacuum", "leak", "septum", "kicker", "orbit", "drift", "gauge", "valve",
    "pump", "water", "flow", "interlock", "reset", "operator", "shift", "summary", "magnet", "power", "supply",
    "quadrupole", "cavity", "phase", "amplitude", "feedback", "injection", "extraction", "booster", "storage", "ring",
    "undulator", "gap", "scan", "Straße", "Økland", "naïve", "vérification", "pressure", "temperature", "on", "off",
    "up", "down", "the", "of", "and", "was", "not", "after", "before",
]  # fmt: skip
NAMES = [
    "BR-QF-12", "SR01C:BPM7", "10.0.2.17", "st.cmd", "I/O", "R&D", "1.9", "2e-7", "5µA", "60%", "-3", "PIO-1384",
    "user@host", "don't", "真空", "C:\\ioc", "2026.4.10",
]  # fmt: skip
VALID = (
    'beam "vacuum leak" -planned', "author:smith (klystron OR cavity) NOT trip", "date:2026-03..2026-04 BR-QF-12", "be* OR -(a b)",
    'tag:"night shift" has:attachment', "1.9 GeV AND 5µA", '"10.0.2.17" source:als', "NOT (a OR (b c)) d*",
)  # fmt: skip
SIGNS = "\"'`“”„«»()[]{}<>*-+~^:;,.!?/\\|&%$#@=_ \t\n\x00\x1f\x7f\ud800\udfff\u200b\u202e\ufeffAND OR NOT author: date: tag:"
AROUND = (
    "",
    "!",
    "?",
    "...",
    ",",
    ";",
    "(",
    ")",
    "#",
    "@",
    "&",
    "|",
    "+",
    "^",
    "~",
    "$",
    "…",
    "·",
    "\u200b",
    "\x00",
    "  ",
)


def planted_texts(rng: random.Random, count: int) -> list[str]:
    return [" ".join(rng.choices([*WORDS, *NAMES], k=rng.randint(8, 60))) for _ in range(count)]


def random_text(rng: random.Random) -> str:
    length = rng.choice((0, 1, 2, 5, 20, 60, 1200))
    high = rng.choice((0x7F, 0xFF, 0x2FFF, sys.maxunicode))
    return "".join(chr(rng.randint(0, high)) for _ in range(length))


def mutated(rng: random.Random) -> str:
    query = list(rng.choice(VALID))
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(query) + 1)
        action = rng.randrange(4)
        if action == 0 and at < len(query):
            del query[at]
        elif action == 1:
            query.insert(at, rng.choice(SIGNS))
        elif action == 2 and at < len(query):
            query[at] = rng.choice(SIGNS)
        else:
            query[at:at] = query[: rng.randint(0, 12)]
    return "".join(query)


def with_noise(rng: random.Random, text: str) -> str:
    """Some of a text's words in any order and case, with signs around them that mean nothing to a search."""
    words = rng.sample(text.split(), k=rng.randint(1, 5))
    noisy = []
    for word in words:
        before, after = rng.choice(AROUND), rng.choice(AROUND)
        if word == "-3":
            before = ""
        if rng.random() < 0.15:
            noisy.append(f'"{word}"')
        else:
            recased = rng.choice((word, word.upper(), word.title())) if word.isalpha() else word
            shown = word if recased in ("AND", "OR", "NOT") else recased
            noisy.append(f"{before} {shown} {after}" if rng.random() < 0.5 else f"{shown}{after.strip('*')}")
    return rng.choice((" ", "  ", "\t", " AND ", "\n")).join(noisy)


def inputs(rng: random.Random, texts: list[str], count: int) -> Iterator[tuple[str, int | None]]:
    """(query, the number of the entry whose words it holds, or None)."""
    for _ in range(count):
        kind = rng.randrange(3)
        if kind == 0:
            yield random_text(rng), None
        elif kind == 1:
            yield mutated(rng), None
        else:
            number = rng.randrange(len(texts))
            yield with_noise(rng, texts[number]), number


def fuzz(book: Logbook, texts: list[str], seed: int, count: int) -> list[str]:
    """Search for every input; the planted ones that did not find their entry."""
    rng = random.Random(seed)
    planted, missed = 0, []
    for query, number in inputs(rng, texts, count):
        try:
            found = {hit["entry_id"] for hit in book.search(query, mode="keyword", max_results=100).entries}
        except ARIELException as refused:
            assert refused.message, ascii(query)
            assert refused.hint, ascii(query)
            found = set()
        if number is not None:
            planted += 1
            if f"E{number + 1}" not in found:
                missed.append(query)
    assert planted > count / 4
    assert len(missed) <= planted * 0.05, [ascii(query) for query in missed[:20]]
    return missed


def test_a_thousand_inputs_are_answered_or_refused(make_logbook: MakeLogbook) -> None:
    texts = planted_texts(random.Random(1), 80)
    fuzz(make_logbook(texts), texts, seed=2, count=1_000)


@pytest.mark.slow
def test_ten_thousand_inputs_are_answered_or_refused(make_logbook: MakeLogbook) -> None:
    texts = planted_texts(random.Random(3), 80)
    fuzz(make_logbook(texts), texts, seed=4, count=10_000)


def test_odd_texts_are_stored_and_leave_the_others_findable(make_logbook: MakeLogbook) -> None:
    rng = random.Random(5)
    texts = [random_text(rng).encode("utf-8", "replace").decode() for _ in range(150)]
    book = make_logbook([f"needle{n}x {text} needle{n}y" for n, text in enumerate(texts)])
    for n in range(len(texts)):
        assert [hit["entry_id"] for hit in book.search(f'needle{n}x "needle{n}y"').entries] == [f"E{n + 1}"], ascii(
            texts[n]
        )
    assert book.service.backend.check() == []
