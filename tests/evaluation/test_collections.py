"""Reading judged collections and golden files, good and bad."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ariel_lite.errors import InvalidRequestError
from ariel_lite.evaluation.collections import Collection, read_collection, read_golden

DOCUMENTS = [
    {"id": "d1", "title": "RF trip", "text": "cavity two"},
    {"id": 2, "title": "", "text": "vacuum leak"},
    {"id": "d3", "title": "Only a title", "text": None},
]
QUERIES = [{"id": "q1", "text": "rf"}, {"id": 7, "text": "leak"}]
JUDGEMENTS = "q1\td1\t2\nq1\td3\t0\n7\t2\t1\n"


def write(folder: Path, name: str, records: object) -> None:
    """A file of JSON lines, or of the text given."""
    text = records if isinstance(records, str) else "\n".join(json.dumps(r) for r in records)  # type: ignore[attr-defined]
    (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small, good collection."""
    made = tmp_path / "small"
    made.mkdir()
    write(made, "docs.jsonl", DOCUMENTS)
    write(made, "queries.jsonl", QUERIES)
    write(made, "qrels.tsv", JUDGEMENTS)
    return made


def grades(collection: Collection) -> dict[str, dict[str, int]]:
    """Query id -> its relevant documents."""
    return {query.query_id: dict(query.relevant) for query in collection.queries}


def test_a_collection(folder: Path) -> None:
    collection = read_collection(folder)
    assert (collection.name, collection.documents, collection.plain) == ("small", 3, True)
    assert grades(collection) == {"q1": {"d1": 2}, "7": {"2": 1}}
    assert collection.notes == ()
    entries = list(collection.entries())
    assert [entry["entry_id"] for entry in entries] == ["d1", "2", "d3"]
    assert [entry["raw_text"] for entry in entries] == ["RF trip\n\ncavity two", "vacuum leak", "Only a title"]
    assert [entry["metadata"] for entry in entries] == [{"title": "RF trip"}, {}, {"title": "Only a title"}]
    assert len({entry["timestamp"] for entry in entries}) == 3


@pytest.mark.parametrize(
    "judgements",
    [
        "query-id\tcorpus-id\tscore\n" + JUDGEMENTS,
        "q1 d1 2\n\nq1 d3 0\n7 2 1",
        "\ufeff" + JUDGEMENTS.replace("\n", "\r\n"),
        "q1\td1\t1\nq1\td1\t2\nq1\td3\t-1\n7\t2\t1\n",
    ],
    ids=["header", "blanks", "BOM and CR", "twice and negative"],
)
def test_forms_of_judgements(folder: Path, judgements: str) -> None:
    write(folder, "qrels.tsv", judgements)
    assert grades(read_collection(folder)) == {"q1": {"d1": 2}, "7": {"2": 1}}


