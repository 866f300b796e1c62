"""The browser of the tests: found, or installed. Run as a program it installs one: `python tests/browser/chromium.py`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LONGEST_INSTALL_SECONDS = 600
OPTIONS = (
    # Chromium's sandbox does not run as root, and what is opened here is only our own page.
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class NoBrowserError(Exception):
    """No Chromium is here, and none could be installed."""


def find_chromium() -> Path | None:
    """Playwright's own Chromium, else one on the PATH, else None."""
    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
    if own.exists():
        return own
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return Path(found) if found else None


def ensure_chromium() -> Path:
    """The path of a Chromium, which is installed when there is none.

    Raises:
        NoBrowserError: there is none and it could not be installed; the message says what was tried.
    """
    found = find_chromium()
    if found:
        return found
    with _one_at_a_time():
        return find_chromium() or _installed()


def _installed() -> Path:
    failures = []
    for command in _ways():
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST_INSTALL_SECONDS)
        found = find_chromium()
        if found:
            return found
        failures.append(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[-300:]}")
    raise NoBrowserError("no Chromium is here, and installing one failed:\n" + "\n".join(failures))


def _ways() -> Iterator[list[str]]:
    """Debian's package where this may install it, else Playwright's own download."""
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        yield ["apt-get", "update", "-qq"]
        yield ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-dejavu-core"]
    yield [sys.executable, "-m", "playwright", "install", "chromium"]


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Test processes that run side by side do not install at the same time."""
    lock = Path(tempfile.gettempdir()) / "ariel-lite-installs-chromium"
    end = time.monotonic() + LONGEST_INSTALL_SECONDS
    while time.monotonic() < end:
        try:
            lock.mkdir()
            break
        except FileExistsError:
            time.sleep(1)
    try:
        yield
    finally:
        shutil.rmtree(lock, ignore_errors=True)


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{ensure_chromium()}\n")
    except NoBrowserError as fault:
        sys.exit(str(fault))
