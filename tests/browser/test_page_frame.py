"""The frame of the page: keys, theme, narrow screens, print, and rules for its files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from page_faults import OpenPage
from playwright.sync_api import expect
from test_page_search import box, cards, search

import ariel_lite

STATIC = Path(ariel_lite.__file__).parent / "web" / "static"
SCRIPTS = sorted(STATIC.rglob("*.js"))
LONGEST_FILE = 300
VIEWS = (
    "/",
    "/?q=sector",
    "/?q=sector&mode=semantic",
    "/browse",
    "/entry/FILES?q=scope",
    "/entry/COLUMNS",
    "/new",
    "/status",
)


def test_a_search_by_keys_alone(open_page: OpenPage) -> None:
    page = open_page("/status")
    expect(page.locator(".verdict")).to_be_visible()
    page.keyboard.press("/")
    expect(box(page)).to_be_focused()
    page.keyboard.type("sector/quench OR sector")
    page.keyboard.press("Enter")
    expect(cards(page)).to_have_count(10)
    page.keyboard.press("ArrowDown")
    expect(cards(page).nth(0).locator("h3 a")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    second = cards(page).nth(1).locator("h3 a")
    expect(second).to_be_focused()
    title = second.inner_text()
    page.keyboard.press("Enter")
    expect(page.locator(".entry h1")).to_have_text(title)
    page.keyboard.press("Escape")
    expect(cards(page)).to_have_count(10)
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(box(page)).to_be_focused()
    page.keyboard.press("Escape")
    expect(box(page)).not_to_be_focused()


def test_the_skip_link_comes_first(open_page: OpenPage) -> None:
    page = open_page("/browse")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_the_theme_follows_the_system_and_can_be_chosen(open_page: OpenPage) -> None:
    page = open_page("/", color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    button = page.get_by_role("button", name=re.compile("Theme"))
    button.click()
    expect(button).to_have_text("Theme: light")
    light = page.evaluate(ground)
    assert light != dark
    page.reload()
    expect(button).to_have_text("Theme: light")
    assert page.evaluate(ground) == light
    button.click()
    expect(button).to_have_text("Theme: dark")
    assert page.evaluate(ground) == dark
    button.click()
    expect(button).to_have_text("Theme: system")
    assert page.evaluate(ground) == dark
    page.emulate_media(color_scheme="light")
    expect(page.locator("body")).to_have_css("background-color", light)


def test_blocked_storage_leaves_the_system_theme(open_page: OpenPage) -> None:
    page = open_page("/", color_scheme="dark")
    page.context.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('blocked') } })"
    )
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.get_by_role("button", name=re.compile("Theme")).click()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


@pytest.mark.parametrize("path", VIEWS)
def test_nothing_is_wider_than_a_small_telephone(open_page: OpenPage, path: str) -> None:
    page = open_page(path, width=360)
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("path", VIEWS)
def test_the_head_of_a_tablet_is_one_line(open_page: OpenPage, path: str) -> None:
    page = open_page(path, width=768)
    expect(page.locator("#facility")).not_to_be_empty()
    tops = [page.locator(f".top > {part}").bounding_box() for part in (".brand", "#theme")]
    brand, theme = (box["y"] + box["height"] / 2 for box in tops if box)
    assert abs(brand - theme) < 5


def test_paper_shows_the_content_only(open_page: OpenPage) -> None:
    page = open_page("/?q=sector", color_scheme="dark")
    expect(page.locator(".facet").first).to_be_visible()
    page.emulate_media(media="print")
    for gone in (".top", ".search-form", ".narrowing", ".timeline", ".paging"):
        expect(page.locator(gone)).to_be_hidden()
    expect(cards(page).first).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_the_facility_and_its_zone_are_shown(open_page: OpenPage) -> None:
    expect(open_page("/").locator("#facility")).to_have_text("Test Ring, times in America/Halifax")


def test_links_can_be_opened_elsewhere(open_page: OpenPage) -> None:
    page = open_page("/?q=quench")
    with page.context.expect_page() as other:
        cards(page).get_by_role("link").first.click(modifiers=["Control"])
    expect(other.value.locator(".entry h1")).to_have_text("Beam loss 0")
    search(page, "sector")
    expect(cards(page)).to_have_count(10)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.relative_to(STATIC).as_posix())
def test_scripts_are_short_and_write_no_markup(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST_FILE
    assert (
        re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|eval\(|new Function", text) == []
    )


def test_the_page_names_all_its_modules_so_that_they_load_at_once() -> None:
    index = (STATIC / "index.html").read_text(encoding="utf-8")
    named = {f"/static/{path.relative_to(STATIC).as_posix()}" for path in SCRIPTS}
    assert set(re.findall(r'(?:href|src)="(/static/js/[^"]+)"', index)) == named
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=|https?://", index) == []
