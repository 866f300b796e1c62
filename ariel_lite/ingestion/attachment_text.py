"""Text of attached files, so that searches find it: plain text, HTML and PDF, within limits.

An attachment whose file can hold text gets the key `text`, "" where none could be read; one without that key has not
been looked at, or is an image or the like. A file that is too long, encrypted, broken or hostile costs a remark,
nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, cast

from ariel_lite.attachments import stored_url
from ariel_lite.ingestion.base import AttachmentFile
from ariel_lite.ingestion.html_text import html_to_text
from ariel_lite.ingestion.pdf_text import pdf_text
from ariel_lite.ingestion.text_cleaning import clean_text
from ariel_lite.ingestion.text_stream import detect_encoding, repair_utf8, unfinished
from ariel_lite.records import Attachment, EnhancedLogbookEntry

MAX_FILE_CHARACTERS = 100_000
"""How much of one file is searchable."""

MAX_ENTRY_CHARACTERS = 300_000
"""How much of all files of an entry is searchable."""

PDF_TYPE = "application/pdf"
TEXT_TYPES = frozenset((
    "text/plain", "text/csv", "text/html", "text/markdown", "application/json", "application/xhtml+xml",
))  # fmt: skip
HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))

_HTML_BYTES = 1_000_000
_PLAIN_BYTES = 4 * (MAX_FILE_CHARACTERS + 1)
_PROBED_BYTES = 8192
_MAX_REMARK = f"only its first {MAX_FILE_CHARACTERS:,} characters are searchable"


class FileText(NamedTuple):
    """A file's text ("" when there is none) and a remark ("" without one)."""

    text: str
    note: str = ""


class HeldFile(Protocol):
    """A file in memory, such as a `StoredAttachment`."""

    @property
    def attachment_id(self) -> str:
        """Its id."""

    @property
    def filename(self) -> str:
        """Its name."""

    @property
    def mime_type(self) -> str:
        """Its type."""

    @property
    def data(self) -> bytes | None:
        """Its bytes."""


class TextsAdded(NamedTuple):
    """An entry whose attachments have their texts, and remarks on files."""

    entry: EnhancedLogbookEntry
    notes: tuple[str, ...]


def can_hold_text(mime_type: str) -> bool:
    """True for the types whose text is read."""
    return mime_type == PDF_TYPE or mime_type in TEXT_TYPES


def file_text(mime_type: str, data: bytes) -> FileText:
    """The searchable text of a file, at most MAX_FILE_CHARACTERS, cleaned. Never raises for what is in the file."""
    if mime_type == PDF_TYPE:
        found = pdf_text(data, MAX_FILE_CHARACTERS)
        return _bounded(found.text, found.note)
    if mime_type in HTML_TYPES:
        decoded = _decoded(data[:_HTML_BYTES])
        return FileText("", "holds no readable text") if decoded is None else _bounded(html_to_text(decoded), "")
    decoded = _decoded(data[:_PLAIN_BYTES])
    return FileText("", "holds no readable text") if decoded is None else _bounded(decoded, "")


def with_texts(entry: EnhancedLogbookEntry, files: Iterable[HeldFile]) -> EnhancedLogbookEntry:
    """An entry that is written here, its attachments with the texts of their files.

    Reading a PDF takes up to `pdf_text.SECONDS`, so call this before a transaction, not in one.

    Args:
        entry: its `attachments` name the files by `stored_url(attachment_id)`.
        files: the files, held in memory.
    """
    return add_texts(entry, [_loaded(file) for file in files]).entry


def add_texts(
    entry: EnhancedLogbookEntry, files: Iterable[AttachmentFile], known: Sequence[Attachment] = (), *, load: bool = True
) -> TextsAdded:
    """An entry's attachments with the texts of their files.

    Args:
        entry: its `attachments` name the files by `stored_url(attachment_id)`.
        files: the files; one that cannot be loaded (OSError) is left out.
        known: the attachments of the entry as it is stored; their texts are not read again.
        load: False uses only what is known.
    """
    texts = {attachment["url"]: attachment["text"] for attachment in known if "text" in attachment}
    by_url = {stored_url(file.attachment_id): file for file in files} if load else {}
    notes: list[str] = []
    completed: list[Attachment] = []
    left = MAX_ENTRY_CHARACTERS
    for attachment in entry["attachments"]:
        text = _text_of(attachment, texts, by_url, notes)
        if text is not None:
            if len(text) > left:
                notes.append(f"the files of an entry are searchable up to {MAX_ENTRY_CHARACTERS:,} characters")
                text = text[:left].rstrip()
            left -= len(text)
            attachment = cast(Attachment, {**attachment, "text": text})
        completed.append(attachment)
    return TextsAdded(cast(EnhancedLogbookEntry, {**entry, "attachments": completed}), tuple(notes))


def _loaded(file: HeldFile) -> AttachmentFile:
    data = file.data or b""
    return AttachmentFile(file.attachment_id, file.filename, file.mime_type, lambda: data)


def _text_of(
    attachment: Attachment, texts: Mapping[str, str], files: Mapping[str, AttachmentFile], notes: list[str]
) -> str | None:
    """The text that an attachment has or gets; None for one without."""
    if "text" in attachment:
        return attachment["text"]
    url = attachment["url"]
    if url in texts:
        return texts[url]
    file = files.get(url)
    if file is None or not can_hold_text(file.mime_type):
        return None
    try:
        data = file.load()
    except OSError:
        return None
    found = file_text(file.mime_type, data)
    if found.note:
        notes.append(f"attachment {file.filename} {found.note}")
    return found.text


def _decoded(data: bytes) -> str | None:
    """UTF-8, UTF-16 by its mark, else stray bytes as Windows-1252; None for what is no text."""
    encoding, skipped = detect_encoding(data[:4])
    if not encoding.startswith("utf-8"):
        return data.decode(encoding, "replace")
    if b"\x00" in data[:_PROBED_BYTES]:
        return None
    whole = data[skipped : len(data) - unfinished(data)]
    return repair_utf8(whole)[0].decode("utf-8")


def _bounded(text: str, note: str) -> FileText:
    cleaned = clean_text(text)[0].strip()
    if len(cleaned) <= MAX_FILE_CHARACTERS:
        return FileText(cleaned, note)
    return FileText(cleaned[:MAX_FILE_CHARACTERS].rstrip(), note or _MAX_REMARK)
