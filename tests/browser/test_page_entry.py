"""The entry view: text, files, metadata, what stands around it, and the way back."""

from __future__ import annotations

from page_faults import Faults, OpenPage
from page_logbooks import PICTURE
from page_server import PageServer
from playwright.sync_api import expect
from test_page_search import box, cards, search


def test_an_entry_opens_from_a_card_and_back_again(open_page: OpenPage) -> None:
    page = open_page()
    search(page, "thyratron")
    cards(page).get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Klystron 3 gun arc")
    assert page.url.endswith("/entry/KLY-1?q=thyratron")
    expect(page.locator(".entry-text")).to_have_text("The thyratron of modulator 3 was exchanged.")
    expect(page.locator(".entry-text mark")).to_have_text("thyratron")
    expect(page.locator(".entry .meta").first).to_contain_text("2024-06-02 10:00:00 -03:00")
    assert page.title() == "Klystron 3 gun arc – ariel-lite"
    page.keyboard.press("Escape")
    expect(box(page)).to_have_value("thyratron")
    expect(cards(page)).to_have_count(1)
    # Whoever works by keys is where they were.
    expect(cards(page).get_by_role("link").first).to_be_focused()


def test_back_comes_to_the_place_in_the_list_without_asking_again(open_page: OpenPage) -> None:
    page = open_page("/?q=sector&limit=45")
    expect(cards(page)).to_have_count(45)
    link = cards(page).nth(40).get_by_role("link").first
    link.scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    assert place > 500
    link.click()
    expect(page.locator(".entry-text")).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.go_back()
    expect(cards(page)).to_have_count(45)
    assert abs(page.evaluate("scrollY") - place) < 80
    assert [url for url in asked if url.endswith("/api/search")] == []


def test_white_space_is_kept_and_long_words_wrap(open_page: OpenPage) -> None:
    """WB10."""
    page = open_page("/entry/COLUMNS", width=360)
    text = page.locator(".entry-text")
    assert text.evaluate("node => node.textContent").startswith("a   1\nb   2\n\nc\t3\n")
    style = text.evaluate("node => [getComputedStyle(node).whiteSpace, getComputedStyle(node).tabSize]")
    assert style == ["pre-wrap", "8"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    # Text in columns begins with letters of one width, other text does not.
    width = page.get_by_role("button", name="Fixed width")
    expect(width).to_have_attribute("aria-pressed", "true")
    assert "mono" in text.evaluate("node => getComputedStyle(node).fontFamily").lower()
    width.click()
    assert "mono" not in text.evaluate("node => getComputedStyle(node).fontFamily").lower()


def test_ids_with_slashes_colons_and_letters(open_page: OpenPage) -> None:
    page = open_page("/?q=identifier+slash")
    cards(page).get_by_role("link").first.click()
    expect(page.locator(".metadata")).to_contain_text("SR/01:4 ü")
    page.reload()
    expect(page.locator(".metadata")).to_contain_text("SR/01:4 ü")


def test_files_are_shown_linked_and_downloaded(open_page: OpenPage) -> None:
    page = open_page("/entry/FILES")
    picture = page.get_by_role("img", name="scope.png")
    expect(picture).to_be_visible()
    page.wait_for_function("document.querySelector('img').naturalWidth === 1")
    with page.expect_download() as download:
        page.locator(".file", has_text="scope.png").get_by_role("link", name="download").click()
    assert download.value.suggested_filename == "scope.png"
    assert download.value.path().read_bytes() == PICTURE
    elsewhere = page.locator(".file", has_text="plan.pdf")
    expect(elsewhere.get_by_role("link")).to_have_attribute("href", "https://files.example.org/plan.pdf")
    expect(elsewhere).to_contain_text("kept elsewhere")
    with page.expect_popup() as popup:
        page.locator(".file", has_text="readings.txt").get_by_role("link", name="open").click()
    expect(popup.value.locator("body")).to_have_text("1.9 GeV")


def test_metadata_and_addresses_in_the_text(open_page: OpenPage) -> None:
    page = open_page("/entry/FILES")
    expect(page.locator(".metadata tr", has_text="nested")).to_contain_text('"owl"')
    link = page.locator(".entry-text a")
    expect(link).to_have_attribute("href", "https://ring.example.org/wiki?page=2")
    expect(link).to_have_text("https://ring.example.org/wiki?page=2")


def test_thread_and_neighbours(open_page: OpenPage) -> None:
    page = open_page("/entry/KLY-2")
    thread = page.get_by_role("complementary", name="Related entries")
    expect(thread.get_by_role("heading", name="Thread")).to_be_visible()
    neighbours = page.get_by_role("navigation", name="Neighbours in time")
    expect(neighbours.locator("a.next")).to_contain_text("a 1")
    neighbours.locator("a.prev").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Beam loss 19")
    page.go_back()
    thread.get_by_role("link", name="Klystron 3 gun arc", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Klystron 3 gun arc")
    expect(thread.get_by_role("link", name="Re: Klystron 3 gun arc")).to_be_visible()


def test_similar_entries_need_vectors(open_page: OpenPage, book_with_vectors: PageServer) -> None:
    page = open_page("/entry/KLY-1", server=book_with_vectors)
    similar = page.locator(".related section", has_text="Similar entries")
    expect(similar.locator("li").first).to_contain_text("similarity")
    page = open_page("/entry/KLY-1")
    expect(page.locator(".related section", has_text="Similar entries")).to_contain_text("enhance")


def test_an_entry_that_is_not_there(open_page: OpenPage, faults: Faults) -> None:
    faults.expect("status of 404")
    page = open_page("/entry/NOBODY")
    expect(page.get_by_role("alert")).to_contain_text("No entry has the id NOBODY")
    expect(page.get_by_role("link", name="Search for NOBODY")).to_have_attribute("href", "/?q=NOBODY")
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Browse")


def test_an_address_that_is_not_encoded_properly(open_page: OpenPage, faults: Faults) -> None:
    faults.expect("status of 404")
    page = open_page("/entry/100%")
    expect(page.get_by_role("alert")).to_contain_text("No entry has the id 100%")
