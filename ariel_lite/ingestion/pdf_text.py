"""The text of a PDF, read by another process with limits on time, memory, pages and characters."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import NamedTuple

MAX_PAGES = 500
SECONDS = 20.0
"""How long one file may take; what was read until then is kept."""

_WORKER = Path(__file__).with_name("pdf_worker.py")


class PdfText(NamedTuple):
    """What was read, and a remark where it is not all there is ("" without one)."""

    text: str
    note: str


def pdf_text(data: bytes, characters: int, *, seconds: float = SECONDS, pages: int = MAX_PAGES) -> PdfText:
    """Read a PDF of any quality. Never raises for what is in the file.

    Args:
        data: the file.
        characters: how much text is wanted; up to one more is given when there is more.
        seconds: after which reading is stopped.
        pages: how many pages are read at most.
    """
    # -P: the folder of the script must not shadow the standard library's modules.
    command = [sys.executable, "-P", str(_WORKER), str(pages), str(characters)]
    try:
        done = subprocess.run(command, input=data, stdout=PIPE, stderr=DEVNULL, timeout=seconds, check=False)
        output, ended = done.stdout, "" if done.returncode == 0 else "is damaged, its text is not searchable as a whole"
    except subprocess.TimeoutExpired as fault:
        output, ended = fault.stdout or b"", f"took longer than {seconds:g} s to read, its text is searchable in part"
    except OSError as fault:
        return PdfText("", f"cannot be read here ({fault.strerror or fault})")
    texts, notes = _parsed(output)
    return PdfText("\n\n".join(texts).strip(), notes[0] if notes else ended)


def _parsed(output: bytes) -> tuple[list[str], list[str]]:
    """Texts and notes of the complete lines; a process that was ended may leave half a line."""
    texts: list[str] = []
    notes: list[str] = []
    for line in output.split(b"\n")[:-1]:
        item = json.loads(line)
        if "text" in item:
            texts.append(item["text"])
        else:
            notes.append(item["note"])
    return texts, notes
