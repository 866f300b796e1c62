"""Text of attached files: what is read, how much of it, what bad files cost, and where it is found."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from ingestion_bench import Bench
from logbooks import MakeLogbook, entry, found, fragments
from pdf_files import encrypted, pdf, pdf_of

from ariel_lite.attachments import attachment_id, stored_url
from ariel_lite.backends.values import StoredAttachment
from ariel_lite.export import jsonl_lines
from ariel_lite.ingestion.attachment_backfill import read_missing_texts
from ariel_lite.ingestion.attachment_text import (
    MAX_ENTRY_CHARACTERS,
    MAX_FILE_CHARACTERS,
    add_texts,
    file_text,
    with_texts,
)
from ariel_lite.ingestion.authoring import new_entry
from ariel_lite.ingestion.base import AttachmentFile
from ariel_lite.ingestion.pdf_text import pdf_text
from ariel_lite.present import entry_document
from ariel_lite.records import Attachment, searchable_text

MakeRecord = Callable[..., dict[str, Any]]


def held(name: str, mime_type: str, data: bytes) -> StoredAttachment:
    """A file in memory."""
    made = new_entry("x", "y")["created_at"]
    return StoredAttachment(attachment_id("owner", name, data), "E1", name, mime_type, len(data), made, data)


def listed(file: StoredAttachment) -> Attachment:
    return {"url": stored_url(file.attachment_id), "filename": file.filename, "type": file.mime_type}


@pytest.mark.parametrize(
    ("mime_type", "data", "text"),
    [
        ("text/plain", "Müller\r\n5 µA\x07".encode(), "Müller\n5 µA"),
        ("text/plain", "Müller".encode("cp1252"), "Müller"),
        ("text/plain", "Müller".encode("utf-16"), "Müller"),
        ("text/plain", b"\xef\xbb\xbfmarked", "marked"),
        ("text/csv", b"a;b\n1;2\n", "a;b\n1;2"),
        ("application/json", b'{"pump": "IP-7"}', '{"pump": "IP-7"}'),
        ("text/html", b"<p>Gr&uuml;n</p><script>x()</script>", "Grün"),
        ("application/pdf", pdf("ion pump IP-7", "gauge"), "ion pump IP-7\n\ngauge"),
        ("application/pdf", encrypted(pdf("open to all"), ""), "open to all"),
        ("text/plain", b"", ""),
    ],
)
def test_text_is_read(mime_type: str, data: bytes, text: str) -> None:
    assert file_text(mime_type, data) == (text, "")


@pytest.mark.parametrize(
    ("mime_type", "data", "note"),
    [
        ("text/plain", b"\x00\x01\x02\x00" * 100, "holds no readable text"),
        ("application/pdf", encrypted(pdf("secret"), "pw"), "is encrypted, its text is not searchable"),
        ("application/pdf", b"%PDF-1.7 and nothing more", "cannot be read as a PDF"),
        ("application/pdf", b"", "cannot be read as a PDF"),
        ("application/pdf", pdf("x", "y")[:300], "cannot be read as a PDF"),
        ("application/pdf", b"%PDF-1.4\n" + b"1 0 obj<</A " * 5000, ""),
    ],
)
def test_a_bad_file_costs_a_remark_only(mime_type: str, data: bytes, note: str) -> None:
    found = file_text(mime_type, data)
    assert found.text == ""
    assert found.note.startswith(note)
    assert found.note


def test_a_pdf_that_takes_too_long_or_too_much_is_given_up_and_its_first_pages_are_kept() -> None:
    slow = b"q 1 0 0 1 0 0 cm Q " * 1_000_000
    endless = pdf_of([b"BT /F1 12 Tf 72 720 Td (first page) Tj ET", *[slow] * 60], packed=True)
    found = pdf_text(endless, 1000, seconds=4)
    assert found == ("first page", "took longer than 4 s to read, its text is searchable in part")


def test_pages_and_characters_are_bounded() -> None:
    assert pdf_text(pdf(*("page",) * 9), 1000, pages=3) == (
        "page\n\npage\n\npage",
        "only the first 3 pages are searchable",
    )
    long = file_text("text/plain", b"word " * 100_000)
    assert MAX_FILE_CHARACTERS - 5 <= len(long.text) <= MAX_FILE_CHARACTERS
    assert long.note == "only its first 100,000 characters are searchable"


def test_the_files_of_an_entry_share_a_limit() -> None:
    files = [held(f"{n}.txt", "text/plain", f"{n} ".encode() * 60_000) for n in range(5)]
    added = add_texts(
        entry("E1", "x", attachments=[listed(file) for file in files]),
        [AttachmentFile(f.attachment_id, f.filename, f.mime_type, lambda f=f: cast(bytes, f.data)) for f in files],  # type: ignore[misc]
    )
    lengths = [len(attachment["text"]) for attachment in added.entry["attachments"]]
    assert lengths[4] == 0
    assert sum(lengths) <= MAX_ENTRY_CHARACTERS
    assert "the files of an entry are searchable up to 300,000 characters" in added.notes


def test_with_texts_fills_what_can_hold_text_and_leaves_pictures() -> None:
    text, picture = held("a.md", "text/plain", b"# Pump"), held("b.png", "image/png", b"\x89PNG\r\n\x1a\n")
    made = new_entry("title", "details")
    made["attachments"] = [listed(text), listed(picture)]
    completed = with_texts(made, [text, picture])
    assert [file.get("text") for file in completed["attachments"]] == ["# Pump", None]
    assert searchable_text(completed).endswith("# Pump")
    assert searchable_text(made) == made["raw_text"]


def test_ingestion_reads_a_file_once(bench: Bench, record: MakeRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("scan.pdf", pdf("thermocouple drifts"))
    first = bench.ingest([record(attachments=["scan.pdf"])])
    assert (first.added, first.notes) == (1, [])
    (stored,) = bench.entry("1")["attachments"]
    assert (stored["text"], stored["type"]) == ("thermocouple drifts", "application/pdf")

    def never(mime_type: str, data: bytes) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr("ariel_lite.ingestion.attachment_text.file_text", never)
    assert bench.ingest([record(attachments=["scan.pdf"])]).unchanged == 1
    assert bench.ingest([record(attachments=["scan.pdf"])], dry_run=True).unchanged == 1


def test_an_edited_entry_keeps_its_texts_and_a_new_file_brings_its_own(bench: Bench, record: MakeRecord) -> None:
    bench.write("a.txt", "thermocouple")
    bench.ingest([record(attachments=["a.txt"])])
    bench.ingest([record(text="edited", attachments=["a.txt"])])
    assert bench.entry("1")["attachments"][0]["text"] == "thermocouple"
    bench.write("a.txt", "gauge")
    assert bench.ingest([record(text="edited", attachments=["a.txt"])]).updated == 1
    assert bench.entry("1")["attachments"][0]["text"] == "gauge"
    assert len(bench.backend.attachments_of("1")) == 1


def test_a_bad_file_is_a_note_of_its_record_and_is_not_tried_again(bench: Bench, record: MakeRecord) -> None:
    bench.write("a.pdf", b"%PDF-1.4 broken")
    report = bench.ingest([record(attachments=["a.pdf"])])
    assert report.notes[0].startswith("line 1: attachment a.pdf cannot be read as a PDF")
    assert report.exit_code == 0
    again = bench.ingest([record(attachments=["a.pdf"])])
    assert (again.unchanged, again.notes) == (1, [])


def test_an_id_that_another_source_owns_keeps_its_texts_too(bench: Bench, record: MakeRecord) -> None:
    bench.write("a.txt", "thermocouple")
    bench.ingest([record(source_system="Other")])
    bench.ingest([record(attachments=["a.txt"])])
    assert bench.entry("Generic JSON:1")["attachments"][0]["text"] == "thermocouple"
    assert bench.ingest([record(attachments=["a.txt"])]).unchanged == 1


def test_an_export_comes_back_with_its_texts(bench: Bench, record: MakeRecord) -> None:
    bench.write("a.txt", "thermocouple")
    bench.ingest([record(attachments=["a.txt"])])
    before = bench.entry("1")
    lines = "".join(jsonl_lines([before], new_entry("x", "y")["timestamp"].tzinfo))  # type: ignore[arg-type]
    assert bench.ingest(lines, name="export.jsonl").unchanged == 1
    bench.backend.delete(["1"])
    bench.ingest(lines, name="export.jsonl")
    assert bench.entry("1")["attachments"] == before["attachments"]


def test_documents_of_surfaces_leave_texts_out(bench: Bench, record: MakeRecord) -> None:
    bench.write("a.txt", "thermocouple")
    bench.ingest([record(attachments=["a.txt"])])
    document = entry_document(bench.entry("1"), cast(Any, new_entry("x", "y")["timestamp"].tzinfo))
    assert [file["filename"] for file in document["attachments"]] == ["a.txt"]
    assert "thermocouple" not in str(document)


def test_files_that_were_stored_before_are_read_later(bench: Bench, record: MakeRecord) -> None:
    for number, data in enumerate((b"thermocouple", b"\x89PNG\r\n\x1a\n", b"%PDF-1.4 broken"), 1):
        name = ("a.txt", "b.png", "c.pdf")[number - 1]
        bench.write(name, data)
        bench.ingest([record(str(number), attachments=[name])])
        bare = bench.entry(str(number))
        bare["attachments"] = [
            cast(Attachment, {k: v for k, v in f.items() if k != "text"}) for f in bare["attachments"]
        ]
        bench.backend.upsert([bare])
    done = read_missing_texts(bench.backend)
    assert done.entries == 2
    assert done.notes[0].startswith("3: attachment c.pdf cannot be read as a PDF")
    assert [bench.entry(n)["attachments"][0].get("text") for n in "123"] == ["thermocouple", None, ""]
    assert read_missing_texts(bench.backend).entries == 0


def test_the_command_reads_them(bench: Bench, record: MakeRecord) -> None:
    bench.write("a.txt", "thermocouple")
    bench.ingest([record(attachments=["a.txt"])])
    bare = bench.entry("1")
    del bare["attachments"][0]["text"]
    bench.backend.upsert([bare])
    command = [sys.executable, "-m", "ariel_lite", "--db", bench.backend.location, "reindex", "--attachments", "--json"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=180)
    assert json.loads(done.stdout)["attachment_texts"] == 1
    assert bench.entry("1")["attachments"][0]["text"] == "thermocouple"


def test_a_word_of_a_file_alone_finds_the_entry_and_is_shown(make_logbook: MakeLogbook) -> None:
    file: Attachment = {
        "url": "/api/attachments/att-000000000001",
        "filename": "a.txt",
        "text": "the thermocouple drifts",
    }
    book = make_logbook([entry("E1", "Klystron tripped", attachments=[file]), entry("E2", "vacuum gauge")])
    assert found(book, "thermocouple") == ["E1"]
    assert found(book, '"thermocouple drifts" klystron') == ["E1"]
    assert found(book, "thermocuople") == ["E1"]
    assert fragments(book, "thermocouple") == ["the <b>thermocouple</b> drifts"]
    bare = entry("E1", "Klystron tripped", attachments=[])
    book.service.backend.upsert([bare])
    assert found(book, "thermocouple", fuzzy_fallback=False) == []


def test_a_folder_of_files_beside_a_source(bench: Bench, record: MakeRecord, tmp_path: Path) -> None:
    for number in range(3):
        bench.write(f"files/{number}.log", f"reading {number}")
    names = [f"files/{number}.log" for number in range(3)]
    bench.ingest([record(attachments=names)])
    assert [file["text"] for file in bench.entry("1")["attachments"]] == ["reading 0", "reading 1", "reading 2"]
