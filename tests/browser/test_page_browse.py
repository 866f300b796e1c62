"""Browsing by time: order, days, pages, filters and the jump to a date; and the status view."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from page_faults import OpenPage
from page_logbooks import LOSSES
from page_server import PageServer
from playwright.sync_api import Locator, Page, expect

ENTRIES = LOSSES + 6


def count(page: Page) -> Locator:
    return page.locator("#browse-count")


def shown_on_every_page(page: Page) -> list[str]:
    """Titles' addresses on this page and all that follow."""
    found: list[str] = []
    while True:
        paging = page.get_by_role("navigation", name="Pages")
        expect(paging).to_be_visible()
        found += page.locator(".row a").evaluate_all("links => links.map(link => link.pathname)")
        following = paging.get_by_role("link", name="Next")
        if not following.count():
            return found
        before = paging.inner_text()
        following.click()
        expect(paging).not_to_have_text(before)


def test_newest_first_under_days(open_page: OpenPage) -> None:
    page = open_page("/browse")
    expect(count(page)).to_have_text(f"{ENTRIES} entries")
    expect(page.locator(".day h3").first).to_have_text("Thursday, 19 December 2024")
    expect(page.locator(".row").first.locator("time")).to_have_text("11:00 -04:00")
    days = page.locator(".row time").evaluate_all("times => times.map(time => time.dateTime)")
    assert days == sorted(days, reverse=True)


@pytest.mark.parametrize(("filters", "expected"), [("", ENTRIES), ("?author=ek", 18), ("?source=Night+log", 23)])
def test_pages_hold_everything_once(open_page: OpenPage, filters: str, expected: int) -> None:
    """WB05."""
    page = open_page("/browse" + filters)
    found = shown_on_every_page(page)
    assert len(found) == len(set(found)) == expected


def test_filters_begin_at_the_first_page(open_page: OpenPage) -> None:
    page = open_page("/browse")
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text("Page 2 of 3")
    page.get_by_role("button", name="Filters").click()
    page.get_by_label("Author").fill("lovelace")
    page.get_by_label("Author").press("Enter")
    expect(count(page)).to_have_text("16 entries with these filters")
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text("Page 1 of 1")
    assert page.url.endswith("/browse?author=lovelace")
    page.go_back()
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text("Page 2 of 3")
    page.reload()
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text("Page 2 of 3")


def test_jump_to_a_date_and_order(open_page: OpenPage) -> None:
    page = open_page("/browse")
    page.get_by_label("Jump to a date").fill("2024-03")
    page.get_by_role("button", name="Jump").click()
    expect(page.locator(".day h3").first).to_contain_text("March 2024")
    expect(page.locator(".narrowed")).to_contain_text("until 2024-03")
    page.get_by_label("Order").select_option("Oldest first")
    expect(page.locator(".day h3").first).to_have_text("Tuesday, 2 January 2024")
    page.get_by_role("link", name="Show all").click()
    expect(count(page)).to_have_text(f"{ENTRIES} entries")


def test_rows_by_keys(open_page: OpenPage) -> None:
    page = open_page("/browse")
    page.locator(".row a").first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".row a").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".entry h1")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".row a").nth(1)).to_be_focused()


def test_a_filter_that_nothing_passes_and_an_empty_logbook(open_page: OpenPage, own_book: PageServer) -> None:
    page = open_page("/browse?author=nobody")
    expect(page.locator(".state.empty")).to_contain_text("No entry passes these filters.")
    page = open_page("/browse", server=own_book)
    expect(page.locator(".state.empty")).to_contain_text("This logbook is empty.")
    expect(page.locator(".state.empty")).to_contain_text("ariel-lite ingest")


def test_a_page_past_the_end_leads_back(open_page: OpenPage) -> None:
    page = open_page("/browse?page=99")
    expect(page.locator(".state.empty")).to_contain_text("no entries on this page")
    expect(page.locator(".state.empty")).to_contain_text("the list has 3 pages")
    expect(page.get_by_role("navigation", name="Pages")).to_have_count(0)
    page.locator(".state.empty").get_by_role("link", name="First page").click()
    expect(page.locator(".row").first).to_be_visible()


def row_of(page: Page) -> Callable[[str], Locator]:
    return lambda name: page.locator("tr", has=page.get_by_role("rowheader", name=name, exact=True)).locator("td")


def test_status_tells_counts_size_and_vectors(open_page: OpenPage, book_with_vectors: PageServer) -> None:
    page = open_page("/status", server=book_with_vectors)
    row = row_of(page)
    expect(page.locator(".verdict")).to_have_text("All is well.")
    expect(row("Entries")).to_have_text(str(ENTRIES))
    expect(row("Vectors up to date")).to_have_text(str(ENTRIES))
    expect(row("Size")).to_contain_text("B")
    expect(row("Search modes")).to_contain_text("keyword")


def test_status_without_vectors_says_what_to_do(open_page: OpenPage) -> None:
    page = open_page("/status")
    expect(page.locator("section", has_text="Vectors").last).to_contain_text("ariel-lite enhance")
    expect(row_of(page)("Last ingestion")).to_have_text("none yet")
