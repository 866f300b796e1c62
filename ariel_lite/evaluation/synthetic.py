"""A synthetic accelerator logbook: deterministic, as long as wanted, with the statistics of a real one.

60 to 120 words an entry: Zipfian words over about 20,000 types, fixed phrases of the field, PV names, devices, readings
with units and exponents, in sentences; Zipfian authors, up to three tags, four source systems, an entry about every
81 minutes from 2004 on (135,000 entries are 20.8 years). The first k entries do not depend on how many are made.
Texts are invented and mean nothing; they are for measuring speed, not for judging answers.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib import resources
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ariel_lite.records import EnhancedLogbookEntry

BEGIN = datetime(2004, 1, 1, tzinfo=UTC)
FIRST_ID = 10_000
BLOCK = 512
"""Entries drawn at once; a block depends on the seed and its number only."""

CELLS = 1 << 20
"""Draws are taken from a table of this many quantiles: the rarest words have a few cells each."""

INVENTED_WORDS = 12_000
SHORTEST_TEXT, LONGEST_TEXT = 60, 120
LONGEST_PHRASE = 4
GAP_SECONDS = (60, 9_650)
SENTENCE_ENDS = 0.08
MOST_TAGS = 3
ZIPF_OFFSET = 2.7

PHRASE_SECTIONS = ("phrases", "title_joints")
SIGNALS = ("BPM", "HCM", "VCM", "QF", "QD", "SF", "SD", "IP", "TC", "IG", "BLM", "FE", "ID", "DCCT", "SEPT", "KICK")
DEVICES = ("DIPOLE", "CAVITY", "KLY", "QF", "HCM", "PS", "VVR", "GATE")
UNITS = ("mA", "kW", "kV", "degC", "mm", "um", "%")
INITIALS = "ABCDEFGHIJKLMNPRSTVWYZ"
SOURCES = {"ALS eLog": 0.80, "JLab Logbook": 0.12, "ORNL Logbook": 0.05, "Generic JSON": 0.03}

Floats = NDArray[np.float64]
Words = Mapping[str, Sequence[str]]


def synthetic_records(count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """`count` records in the generic JSON format: id, timestamp, author, title, text, tags, source_system."""
    return islice(_Generator(seed).records(), count)


def synthetic_entries(count: int, seed: int = 0) -> Iterator[EnhancedLogbookEntry]:
    """The same as entries, ready to be stored."""
    return map(synthetic_entry, synthetic_records(count, seed))


def synthetic_entry(record: Mapping[str, Any]) -> EnhancedLogbookEntry:
    """A record of `synthetic_records` as an entry."""
    moment = datetime.fromisoformat(record["timestamp"])
    return {
        "entry_id": record["id"],
        "source_system": record["source_system"],
        "timestamp": moment,
        "author": record["author"],
        "raw_text": f"{record['title']}\n\n{record['text']}",
        "attachments": [],
        "metadata": {"title": record["title"], "tags": record["tags"]},
        "created_at": moment,
        "updated_at": moment,
    }


def write_synthetic(path: Path, count: int, seed: int = 0) -> None:
    """Write `count` records as JSON lines (UTF-8)."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    with path.open("w", encoding="utf-8") as lines:
        lines.writelines(encode(record) + "\n" for record in synthetic_records(count, seed))


class _Table:
    """Texts with their weights, drawn by uniform numbers."""

    def __init__(self, weights: dict[str, float]) -> None:
        self.texts = list(weights)
        cumulated = np.cumsum(np.array(list(weights.values())))
        quantiles = (np.arange(CELLS) + 0.5) / CELLS * cumulated[-1]
        self._cells = np.searchsorted(cumulated, quantiles).astype(np.int32)

    def indices(self, uniform: Floats) -> NDArray[np.int32]:
        """Indices of texts, for numbers in [0, 1)."""
        found: NDArray[np.int32] = self._cells[(uniform * CELLS).astype(np.int32)]
        return found

    def drawn(self, uniform: Floats) -> list[str]:
        """Texts, for numbers in [0, 1)."""
        texts = self.texts
        return [texts[at] for at in self.indices(uniform).tolist()]


