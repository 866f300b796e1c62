"""axe-core finds no serious fault in any view, light and dark, wide and narrow."""

from __future__ import annotations

from pathlib import Path

import axe_playwright_python
import pytest
from page_faults import Faults, OpenPage
from page_server import PageServer
from playwright.sync_api import Page

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
RUN = """() => axe.run(document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"],
}).then(({violations}) => violations.map(({id, impact, nodes}) => ({id, impact, where: nodes.map(node => node.html.slice(0, 160))})))"""
VIEWS = {
    "start": "/",
    "results": "/?q=sector+author:ek",
    "approximate": "/?q=thyrtron",
    "degraded": "/?q=sector&mode=semantic",
    "nothing": "/?q=zzzqqq",
    "fault": "/?q=date:2024-13-45",
    "browse": "/browse",
    "entry": "/entry/FILES?q=scope",
    "thread": "/entry/KLY-2",
    "new": "/new",
    "status": "/status",
}


def violations(page: Page) -> list[dict[str, object]]:
    # Sent to the page through the browser's debugging protocol: its policy stays as it is.
    page.evaluate(AXE)
    return list(page.evaluate(RUN))


def open_everything(page: Page) -> None:
    for name in ("Options", "Syntax", "Filters"):
        control = page.get_by_role("button", name=name)
        if control.count():
            control.click()
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_no_serious_fault(open_page: OpenPage, faults: Faults, view: str, scheme: str) -> None:
    faults.expect("status of 400")
    page = open_page(
        VIEWS[view], color_scheme=scheme, width=1280 if scheme == "light" else 360, reduced_motion="reduce"
    )
    page.wait_for_load_state("networkidle")
    open_everything(page)
    assert violations(page) == []


def test_an_answer_and_hybrid_results(open_page: OpenPage, book_with_vectors: PageServer) -> None:
    page = open_page("/?q=which+thyratron+was+exchanged&mode=rag", server=book_with_vectors, reduced_motion="reduce")
    page.locator(".answer").wait_for()
    page.wait_for_load_state("networkidle")
    assert violations(page) == []
