"""Who may ask, what every answer carries, and what no request can make the server do."""

from __future__ import annotations

from typing import Any

import pytest
from asking import MakePage, error
from starlette.testclient import TestClient

TOKEN = "se cret"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
EVERYWHERE = ("/", "/static/nothing.js", "/api/status", "/api/entries/nothing", "/nothing", "/docs", "/openapi.json")


@pytest.fixture
def backend_name() -> str:
    """The storage makes no difference here."""
    return "sqlite"


def asked(page: TestClient, path: str = "/api/status", /, **headers: str) -> Any:
    return page.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize("path", EVERYWHERE)
def test_every_answer_carries_the_headers(make_page: MakePage, path: str) -> None:
    page = make_page()
    for reply in (page.get(path), page.request("TRACE", path), asked(page, path, host="evil.example")):
        assert reply.headers["content-security-policy"] == POLICY
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "same-origin"
        assert not [name for name in reply.headers if name.startswith("access-control-")]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8085", "127.0.0.1.evil.example", "", "localhost.", "::1x"]
)
def test_foreign_hosts_are_refused(make_page: MakePage, host: str) -> None:
    reply = asked(make_page(), host=host)
    if host == "localhost.":
        assert reply.status_code == 200
    else:
        assert error(reply, 403)["code"] == "foreign_host"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:9", "[::1]:8085", "[::1]", "logs.example:80"])
def test_our_names_are_taken(make_page: MakePage, host: str) -> None:
    assert asked(make_page(config={"web": {"allowed_hosts": ["Logs.Example"]}}), host=host).status_code == 200


def test_every_address_of_a_machine_that_listens_on_all(make_page: MakePage) -> None:
    page = make_page(host="0.0.0.0")
    assert asked(page, host="10.1.2.3:8085").status_code == 200
    assert error(asked(page, host="rebound.example:8085"), 403)
    assert error(asked(make_page(host="127.0.0.1"), host="10.1.2.3:8085"), 403)


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://localhost:3000",
        "http://127.0.0.1",
        "https://127.0.0.1:8085",
        "file://",
        "http://127.0.0.1:8085@evil.example",
        "http://127.0.0.1:8085.evil.example",
        "",
        "chrome-extension://x",
    ],
)
def test_foreign_origins_are_refused(make_page: MakePage, origin: str) -> None:
    page = make_page()
    assert error(asked(page, origin=origin), 403)["code"] == "foreign_origin"
    assert error(page.post("/api/entries", json={"subject": "x"}, headers={"Origin": origin}), 403)
    assert page.get("/api/entries").json()["total"] == 0


def test_our_origins_are_taken(make_page: MakePage) -> None:
    page = make_page(config={"web": {"allowed_hosts": ["logs.example"]}})
    assert asked(page, origin="http://127.0.0.1:8085").status_code == 200
    assert asked(page, host="localhost", origin="http://localhost:80").status_code == 200
    assert asked(page, origin="https://logs.example").status_code == 200


def test_other_sites_may_link_but_not_reach_in(make_page: MakePage) -> None:
    page = make_page()
    assert asked(page, "/", sec_fetch_site="cross-site", sec_fetch_mode="navigate").status_code == 200
    assert error(asked(page, sec_fetch_site="cross-site", sec_fetch_mode="no-cors"), 403)
    assert asked(page, sec_fetch_site="same-origin", sec_fetch_mode="cors").status_code == 200


def test_forms_of_other_sites_without_an_origin_change_nothing(make_page: MakePage) -> None:
    """A form can send text/plain that looks like JSON; old browsers send no Origin with it."""
    page = make_page()
    reply = page.post("/api/entries", content=b'{"subject": "x"}', headers={"Content-Type": "text/plain"})
    assert error(reply, 422)
    assert page.get("/api/entries").json()["total"] == 0