class _Generator:
    """Draws entries block by block."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        maker = random.Random(f"ariel-lite synthetic {seed}")
        listed = _listed_words()
        words = _zipf(_words(listed, maker), 1.07)
        phrases = _zipf(listed["phrases"], 0.9)
        self._tags = listed["tags"]
        self._tokens = _Table(_token_weights(words, phrases))
        self._words, self._phrases = _Table(words), _Table(phrases)
        self._authors = _Table(_zipf(_authors(listed, maker), 0.8))
        self._sources = _Table(SOURCES)
        self._joints = _Table(dict.fromkeys(listed["title_joints"], 1.0))
        self._variants = _variants(self._tokens.texts)
        self._widths = np.array([token.count(" ") + 1 for token in self._tokens.texts], dtype=np.int32)

    def records(self) -> Iterator[dict[str, Any]]:
        """Records without end."""
        number, moment = FIRST_ID, BEGIN
        block = 0
        while True:
            for record in self._block(block):
                moment += timedelta(seconds=record.pop("gap"))
                yield {"id": str(number), "timestamp": moment.isoformat(), **record}
                number += 1
            block += 1

    def _block(self, block: int) -> list[dict[str, Any]]:
        generator = np.random.Generator(np.random.PCG64([self._seed, block]))
        columns = zip(
            (GAP_SECONDS[0] + generator.random(BLOCK) * (GAP_SECONDS[1] - GAP_SECONDS[0])).astype(int).tolist(),
            self._authors.drawn(generator.random(BLOCK)),
            self._titles(generator),
            self._texts(generator),
            _drawn_tags(generator, self._tags),
            self._sources.drawn(generator.random(BLOCK)),
            strict=True,
        )
        names = ("gap", "author", "title", "text", "tags", "source_system")
        return [dict(zip(names, values, strict=True)) for values in columns]

    def _titles(self, generator: np.random.Generator) -> list[str]:
        phrases = self._phrases.drawn(generator.random(BLOCK))
        joints = self._joints.drawn(generator.random(BLOCK))
        words = self._words.drawn(generator.random(BLOCK))
        return [f"{_capital(p)} {joint} {word}" for p, joint, word in zip(phrases, joints, words, strict=True)]

    def _texts(self, generator: np.random.Generator) -> list[str]:
        """Tokens until there are enough words; the variant of a token says how it stands in its sentence."""
        shape = (BLOCK, LONGEST_TEXT)
        drawn = self._tokens.indices(generator.random(shape))
        room = LONGEST_TEXT - LONGEST_PHRASE - SHORTEST_TEXT
        wanted = SHORTEST_TEXT + (generator.random(BLOCK) * (room + 1)).astype(np.int32)
        tokens = 1 + (np.cumsum(self._widths[drawn], axis=1) < wanted[:, None]).sum(axis=1)
        ends = generator.random(shape) < SENTENCE_ENDS
        ends[np.arange(BLOCK), tokens - 1] = True
        begins = np.ones(shape, dtype=bool)
        begins[:, 1:] = ends[:, :-1]
        places = drawn + len(self._tokens.texts) * (2 * begins + ends)
        rows = self._variants[places].tolist()
        return [" ".join(row[:count]) for row, count in zip(rows, tokens.tolist(), strict=True)]


def _zipf(texts: Sequence[str], exponent: float) -> dict[str, float]:
    """Weights that fall with the rank and sum up to 1."""
    weights = [1.0 / (rank + ZIPF_OFFSET) ** exponent for rank in range(len(texts))]
    total = sum(weights)
    return {text: weight / total for text, weight in zip(texts, weights, strict=True)}


def _token_weights(words: dict[str, float], phrases: dict[str, float]) -> dict[str, float]:
    """Every token of a text with its share."""
    readings = [f"{a}.{b}e-{power} Torr" for power in range(6, 12) for a in range(1, 10) for b in range(10)]
    amounts = [f"{amount} {unit}" for unit in UNITS for amount in range(1, 501)]
    times = [f"{hour:02d}:{minute:02d}" for hour in range(24) for minute in range(60)]
    sectors = [f"Sector {number}" for number in range(1, 13)]
    groups: list[tuple[dict[str, float], float]] = [
        (words, 0.912),
        (phrases, 0.045),
        (dict.fromkeys(readings, 1 / len(readings)), 0.015),
        (dict.fromkeys(amounts, 1 / len(amounts)), 0.010),
        (dict.fromkeys(times, 1 / len(times)), 0.007),
        (dict.fromkeys(sectors, 1 / len(sectors)), 0.006),
        (dict.fromkeys(_signals(), 1 / len(_signals())), 0.005),
    ]
    total: dict[str, float] = {}
    for weights, share in groups:
        for text, weight in weights.items():
            total[text] = total.get(text, 0.0) + share * weight
    return total


def _listed_words() -> Words:
    """The sections of synthetic_words.txt."""
    text = resources.files("ariel_lite.evaluation").joinpath("synthetic_words.txt").read_text(encoding="utf-8")
    sections: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("["):
            name = line.strip("[]")
            sections[name] = []
        elif line and not line.startswith("#"):
            sections[name] += [line] if name in PHRASE_SECTIONS else line.split()
    return sections


def _words(listed: Words, maker: random.Random) -> list[str]:
    """About 20,000 words, the most frequent first: ordinary ones, the field's, then names and invented ones mixed."""
    known = dict.fromkeys([*listed["common"], *listed["domain"]])
    rest = [*_signals(), *(f"{kind}{number:02d}" for kind in DEVICES for number in range(1, 60))]
    onsets, nuclei, codas = listed["onsets"], listed["nuclei"], listed["codas"]
    invented: dict[str, None] = {}
    while len(invented) < INVENTED_WORDS:
        syllables = (maker.choice(onsets) + maker.choice(nuclei) for _ in range(maker.choice((1, 2, 2, 3))))
        word = "".join(syllables) + maker.choice(codas)
        if len(word) > 3 and word not in known:
            invented[word] = None
    rest += invented
    maker.shuffle(rest)
    return [*known, *rest]


def _signals() -> list[str]:
    places = product(range(1, 13), "CSUW", SIGNALS, range(1, 9))
    return [f"SR{sector:02d}{part}:{signal}{number}" for sector, part, signal, number in places]


def _authors(listed: Words, maker: random.Random) -> list[str]:
    return [f"{maker.choice(INITIALS)}. {name}" for name in listed["surnames"]]


def _variants(tokens: list[str]) -> NDArray[np.object_]:
    """All tokens inside a sentence, then at its end, at its beginning, and alone in it."""
    capitals = [_capital(token) for token in tokens]
    return np.array([*tokens, *(f"{t}." for t in tokens), *capitals, *(f"{t}." for t in capitals)], dtype=object)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _drawn_tags(generator: np.random.Generator, tags: Sequence[str]) -> list[list[str]]:
    """For each entry of a block up to three different tags."""
    counts = (generator.random(BLOCK) * (MOST_TAGS + 1)).astype(int).tolist()
    orders = np.argsort(generator.random((BLOCK, len(tags))), axis=1)[:, :MOST_TAGS].tolist()
    return [[tags[at] for at in order[:count]] for order, count in zip(orders, counts, strict=True)]
