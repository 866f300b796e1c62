"""A process of its own that reads the text of a PDF: a hostile file can end it, never the program that asked.

Run as a script with two numbers (the most pages and characters); the PDF comes on standard input. It writes one JSON
object a line: {"text": …} for each page as soon as it is read, {"note": …} for what a person should know.
"""

from __future__ import annotations

import importlib
import io
import json
import sys

from pypdf import PdfReader
from pypdf.errors import PyPdfError

MEMORY_BYTES = 1 << 30
SHOWN_CHARACTERS = 120


def limit_memory() -> None:
    """Let the system refuse what a small file may unpack to, where it can."""
    if sys.platform == "win32":
        return
    resource = importlib.import_module("resource")
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    wanted = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def say(key: str, value: str) -> None:
    """Write an object at once, so that it is not lost when the process is ended."""
    sys.stdout.write(json.dumps({key: value}) + "\n")
    sys.stdout.flush()


def read(data: bytes, pages: int, characters: int) -> None:
    """Write the pages' texts until one of the limits is reached.

    Raises:
        PyPdfError, and whatever a malformed file makes of the reader: the process ends, what was written stays.
    """
    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        say("note", "is encrypted, its text is not searchable")
        return
    left = characters
    for number, page in enumerate(reader.pages):
        if number >= pages:
            say("note", f"only the first {pages} pages are searchable")
            return
        text = page.extract_text()
        say("text", text[: left + 1])
        left -= len(text)
        if left < 0:
            return


def main() -> int:
    """Exit code 0, or 3 when the file is no PDF that can be read."""
    limit_memory()
    try:
        read(sys.stdin.buffer.read(), int(sys.argv[1]), int(sys.argv[2]))
    except PyPdfError as fault:
        say("note", f"cannot be read as a PDF ({str(fault)[:SHOWN_CHARACTERS] or type(fault).__name__})")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
