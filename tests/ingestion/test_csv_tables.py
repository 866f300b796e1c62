"""Tables: delimiters, quotes, encodings, columns by name and by settings, and rows that are none."""

from __future__ import annotations

import csv
import io
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingestion_bench import Bench

from ariel_lite.config import IngestionConfig
from ariel_lite.errors import ConfigurationError, IngestionError
from ariel_lite.export import csv_lines
from ariel_lite.ingestion.adapters.csv import create_adapter
from ariel_lite.ingestion.base import AdapterOptions
from ariel_lite.ingestion.csv_rows import Table
from ariel_lite.ingestion.pipeline import ingest
from ariel_lite.ingestion.report import IngestReport
from ariel_lite.ingestion.text_lines import lines_of

HEADER = "id,timestamp,author,title,text\n"


def read(bench: Bench, content: str | bytes, *, date_format: str | None = None, **settings: Any) -> IngestReport:
    path = bench.write("source.csv", content)
    options = AdapterOptions(str(path), date_format=date_format, config=IngestionConfig(settings=settings))
    return ingest(bench.backend, create_adapter(options), source_label=path.name)


def rows(text: str) -> list[list[str]]:
    return [row.cells for row in Table([text])]


def test_usual_names_are_found_and_said(bench: Bench) -> None:
    text = (
        "Entry ID;Date;Time;User Name;Subject;Comments;Tags;Logbook;Shift;Beam current\n"
        "17;2026-03-05;10:00;x;RF trip;Klystron 3;RF, night;Ops;B;1.5\n"
    )
    report = read(bench, text)
    entry = bench.entry("17")
    assert (entry["source_system"], entry["timestamp"].isoformat()) == ("CSV", "2026-03-05T10:00:00+00:00")
    assert (entry["author"], entry["raw_text"]) == ("x", "RF trip\n\nKlystron 3")
    assert entry["metadata"] == {
        "title": "RF trip", "logbook": "Ops", "tags": ["RF", "night"], "Shift": "B", "Beam current": "1.5",
    }  # fmt: skip
    assert report.notes == [
        "columns by their names: timestamp = Date + Time, entry_id = Entry ID, author = User Name, title = Subject,"
        " text = Comments, tags = Tags, logbook = Logbook; metadata: Shift, Beam current"
        " (map them in ingestion.settings.columns)"
    ]


def test_settings_map_columns(bench: Bench) -> None:
    text = "Nr,Wann,Wer,Was,Massnahme,Labels\n1,05.03.2026 10:00,Jane,RF weg,Reset,RF/night shift\n2,06.03.2026 11:00,,x,,\n"
    columns = {
        "entry_id": "Nr", "timestamp": "wann", "author": "Wer", "text": ["Was", "Massnahme"],
        "tags": {"column": "Labels", "separator": "/"},
    }  # fmt: skip
    report = read(bench, text, date_format="%d.%m.%Y %H:%M", columns=columns, source_system="Injektor")
    assert (report.added, report.notes) == (2, [])
    entry = bench.entry("1")
    assert (entry["raw_text"], entry["source_system"]) == ("RF weg\n\nReset", "Injektor")
    assert entry["metadata"] == {"tags": ["RF", "night shift"]}
    assert bench.entry("2")["raw_text"] == "x"


def test_a_file_without_a_header_row_gets_one_from_the_settings(bench: Bench) -> None:
    assert read(bench, "2026-03-05,RF trip\n2026-03-06,reset\n", header=["date", "text"]).added == 2
    assert all(entry_id.startswith("auto-") for entry_id in bench.ids())
    assert read(bench, "2026-03-05,RF trip\n2026-03-06,reset\n", header=["date", "text"]).unchanged == 2


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_out(bench: Bench, delimiter: str) -> None:
    written = io.StringIO()
    writer = csv.writer(written, delimiter=delimiter)
    writer.writerow(["id", "date", "text"])
    writer.writerows([str(n), "2026-03-05", "one, two; three | four\tfive"] for n in range(5))
    assert read(bench, written.getvalue()).added == 5
    assert bench.entry("3")["raw_text"] == "one, two; three | four\tfive"


def test_a_delimiter_can_be_named(bench: Bench) -> None:
    assert read(bench, "sep=#\nid#date#text\n1#2026-03-05#a, b\n").added == 1
    assert read(bench, "id#date#text\n1#2026-03-05#a, b\n", delimiter="#").unchanged == 1
    assert read(bench, "id\tdate\ttext\n2\t2026-03-05\ta\n", delimiter="tab").added == 1
    with pytest.raises(IngestionError, match="not one character"):
        read(bench, HEADER, delimiter="ab")


def test_quotes_hold_line_ends_delimiters_and_quotes(bench: Bench) -> None:
    text = HEADER + '1,2026-03-05,x,"a ""b""","line 1\r\nline 2, with comma\n\nline 4"\n2,2026-03-05,x,t,5" pipe\n'
    assert read(bench, text).added == 2
    assert bench.entry("1")["raw_text"] == 'a "b"\n\nline 1\nline 2, with comma\n\nline 4'
    assert bench.entry("2")["raw_text"] == 't\n\n5" pipe'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_are_told_apart(bench: Bench, encoding: str) -> None:
    report = read(bench, (HEADER + "1,2026-03-05,Müller,5 µA,größer\n").encode(encoding))
    assert bench.entry("1")["raw_text"] == "5 µA\n\ngrößer"
    repaired = [note for note in report.notes if "Windows-1252" in note]
    assert len(repaired) == (encoding == "cp1252")


