"""A real Chromium before the real server. Whatever goes wrong in the page (console, policy, dialogs) fails its test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from chromium import OPTIONS, NoBrowserError, ensure_chromium
from page_faults import Faults, OpenPage
from page_logbooks import CONFIG, hostile_book, make_logbook, shift_book
from page_server import PageServer, run_command
from playwright.sync_api import Browser, Page, sync_playwright

PATIENCE_MS = 15_000
VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective + " " + event.blockedURI));
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium; without one the tests fail in CI, and are skipped elsewhere with what was tried.

    One a module: Playwright keeps an event loop running, and the tests of other modules want loops of their own.
    """
    try:
        path = ensure_chromium()
    except NoBrowserError as fault:
        if os.environ.get("CI") or os.environ.get("ARIEL_LITE_CI"):
            pytest.fail(str(fault))
        pytest.skip(str(fault))
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=OPTIONS)
        yield launched
        launched.close()


@pytest.fixture
def faults() -> Faults:
    """The faults of this test's pages."""
    return Faults()


@pytest.fixture
def open_page(browser: Browser, faults: Faults, book: PageServer) -> Iterator[OpenPage]:
    """`open_page(path, server=book, **context)`: a page of its own browser profile, 1280 x 900 unless told."""
    contexts = []

    def opened(path: str = "/", *, server: PageServer = book, width: int = 1280, **settings: object) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE_MS)
        context.add_init_script(VIOLATIONS)
        contexts.append(context)
        page = context.new_page()
        faults.watch(page)
        context.on("page", lambda other: faults.watch(other) if other is not page else None)
        page.goto(server.url + path)
        return page

    yield opened
    violations = [str(page.evaluate("window.violations ?? []")) for context in contexts for page in context.pages]
    for context in contexts:
        context.close()
    assert faults.unexpected() == []
    assert [found for found in violations if found != "[]"] == []


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the logbooks of this run are; `config.yml` is in it."""
    made = tmp_path_factory.mktemp("page")
    (made / "config.yml").write_text(CONFIG, encoding="utf-8")
    return made


@contextmanager
def served(path: Path, folder: Path) -> Iterator[PageServer]:
    """The server of a logbook, as long as it is entered."""
    server = PageServer(path, folder / "config.yml")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def book(folder: Path) -> Iterator[PageServer]:
    """The shift book, without vectors. Nobody writes into it."""
    with served(shift_book(folder / "shift.db"), folder) as server:
        yield server


@pytest.fixture(scope="session")
def book_with_vectors(folder: Path) -> Iterator[PageServer]:
    """The shift book with vectors."""
    path = shift_book(folder / "vectors.db")
    run_command("--db", str(path), "--config", str(folder / "config.yml"), "enhance")
    with served(path, folder) as server:
        yield server


@pytest.fixture(scope="session")
def hostile(folder: Path) -> Iterator[PageServer]:
    """The hostile book."""
    with served(hostile_book(folder / "hostile.db"), folder) as server:
        yield server


@pytest.fixture(scope="module")
def own_book(folder: Path, request: pytest.FixtureRequest) -> Iterator[PageServer]:
    """An empty logbook for one module, to write into and to stop."""
    path = make_logbook(folder / f"{request.module.__name__}.db", [], {})
    with served(path, folder) as server:
        yield server
