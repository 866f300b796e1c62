"""New entries, files, drafts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asking import MakePage, error, ids
from logbooks import entry
from starlette.testclient import TestClient

from ariel_lite.attachments import MAX_ATTACHMENT_BYTES

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 40


def stage(page: TestClient, name: str = "scope.png", data: bytes = PNG) -> dict[str, Any]:
    reply = page.post("/api/attachments", files={"file": (name, data)})
    assert reply.status_code == 200, reply.text
    staged: dict[str, Any] = reply.json()
    return staged


def test_a_new_entry_is_found_at_once(make_page: MakePage) -> None:
    page = make_page()
    body = {
        "subject": "RF trip",
        "details": "Cavity 2,\n  arc",
        "author": "Zoë",
        "logbook": "ops",
        "shift": "owl",
        "tags": ["rf", " rf ", ""],
        "metadata": {"run": 7},
    }
    made = page.post("/api/entries", json=body).json()
    assert made["entry_id"].startswith("ariel-")
    assert (made["source_system"], made["sync_status"], made["attachment_count"]) == ("ARIEL Web", "local", 0)
    kept = page.get(f"/api/entries/{made['entry_id']}").json()
    assert (kept["title"], kept["raw_text"], kept["author"]) == ("RF trip", "RF trip\n\nCavity 2,\n  arc", "Zoë")
    assert kept["metadata"] == {"title": "RF trip", "logbook": "ops", "shift": "owl", "tags": ["rf"], "run": 7}
    found = page.post("/api/search", json={"query": "arc tag:rf logbook:ops", "mode": "keyword"})
    assert ids(found) == [made["entry_id"]]


@pytest.mark.parametrize("body", [{}, {"subject": " ", "details": "\n"}, {"subject": "\0"}, {"author": "me"}])
def test_an_entry_says_something(make_page: MakePage, body: dict[str, Any]) -> None:
    assert error(make_page().post("/api/entries", json=body), 400)["hint"] == "say what happened"


def test_unknown_fields_and_wrong_kinds_store_nothing(make_page: MakePage) -> None:
    page = make_page()
    for body in ({"title": "x"}, {"tags": "rf"}, {"metadata": []}, {"draft_id": 3}, {"publish": "yes"}):
        error(page.post("/api/entries", json={"subject": "x", **body}), 422)
    deep: Any = []
    for _ in range(150):
        deep = [deep]
    assert "deep" in error(page.post("/api/entries", json={"subject": "x", "metadata": {"a": deep}}), 400)["message"]
    assert page.get("/api/entries").json()["total"] == 0


def test_text_that_no_store_takes_is_made_storable(make_page: MakePage) -> None:
    page = make_page()
    body = json.dumps({"subject": "a\ud800b", "details": "c\0d", "metadata": {"k\0": float("nan")}})
    reply = page.post("/api/entries", content=body, headers={"Content-Type": "application/json"})
    kept = page.get(f"/api/entries/{reply.json()['entry_id']}").json()
    assert kept["raw_text"] == "a b\n\nc d"
    assert kept["metadata"]["k "] is None


def test_a_staged_file_goes_with_its_entry(make_page: MakePage) -> None:
    page = make_page()
    staged = stage(page)
    assert staged == {**staged, "filename": "scope.png", "mime_type": "image/png", "size_bytes": len(PNG)}
    body = {"subject": "trip", "attachment_ids": [staged["attachment_id"]]}
    made = page.post("/api/entries", json=body).json()
    assert made["attachment_count"] == 1
    kept = page.get(f"/api/entries/{made['entry_id']}").json()
    url = f"/api/attachments/{staged['attachment_id']}"
    assert kept["attachments_files"] == [{**staged, "url": url, "inline": True}]
    assert (kept["attachments"][0]["url"], kept["attachments"][0]["filename"]) == (url, "scope.png")
    assert page.get(url).content == PNG
    assert "upload it again" in error(page.post("/api/entries", json=body), 400)["hint"]
    assert ids(page.post("/api/search", json={"query": "has:attachment", "mode": "keyword"})) == [made["entry_id"]]


def test_an_upload_is_an_entry_with_its_files(make_page: MakePage) -> None:
    page = make_page()
    fields = {"subject": "trip", "tags": "rf, arc", "metadata": '{"run": 7}', "author": "Zoë"}
    files = [("files", ("a.txt", b"hello")), ("files", ("../é|.png", PNG))]
    made = page.post("/api/entries/upload", data=fields, files=files).json()
    assert made["attachment_count"] == 2
    kept = page.get(f"/api/entries/{made['entry_id']}").json()
    assert kept["metadata"] == {"title": "trip", "tags": ["rf", "arc"], "run": 7}
    assert sorted(file["filename"] for file in kept["attachments_files"]) == ["a.txt", "é_.png"]


@pytest.mark.parametrize(
    ("fields", "files", "status", "said"),
    [
        ({"subject": "x"}, [("files", ("a.txt", b""))], 400, "a.txt is empty"),
        ({"subject": "x"}, [("files", ("big", b"0" * (MAX_ATTACHMENT_BYTES + 1)))], 413, "big has"),
        ({"subject": "x"}, [("file", ("a.txt", b"1"))], 400, "unknown field file"),
        ({"subject": "x", "metadata": "{"}, [], 400, "metadata is not JSON"),
        ({"subject": "x", "metadata": "[" * 5000}, [], 400, "metadata is not JSON"),
        ({"subject": "x", "metadata": "3"}, [], 400, "metadata"),
        ({}, [("files", ("a.txt", b"1"))], 400, "subject or details"),
        ({"subject": "x"}, [("files", (f"{n}", b"1")) for n in range(11)], 400, "Too many files"),
        ({"subject": "x"}, [("subject", ("a.txt", b"1"))], 400, "one text"),
    ],
)
def test_wrong_uploads_store_nothing(
    make_page: MakePage, fields: dict[str, str], files: list[Any], status: int, said: str
) -> None:
    page = make_page()
    reply = page.post("/api/entries/upload", data=fields, files=files or [("files", ("ok", b"1"))])
    assert said in error(reply, status)["message"]
    assert page.get("/api/entries").json()["total"] == 0


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data", "multipart/form-data; boundary=", ""])
def test_bodies_that_are_no_form(make_page: MakePage, kind: str) -> None:
    page = make_page()
    for path in ("/api/attachments", "/api/entries/upload"):
        error(page.post(path, content=b"--x\r\ngarbage", headers={"Content-Type": kind}), 400)


def test_a_form_without_its_file(make_page: MakePage) -> None:
    page = make_page()
    assert error(page.post("/api/attachments", data={"file": "text"}, files={"x": ("", b"")}), 400)
    boundary = {"Content-Type": "multipart/form-data; boundary=b"}
    text = b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--b--\r\n'
    assert "no file" in error(page.post("/api/attachments", content=text, headers=boundary), 400)["message"]
    cut = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx'
    reply = page.post("/api/attachments", content=cut, headers=boundary)
    assert reply.status_code in (200, 400)


def test_a_draft_is_kept_changed_and_forgotten(make_page: MakePage) -> None:
    page = make_page()
    staged = stage(page)
    content = {"subject": "half", "attachment_ids": [staged["attachment_id"]]}
    made = page.post("/api/drafts", json={"content": content}).json()
    address = f"/api/drafts/{made['draft_id']}"
    assert page.get(address).json()["files"][0]["filename"] == "scope.png"
    assert page.get(f"/api/attachments/{staged['attachment_id']}").content == PNG
    changed = page.put(address, json={"content": {**content, "details": "more"}}).json()
    assert (changed["draft_id"], changed["content"]["details"]) == (made["draft_id"], "more")
    assert [one["draft_id"] for one in page.get("/api/drafts").json()["drafts"]] == [made["draft_id"]]
    assert page.delete(address).json() == {"deleted": made["draft_id"]}
    assert page.get("/api/drafts").json() == {"drafts": []}
    for reply in (page.get(address), page.delete(address), page.put(address, json={"content": {}})):
        assert error(reply, 404)["code"] == "not_found"
    assert error(page.get(f"/api/attachments/{staged['attachment_id']}"), 404)


def test_a_draft_becomes_its_entry_once(make_page: MakePage) -> None:
    page = make_page()
    draft = page.post("/api/drafts", json={"content": {"subject": "half"}}).json()["draft_id"]
    body = {"subject": "whole", "draft_id": draft}
    made = page.post("/api/entries", json=body).json()
    assert page.get(f"/api/entries/{made['entry_id']}").json()["title"] == "whole"
    assert error(page.post("/api/entries", json=body), 404)["code"] == "not_found"
    assert page.get("/api/entries").json()["total"] == 1
    kept = page.post("/api/drafts", json={"content": {}}).json()["draft_id"]
    error(page.post("/api/entries", json={"draft_id": kept}), 400)
    assert page.get(f"/api/drafts/{kept}").status_code == 200


def test_wrong_drafts_are_refused(make_page: MakePage) -> None:
    page = make_page()
    for body in ({}, {"content": {"titel": "x"}}, {"content": None}, {"subject": "x"}):
        error(page.post("/api/drafts", json=body), 422)
    assert error(page.post("/api/drafts", json={"content": {"attachment_ids": ["att-000000000000"]}}), 400)


def test_publishing_that_is_not_configured_stores_nothing(make_page: MakePage) -> None:
    page = make_page()
    info = page.get("/api/publish-info").json()
    assert (info["writable"], info["adapter"]) == (False, None)
    assert info["reason"]
    assert (
        error(page.post("/api/entries", json={"subject": "x", "publish": True}), 400)["code"] == "configuration_error"
    )
    assert page.get("/api/entries").json()["total"] == 0


@pytest.mark.parametrize(
    ("name", "data", "kind", "place"),
    [
        ("a.svg", b"<svg onload='alert(1)'/>", "application/octet-stream", "attachment"),
        ("a.html", b"<script>alert(1)</script>", "application/octet-stream", "attachment"),
        ("a.png", b"<script>alert(1)</script>", "application/octet-stream", "attachment"),
        ("a.txt", b"<script>alert(1)</script>", "text/plain; charset=utf-8", "inline"),
        ("a.png", PNG, "image/png", "inline"),
        ("a.html", b"GIF89a<script>alert(1)</script>", "image/gif", "inline"),
    ],
)
def test_files_are_served_so_that_nothing_runs(
    make_page: MakePage, name: str, data: bytes, kind: str, place: str
) -> None:
    page = make_page()
    url = f"/api/attachments/{stage(page, name, data)['attachment_id']}"
    reply = page.get(url)
    assert (reply.content, reply.headers["content-type"]) == (data, kind)
    assert reply.headers["content-disposition"].startswith(f"{place};")
    assert reply.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert page.get(f"{url}?download=true").headers["content-disposition"].startswith("attachment;")
    again = page.get(url, headers={"If-None-Match": reply.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_an_upload_of_two_files_keeps_neither(make_page: MakePage) -> None:
    page = make_page()
    two = [("file", ("a.txt", b"first")), ("file", ("b.txt", b"second"))]
    assert error(page.post("/api/attachments", files=two), 400)["message"] == "2 files were sent, one is taken"


def test_names_of_files_cannot_leave_their_header(make_page: MakePage) -> None:
    page = make_page()
    staged = stage(page, 'a"\\;\n<é>.txt', b"x")
    disposition = page.get(f"/api/attachments/{staged['attachment_id']}").headers["content-disposition"]
    assert "\n" not in disposition
    assert disposition.count('"') == 2


def test_hostile_content_comes_as_text(make_page: MakePage) -> None:
    """Cases WB01 and WB03: only matches are marked; everything else in HTML is escaped."""
    body = 'beam <img src=x onerror=alert(1)> <script>alert(2)</script> see <b>fake</b> " \x01x\x02'
    page = make_page([entry("E1", body, author="<svg onload=alert(5)>", tags=["'><b>"])])
    found = page.post("/api/search", json={"query": "beam", "mode": "keyword"}).json()["entries"][0]
    whole = page.get("/api/entries/E1?query=beam").json()
    for html in (*found["highlights"], whole["highlighted_text"]):
        assert html.startswith("<b>beam</b> &lt;img src=x onerror=alert(1)&gt;")
        assert html.count("<") == 2
    assert (found["raw_text"], found["author"]) == (body, "<svg onload=alert(5)>")
    fault = error(page.post("/api/search", json={"query": "date:x<script>"}), 400)
    assert "<script>" in fault["message"]
    assert page.post("/api/search", json={"query": "date:x<script>"}).headers["content-type"] == "application/json"
