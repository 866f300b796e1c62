"""WB01, WB03: nothing that an entry holds ever runs or becomes markup, wherever the page shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from logbooks import entry
from page_faults import Faults, OpenPage
from page_logbooks import HOSTILE, HOSTILE_FILE, HOSTILE_NAME, HOSTILE_TAG, make_logbook
from page_server import PageServer
from playwright.sync_api import Page, expect

INJECTED = "main img:not(.thumbnail img), main script, main svg, main iframe, main b, main i, main [onerror], main [onload], main [onclick], main [onmouseover], main a[href^='javascript'], main a[href^='data']"


RIGHT_EDGE = "node => node.getBoundingClientRect().right"
LEFT_EDGE = "node => node.getBoundingClientRect().left"
LETTER = """node => {
  const range = document.createRange();
  range.setStart(node.firstChild, START);
  range.setEnd(node.firstChild, START + 1);
  return range.getBoundingClientRect().left;
}"""
FIRST_LETTER = LETTER.replace("START", "0")
LAST_LETTER = LETTER.replace("START", "8")


def assert_nothing_ran(page: Page) -> None:
    assert page.evaluate("window.ran") is None
    assert page.locator(INJECTED).count() == 0


def test_in_the_list_and_its_facets(open_page: OpenPage, hostile: PageServer) -> None:
    page = open_page("/?q=beam", server=hostile)
    expect(page.locator(".card")).to_have_count(3)
    expect(page.locator(".facet").first).to_be_visible()
    assert HOSTILE[:40] in page.locator(".card h3").first.inner_text() + page.locator(".card h3").nth(1).inner_text()
    expect(page.locator(".facet-value", has_text="svg onload").first).to_be_visible()
    expect(page.locator(".facet-value", has_text="onclick")).to_have_text(HOSTILE_TAG)
    assert_nothing_ran(page)
    for item in page.locator("button.facet-item").all()[:3]:
        item.hover()
    page.locator("button.facet-item", has_text="onclick").click()
    expect(page.locator("#results-title")).to_have_text("1 entry")
    assert_nothing_ran(page)


def test_a_name_that_turns_the_writing_turns_only_itself(open_page: OpenPage, folder: Path) -> None:
    turning = entry("T-1", "beam at noon", author="Ada \u202eecalevoL", source="Shift log")
    server = PageServer(make_logbook(folder / "turning.db", [turning], {}), folder / "config.yml")
    try:
        for path in ("/?q=beam", "/entry/T-1", "/browse"):
            page = open_page(path, server=server)
            author = page.locator(".meta span", has_text="Ada").first
            source = page.locator(".meta span", has_text="Shift log").first
            assert author.evaluate(RIGHT_EDGE) <= source.evaluate(LEFT_EDGE)
            assert source.evaluate(FIRST_LETTER) < source.evaluate(LAST_LETTER), "the source is written backwards"
    finally:
        server.stop()


def test_only_real_matches_are_marked(open_page: OpenPage, hostile: PageServer) -> None:
    """WB03: markers that are typed in the text are text."""
    page = open_page("/?q=beam", server=hostile)
    card = page.locator('.card[data-entry="E3"]')
    expect(card).to_contain_text("see <mark>fake</mark> beam \\u0001fake\\u0002")
    assert card.locator("mark").all_inner_texts() == ["beam"]
    page.goto(hostile.url + "/entry/E3?q=beam")
    expect(page.locator(".entry mark")).to_have_text(["beam"])
    expect(page.locator(".entry h1, .entry-text").last).to_contain_text("<mark>fake</mark>")


def test_in_the_entry(open_page: OpenPage, hostile: PageServer) -> None:
    page = open_page("/entry/E1?q=beam", server=hostile)
    expect(page.locator(".entry-text, .entry h1").first).to_contain_text('<img src=x onerror="window.ran=1')
    expect(page.locator(".metadata")).to_contain_text(HOSTILE_NAME)
    expect(page.locator(".file-name").first).to_have_text(HOSTILE_FILE)
    expect(page.locator(".file", has_text="click me")).to_be_visible()
    assert page.locator(".file", has_text="click me").get_by_role("link").count() == 0
    assert page.locator(".file", has_text="data.html").get_by_role("link").count() == 0
    assert page.locator(".file", has_text="bare name.png").get_by_role("link").count() == 0
    assert {mark.strip() for mark in page.locator(".entry mark").all_inner_texts()} == {"beam"}
    assert_nothing_ran(page)


def test_an_id_and_a_thread(open_page: OpenPage, hostile: PageServer) -> None:
    page = open_page("/browse", server=hostile)
    page.locator('.row a[href*="onerror"]').click()
    expect(page.locator(".metadata")).to_contain_text('"><img src=x onerror=alert(12)>')
    expect(page.locator(".related").first).to_be_visible()
    assert_nothing_ran(page)


@pytest.mark.parametrize("attachment", ["att-0000000000a2", "att-0000000000a3"])
def test_drawings_and_pages_are_only_downloaded(
    open_page: OpenPage, hostile: PageServer, attachment: str, faults: Faults
) -> None:
    page = open_page("/entry/E1", server=hostile)
    file = page.locator(".file", has=page.locator(f'a[href*="{attachment}"]'))
    expect(file.get_by_role("link", name="open")).to_have_count(0)
    with page.expect_download():
        page.evaluate("url => { location.href = url }", f"/api/attachments/{attachment}")
    assert_nothing_ran(page)


def test_in_the_query_its_faults_and_the_title(open_page: OpenPage, hostile: PageServer, faults: Faults) -> None:
    faults.expect("status of 400")
    page = open_page(
        "/?q=" + "%3Cimg src=x onerror=alert(20)%3E author:%22%3Csvg onload=alert(21)%3E%22", server=hostile
    )
    expect(page.locator(".chip")).to_contain_text("<svg onload=alert(21)>")
    expect(page.locator(".sentence")).to_contain_text("alert")
    assert_nothing_ran(page)
    page.goto(hostile.url + "/?q=date:%3Cimg/src=x/onerror=alert(22)%3E")
    expect(page.get_by_role("alert")).to_contain_text("<img/src=x/onerror=alert(22)>")
    page.goto(hostile.url + "/entry/%3Csvg onload=alert(23)%3E?q=%3Cscript%3E")
    faults.expect("status of 404")
    expect(page.get_by_role("alert")).to_contain_text("<svg onload=alert(23)>")
    assert_nothing_ran(page)


def test_drafts_and_answers_of_the_server_are_text_too(open_page: OpenPage, hostile: PageServer) -> None:
    hostile.ask("/api/drafts", {"content": {"subject": HOSTILE, "tags": [HOSTILE_TAG], "author": HOSTILE_NAME}})
    page = open_page("/new", server=hostile)
    page.locator(".drafts a").click()
    expect(page.get_by_label("Author")).to_have_value(HOSTILE_NAME)
    assert_nothing_ran(page)


def test_highlights_that_are_not_escaped_stay_text(open_page: OpenPage, hostile: PageServer) -> None:
    """Even a server that forgot to escape could not get markup into the page."""
    page = open_page("/", server=hostile)

    def unescaped(route: object) -> None:
        answer = route.fetch()  # type: ignore[attr-defined]
        document = answer.json()
        for found in document["entries"]:
            found["highlights"] = [
                "<img src=x onerror=alert(30)><b>beam</b><b onclick=alert(31)>x</b><script>alert(32)</script>"
            ]
        route.fulfill(response=answer, json=document)  # type: ignore[attr-defined]

    page.route("**/api/search", unescaped)
    page.get_by_role("searchbox").fill("beam")
    page.get_by_role("searchbox").press("Enter")
    expect(page.locator(".fragments").first).to_contain_text("<img src=x onerror=alert(30)>")
    expect(page.locator(".fragments").first).to_contain_text("<script>alert(32)</script>")
    assert_nothing_ran(page)
