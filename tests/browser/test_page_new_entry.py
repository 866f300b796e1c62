"""Writing an entry in the page: validation, files, drafts, and finding it again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_faults import Faults, OpenPage
from page_logbooks import PICTURE, make_logbook
from page_server import PageServer
from playwright.sync_api import Page, expect
from shelf import Shelf, install

SAVED = re.compile(r"Draft saved \d\d:\d\d")


def write(page: Page, subject: str, details: str = "") -> None:
    page.get_by_label("Subject", exact=True).fill(subject)
    page.get_by_label("Details").fill(details)


def store(page: Page) -> None:
    page.get_by_role("button", name="Store the entry").click()


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "orbit.png"
    path.write_bytes(PICTURE)
    return path


def test_an_entry_is_written_with_a_file_and_found(open_page: OpenPage, own_book: PageServer, picture: Path) -> None:
    page = open_page("/new", server=own_book)
    write(page, "Septum realigned", "x   1\ny   2")
    page.get_by_label("Author").fill("Ada Lovelace")
    page.get_by_label("Logbook").fill("Operations")
    page.get_by_label("Tags").fill("septum, day shift")
    expect(page.locator(".attach")).to_contain_text("10 MB")
    page.get_by_label("Files", exact=True).set_input_files(picture)
    expect(page.locator(".file-state")).to_have_text("attached")
    store(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Septum realigned")
    expect(page.locator("#notice")).to_contain_text("Stored")
    expect(page.locator(".entry-text")).to_have_text("x   1\ny   2", use_inner_text=True)
    expect(page.get_by_role("img", name="orbit.png")).to_be_visible()
    expect(page.locator(".metadata tr", has_text="tags")).to_contain_text("septum, day shift")
    page.goto(own_book.url + '/?q=tag:"day shift" septum')
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator(".card .files")).to_contain_text("orbit.png")
    assert own_book.ask("/api/drafts")["drafts"] == []


def test_an_entry_needs_a_subject_or_details(open_page: OpenPage, own_book: PageServer) -> None:
    page = open_page("/new", server=own_book)
    before = own_book.ask("/api/status")["entry_count"]
    store(page)
    expect(page.locator(".entry-fields").get_by_role("alert")).to_contain_text("say what happened")
    expect(page.get_by_label("Subject", exact=True)).to_be_focused()
    expect(page.get_by_label("Subject", exact=True)).to_have_attribute("aria-invalid", "true")
    assert own_book.ask("/api/status")["entry_count"] == before


def test_a_draft_saves_itself_and_is_taken_up_again(open_page: OpenPage, own_book: PageServer, picture: Path) -> None:
    page = open_page("/new", server=own_book)
    write(page, "Half a thought", "to be continued")
    expect(page.locator(".draft-state")).to_have_text(SAVED)
    expect(page).to_have_url(re.compile(r"/new\?draft=draft-"))
    page.get_by_label("Files", exact=True).set_input_files(picture)
    expect(page.locator(".file-state")).to_have_text("attached")
    page.get_by_label("Shift").fill("owl")
    page.wait_for_timeout(900)
    expect(page.locator(".draft-state")).to_have_text(SAVED)
    page.goto(own_book.url + "/new")
    page.get_by_role("link", name="Half a thought").click()
    expect(page.get_by_label("Details")).to_have_value("to be continued")
    expect(page.get_by_label("Shift")).to_have_value("owl")
    expect(page.locator(".attach .file")).to_contain_text("orbit.png")
    store(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Half a thought")
    expect(page.get_by_role("img", name="orbit.png")).to_be_visible()
    assert own_book.ask("/api/drafts")["drafts"] == []


def test_a_draft_can_be_deleted(open_page: OpenPage, own_book: PageServer) -> None:
    own_book.ask("/api/drafts", {"content": {"subject": "Not worth it"}})
    page = open_page("/new", server=own_book)
    page.get_by_role("button", name="Delete the draft Not worth it").click()
    expect(page.get_by_role("link", name="Not worth it")).to_have_count(0)
    assert own_book.ask("/api/drafts")["drafts"] == []


def test_a_draft_that_is_gone(open_page: OpenPage, own_book: PageServer, faults: Faults) -> None:
    faults.expect("status of 404")
    page = open_page("/new?draft=draft-000000000000", server=own_book)
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_role("link", name="Write a new entry").click()
    expect(page.get_by_label("Subject", exact=True)).to_be_visible()


def test_what_was_typed_stays_when_the_server_fails(open_page: OpenPage, own_book: PageServer, faults: Faults) -> None:
    faults.expect("Failed to load resource")
    page = open_page("/new", server=own_book)
    page.get_by_label("Subject", exact=True).wait_for()
    page.route("**/api/**", lambda route: route.abort())
    write(page, "Written in a tunnel")
    expect(page.locator(".draft-state")).to_contain_text("The draft is not saved")
    store(page)
    expect(page.locator(".state.failed")).to_contain_text("The server does not answer.")
    expect(page.get_by_label("Subject", exact=True)).to_have_value("Written in a tunnel")
    page.unroute("**/api/**")
    store(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Written in a tunnel")


def test_what_never_reached_the_server_is_there_again(
    open_page: OpenPage, own_book: PageServer, faults: Faults
) -> None:
    faults.expect("Failed to load resource")
    page = open_page("/new", server=own_book)
    page.get_by_label("Subject", exact=True).wait_for()
    page.route("**/api/**", lambda route: route.abort())
    write(page, "Typed in the dark", "all of it")
    expect(page.locator(".draft-state")).to_contain_text("The draft is not saved")
    page.get_by_role("link", name="Status").click()
    expect(page.locator(".state.failed")).to_be_visible()
    page.unroute("**/api/**")
    page.goto(own_book.url + "/new")
    expect(page.get_by_label("Subject", exact=True)).to_have_value("Typed in the dark")
    expect(page.get_by_label("Details")).to_have_value("all of it")
    expect(page.locator("#notice")).to_contain_text("had not reached the server")
    expect(page.locator(".draft-state")).to_have_text(SAVED)
    assert [draft["content"]["subject"] for draft in own_book.ask("/api/drafts")["drafts"]] == ["Typed in the dark"]
    page.goto(own_book.url + "/new")
    expect(page.get_by_label("Subject", exact=True)).to_have_value("")
    page.get_by_role("button", name="Delete the draft Typed in the dark").click()
    expect(page.get_by_role("link", name="Typed in the dark")).to_have_count(0)


def test_a_draft_that_goes_while_it_is_written_is_made_anew(
    open_page: OpenPage, own_book: PageServer, faults: Faults
) -> None:
    faults.expect("status of 404")
    page = open_page("/new", server=own_book)
    write(page, "Two windows")
    expect(page.locator(".draft-state")).to_have_text(SAVED)
    gone = page.evaluate("new URLSearchParams(location.search).get('draft')")
    page.evaluate("id => fetch(`/api/drafts/${id}`, {method: 'DELETE'}).then(answer => answer.status)", gone)
    write(page, "Two windows, still typing")
    page.wait_for_timeout(900)
    expect(page.locator(".draft-state")).to_have_text(SAVED)
    assert [draft["content"]["subject"] for draft in own_book.ask("/api/drafts")["drafts"]] == [
        "Two windows, still typing"
    ]
    store(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Two windows, still typing")
    assert own_book.ask("/api/drafts")["drafts"] == []


def test_an_empty_file_is_not_sent_and_not_tried_again(
    open_page: OpenPage, own_book: PageServer, tmp_path: Path
) -> None:
    (tmp_path / "nothing.txt").touch()
    page = open_page("/new", server=own_book)
    page.get_by_label("Files", exact=True).set_input_files(tmp_path / "nothing.txt")
    expect(page.locator(".file-state")).to_contain_text("empty")
    expect(page.locator(".attach").get_by_role("button", name="Try again")).to_have_count(0)


def test_a_file_that_is_too_large_is_not_sent(open_page: OpenPage, own_book: PageServer, tmp_path: Path) -> None:
    large = tmp_path / "video.bin"
    with large.open("wb") as handle:
        handle.truncate(10 * 1024 * 1024 + 1)
    page = open_page("/new", server=own_book)
    page.get_by_label("Subject", exact=True).wait_for()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    page.get_by_label("Files", exact=True).set_input_files(large)
    expect(page.locator(".file-state")).to_contain_text("too large")
    assert "POST" not in sent
    page.get_by_role("button", name="Remove video.bin").click()
    expect(page.locator(".attach .file")).to_have_count(0)


def test_an_upload_that_fails_can_be_tried_again(
    open_page: OpenPage, own_book: PageServer, picture: Path, faults: Faults
) -> None:
    faults.expect("Failed to load resource")
    page = open_page("/new", server=own_book)
    page.get_by_label("Subject", exact=True).wait_for()
    page.route("**/api/attachments", lambda route: route.abort())
    page.get_by_label("Files", exact=True).set_input_files(picture)
    expect(page.locator(".file-state")).to_contain_text("not uploaded")
    page.unroute("**/api/attachments")
    page.locator(".attach").get_by_role("button", name="Try again").click()
    expect(page.locator(".file-state")).to_have_text("attached")


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[tuple[Shelf, PageServer]]:
    """A source that takes entries from people it knows, and a logbook that publishes to it."""
    source = Shelf(tmp_path)
    source.asks_who_writes()
    config = tmp_path / "shelf.yml"
    config.write_text(json.dumps({"ariel": {"ingestion": source.settings()}}), encoding="utf-8")
    logbook = make_logbook(tmp_path / "shelf.db", [], {})
    server = PageServer(logbook, config, packages=install(tmp_path / "site"))
    yield source, server
    server.stop()


def publish(page: Page, subject: str) -> None:
    write(page, subject)
    page.get_by_label("Publish to Shelf Logbook too").check()
    page.get_by_label("User at the source").fill("ada")
    page.get_by_label("Password").fill("pw")
    store(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(subject)


def test_an_entry_is_published_where_the_source_takes_it(open_page: OpenPage, shelf: tuple[Shelf, PageServer]) -> None:
    source, server = shelf
    page = open_page("/new", server=server)
    page.get_by_label("Subject", exact=True).wait_for()
    expect(page.get_by_label("Password")).to_be_hidden()
    publish(page, "For the shelf")
    assert [(record["title"], record["user"]) for record in source.records] == [("For the shelf", "ada")]
    expect(page.locator(".entry .meta").first).to_contain_text("Shelf Logbook")
    source.fails("refuse")
    page.get_by_role("link", name="New entry").click()
    publish(page, "Not for the shelf")
    expect(page.locator("#notice.warning")).to_contain_text("was not published")
    assert len(source.records) == 1


def test_without_a_source_the_entry_stays_here(open_page: OpenPage, own_book: PageServer) -> None:
    page = open_page("/new", server=own_book)
    expect(page.locator(".entry-form")).to_contain_text("kept in this logbook only")
    expect(page.get_by_label(re.compile("Publish"))).to_have_count(0)
