"""Records out of JSON in every form and cut: what is intact is found, what is broken is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ariel_lite.ingestion.json_stream import RecordStream, StreamFailure
from ariel_lite.ingestion.json_values import BadRecord, JsonRecord


def read(text: str, size: int = 1 << 20) -> list[Any]:
    return list(RecordStream(text[at : at + size] for at in range(0, len(text), size)))


def values(text: str, size: int = 1 << 20) -> list[Any]:
    return [item.value for item in read(text, size) if isinstance(item, JsonRecord)]


RECORDS = [
    {"id": str(n), "text": f'entry {n} ends with }} and ] and "id":', "attachments": [{"id": n}]} for n in range(4)
]
FORMS = {
    "lines": "\n".join(json.dumps(r) for r in RECORDS),
    "lines with commas and CRLF": ",\r\n".join(json.dumps(r) for r in RECORDS) + ",\r\n\r\n",
    "list": json.dumps(RECORDS),
    "list over many lines": json.dumps(RECORDS, indent=4),
    "one a line": "[\n" + ",\n".join(json.dumps(r) for r in RECORDS) + "\n]\n",
    "entries": json.dumps({"version": 2, "meta": {"entries": 3, "data": [1]}, "entries": RECORDS, "total": 4.5}),
    "data entries": json.dumps({"stat": "ok", "data": {"n": 1, "entries": RECORDS, "x": [{}]}, "y": None}, indent=1),
    "pages, one a line": json.dumps({"entries": RECORDS[:2]}) + "\n" + json.dumps({"entries": RECORDS[2:]}),
    "objects over many lines": "\n".join(json.dumps(r, indent=2) for r in RECORDS),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 2, 7, 64, 1 << 20])
def test_every_form_gives_the_same_records_in_any_cut(form: str, size: int) -> None:
    assert values(FORMS[form], size) == RECORDS
    assert len(read(FORMS[form], size)) == len(RECORDS)


def test_line_numbers_count_from_one() -> None:
    assert [item.line for item in read(FORMS["lines"])] == [1, 2, 3, 4]
    assert [item.line for item in read(FORMS["one a line"], 5)] == [2, 3, 4, 5]
    assert read('\n\n{"id": 1}\n\n{"id": 2')[1].line == 5


@pytest.mark.parametrize("text", ["[]", '{"entries": []}', ' {"data": {"entries": [ ]}} \n'])
def test_an_empty_list_is_no_fault(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize("text", ["", " \n\n "])
def test_an_empty_file_is_a_failure(text: str) -> None:
    assert [type(item) for item in read(text)] == [StreamFailure]


def test_in06_each_bad_line_is_told_with_its_reason() -> None:
    items = read('{"id":1}\n{"id":2,\n[1]\nnull\n{"id":5}{"id":6}\n{"id":7}')
    assert [type(item) for item in items] == [JsonRecord, BadRecord, BadRecord, BadRecord, BadRecord, JsonRecord]
    assert [item.line for item in items] == [1, 2, 3, 4, 5, 6]
    reasons = [item.reason for item in items if isinstance(item, BadRecord)]
    assert [
        words in reason for words, reason in zip(("cut off", "list", "null", "two values"), reasons, strict=True)
    ] == [True] * 4


@pytest.mark.parametrize(
    "first",
    ['{"id":2,', "[1]", "null", "[", '["a": 1}', '{"a":', '{"id":"1","text":"cut', "<html>", "\x00", '{"a":1}{'],
)
def test_a_bad_first_line_costs_nothing_else(first: str) -> None:
    assert values(f'{first}\n{{"id":2}}\n{{"id":3}}\n') == [{"id": 2}, {"id": 3}]


BROKEN = {
    "missing comma between keys": '{"id": "x" "text": "a"}',
    "missing quote": '{"id": "x, "text": "a"}',
    "bare word": '{"id": x}',
    "cut in a text": '{"id": "x", "text": "abc',
    "cut after a comma": '{"id": "x", "more": {"b": 1,',
    "null": "null",
    "a list": "[1, 2]",
    "bad escape": r'{"id": "\q"}',
}


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("size", [3, 1 << 20])
@pytest.mark.parametrize("shape", ["[\n  %s\n]", '{"entries": [%s], "n": 3}'])
def test_a_broken_record_in_a_list_costs_no_other(broken: str, size: int, shape: str) -> None:
    glue = ",\n  " if shape.startswith("[") else ", "
    parts = [json.dumps(RECORDS[0]), BROKEN[broken], json.dumps(RECORDS[1]), json.dumps(RECORDS[2])]
    items = read(shape % glue.join(parts), size)
    assert [item.value for item in items if isinstance(item, JsonRecord)] == RECORDS[:3]
    assert [type(item) for item in items].count(BadRecord) == 1


@pytest.mark.parametrize("cut", [10, 60, 120])
def test_a_file_cut_inside_its_list_keeps_what_came_before(cut: int) -> None:
    text = FORMS["entries"][: FORMS["entries"].index('"id": "2"') + cut]
    items = read(text, 11)
    assert [item.value for item in items if isinstance(item, JsonRecord)][:2] == RECORDS[:2]
    assert isinstance(items[-1], StreamFailure)


def test_in10_what_json_does_not_know_is_replaced_and_counted() -> None:
    text = '{"id": 1, "a": NaN, "b": [-Infinity, 1e400, -2.5], "c": "\\ud800x", "\\u0000k": "\\u0085"}'
    (item,) = read(text)
    assert item.value == {"id": 1, "a": None, "b": [None, None, -2.5], "c": " x", " k": " "}
    assert item.cleaned
    json.dumps(item.value, allow_nan=False).encode("utf-8")


@pytest.mark.parametrize(
    ("written", "kept"),
    [("a\\tb\\nc", "a\tb\nc"), ("a\\r\\nb\\rc", "a\nb\nc"), ("\\ud83d\\ude00", "😀"), ("\\\\u0000", "\\u0000")],
)
def test_ordinary_escapes_are_no_cleaning(written: str, kept: str) -> None:
    (item,) = read(f'{{"text": "{written}"}}')
    assert (item.value["text"], item.cleaned) == (kept, False)


@pytest.mark.parametrize("form", ['{"text": "a%sb"}', '[{"text": "a%sb"}]'])
@pytest.mark.parametrize("raw", ["\x00", "\x1b", "\x7f", "\x85", "\x0b"])
def test_raw_control_characters_become_blanks(form: str, raw: str) -> None:
    (item,) = read(form % raw)
    assert (item.value["text"], item.cleaned) == ("a b", True)


@pytest.mark.parametrize(
    "text", ['{"a":' * 100_000, "[" * 100_000, '{"a":' + "[" * 5000 + "]" * 5000 + "}", '{"a": ' + "9" * 5000 + "}"]
)
def test_nesting_and_numbers_without_end_are_rejected(text: str) -> None:
    assert values(text + '\n{"id": 2}\n') == [{"id": 2}]
    assert {"id": 2} in values(f'[{{"id": 1}},\n{text},\n{{"id": 2}}]')


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
plain_text = st.text(st.characters(exclude_categories=("Cc", "Cs")))
records = st.lists(
    st.fixed_dictionaries({"id": plain_text, "text": plain_text}, optional={"more": json_values}),
    min_size=1,
    max_size=5,
)


@settings(max_examples=300, deadline=None)
@given(records, st.sampled_from(["lines", "list", "pretty", "entries", "data"]), st.booleans(), st.integers(1, 40))
def test_any_chunk_size_gives_the_same_records(
    found: list[dict[str, Any]], form: str, ascii_only: bool, size: int
) -> None:
    def dump(value: Any, **options: Any) -> str:
        return json.dumps(value, ensure_ascii=ascii_only, **options)

    text = {
        "lines": "\n".join(dump(r) for r in found),
        "list": dump(found),
        "pretty": dump({"a": {}, "entries": found, "b": 1}, indent=1),
        "entries": dump({"entries": found}),
        "data": dump({"data": {"entries": found}, "entries": 7}),
    }[form]
    whole = read(text)
    assert read(text, size) == whole
    assert len(whole) == len(found)
    for item, expected in zip(whole, found, strict=True):
        assert isinstance(item, JsonRecord)
        assert (item.value["id"], item.value["text"]) == (expected["id"], expected["text"])


@settings(max_examples=500, deadline=None)
@given(st.integers(0, 11), st.integers(0, 40), st.integers(0, 30), st.text(max_size=12), st.integers(1, 64))
@example(0, 0, 0, "[", 7)
@example(0, 0, 10, "[", 7)
def test_random_damage_to_a_line_never_loses_an_intact_line(
    line: int, at: int, gone: int, noise: str, size: int
) -> None:
    lines = [json.dumps({"id": str(n), "text": f"beam {n}", "n": [n]}) for n in range(12)]
    lines[line] = lines[line][:at] + noise + lines[line][at + gone :]
    intact = [json.loads(text) for n, text in enumerate(lines) if n != line]
    found = values("\n".join(lines), size)
    assert [value for value in found if value in intact] == intact


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(sorted(FORMS)), st.data(), st.integers(1, 64))
def test_random_damage_never_raises_and_never_depends_on_the_cut(form: str, data: st.DataObject, size: int) -> None:
    text = FORMS[form]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.text(max_size=4)) + text[at + data.draw(st.integers(0, 6)) :]
    assert read(text, size) == read(text)


@settings(max_examples=300, deadline=None)
@given(st.text() | st.text(st.sampled_from('{}[]",:\\ \n1eE+-.nulfase')), st.integers(1, 9))
def test_any_text_is_read_to_its_end(text: str, size: int) -> None:
    assert read(text, size) == read(text)
