"""Searching in the page: what is shown of an answer, and what a click or key does."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from page_faults import Faults, OpenPage
from page_logbooks import LOSSES
from page_server import PageServer
from playwright.sync_api import Locator, Page, expect


def cards(page: Page) -> Locator:
    return page.locator(".card")


def box(page: Page) -> Locator:
    return page.get_by_role("searchbox", name="Search the logbook")


def search(page: Page, query: str) -> None:
    box(page).fill(query)
    box(page).press("Enter")


def head(page: Page) -> Locator:
    return page.locator("#results-title")


def query_in_address(page: Page) -> str:
    return str(page.evaluate("new URLSearchParams(location.search).get('q')"))


def test_a_search_shows_how_it_was_read_and_cards(open_page: OpenPage) -> None:
    page = open_page()
    search(page, "thyratron modulator")
    expect(page.locator(".sentence")).to_contain_text("contains thyratron and modulator")
    expect(head(page)).to_have_text("1 entry")
    card = cards(page)
    expect(card.get_by_role("link", name="Klystron 3 gun arc")).to_be_visible()
    expect(card.locator("time")).to_have_text("2024-06-02 10:00 -03:00")
    expect(card.locator(".meta")).to_contain_text("Ada Lovelace · Generic JSON · KLY-1")
    assert card.locator("mark").all_inner_texts() == ["thyratron", "modulator"]
    expect(page.locator("#announcer")).to_have_text("1 entry")


def test_a_match_in_the_title_is_marked_there(open_page: OpenPage) -> None:
    page = open_page("/?q=klystron")
    expect(cards(page).first.locator("h3 mark")).to_have_text("Klystron")


def test_the_address_holds_the_search_for_reload_and_others(open_page: OpenPage) -> None:
    page = open_page()
    search(page, "quench author:lovelace")
    expect(head(page)).to_have_text("1 entry")
    page.reload()
    expect(head(page)).to_have_text("1 entry")
    expect(box(page)).to_have_value("quench author:lovelace")
    sent = open_page(page.url.removeprefix(page.evaluate("location.origin")))
    expect(head(sent)).to_have_text("1 entry")


def test_back_and_forward(open_page: OpenPage) -> None:
    page = open_page()
    search(page, "quench")
    expect(head(page)).to_have_text("1 entry")
    search(page, "sector")
    expect(head(page)).to_have_text(f"Entries 1–10 of {LOSSES}")
    page.go_back()
    expect(box(page)).to_have_value("quench")
    expect(head(page)).to_have_text("1 entry")
    page.go_forward()
    expect(head(page)).to_have_text(f"Entries 1–10 of {LOSSES}")


def test_a_misspelt_word_can_be_corrected_by_a_click(open_page: OpenPage) -> None:
    page = open_page("/?q=thyrtron+modulator")
    expect(cards(page).locator(".badge")).to_have_text("approximate")
    page.locator(".note").get_by_role("button", name="thyratron modulator").click()
    expect(box(page)).to_have_value("thyratron modulator")
    expect(page.locator(".sentence")).to_contain_text("contains thyratron and modulator")
    expect(cards(page).locator(".badge")).to_have_count(0)


def test_a_fault_in_the_query_is_marked_and_its_hint_shown(open_page: OpenPage, faults: Faults) -> None:
    faults.expect("status of 400")
    page = open_page("/?q=beam+date:2024-13-45+loss")
    failure = page.get_by_role("alert")
    expect(failure).to_contain_text("Impossible date")
    expect(failure).to_contain_text("YYYY-MM")
    expect(failure.locator("mark")).to_have_text("2024-13-45")
    expect(failure.get_by_role("button", name="Try again")).to_have_count(0)
    search(page, "quench")
    expect(head(page)).to_have_text("1 entry")


def test_no_entry_is_no_failure(open_page: OpenPage) -> None:
    page = open_page("/?q=zzzqqq")
    expect(page.locator(".state.empty")).to_contain_text("No entry matches.")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator(".narrowing")).to_be_hidden()


@pytest.mark.parametrize("query", ["*", "the of a", "NOT"])
def test_a_query_without_a_word_is_not_called_a_search_without_hits(open_page: OpenPage, query: str) -> None:
    page = open_page("/?" + urlencode({"q": query}))
    expect(page.locator(".state.empty")).to_contain_text("Nothing was searched.")
    expect(page.locator(".note.warning").last).to_be_visible()
    expect(page.locator(".sentence")).to_have_count(0)


def test_counts_say_what_they_count_where_the_mode_finds_more(
    open_page: OpenPage, book_with_vectors: PageServer
) -> None:
    page = open_page("/?q=thyratron&mode=hybrid", server=book_with_vectors)
    expect(page.locator(".facets")).to_contain_text("Counts are over the 1 entry that matches by keyword.")
    expect(page.locator(".timeline figcaption")).to_contain_text("Entries that match by keyword per month")
    page.get_by_role("button", name="Keyword").click()
    expect(page.locator(".timeline figcaption")).to_contain_text("Entries per month")
    expect(page.locator(".facets")).not_to_contain_text("Counts are over")


def test_the_timeline_names_its_first_and_last_month(open_page: OpenPage) -> None:
    page = open_page("/?q=klystron OR scope OR quench&mode=keyword")
    expect(page.locator(".axis span").first).to_have_text("2024-01")
    expect(page.locator(".axis span").last).to_have_text("2024-06")


def test_pages_of_results_and_a_filter_that_goes_back_to_the_first(open_page: OpenPage) -> None:
    """WB08: the filter runs over everything, and begins at its first page."""
    page = open_page("/?q=sector")
    expect(head(page)).to_have_text(f"Entries 1–10 of {LOSSES}")
    seen = [cards(page).evaluate_all("items => items.map(item => item.dataset.entry)")]
    for first in (11, 21, 31, 41):
        page.get_by_role("link", name="Next 10").click()
        expect(head(page)).to_have_text(f"Entries {first}–{min(first + 9, LOSSES)} of {LOSSES}")
        seen.append(cards(page).evaluate_all("items => items.map(item => item.dataset.entry)"))
    assert len({entry for shown in seen for entry in shown}) == LOSSES
    expect(page.get_by_role("link", name="Next 10")).to_have_count(0)
    page.reload()
    expect(head(page)).to_have_text(f"Entries 41–45 of {LOSSES}")
    page.locator(".facet-item", has_text="Bo Ek").click()
    expect(head(page)).to_have_text("Entries 1–10 of 15")
    assert "offset" not in page.url
    page.go_back()
    expect(head(page)).to_have_text(f"Entries 41–45 of {LOSSES}")


def test_a_facet_goes_into_the_query_and_out_again(open_page: OpenPage) -> None:
    page = open_page("/?q=quench+OR+klystron")
    expect(head(page)).to_have_text("3 entries")
    facet = page.locator(".facet-item", has_text="Ada Lovelace")
    expect(facet.locator(".facet-count")).to_have_text("2")
    facet.click()
    expect(head(page)).to_have_text("2 entries")
    assert query_in_address(page) == '(quench OR klystron) author:"Ada Lovelace"'
    expect(facet).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Remove author: Ada Lovelace").click()
    expect(head(page)).to_have_text("3 entries")
    assert query_in_address(page) == "quench OR klystron"


def test_a_facet_keeps_the_options_that_were_set_after_it_was_drawn(open_page: OpenPage) -> None:
    page = open_page("/?q=sector")
    expect(page.locator(".facet").first).to_be_visible()
    page.get_by_role("button", name="Options").click()
    size = page.get_by_role("spinbutton", name="Results")
    size.fill("12")
    size.press("Enter")
    expect(cards(page)).to_have_count(12)
    page.locator(".facet-item", has_text="Bo Ek").click()
    expect(head(page)).to_have_text("Entries 1–12 of 15")


@pytest.mark.parametrize(
    ("value", "piece"),
    [("Night log", 'source:"Night log"'), ("Operations", 'logbook:"Operations"'), ("owl", 'tag:"owl"'), ("2024", "date:2024")],
)  # fmt: skip
def test_every_kind_of_facet_narrows(open_page: OpenPage, value: str, piece: str) -> None:
    page = open_page("/?q=sector")
    facet = page.locator(".facet-item", has=page.get_by_text(value, exact=True))
    count = facet.locator(".facet-count").inner_text()
    facet.click()
    expect(head(page)).to_contain_text(count)
    assert query_in_address(page) == f"sector {piece}"


def test_values_with_quotes_narrow_by_a_filter_or_say_why_not(open_page: OpenPage) -> None:
    page = open_page("/?q=orbit")
    expect(page.locator("span.facet-item", has_text='12" pipe')).to_have_attribute("title", re.compile("quote"))
    page.locator("button.facet-item", has_text='Jo "Jet" Ek').click()
    expect(head(page)).to_have_text("1 entry")
    expect(page.get_by_role("button", name='Remove author: Jo "Jet" Ek')).to_be_visible()


def test_the_timeline_narrows_by_click_and_by_key(open_page: OpenPage) -> None:
    page = open_page("/?q=sector")
    page.get_by_role("button", name="March 2024: 4 entries").click()
    expect(head(page)).to_have_text("4 entries")
    assert query_in_address(page) == "sector date:2024-03"
    page.get_by_role("button", name="Remove date: 2024-03").click()
    expect(head(page)).to_have_text(f"Entries 1–10 of {LOSSES}")
    expect(page.locator(".bars button")).to_have_count(12)
    page.locator(".bars button").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".bars button").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(box(page)).to_have_value("sector date:2024-02")


def test_options_are_drawn_from_the_server_and_go_into_the_address(open_page: OpenPage, book: PageServer) -> None:
    page = open_page("/?q=sector")
    page.get_by_role("button", name="Options").click()
    described = book.ask("/api/capabilities")["shared_parameters"]
    for parameter in described:
        expect(page.locator(".panel label").get_by_text(parameter["label"], exact=True).first).to_be_visible()
    source = page.get_by_label("Source", exact=True)
    expect(source.locator("option")).to_have_count(4)
    source.select_option("Night log")
    expect(head(page)).to_have_text("Entries 1–10 of 23")
    until = page.get_by_label("Until")
    until.fill("2024-02")
    until.press("Enter")
    expect(head(page)).to_have_text("4 entries")
    assert page.url.endswith("/?q=sector&source=Night+log&before=2024-02")
    expect(page.locator(".sentence")).to_contain_text("Night log")
    page.get_by_role("button", name="Clear the options").click()
    expect(head(page)).to_have_text(f"Entries 1–10 of {LOSSES}")


def test_a_filter_alone_lists_newest_first(open_page: OpenPage) -> None:
    page = open_page("/?author=lovelace")
    expect(head(page)).to_have_text("Entries 1–10 of 16")
    times = cards(page).locator("time").all_inner_texts()
    assert times == sorted(times, reverse=True)


def test_modes_can_be_switched_and_bring_their_own_options(open_page: OpenPage, book_with_vectors: PageServer) -> None:
    page = open_page("/?q=gun+arc", server=book_with_vectors)
    modes = page.get_by_role("group", name="Search mode")
    expect(modes.get_by_role("button", name="Hybrid")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Options").click()
    weight = page.get_by_label("Words")
    weight.fill("2.5")
    weight.press("Enter")
    expect(cards(page).first).to_be_visible()
    assert "keyword_weight=2.5" in page.url
    modes.get_by_role("button", name="Keyword").click()
    expect(page.locator(".timing")).to_contain_text("Keyword")
    assert page.url.endswith("/?q=gun+arc&mode=keyword")
    expect(page.get_by_label("Words")).to_have_count(0)
    expect(page.get_by_label("Forgive typos")).to_be_checked()


def test_scores_are_for_experts(open_page: OpenPage, book_with_vectors: PageServer) -> None:
    page = open_page("/?q=gun+arc", server=book_with_vectors)
    expect(cards(page).first).to_be_visible()
    expect(cards(page).first.locator(".score")).to_be_hidden()
    page.get_by_role("button", name="Options").click()
    page.get_by_label("Expert: scores and ranks").check()
    expect(cards(page).first.locator(".score")).to_contain_text(re.compile(r"score \d"))
    expect(cards(page).first.locator(".score")).to_contain_text("keyword 1")
    page.get_by_text("How the search was run").click()
    expect(page.locator(".explanation pre")).to_contain_text("gun")
    page.reload()
    expect(cards(page).first.locator(".score")).to_be_visible()


def test_an_answer_cites_cards(open_page: OpenPage, book_with_vectors: PageServer) -> None:
    page = open_page("/?q=which+thyratron+was+exchanged&mode=rag", server=book_with_vectors)
    answer = page.locator(".answer")
    expect(answer).to_contain_text("The thyratron of modulator 3 was exchanged")
    answer.get_by_role("button", name="Source 1: KLY-1").click()
    expect(cards(page).get_by_role("link", name="Klystron 3 gun arc").first).to_be_focused()


def test_the_syntax_help_fills_the_box(open_page: OpenPage, book: PageServer) -> None:
    page = open_page()
    page.get_by_role("button", name="Syntax").click()
    lines = book.ask("/api/capabilities")["syntax"]
    expect(page.locator(".syntax-table tr")).to_have_count(len(lines))
    page.locator(".syntax-table").get_by_role("button", name='"beam dump"').click()
    expect(box(page)).to_have_value('"beam dump"')
    expect(box(page)).to_be_focused()
