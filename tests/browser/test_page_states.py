"""Loading, slow, failed, degraded, overtaken: each looks different and says what to do."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest
from logbooks import entry
from page_faults import Faults, OpenPage
from page_logbooks import LOSSES, make_logbook
from page_server import PageServer
from playwright.sync_api import Route, expect
from test_page_search import box, cards, head, search


def test_a_mode_that_cannot_run_is_degraded_not_empty(open_page: OpenPage) -> None:
    page = open_page("/?q=sector&mode=semantic")
    degraded = page.locator(".degraded")
    expect(degraded).to_contain_text("Degraded")
    expect(page.locator(".note.warning", has_text="ariel-lite enhance")).to_be_visible()
    expect(page.locator(".state.empty")).to_contain_text("does not mean that there is none")
    degraded.get_by_role("button", name="Search by keyword").click()
    expect(head(page)).to_have_text(f"Entries 1–10 of {LOSSES}")
    expect(page.locator(".degraded")).to_have_count(0)


def test_hybrid_without_vectors_shows_what_words_find_and_says_so(open_page: OpenPage) -> None:
    page = open_page("/?q=quench&mode=hybrid")
    expect(cards(page).first).to_be_visible()
    expect(page.locator(".degraded")).to_be_visible()


def test_a_server_that_is_away_is_said_and_can_be_asked_again(
    open_page: OpenPage, own_book: PageServer, faults: Faults
) -> None:
    faults.expect("ERR_CONNECTION_REFUSED|Failed to load resource")
    page = open_page("/", server=own_book)
    page.get_by_role("button", name="Keyword").wait_for()
    own_book.stop()
    search(page, "beam")
    failure = page.locator(".state.failed")
    expect(failure).to_contain_text("The server does not answer.")
    expect(failure).to_contain_text("ariel-lite web")
    expect(box(page)).to_have_value("beam")
    for address in ("/browse", "/status"):
        page.locator(f'nav a[href="{address}"]').click()
        expect(failure).to_contain_text("The server does not answer.")
    page.go_back()
    page.go_back()
    own_book.start()
    page.locator(".state.failed").get_by_role("button", name="Try again").click()
    expect(page.locator(".state.empty")).to_contain_text("This logbook is empty.")


def test_an_error_of_the_server_is_shown_with_its_hint(open_page: OpenPage, faults: Faults) -> None:
    faults.expect("status of 503")
    page = open_page()
    body = '{"error": {"code": "database_unavailable", "message": "the logbook is busy", "hint": "wait a moment", "position": null}}'
    page.route("**/api/search", lambda route: route.fulfill(status=503, body=body, content_type="application/json"))
    search(page, "beam")
    expect(page.locator(".state.failed")).to_contain_text("The logbook is busy")
    expect(page.locator(".state.failed")).to_contain_text("Wait a moment")
    page.unroute("**/api/search")
    page.get_by_role("button", name="Try again").click()
    expect(cards(page).first).to_be_visible()


@pytest.mark.parametrize(
    "address", ["/browse?page=2&cursor=damaged", "/?q=sector&mode=keyword&offset=10&cursor=damaged"]
)
def test_a_damaged_cursor_leads_to_the_first_page(open_page: OpenPage, faults: Faults, address: str) -> None:
    faults.expect("400")
    page = open_page(address)
    expect(page.locator(".state.failed")).to_contain_text("damaged")
    page.locator(".state.failed").get_by_role("link", name="First page").click()
    expect(page.locator(".card, .row").first).to_be_visible()
    expect(page.locator(".state.failed")).to_have_count(0)


def test_what_is_typed_before_the_modes_are_known_stays(open_page: OpenPage) -> None:
    page = open_page("/status")
    waiting: list[Route] = []
    page.route("**/api/capabilities", lambda route: waiting.append(route))
    page.goto(page.url.replace("/status", "/"))
    box(page).fill("vacuum leak")
    while not waiting:
        page.wait_for_timeout(20)
    waiting[0].continue_()
    expect(page.get_by_role("group", name="Search mode").get_by_role("button").first).to_be_visible()
    expect(box(page)).to_have_value("vacuum leak")


def test_what_is_no_json_is_a_failure_too(open_page: OpenPage) -> None:
    page = open_page()
    page.route("**/api/search", lambda route: route.fulfill(status=200, body="<html>proxy</html>"))
    search(page, "beam")
    expect(page.locator(".state.failed")).to_contain_text("something else than JSON")


def test_cards_do_not_wait_for_counts(open_page: OpenPage) -> None:
    page = open_page()
    held: list[Route] = []
    page.route("**/api/facets", lambda route: held.append(route))
    search(page, "sector")
    expect(cards(page)).to_have_count(10)
    expect(page.locator(".facet")).to_have_count(0)
    held[0].continue_()
    expect(page.locator(".facet").first).to_be_visible()


def test_counts_that_fail_leave_the_cards(open_page: OpenPage, faults: Faults) -> None:
    faults.expect("status of 500")
    page = open_page()
    page.route("**/api/facets", lambda route: route.fulfill(status=500, body="{}", content_type="application/json"))
    search(page, "sector")
    expect(cards(page)).to_have_count(10)
    expect(page.locator(".narrowing")).to_contain_text("The counts could not be made")
    page.unroute("**/api/facets")
    page.locator(".narrowing").get_by_role("button", name="Try again").click()
    expect(page.locator(".facet").first).to_be_visible()


def test_an_overtaken_search_never_shows(open_page: OpenPage) -> None:
    page = open_page()
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route("**/api/search", hold_first)
    aborted: list[str] = []
    page.on("requestfailed", lambda request: aborted.append(request.failure or ""))
    search(page, "sector")
    expect(page.locator(".state.loading")).to_be_visible()
    search(page, "quench")
    expect(head(page)).to_have_text("1 entry")
    assert any("ABORTED" in reason for reason in aborted)
    held[0].fulfill(status=200, body="{}")
    page.wait_for_timeout(200)
    expect(head(page)).to_have_text("1 entry")


def test_a_slow_answer_is_announced_and_can_be_stopped(open_page: OpenPage) -> None:
    page = open_page()
    page.clock.install()
    page.route("**/api/search", lambda route: None)
    search(page, "sector")
    loading = page.locator(".state.loading")
    expect(loading).to_contain_text("Searching…")
    page.clock.run_for(9000)
    expect(loading).to_contain_text(re.compile(r"the server is slow: \d+ s so far"))
    loading.get_by_role("button", name="Stop waiting").click()
    expect(page.locator(".state.empty")).to_contain_text("Stopped.")
    page.unroute("**/api/search")
    page.get_by_role("button", name="Search again").click()
    expect(cards(page)).to_have_count(10)


def test_the_page_works_on_a_slow_server(open_page: OpenPage) -> None:
    """Every file and answer comes a good while late; nothing is shown twice or in the wrong place."""
    page = open_page("/status")

    def late(route: Route) -> None:
        threading.Event().wait(0.05)
        route.continue_()

    page.route("**/*", late)
    page.goto(page.url.replace("/status", "/?q=sector"))
    expect(cards(page)).to_have_count(10)
    expect(page.locator(".facet").first).to_be_visible()


def test_a_token_that_got_lost_is_asked_for(open_page: OpenPage, folder: Path, faults: Faults) -> None:
    faults.expect("status of 401")
    logbook = make_logbook(folder / "token.db", [entry("A", "beam")], {})
    server = PageServer(logbook, folder / "config.yml", "--token", "secret")
    try:
        page = open_page("/?token=secret", server=server)
        page.get_by_role("button", name="Keyword").wait_for()
        assert "secret" not in page.url
        page.context.clear_cookies()
        page.reload()
        page.locator(".state.token").wait_for()
        search(page, "beam")
        form = page.locator(".state.token")
        expect(form).to_contain_text("printed it")
        for token in ("wrong", "secret"):
            form.get_by_label("Token").fill(token)
            form.get_by_role("button", name="Continue").click()
            expect(form if token == "wrong" else head(page)).to_contain_text(
                "did not take" if token == "wrong" else "1 entry"
            )
        expect(page.locator("#facility")).to_contain_text("America/Halifax")
    finally:
        server.stop()