def test_the_token_is_asked_for(make_page: MakePage) -> None:
    page = make_page(token=TOKEN)
    for path in ("/api/status", "/api/entries", "/docs", "/openapi.json", "/api/nothing"):
        assert error(page.get(path), 401)["code"] == "unauthorized"
    for path in ("/health", "/", "/entry/E1", "/static/nothing"):
        assert page.get(path).status_code != 401
    for wrong in ("Bearer x", "Bearer ", "Basic se cret", "se cret", "Bearer se crett", "Bearer \xff"):
        assert error(page.get("/api/status", headers={"Authorization": wrong.encode("latin-1")}), 401)
    assert asked(page, authorization=f"Bearer {TOKEN}").status_code == 200
    assert asked(page, authorization=f"bearer  {TOKEN} ").status_code == 200


def test_the_token_in_the_address_becomes_a_cookie(make_page: MakePage) -> None:
    page = make_page(token=TOKEN)
    reply = page.get("/?q=a%20b&token=se%20cret&mode=keyword", follow_redirects=False)
    assert (reply.status_code, reply.headers["location"]) == (303, "/?q=a+b&mode=keyword")
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert page.get("/api/status").status_code == 200
    page.cookies.set("ariel_token", "other")
    page.cookies.clear()
    assert error(asked(page, cookie="ariel_token=%ff"), 401)


def test_a_wrong_token_in_the_address_sets_nothing(make_page: MakePage) -> None:
    for query in ("/?token=wrong", "/?token=", "/browse?token=se%20cret"):
        reply = make_page(token=TOKEN).get(query, follow_redirects=False)
        assert (reply.status_code, reply.headers.get("set-cookie")) == (200, None)


@pytest.mark.parametrize(
    "name", ["../app.py", "..%2f..%2fapp.py", "%2e%2e/guard.py", "/etc/passwd", "", ".", "js", "a\0"]
)
def test_static_names_stay_inside(make_page: MakePage, name: str) -> None:
    assert error(make_page().get("/static/" + name.replace("\0", "%00")), 404)["code"] == "not_found"


@pytest.mark.parametrize("path", ["/", "/browse", "/new", "/status", "/entry/E1", "/entry/a/b%3Fc"])
def test_every_address_of_the_page_is_the_page(make_page: MakePage, path: str) -> None:
    page = make_page()
    reply = page.get(path)
    assert (reply.status_code, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "<script>" not in reply.text
    assert page.get(path, headers={"If-None-Match": reply.headers["etag"]}).status_code == 304


def test_head_is_get_without_a_body(make_page: MakePage) -> None:
    page = make_page(["beam"])
    for path in ("/", "/api/entries/E1", "/nothing"):
        whole, head = page.get(path), page.head(path)
        assert (head.status_code, head.content) == (whole.status_code, b"")
        assert head.headers["content-length"] == whole.headers["content-length"]


def test_answers_are_compressed_for_who_takes_it_but_files_are_not(make_page: MakePage) -> None:
    page = make_page([f"beam {n}" for n in range(40)])
    large = page.get("/api/entries?page_size=40", headers={"Accept-Encoding": "gzip"})
    assert large.headers["content-encoding"] == "gzip"
    assert large.json()["total"] == 40
    assert "content-encoding" not in page.get("/api/entries", headers={"Accept-Encoding": "identity"}).headers
    staged = page.post("/api/attachments", files={"file": ("a.txt", b"x" * 5000)}).json()["attachment_id"]
    file = page.get(f"/api/attachments/{staged}", headers={"Accept-Encoding": "gzip"})
    assert (file.headers["content-length"], file.headers.get("content-encoding")) == ("5000", None)


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/nothing", 404, "not_found"),
        ("GET", "/api/entries/", 404, "not_found"),
        ("DELETE", "/api/status", 405, "method_not_allowed"),
        ("PATCH", "/", 405, "method_not_allowed"),
        ("OPTIONS", "/api/search", 405, "method_not_allowed"),
    ],
)
def test_addresses_and_methods_that_are_not_there(
    make_page: MakePage, method: str, path: str, status: int, code: str
) -> None:
    reply = make_page().request(method, path)
    assert error(reply, status)["code"] == code
    assert (status == 405) == ("allow" in reply.headers)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"{}" * 3, b'{"query": NaN}'])
