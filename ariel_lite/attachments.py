"""Files of entries: safe names, ids, types, size limit, and the headers that let a browser show them without harm."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import PurePosixPath
from urllib.parse import quote

from ariel_lite.errors import InvalidRequestError

MAX_ATTACHMENT_BYTES = 10 * 1024 * 1024
"""The largest file that is kept."""

MAX_NAME_CHARACTERS = 120
UNKNOWN_TYPE = "application/octet-stream"

_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\ud800-\udfff\u200b-\u200f\u202a-\u202e\u2066-\u2069]')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)", re.IGNORECASE)

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
)
_MAGIC_TYPES = frozenset(kind for _, kind in _MAGIC) | {"image/webp"}

_BY_SUFFIX: dict[str, str] = {
    ".txt": "text/plain", ".log": "text/plain", ".md": "text/plain", ".csv": "text/csv", ".tsv": "text/plain",
    ".json": "application/json", ".xml": "application/xml", ".svg": "image/svg+xml",
    ".html": "text/html", ".htm": "text/html", ".xhtml": "application/xhtml+xml",
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
    ".bmp": "image/bmp", ".tif": "image/tiff", ".tiff": "image/tiff", ".pdf": "application/pdf",
    ".zip": "application/zip", ".gz": "application/gzip",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}  # fmt: skip
_ZIP_BASED = "application/vnd.openxmlformats-officedocument"
_SHOWN_INLINE = frozenset(
    ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "application/pdf", "text/plain")
)
_DOWNLOADED_AS_IS = frozenset(("text/csv", "application/json", "application/zip", "application/gzip", "image/tiff"))


def safe_filename(name: str) -> str:
    """A name without folders, control or bidirectional characters, leading dots, or names that Windows reserves.

    At most 120 characters; the suffix is kept; "file" when nothing is left.
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    plain = _UNSAFE.sub("_", last).strip(" .")
    if _RESERVED.match(plain):
        plain = f"_{plain}"
    if len(plain) > MAX_NAME_CHARACTERS:
        suffix = PurePosixPath(plain).suffix[:20]
        plain = plain[: MAX_NAME_CHARACTERS - len(suffix)].rstrip(" .") + suffix
    return plain or "file"


def attachment_id(entry_id: str, filename: str, data: bytes) -> str:
    """`att-<12 hex>`: the same file of the same entry has the same id in every run."""
    digest = hashlib.sha256()
    for part in (entry_id.encode("utf-8", "replace"), filename.encode("utf-8", "replace"), data):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return f"att-{digest.hexdigest()[:12]}"


def stored_url(identifier: str) -> str:
    """The url of a stored file, as entries name it: ARIEL's REST path."""
    return f"/api/attachments/{identifier}"


def stored_id(url: str) -> str | None:
    """The id in a url that `stored_url` made, else None."""
    match = re.fullmatch(r"/api/attachments/(att-[0-9a-f]{12})", url)
    return match[1] if match else None


def mime_type(filename: str, data: bytes) -> str:
    """The type of a file: its first bytes decide for images, PDF and archives, its name for the rest.

    A name that promises an image or PDF which the bytes are not gives `application/octet-stream`.
    """
    by_name = _BY_SUFFIX.get(PurePosixPath(filename).suffix.lower(), UNKNOWN_TYPE)
    by_content = _sniffed(data)
    if by_content == "application/zip" and by_name.startswith(_ZIP_BASED):
        return by_name
    if by_content is not None:
        return by_content
    return UNKNOWN_TYPE if by_name in _MAGIC_TYPES or by_name.startswith(_ZIP_BASED) else by_name


def check_size(filename: str, size: int) -> None:
    """Raises InvalidRequestError when a file is larger than MAX_ATTACHMENT_BYTES."""
    if size > MAX_ATTACHMENT_BYTES:
        raise InvalidRequestError(
            f"{filename} has {size:,} bytes, more than the {MAX_ATTACHMENT_BYTES:,} an attachment may have",
            hint="make it smaller, or keep it elsewhere and write its address into the entry",
        )


def serving_headers(filename: str, kind: str) -> dict[str, str]:
    """HTTP headers of a stored file: what a browser could run (HTML, SVG, XML, unknown) is only ever downloaded.

    Args:
        filename: the name it was stored under.
        kind: the type it was stored with.
    """
    inline = kind in _SHOWN_INLINE
    served = kind if inline or kind in _DOWNLOADED_AS_IS or kind.startswith(_ZIP_BASED) else UNKNOWN_TYPE
    name = safe_filename(filename)
    plain = name.encode("ascii", "replace").decode("ascii").replace("?", "_").replace("\\", "_")
    names = f"filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    return {
        "Content-Type": f"{served}; charset=utf-8" if served.startswith("text/") else served,
        "Content-Disposition": f"{'inline' if inline else 'attachment'}; {names}",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


def _sniffed(data: bytes) -> str | None:
    for magic, kind in _MAGIC:
        if data.startswith(magic) and (magic != b"BM" or _is_bitmap(data)):
            return kind
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None


def _is_bitmap(data: bytes) -> bool:
    """Two letters are too few to tell: the header's reserved fields are zero."""
    return len(data) >= 26 and data[6:10] == b"\x00\x00\x00\x00"