def test_ragged_rows_are_rejected_with_their_line_and_the_rest_is_read(bench: Bench) -> None:
    text = HEADER + '1,2026-03-05,x,t,"two\nlines"\n2,2026-03-05,x\n\n3,2026-03-05,x,t,y,z\n4,2026-03-05,x,t,y,,\n'
    report = read(bench, text)
    assert bench.ids() == ["1", "4"]
    assert [(reject.locator, reject.reason) for reject in report.first_rejects] == [
        (4, "it has 3 columns where the header has 5"),
        (6, "it has 6 columns where the header has 5"),
    ]


def test_a_quote_that_is_never_closed_costs_its_own_line(bench: Bench) -> None:
    text = HEADER + '1,2026-03-05,x,t,ok\n2,2026-03-05,x,t,"open\n3,2026-03-05,x,t,ok\n4,2026-03-05,x,"q","q, r"\n'
    report = read(bench, text)
    assert bench.ids() == ["1", "3", "4"]
    assert [(reject.locator, reject.reason) for reject in report.first_rejects] == [(3, "a quote is not closed")]


def test_times_that_could_be_read_in_two_ways_need_a_format(bench: Bench) -> None:
    text = HEADER + "1,03/04/2009,x,t,y\n2,,x,t,y\n3,1236000000,x,t,y\n4,2009-03-04 10:00,x,,\n"
    report = read(bench, text)
    assert bench.ids() == ["3"]
    assert [reject.reason.split(";")[0] for reject in report.first_rejects] == [
        "the time '03/04/2009' is unreadable or ambiguous",
        "the time is missing ('')",
        "it has no text",
    ]
    assert read(bench, text, date_format="%d/%m/%Y").added == 1
    assert bench.entry("1")["timestamp"].isoformat() == "2009-04-03T00:00:00+00:00"


def test_a_cell_may_be_huge(bench: Bench) -> None:
    assert read(bench, HEADER + f'1,2026-03-05,x,t,"{"word " * 400_000}"\n').added == 1
    assert len(bench.entry("1")["raw_text"]) > 1_900_000


def test_columns_without_a_name_or_with_the_same_are_kept_apart(bench: Bench) -> None:
    report = read(bench, "id,date,text,Note,Note,,\n1,2026-03-05,t,a,b,c,\n2,2026-03-05,t,a,b\n3,2026-03-05,t,a\n")
    assert bench.entry("1")["metadata"] == {"Note": "a", "Note (5)": "b", "column 6": "c"}
    assert (report.added, report.rejected) == (2, 1)


def test_an_export_comes_back(bench: Bench) -> None:
    record = {"id": "E1", "timestamp": "2026-03-05T10:00:00Z", "author": "A", "title": "T", "text": "a\n\nb",
              "tags": ["x", "y z"], "books": ["Ops"], "source_system": "Own", "level": "Info"}  # fmt: skip
    bench.ingest([record])
    before = bench.entry("E1")
    written = "".join(csv_lines([before], ZoneInfo("Europe/Berlin")))
    assert read(bench, written).unchanged == 1


@pytest.mark.parametrize(
    ("content", "settings", "message"),
    [
        ("a,b\n1,2\n", {}, "no column holds the time; there are: a, b"),
        ("date,b\n1,2\n", {}, "no column holds the text"),
        ("", {}, "no header row: it is empty"),
        ("date,text\n", {"columns": {"timestamp": "Datum", "text": "text"}}, "has no column 'Datum'"),
        ("date,text\n", {"columns": {"timestmp": "date"}}, "unknown setting ingestion.settings.columns.timestmp"),
        ("date,text\n", {"columns": "date"}, "must be a mapping"),
        ("date,text\n", {"colums": {}}, "unknown setting ingestion.settings.colums"),
    ],
)
def test_faults_of_columns_are_named(bench: Bench, content: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises((IngestionError, ConfigurationError), match=message):
        read(bench, content, **settings)


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\x00\r")), min_size=2, max_size=4)))
def test_what_is_written_is_read(table: list[list[str]]) -> None:
    written = io.StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL).writerows([["h1", "h2"], *table])
    kept = [row for row in table if any(cell.strip() for cell in row)]
    assert rows(written.getvalue())[1:] == kept


@given(st.text(st.sampled_from("ab\r\n\u2028\x0b")), st.lists(st.integers(1, 5)))
def test_lines_do_not_depend_on_the_pieces_they_come_in(text: str, sizes: list[int]) -> None:
    pieces, left = [], text
    for size in sizes:
        pieces.append(left[:size])
        left = left[size:]
    assert list(lines_of([*pieces, left])) == io.StringIO(text, newline="").readlines()


def test_a_cell_of_millions_of_characters_is_read() -> None:
    """The open end of a piece must be looked at once: tried anew at each character, this would not end today."""
    long = "x y " * 500_000
    assert rows(f"date,text\n2026-03-05,{long}\n2026-03-06,b\n")[1:] == [["2026-03-05", long], ["2026-03-06", "b"]]


def test_messages_name_not_all_of_very_many_columns(bench: Bench) -> None:
    many = [f"c{number}" for number in range(500)]
    row = ",".join("v" for _ in many)
    report = read(bench, f"date,text,{','.join(many)}\n2026-03-05,hello,{row}\n")
    assert "c19 and 480 more (map them" in report.notes[0]
    assert bench.entry(next(iter(bench.ids())))["metadata"] == dict.fromkeys(many, "v")
    with pytest.raises(IngestionError, match=r"there are: a{40}…, b$"):
        read(bench, f"{'a' * 5000},b\n1,2\n")