def test_ids_that_do_not_fit_are_told(folder: Path) -> None:
    write(folder, "queries.jsonl", [*QUERIES, {"id": "q9", "text": "nobody judged this"}])
    write(folder, "qrels.tsv", JUDGEMENTS + "q1\tgone\t1\nq1\tgone too\t1\nqx\td1\t1\n")
    collection = read_collection(folder)
    assert grades(collection) == {"q1": {"d1": 2, "gone": 1, "gone too": 1}, "7": {"2": 1}}
    assert [note.split()[0] for note in collection.notes] == ["1", "1", "2"]
    assert all(name in "".join(collection.notes) for name in ("qrels.tsv", "queries.jsonl", "docs.jsonl"))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("docs.jsonl", "", "docs.jsonl is empty"),
        ("docs.jsonl", "\n \n", "docs.jsonl is empty"),
        ("queries.jsonl", "", "queries.jsonl is empty"),
        ("qrels.tsv", "", "qrels.tsv is empty"),
        ("docs.jsonl", '{"id": "d1", "text": "x"}\n{"id": ', "docs.jsonl, line 2: it is not JSON"),
        ("docs.jsonl", '["d1"]', "docs.jsonl, line 1: it is not an object"),
        ("docs.jsonl", '{"text": "x"}', "docs.jsonl, line 1: it has no id"),
        ("docs.jsonl", '{"id": true, "text": "x"}', "docs.jsonl, line 1: it has no id"),
        (
            "docs.jsonl",
            '{"id": 1, "text": "x"}\n{"id": "1", "text": "y"}',
            "docs.jsonl, line 2: the id '1' comes twice",
        ),
        ("docs.jsonl", '{"id": 1, "text": ["x"]}', "docs.jsonl, line 1: its text is no text"),
        ("queries.jsonl", '{"id": 1, "text": " "}', "queries.jsonl, line 1: its text is empty"),
        (
            "queries.jsonl",
            '{"id": 1, "text": "a"}\n\n{"id": 1, "text": "b"}',
            "queries.jsonl, line 3: the id '1' comes",
        ),
        ("qrels.tsv", "q1\td1\t1\nq1\td1\n", "qrels.tsv, line 2: there are not three fields"),
        ("qrels.tsv", "q1\td1\t1\nq1\td3\thigh\n", "qrels.tsv, line 2: there are not three fields"),
        ("qrels.tsv", "q1\td1\t0\n", "has a relevant document"),
        ("qrels.tsv", "other\td1\t1\n", "has a relevant document"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(folder: Path, name: str, content: str, said: str) -> None:
    write(folder, name, content)
    with pytest.raises(InvalidRequestError) as caught:
        read_collection(folder)
    assert said in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("name", ["docs.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(InvalidRequestError, match=name):
        read_collection(folder)


def test_a_file_that_is_no_utf_8_is_named(folder: Path) -> None:
    (folder / "docs.jsonl").write_bytes(b'{"id": 1, "text": "K\xfchlung"}')
    with pytest.raises(InvalidRequestError, match=r"docs.jsonl is not UTF-8"):
        read_collection(folder)


def test_fingerprints_tell_content_apart_but_not_line_ends(folder: Path) -> None:
    before = read_collection(folder)
    for name in ("docs.jsonl", "queries.jsonl", "qrels.tsv"):
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_bytes(text.replace("\n", "\r\n").encode())
    assert read_collection(folder).fingerprint == before.fingerprint
    write(folder, "qrels.tsv", JUDGEMENTS + "q1\t2\t1\n")
    changed = read_collection(folder)
    assert changed.fingerprint != before.fingerprint
    assert changed.documents_hash == before.documents_hash


def test_the_bundled_golden_set_is_whole() -> None:
    golden = read_golden()
    assert (golden.name, golden.documents, golden.zone, golden.plain) == ("golden", 610, "America/Halifax", False)
    assert golden.notes == ()
    assert len(golden.queries) == 244
    only, without = golden.chosen("only"), golden.chosen("without")
    assert len(only) + len(without) == 244
    assert {query.query_id for query in only}.isdisjoint(query.query_id for query in without)
    assert {query.group for query in golden.queries if not query.relevant} == {"no_answer"}
    assert {query.group for query in only} == {query.group for query in without} == {
        "exact", "identifier", "phrase", "negation", "field", "date", "typo", "concept", "no_answer"
    }  # fmt: skip


def test_a_golden_set_over_the_logbook_beside_it(tmp_path: Path) -> None:
    entry = {"id": "X1", "timestamp": "2026-03-05T10:00:00Z", "author": "", "title": "RF", "text": "trip"}
    write(tmp_path, "logbook.json", json.dumps({"entries": [entry]}))
    write(
        tmp_path, "mine.jsonl", [{"id": "1", "class": "exact", "query": "rf", "relevant": {"X1": 3, "X2": 1, "X3": 0}}]
    )
    golden = read_golden(tmp_path / "mine.jsonl")
    assert [entry["entry_id"] for entry in golden.entries()] == ["X1"]
    assert grades(golden) == {"1": {"X1": 3, "X2": 1}}
    assert golden.notes == ("1 judged entries are not in logbook.json",)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "1", "query": "rf"}', "relevant must map"),
        ('{"id": "1", "query": "rf", "relevant": {"a": "3"}}', "relevant must map"),
        ('{"id": "1", "query": "rf", "relevant": {"a": true}}', "relevant must map"),
        ('{"id": "1", "relevant": {}}', "its query is empty"),
        ('{"query": "rf", "relevant": {}}', "it has no id"),
    ],
)
def test_bad_golden_lines(tmp_path: Path, line: str, said: str) -> None:
    write(tmp_path, "bad.jsonl", line)
    with pytest.raises(InvalidRequestError, match=f"bad.jsonl, line 1: {said}"):
        read_golden(tmp_path / "bad.jsonl")
