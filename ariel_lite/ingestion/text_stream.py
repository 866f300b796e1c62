"""A source file as text, a piece at a time: plain or gzip, UTF-8 or UTF-16, with stray Windows-1252 bytes read right.

Reading never raises on odd bytes. A file that breaks off (a damaged gzip, a disk error) ends early and says so in
`failure`.
"""

from __future__ import annotations

import codecs
import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ariel_lite.errors import IngestionError
from ariel_lite.ingestion.base import SourceFacts

STANDARD_INPUT = "-"
CHUNK_BYTES = 1 << 20

_BYTE_ORDER_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NOT_ASCII = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]"
)
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_UNDEFINED_IN_1252 = b"\x81\x8d\x8f\x90\x9d"


class SourceText:
    """The text of a file or of standard input.

    Args:
        source: a path, or "-".
        facts: where the encoding is noted.
        chunk_bytes: how much is read at once.

    Raises:
        IngestionError: no such file, a folder, an address, or no permission.
    """

    def __init__(self, source: str, facts: SourceFacts, *, chunk_bytes: int = CHUNK_BYTES) -> None:
        self.failure = ""
        self.bytes_read = 0
        self.bytes_total: int | None = None
        self._source = source
        self._facts = facts
        self._chunk_bytes = chunk_bytes
        if _ADDRESS.match(source):
            raise IngestionError(
                "this adapter reads files, not addresses",
                hint="download it first, or name an adapter that reads from a server, such as als_logbook",
            )
        if source != STANDARD_INPUT:
            self.bytes_total = check_file(source)

    def chunks(self) -> Iterator[str]:
        """The text, in pieces of any length, without its byte order mark."""
        self.failure, self.bytes_read = "", 0
        pieces = self._unpacked()
        head = _at_least(pieces, 4)
        self._facts.encoding, skipped = detect_encoding(head)
        if self._facts.encoding.startswith("utf-8"):
            yield from self._utf8(head[skipped:], pieces)
        else:
            decoder = codecs.getincrementaldecoder(self._facts.encoding)(errors="replace")
            yield decoder.decode(head)
            for piece in pieces:
                yield decoder.decode(piece)
            yield decoder.decode(b"", True)

    def _utf8(self, head: bytes, pieces: Iterator[bytes]) -> Iterator[str]:
        tail = head
        for piece in pieces:
            data = tail + piece
            cut = len(data) - unfinished(data)
            tail = data[cut:]
            yield self._decoded(data[:cut])
        yield self._decoded(tail)

    def _decoded(self, data: bytes) -> str:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            mended, count = repair_utf8(data)
            self._facts.repaired_bytes += count
            return mended.decode("utf-8")

    def _unpacked(self) -> Iterator[bytes]:
        pieces = self._raw()
        head = _at_least(pieces, 2)
        if head[:2] == b"\x1f\x8b":
            yield from self._gunzip(head, pieces)
            return
        yield head
        yield from pieces

    def _gunzip(self, head: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
        unpacker = zlib.decompressobj(wbits=31)
        pending = head
        try:
            while pending or (pending := next(pieces, b"")):
                if unpacker.eof:
                    unpacker = zlib.decompressobj(wbits=31)
                yield unpacker.decompress(pending, self._chunk_bytes)
                pending = unpacker.unconsumed_tail or unpacker.unused_data
        except zlib.error as fault:
            if not (unpacker.eof or _only_padding(pending)):
                self.failure = f"the compressed file is damaged ({fault})"
            return
        yield unpacker.flush()
        if not unpacker.eof and not self.failure:
            self.failure = "the compressed file is cut off"

    def _raw(self) -> Iterator[bytes]:
        if self._source == STANDARD_INPUT:
            yield from self._read(sys.stdin.buffer)
            return
        try:
            with Path(self._source).open("rb") as handle:
                yield from self._read(handle)
        except OSError as fault:
            raise _cannot_read(self._source, fault) from fault

    def _read(self, handle: BinaryIO) -> Iterator[bytes]:
        try:
            while piece := handle.read(self._chunk_bytes):
                self.bytes_read += len(piece)
                yield piece
        except OSError as fault:
            self.failure = f"reading stopped: {fault.strerror or fault}"


def check_file(source: str) -> int | None:
    """The size in bytes of a file that can be opened, None for a named pipe. Raises IngestionError when it cannot."""
    path = Path(source)
    try:
        if path.is_dir():
            raise IngestionError(f"{source} is a folder, not a file", hint="name one file with --source")
        size = path.stat().st_size
        if not path.is_file():
            return None
        with path.open("rb"):
            return size
    except (OSError, ValueError) as fault:
        raise _cannot_read(source, fault) from fault


def detect_encoding(head: bytes) -> tuple[str, int]:
    """(encoding, bytes of an UTF-8 mark to skip) from a text's first four bytes."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding, len(mark) if encoding == "utf-8-sig" else 0
    if len(head) >= 4 and head[1] == head[3] == 0 and head[0] and head[2]:
        return "utf-16-le", 0
    if len(head) >= 4 and head[0] == head[2] == 0 and head[1] and head[3]:
        return "utf-16-be", 0
    return "utf-8", 0


def repair_utf8(data: bytes) -> tuple[bytes, int]:
    """(valid UTF-8, number of bytes that were none): each stray byte is read as Windows-1252.

    The five bytes that Windows-1252 does not define become the control characters of Latin-1.
    """
    strays = 0

    def mended(match: re.Match[bytes]) -> bytes:
        nonlocal strays
        found = match[0]
        if len(found) > 1:
            return found
        strays += 1
        return found.decode("latin-1" if found in _UNDEFINED_IN_1252 else "cp1252").encode("utf-8")

    return _NOT_ASCII.sub(mended, data), strays


def unfinished(data: bytes) -> int:
    """How many bytes at the end (0 to 3) may be the start of a longer UTF-8 character."""
    for length in range(1, min(3, len(data)) + 1):
        byte = data[-length]
        if byte < 0x80:
            return 0
        if byte >= 0xC0:
            wanted = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return length if length < wanted else 0
    return 0


def _at_least(pieces: Iterator[bytes], size: int) -> bytes:
    head = b""
    while len(head) < size and (piece := next(pieces, None)) is not None:
        head += piece
    return head


def _only_padding(data: bytes) -> bool:
    return not data.strip(b"\x00")


def _cannot_read(source: str, fault: OSError | ValueError) -> IngestionError:
    reason = getattr(fault, "strerror", None) or str(fault)
    return IngestionError(f"cannot read {source}: {reason.lower()}", hint="check --source")
