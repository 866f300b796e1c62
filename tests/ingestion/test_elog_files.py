"""Raw ELOG logs: folders, threads, attachments, encodings, markup, and records that are none."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from ingestion_bench import Bench

from ariel_lite.cli.sources import choose_source
from ariel_lite.config import ARIELConfig, IngestionConfig
from ariel_lite.errors import ConfigurationError, IngestionError
from ariel_lite.ingestion.adapters.elog import create_adapter
from ariel_lite.ingestion.base import AdapterOptions
from ariel_lite.ingestion.elcode import elcode_to_text
from ariel_lite.ingestion.pipeline import ingest
from ariel_lite.registry import Registry

SEPARATOR = "=" * 40


def raw(
    number: int | str, text: str = "RF trip", *, when: str = "Wed, 01 Jan 2020 12:00:00 +0100", **headers: str
) -> str:
    """A record as the ELOG writes it; underscores in header names are blanks."""
    named = {name.replace("_", " "): value for name, value in headers.items()}
    lines = [f"$@MID@$: {number}", f"Date: {when}", *(f"{name}: {value}" for name, value in named.items())]
    return "\n".join((*lines, SEPARATOR, text, ""))


def read(bench: Bench, path: Path, **settings: object) -> object:
    adapter = create_adapter(AdapterOptions(str(path), config=IngestionConfig(settings=settings)))
    return ingest(bench.backend, adapter, source_label=path.name)


def test_a_record_becomes_an_entry(bench: Bench) -> None:
    record = raw(
        7, "Klystron 3 tripped.\n\nReset.", Author="Jane Doe", Subject="RF trip", Category="RF | Vacuum",
        Type="Routine", Tags="night, RF", Attachment="", Encoding="plain", Locked_by="someone",
    )  # fmt: skip
    bench.ingest(record, "elog", "logbooks/demo/200101a.log")
    entry = bench.entry("demo/7")
    assert entry["source_system"] == "ELOG"
    assert entry["timestamp"].isoformat() == "2020-01-01T11:00:00+00:00"
    assert entry["author"] == "Jane Doe"
    assert entry["raw_text"] == "RF trip\n\nKlystron 3 tripped.\n\nReset."
    assert entry["attachments"] == []
    assert entry["metadata"] == {
        "title": "RF trip", "logbook": "demo", "categories": ["RF", "Vacuum"], "tags": ["night", "RF"],
        "Type": "Routine",
    }  # fmt: skip


def test_a_tree_holds_one_logbook_a_folder_and_years_are_no_logbooks(bench: Bench) -> None:
    bench.write("logbooks/demo/200101a.log", raw(1, "one"))
    bench.write("logbooks/demo/200102a.log", raw(2, "two"))
    bench.write("logbooks/shift/2021/210301a.log", raw(1, "night"))
    bench.write("logbooks/shift/readme.log", "no log of the ELOG")
    report = bench.ingest(bench.folder / "logbooks", "elog")
    assert (report.added, report.rejected, report.failures) == (3, 0, [])
    assert bench.ids() == ["demo/1", "demo/2", "shift/1"]
    assert bench.entry("shift/1")["metadata"]["logbook"] == "shift"
    assert bench.ingest(bench.folder / "logbooks", "elog").unchanged == 3


def test_logbooks_of_one_name_are_told_apart_by_their_paths(bench: Bench) -> None:
    bench.write("site/a/ops/200101a.log", raw(1, "here"))
    bench.write("site/b/ops/200101a.log", raw(1, "there"))
    bench.ingest(bench.folder / "site", "elog")
    assert bench.ids() == ["a/ops/1", "b/ops/1"]
    assert bench.entry("b/ops/1")["metadata"]["logbook"] == "ops"


def test_threads_are_linked_inside_their_logbook(bench: Bench) -> None:
    text = raw(1, "question", Reply_to="2, 3") + raw(2, "answer", In_reply_to="1") + raw(3, "more", In_reply_to="0")
    bench.ingest(text, "elog", "demo/200101a.log")
    assert bench.entry("demo/1")["metadata"]["reply_to"] == ["demo/2", "demo/3"]
    assert bench.entry("demo/2")["metadata"]["linked_to"] == "demo/1"
    assert "linked_to" not in bench.entry("demo/3")["metadata"]


def test_attachments_lie_beside_the_log(bench: Bench) -> None:
    bench.write("demo/200101_120000_scan 1.txt", "thermocouple drifts")
    bench.write("demo/200101_120001_plot.png", b"\x89PNG\r\n\x1a\n")
    names = "200101_120000_scan 1.txt,200101_120001_plot.png, 200101_120002_gone.pdf"
    report = bench.ingest(raw(1, Attachment=names), "elog", "demo/200101a.log")
    first, second, third = bench.entry("demo/1")["attachments"]
    assert (first["filename"], first["type"], first["text"]) == ("scan 1.txt", "text/plain", "thermocouple drifts")
    assert (second["filename"], second["type"]) == ("plot.png", "image/png")
    assert third == {"url": "200101_120002_gone.pdf", "filename": "gone.pdf", "missing": True}
    assert report.notes == ["line 1: attachment 200101_120002_gone.pdf: is missing"]
    assert len(bench.backend.attachments_of("demo/1")) == 2


def test_bytes_that_are_no_utf8_are_read_as_latin1_file_by_file(bench: Bench) -> None:
    bench.write("demo/200101a.log", raw(1, "Müller, 5 µA").encode("latin-1"))
    bench.write("demo/200102a.log", raw(2, "Müller, 5 µA").encode("utf-8"))
    report = bench.ingest(bench.folder / "demo", "elog")
    assert bench.entry("demo/1")["raw_text"] == bench.entry("demo/2")["raw_text"] == "Müller, 5 µA"
    assert report.notes == [
        "1 of 2 files are not all UTF-8: 200101a.log",
        "2 bytes are no UTF-8 and were read as Windows-1252 (Latin-1)",
    ]


def test_line_ends_of_windows_change_nothing(bench: Bench) -> None:
    text = raw(1, "one\n\ntwo", Author="X", Subject="S") + raw(2, "three")
    bench.ingest(text, "elog", "demo/200101a.log")
    report = bench.ingest(text.replace("\n", "\r\n"), "elog", "demo/200101a.log")
    assert (report.unchanged, report.updated) == (2, 0)


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("Wed, 01 Jan 2020 12:00:00 +0100", "2020-01-01T11:00:00+00:00"),
        ("Thu, 02 Jul 2009 08:30:00 -0700", "2009-07-02T15:30:00+00:00"),
        ("Fri May 10 12:02:02 2002", "2002-05-10T10:02:02+00:00"),
        ("Fri May  3 12:02:02 2002", "2002-05-03T10:02:02+00:00"),
    ],
)
def test_dates_of_all_versions(bench: Bench, written: str, read_as: str) -> None:
    bench.ingest(raw(1, when=written), "elog", "demo/200101a.log", zone="Europe/Zurich")
    assert bench.entry("demo/1")["timestamp"].isoformat() == read_as


def test_what_is_no_record_is_rejected_and_the_rest_is_read(bench: Bench) -> None:
    cut_off = "$@MID@$: 4\nDate: Wed, 01 Jan 2020 12:00:00 +0100\nAuthor: X\n"
    text = "stray\n" + raw(1) + raw("x") + raw(2, when="03/04/2009") + cut_off + raw(5)
    report = bench.ingest(text, "elog", "demo/200101a.log")
    assert bench.ids() == ["demo/1", "demo/5"]
    assert [reject["reason"].split(";")[0] for reject in bench.rejects()] == [
        "this text stands before the first $@MID@$:",
        "'x' is no message number",
        "the time '03/04/2009' is unreadable or ambiguous",
        "it is cut off: no line of 40 = ends its headers",
    ]
    assert [reject.entry_id for reject in report.first_rejects] == [None, None, "demo/2", "demo/4"]


def test_only_the_first_line_of_equals_signs_ends_the_headers(bench: Bench) -> None:
    bench.ingest(raw(1, f"above\n{SEPARATOR}\nSubject: none"), "elog", "demo/200101a.log")
    assert bench.entry("demo/1")["raw_text"] == f"above\n{SEPARATOR}\nSubject: none"


def test_html_and_elcode_become_text_and_plain_stays(bench: Bench) -> None:
    text = (
        raw(1, "<p>Gr&uuml;n &amp; gut</p>", Encoding="HTML")
        + raw(2, "[b]bold[/b] PV[0]", Encoding="ELCode")
        + raw(3, "<b>a</b> [b]b[/b]", Encoding="plain")
    )
    bench.ingest(text, "elog", "demo/200101a.log")
    assert [bench.entry(f"demo/{n}")["raw_text"] for n in (1, 2, 3)] == [
        "Grün & gut", "bold PV[0]", "<b>a</b> [b]b[/b]",
    ]  # fmt: skip
    assert bench.entry("demo/1")["metadata"]["html_original"] == "<p>Gr&uuml;n &amp; gut</p>"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("[color=red]hot[/color] [size=5]big[/SIZE]", "hot big"),
        ("[url=https://x.example/a]the plot[/url] [url]https://x.example/b[/url]",
         "the plot (https://x.example/a) https://x.example/b"),
        ("[list]\n[*] one\n[*]two\n[/list]", "- one\n- two"),
        ('[quote="Jane Doe"]no beam[/quote]\nyes', "Jane Doe wrote: no beam\nyes"),
        ("[code]if a[b]: c[/i][/code] end", "if a[b]: c[/i] end"),
        ("[TABLE border=\"1\"]\nA|B\n|-\nC|D\n[/TABLE]", "A  B\nC  D"),
        ("SR01C:BPM[1] [done] \\[b] [b]not closed", "SR01C:BPM[1] [done] [b] not closed"),
        ("[img]elog:12/1[/img]", "elog:12/1"),
    ],
)  # fmt: skip
def test_elcode(markup: str, text: str) -> None:
    assert elcode_to_text(markup) == text


def test_other_attributes_can_hold_title_and_author(bench: Bench) -> None:
    path = bench.write("demo/200101a.log", raw(1, "x", Shift_leader="Jane", What="Injection", Author="nobody"))
    read(bench, path, author="Shift leader", title=["Betreff", "What"], logbook="ops")
    entry = bench.entry("ops/1")
    assert (entry["author"], entry["metadata"]["title"]) == ("Jane", "Injection")
    assert entry["metadata"]["Author"] == "nobody"


def test_faults_of_the_source_and_the_settings_are_named(bench: Bench) -> None:
    (bench.folder / "empty").mkdir()
    with pytest.raises(IngestionError, match="no ELOG files"):
        create_adapter(AdapterOptions(str(bench.folder / "empty")))
    with pytest.raises(IngestionError, match="no such file"):
        create_adapter(AdapterOptions(str(bench.folder / "gone.log")))
    with pytest.raises(ConfigurationError, match="unknown setting") as caught:
        read(bench, bench.folder, autor="X")
    assert caught.value.hint == "did you mean ingestion.settings.author?"


def test_standard_input_is_a_log_too(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw(3, "piped").encode())))
    options = AdapterOptions("-", config=IngestionConfig(settings={"logbook": "ops"}))
    ingest(bench.backend, create_adapter(options), source_label="-")
    assert bench.ids() == ["ops/3"]


def test_a_file_that_cannot_be_read_to_its_end_is_a_failure_and_the_others_are_read(bench: Bench) -> None:
    bench.write("demo/200101a.log.gz", b"\x1f\x8b\x08\x00broken")
    bench.write("demo/200102a.log", raw(2))
    report = bench.ingest(bench.folder / "demo", "elog", mirror=True)
    assert bench.ids() == ["demo/2"]
    assert report.failures[0].window == "the rest of 200101a.log.gz"
    assert report.exit_code == 1
    assert "nothing was deleted by mirroring: a part of the source could not be read" in report.notes


@pytest.mark.parametrize(
    ("name", "content", "adapter"),
    [
        ("logbooks/demo/200101a.log", raw(1), "elog"),
        ("notes.CSV", "date,text\n2026-03-05,x\n", "csv"),
        ("notes.tsv.gz", b"\x1f\x8b", "csv"),
        ("export.json", '{"hitCount": 1, "logs": [{"createdDate": 1, "logbooks": []}]}', "olog"),
    ],
)
def test_the_adapter_is_guessed(bench: Bench, name: str, content: str | bytes, adapter: str) -> None:
    path = bench.write(name, content)
    for source in [path, path.parent] if adapter == "elog" else [path]:
        chosen = choose_source(ARIELConfig(), Registry(), source=str(source), adapter=None)
        assert (chosen.adapter_name, chosen.chosen_by) == (adapter, "guessed from the file")
