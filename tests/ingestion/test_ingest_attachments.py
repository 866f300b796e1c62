"""Attachments: what a record says of them, files beside the source, and how files are named and served."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingestion_bench import Bench

from ariel_lite.attachments import (
    MAX_ATTACHMENT_BYTES,
    attachment_id,
    check_size,
    mime_type,
    safe_filename,
    serving_headers,
    stored_id,
    stored_url,
)
from ariel_lite.errors import InvalidRequestError

MakeRecord = Callable[..., dict[str, Any]]
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 20


def test_in20_absent_keeps_empty_removes_and_a_list_replaces(bench: Bench, record: MakeRecord) -> None:
    bench.ingest([record(attachments=["https://x.example/a.png"])])
    for attachments in ({}, {"attachments": None}, {"attachments": ""}):
        assert bench.ingest([record(**attachments)]).unchanged == 1
        assert bench.entry("1")["attachments"] == [{"url": "https://x.example/a.png"}]
    bench.ingest([record(attachments=[{"url": "https://x.example/b.png", "caption": "B", "odd": 1}])])
    assert bench.entry("1")["attachments"] == [{"url": "https://x.example/b.png", "caption": "B"}]
    assert bench.ingest([record(attachments=[])]).updated == 1
    assert bench.entry("1")["attachments"] == []


def test_in21_blank_items_are_dropped_and_a_missing_file_is_marked(bench: Bench, record: MakeRecord) -> None:
    report = bench.ingest(
        [record("E1", attachments=["", None, {"url": " "}, 7]), record("E2", attachments=["gone.png"])]
    )
    assert bench.entry("E1")["attachments"] == []
    assert bench.entry("E2")["attachments"] == [{"url": "gone.png", "missing": True}]
    assert report.notes == ["line 2: attachment gone.png: is missing"]
    assert report.exit_code == 0


def test_files_beside_the_source_are_stored_once(bench: Bench, record: MakeRecord) -> None:
    bench.write("files/plot 1.png", PNG)
    lines = [
        record("1", attachments=["files/plot 1.png"]),
        record("2", attachments=[{"url": "files/plot%201.png", "caption": "c"}]),
    ]
    bench.ingest(lines)
    (first,), (second,) = bench.entry("1")["attachments"], bench.entry("2")["attachments"]
    assert (first["filename"], first["type"], second["caption"]) == ("plot 1.png", "image/png", "c")
    assert first["url"] != second["url"]
    stored = bench.backend.get_attachment(stored_id(first["url"]) or "")
    assert stored is not None
    assert (stored.entry_id, stored.data, stored.size_bytes) == ("1", PNG, len(PNG))
    assert bench.ingest(lines).unchanged == 2
    bench.write("files/plot 1.png", PNG + b"x")
    assert bench.ingest(lines).updated == 2


def test_files_follow_an_entry_that_is_stored_under_another_id(bench: Bench, record: MakeRecord) -> None:
    bench.write("a.txt", "a")
    bench.ingest([record("1", source_system="Other")])
    bench.ingest([record("1", attachments=["a.txt"])])
    assert [file.filename for file in bench.backend.attachments_of("Generic JSON:1")] == ["a.txt"]


def test_a_run_that_lost_its_files_is_mended_by_the_next(bench: Bench, record: MakeRecord) -> None:
    path = bench.write("a.txt", "a")
    lines = [record("1", attachments=["a.txt"])]
    bench.ingest(lines, dry_run=True)
    assert bench.ids() == []
    bench.ingest(lines)
    (kept,) = bench.backend.attachments_of("1")
    bench.backend.delete(["1"])
    assert bench.ingest(lines).added == 1
    assert [file.attachment_id for file in bench.backend.attachments_of("1")] == [kept.attachment_id]
    path.unlink()
    assert bench.ingest(lines).updated == 1
    assert bench.entry("1")["attachments"] == [{"url": "a.txt", "missing": True}]


@pytest.mark.parametrize(
    "url",
    [
        "../secret.txt",
        "a/../../secret.txt",
        "/etc/hostname",
        "%2e%2e/secret.txt",
        "..\\secret.txt",
        "C:\\x.txt",
        "file:///etc/hostname",
        "~/x",
        "link.txt",
        "javascript:alert(1)",
        "data:text/html,x",
        "bad\x00name",
    ],
)
def test_nothing_outside_the_folder_is_read(bench: Bench, record: MakeRecord, url: str) -> None:
    bench.write("secret.txt", "secret")
    inner = bench.folder / "inner"
    inner.mkdir()
    if url == "link.txt":
        try:
            os.symlink(bench.folder / "secret.txt", inner / "link.txt")
        except OSError:
            pytest.skip("no symbolic links here")
    report = bench.ingest([record("1", attachments=[url])], name="inner/source.jsonl")
    (attachment,) = bench.entry("1")["attachments"]
    assert attachment["missing"]
    assert ".." not in attachment["url"]
    assert "javascript:" not in attachment["url"]
    assert bench.backend.attachments_of("1") == []
    assert len(report.notes) == 1


def test_a_file_over_the_limit_stays_where_it_is(bench: Bench, record: MakeRecord) -> None:
    bench.write("big.bin", b"x" * (MAX_ATTACHMENT_BYTES + 1))
    report = bench.ingest([record("1", attachments=["big.bin"])])
    assert bench.entry("1")["attachments"] == [{"url": "big.bin"}]
    assert "left where it is" in report.notes[0]
    check_size("x", MAX_ATTACHMENT_BYTES)
    with pytest.raises(InvalidRequestError, match="more than"):
        check_size("x", MAX_ATTACHMENT_BYTES + 1)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\a b.txt", "a b.txt"),
        ("con.txt", "_con.txt"),
        (".hidden", "hidden"),
        ("", "file"),
        ("..", "file"),
        ("a\x00b\n.txt", "a_b_.txt"),
        ("x" * 300 + ".tar.gz", "x" * 117 + ".gz"),
        ("e\u0301.png", "é.png"),
        ("gnp.\u202eexe", "gnp._exe"),
        ('a"<>|?*:.txt', "a_______.txt"),
    ],
)
def test_safe_names(name: str, safe: str) -> None:
    assert safe_filename(name) == safe


@given(st.text())
def test_any_name_becomes_a_plain_one(name: str) -> None:
    safe = safe_filename(name)
    assert 1 <= len(safe) <= 120
    assert not set(safe) & set('/\\\0<>:"|?*\n\r')
    assert safe not in (".", "..")
    assert safe_filename(safe) == safe
    safe.encode("utf-8")


def test_ids_depend_on_entry_name_and_content() -> None:
    same = attachment_id("1", "a", b"x")
    assert same == attachment_id("1", "a", b"x")
    assert len({same, attachment_id("2", "a", b"x"), attachment_id("1", "b", b"x"), attachment_id("1", "a", b"y")}) == 4
    assert stored_id(stored_url(same)) == same
    assert stored_id("https://x.example/api/attachments/att-000000000000") is None


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.png", PNG, "image/png"),
        ("a.txt", PNG, "image/png"),
        ("a.png", b"<html>", "application/octet-stream"),
        ("a.html", b"<html>", "text/html"),
        ("a.svg", b"<svg>", "image/svg+xml"),
        ("a.docx", b"PK\x03\x04..", WORD),
        ("a.docx", b"MZ", "application/octet-stream"),
        ("noname", b"hello", "application/octet-stream"),
        ("A.PDF", b"%PDF-1.7", "application/pdf"),
        ("BMW.txt", b"BMW is a car, not a bitmap of 26 bytes", "text/plain"),
    ],
)
def test_types_by_content_and_name(name: str, data: bytes, kind: str) -> None:
    assert mime_type(name, data) == kind


@pytest.mark.parametrize(
    "kind",
    ["text/html", "image/svg+xml", "application/xml", "application/xhtml+xml", "text/javascript", "nonsense\r\nX: y"],
)
def test_what_a_browser_could_run_is_only_downloaded(kind: str) -> None:
    headers = serving_headers('a"b\r\nc.html', kind)
    assert headers["Content-Type"] == "application/octet-stream"
    assert headers["Content-Disposition"].startswith("attachment; ")
    assert not any("\r" in value or "\n" in value for value in headers.values())
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_images_and_text_are_shown() -> None:
    assert (
        serving_headers("é.png", "image/png")["Content-Disposition"]
        == "inline; filename=\"_.png\"; filename*=UTF-8''%C3%A9.png"
    )
    assert serving_headers("a.txt", "text/plain")["Content-Type"] == "text/plain; charset=utf-8"
