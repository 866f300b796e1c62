"""What goes wrong in a page, and what the fixture `open_page` gives."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import ConsoleMessage, Dialog, Page

OpenPage = Callable[..., Page]
"""`open_page(path, server=book, **context)`."""


class Faults:
    """What went wrong in the pages of a test; `expect` names what is meant to go wrong."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._expected: list[re.Pattern[str]] = []

    def expect(self, pattern: str) -> None:
        """Take faults that match for granted."""
        self._expected.append(re.compile(pattern))

    def unexpected(self) -> list[str]:
        return [fault for fault in self.found if not any(pattern.search(fault) for pattern in self._expected)]

    def watch(self, page: Page) -> None:
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.found.append(f"script error: {error}"))
        page.on("dialog", self._asked)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.found.append(f"console {message.type}: {message.text}")

    def _asked(self, dialog: Dialog) -> None:
        self.found.append(f"dialog: {dialog.message}")
        dialog.dismiss()
