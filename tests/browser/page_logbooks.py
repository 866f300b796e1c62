"""The logbooks that the page shows in its tests, and their configuration."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path

from logbooks import entry

from ariel_lite.compose import open_backend
from ariel_lite.config import ARIELConfig
from ariel_lite.records import Attachment, EnhancedLogbookEntry
from ariel_lite.registry import Registry

CONFIG = """\
ariel:
  embedding: {provider: hashing}
facility: {name: Test Ring, timezone: America/Halifax}
"""
AUTHORS = ("Ada Lovelace", "Bo Ek", "Chien-Shiung Wu")
LOSSES = 45
FIRST_LOSS = datetime(2024, 1, 2, 15, 0, tzinfo=UTC)
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HOSTILE = """beam <img src=x onerror="window.ran=1;alert(1)"> <script>window.ran=2;alert(2)</script> \
" onmouseover=alert(3) x=" javascript:alert(4) <b>not bold</b> </b> see <mark>fake</mark> beam \x01fake\x02 &lt;b&gt; http://x.test/?a=<svg/onload=alert(9)>"""
HOSTILE_NAME = "<svg onload=window.ran=5;alert(5)>"
HOSTILE_TAG = "'><b onclick=alert(6)>"
HOSTILE_FILE = "<i onmouseover=alert(7)>.png"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>parent.ran=8;window.ran=8;alert(8)</script></svg>'
HTML = b"<script>window.ran=9;opener&&(opener.ran=9);alert(9)</script>"


def make_logbook(
    path: Path, content: list[EnhancedLogbookEntry], files: dict[str, tuple[str, str, str, bytes]]
) -> Path:
    """A logbook file; `files` are attachment id -> (entry id, name, type, bytes)."""
    backend = open_backend(str(path), ARIELConfig(), Registry(), create=True)
    backend.upsert(content)
    for attachment, (owner, name, kind, data) in files.items():
        backend.store_attachment(owner, attachment, name, kind, data)
    backend.close()
    return path


def shift_book(path: Path) -> Path:
    """45 beam losses by three authors over a year, and one entry for each thing that the page has to show."""
    picture = {"url": "/api/attachments/att-00000000000a", "filename": "scope.png", "type": "image/png"}
    note = {"url": "/api/attachments/att-00000000000b", "filename": "readings.txt", "type": "text/plain"}
    elsewhere: Attachment = {"url": "https://files.example.org/plan.pdf", "filename": "plan.pdf"}
    others = [
        entry("KLY-1", "Klystron 3 gun arc\n\nThe thyratron of modulator 3 was exchanged.", at="2024-06-02T13:00", author="Ada Lovelace", title="Klystron 3 gun arc", tags=["rf"], logbook="RF"),
        entry("KLY-2", "Re: Klystron 3 gun arc\n\nConfirmed by the second shift.", at="2024-06-03T13:00", author="Bo Ek", linked_to="KLY-1", title="Re: Klystron 3 gun arc"),
        entry("COLUMNS", "a   1\nb   2\n\nc\t3\n" + "w" * 400, at="2024-06-04T13:00", author="Bo Ek"),
        entry("SR/01:4 ü", "Identifier with a slash", at="2024-06-05T13:00"),
        entry("FILES", "Scope picture of the kicker\n\nSee https://ring.example.org/wiki?page=2.", at="2024-06-06T13:00", author="Chien-Shiung Wu", attachments=[picture, note, elsewhere], nested={"shift": ["day", "owl"], "depth": 2}),
        entry("QUOTED", 'Orbit feedback by a person with a quote\n\nOrbit feedback', at="2024-06-07T13:00", author='Jo "Jet" Ek', tags=['12" pipe']),
    ]  # fmt: skip
    files = {
        "att-00000000000a": ("FILES", "scope.png", "image/png", PICTURE),
        "att-00000000000b": ("FILES", "readings.txt", "text/plain", b"1.9 GeV\n"),
    }
    return make_logbook(path, [*losses(), *others], files)


def losses() -> list[EnhancedLogbookEntry]:
    """45 entries of a beam loss each; the last one alone names a quench."""
    return [
        entry(
            f"B-{number:02}",
            f"Beam loss {number}\n\nLost the stored beam in sector {number % 12 + 1}."
            + (" A quench of the wiggler." if number == 0 else ""),
            at=FIRST_LOSS + timedelta(days=8 * number),
            author=AUTHORS[number % 3],
            source="Shift log" if number % 2 else "Night log",
            title=f"Beam loss {number}",
            tags=["loss", "owl"] if number % 5 == 0 else ["loss"],
            logbook="Operations",
        )
        for number in range(LOSSES)
    ]


def hostile_book(path: Path) -> Path:
    """Entries that try to run script in every place that the page shows."""
    files: list[Attachment] = [
        {"url": "/api/attachments/att-0000000000a1", "filename": HOSTILE_FILE, "type": "image/png"},
        {"url": "/api/attachments/att-0000000000a2", "filename": "drawing.svg", "type": "image/svg+xml"},
        {"url": "/api/attachments/att-0000000000a3", "filename": "page.html", "type": "text/html"},
        {"url": "javascript:window.ran=10;alert(10)", "filename": "click me", "caption": HOSTILE_NAME},
        {"url": "bare name.png", "filename": "bare name.png"},
        {"url": "data:text/html,<script>alert(11)</script>", "filename": "data.html"},
    ]
    content = [
        entry("E1", HOSTILE, author=HOSTILE_NAME, source=HOSTILE_NAME, tags=[HOSTILE_TAG], attachments=files, title=HOSTILE, logbook=HOSTILE_NAME, note={HOSTILE_NAME: [HOSTILE]}, summary_of=HOSTILE),
        entry('"><img src=x onerror=alert(12)>', f"beam {HOSTILE}", author=HOSTILE_NAME, linked_to="E1"),
        entry("E3", "see <mark>fake</mark> beam \\u0001fake\\u0002"),
    ]  # fmt: skip
    kept = {
        "att-0000000000a1": ("E1", HOSTILE_FILE, "image/png", PICTURE),
        "att-0000000000a2": ("E1", "drawing.svg", "image/svg+xml", SVG),
        "att-0000000000a3": ("E1", "page.html", "text/html", HTML),
    }
    return make_logbook(path, content, kept)