def test_bodies_that_are_no_request(make_page: MakePage, body: bytes) -> None:
    reply = make_page().post("/api/search", content=body, headers={"Content-Type": "application/json"})
    assert error(reply, 422)["code"] == "validation_error"


@pytest.mark.parametrize(
    ("body", "shown"), [(b"[]", "got []"), (b"null", "got null"), (b"[true]", "got [true]"), (b'"x"', 'got "x"')]
)
def test_a_wrong_value_is_repeated_as_it_was_sent(make_page: MakePage, body: bytes, shown: str) -> None:
    fault = error(make_page().post("/api/search", content=body, headers={"Content-Type": "application/json"}), 422)
    assert (fault["message"], fault["hint"]) == ("body: input should be a JSON object", shown)


def test_half_a_character_can_be_repeated(make_page: MakePage) -> None:
    body = b'{"query": "beam", "max_results": "\\ud800"}'
    fault = error(make_page().post("/api/search", content=body, headers={"Content-Type": "application/json"}), 422)
    assert "max_results" in fault["message"]


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", ""])
def test_json_without_its_type_says_which_header_is_missing(make_page: MakePage, kind: str) -> None:
    reply = make_page().post("/api/search", content=b'{"query": "beam"}', headers={"Content-Type": kind})
    fault = error(reply, 422)
    assert fault["message"] == "the body was not sent as JSON"
    assert "Content-Type: application/json" in fault["hint"]


def test_a_slash_behind_a_view_leads_to_the_view(make_page: MakePage) -> None:
    page = make_page()
    for path in ("/browse/", "/new/", "/status/"):
        reply = page.get(f"{path}?page=2", follow_redirects=False)
        assert (reply.status_code, reply.headers["location"]) == (307, f"{path[:-1]}?page=2")


def test_a_body_that_nests_too_deep(make_page: MakePage) -> None:
    body = b'{"query":' + b"[" * 100_000
    reply = make_page().post("/api/search", content=body, headers={"Content-Type": "application/json"})
    fault = error(reply, 400)
    assert (fault["code"], fault["message"]) == ("bad_request", "the body nests too deep")
    assert "brackets" in fault["hint"]


def test_a_body_in_another_encoding(make_page: MakePage) -> None:
    body = '{"query": "Störung"}'.encode("latin-1")
    reply = make_page().post("/api/search", content=body, headers={"Content-Type": "application/json"})
    assert error(reply, 400)["message"] == "the body is not UTF-8"


def test_what_is_too_large_is_refused(make_page: MakePage) -> None:
    page = make_page()
    assert error(page.post("/api/search", json={"query": "x" * 5_000_000}), 413)["code"] == "too_large"
    chunks = (b"x" * 100_000 for _ in range(60))
    reply = page.post("/api/search", content=chunks, headers={"Content-Type": "application/json"})
    assert error(reply, 413)["code"] == "too_large"


def test_a_fault_of_the_server_is_an_envelope(make_page: MakePage, caplog: pytest.LogCaptureFixture) -> None:
    page = make_page(["beam"])
    page.app.state.serving = None  # type: ignore[attr-defined]
    reply = page.get("/api/status")
    assert error(reply, 500)["code"] == "internal_error"
    assert "NoneType" not in reply.text
    assert reply.headers["content-security-policy"] == POLICY
    assert "NoneType" in caplog.text


def test_the_api_is_described_without_help_from_elsewhere(make_page: MakePage) -> None:
    page = make_page()
    document, shown = page.get("/openapi.json").json(), page.get("/docs")
    assert "//cdn" not in shown.text
    assert "<script" not in shown.text
    for path, methods in document["paths"].items():
        assert f"<code>{path}</code>" in shown.text
        for operation in methods.values():
            assert {"400", "404", "422", "503"} <= set(operation["responses"])
    assert page.get("/docs/style.css").headers["content-type"].startswith("text/css")
