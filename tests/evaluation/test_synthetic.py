"""The synthetic logbook: the same for the same seed, a prefix of every longer one, with the statistics it promises."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

from ariel_lite.evaluation.synthetic import (
    BEGIN,
    BLOCK,
    GAP_SECONDS,
    SOURCES,
    synthetic_entries,
    synthetic_records,
    write_synthetic,
)

MANY = 3 * BLOCK + 7


def test_the_same_seed_gives_the_same_records_and_another_seed_others() -> None:
    first = list(synthetic_records(200, seed=7))
    assert first == list(synthetic_records(200, seed=7))
    others = list(synthetic_records(200, seed=8))
    assert sum(a["text"] == b["text"] for a, b in zip(first, others, strict=True)) == 0


def test_records_stay_what_they_were_when_these_words_or_draws_change_by_accident() -> None:
    record = next(synthetic_records(1, seed=0))
    assert (record["id"], record["timestamp"]) == ("10000", "2004-01-01T01:42:48+00:00")
    assert record["author"] == "K. Lopez"
    assert record["title"] == "Beam lifetime near no"
    assert record["text"].startswith("Broug. Now on personnel protection system had")


def test_a_shorter_logbook_is_the_beginning_of_a_longer_one() -> None:
    whole = list(synthetic_records(MANY, seed=3))
    for count in (0, 1, BLOCK - 1, BLOCK, BLOCK + 1, MANY - 1):
        assert list(synthetic_records(count, seed=3)) == whole[:count]


def test_records_are_made_as_they_are_asked_for() -> None:
    endless = synthetic_records(10**12)
    assert [next(endless)["id"] for _ in range(3)] == ["10000", "10001", "10002"]


def test_texts_have_the_promised_length_and_shape() -> None:
    texts = [record["text"] for record in synthetic_records(MANY)]
    lengths = [len(text.split()) for text in texts]
    assert min(lengths) >= 60
    assert max(lengths) <= 120
    assert 80 < sum(lengths) / len(lengths) < 100
    assert all(text.endswith(".") and text[0] == text[0].upper() for text in texts)
    whole = "\n".join(texts)
    for pattern in (r"\bSR\d\d[CSUW]:[A-Z]+\d\b", r"\d\.\de-\d+ Torr", r"\d+ kV", r"\d\d:\d\d", r"(?i)rf cavity trip"):
        assert len(re.findall(pattern, whole)) > 10


def test_words_are_zipfian_over_about_twenty_thousand_types() -> None:
    counts = Counter(
        word for record in synthetic_records(20_000) for word in record["text"].lower().replace(".", " ").split()
    )
    ranked = [count for _, count in counts.most_common()]
    assert 15_000 < len(ranked) < 25_000
    assert ranked[0] > 2 * ranked[5] > 8 * ranked[100]
    assert counts.most_common(1)[0][0] == "the"


def test_authors_sources_tags_and_times_spread_as_they_should() -> None:
    records = list(synthetic_records(5_000))
    sources = Counter(record["source_system"] for record in records)
    assert sources.keys() == SOURCES.keys()
    for name, share in SOURCES.items():
        assert abs(sources[name] / len(records) - share) < 0.03
    authors = [count for _, count in Counter(record["author"] for record in records).most_common()]
    assert len(authors) > 80
    assert authors[0] > 3 * authors[50]
    assert {len(record["tags"]) for record in records} == {0, 1, 2, 3}
    assert all(len(set(record["tags"])) == len(record["tags"]) for record in records)
    times = [BEGIN, *(datetime.fromisoformat(record["timestamp"]) for record in records)]
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(times)]
    assert min(gaps) >= GAP_SECONDS[0]
    assert max(gaps) < GAP_SECONDS[1]
    years = timedelta(seconds=135_000 * sum(gaps) / len(gaps)).days / 365.25
    assert 19 < years < 22
    assert len({record["id"] for record in records}) == len(records)


def test_entries_and_lines_say_what_records_say(tmp_path: Path) -> None:
    records = list(synthetic_records(30, seed=5))
    file = tmp_path / "entries.jsonl"
    write_synthetic(file, 30, seed=5)
    assert [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] == records
    for record, entry in zip(records, synthetic_entries(30, seed=5), strict=True):
        assert entry["entry_id"] == record["id"]
        assert entry["raw_text"] == f"{record['title']}\n\n{record['text']}"
        assert entry["timestamp"].isoformat() == record["timestamp"]
        assert entry["metadata"] == {"title": record["title"], "tags": record["tags"]}
        assert (entry["author"], entry["source_system"]) == (record["author"], record["source_system"])
