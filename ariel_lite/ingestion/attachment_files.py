"""What a record says of its attachments, and the files beside the source that it means.

A file is looked for only inside the source's own folder. An address on the web stays a reference. Everything else (a
path that leads elsewhere, another scheme) keeps its name alone, marked as missing, and is reported.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

from ariel_lite.attachments import MAX_ATTACHMENT_BYTES, attachment_id, mime_type, safe_filename, stored_id, stored_url
from ariel_lite.ingestion.attachment_text import MAX_FILE_CHARACTERS
from ariel_lite.ingestion.base import AttachmentFile
from ariel_lite.records import Attachment

_WEB = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]+:", re.IGNORECASE)
_KEPT_KEYS = ("type", "filename", "thumbnail_url", "caption")


class ReadAttachments(NamedTuple):
    """An entry's attachments, the files to store for them, and what there is to report."""

    attachments: list[Attachment]
    files: tuple[AttachmentFile, ...]
    notes: tuple[str, ...]


class _Refused(Exception):
    """A reference that is not followed; the text says why."""


def read_attachments(listed: Sequence[Any], folder: Path | None, owner: str) -> ReadAttachments:
    """Read a record's list of attachments: texts, or objects with `url` and what ARIEL knows beside it.

    Args:
        listed: the list as the source wrote it; blank items are dropped.
        folder: where relative paths start, None for a source that is no file.
        owner: what makes the ids of equal files of different entries differ.
    """
    attachments: list[Attachment] = []
    files: list[AttachmentFile] = []
    notes: list[str] = []
    for item in listed:
        attachment = _described(item)
        if attachment is None:
            continue
        try:
            found = _local_file(attachment, folder, owner)
        except _Refused as refusal:
            notes.append(f"attachment {safe_filename(attachment['url'])}: {refusal}")
            attachments.append(_missing(attachment))
            continue
        if isinstance(found, AttachmentFile):
            files.append(found)
            attachment = _stored(attachment, found)
        elif found:
            notes.append(f"attachment {attachment['url']}: {found}")
        attachments.append(attachment)
    return ReadAttachments(attachments, tuple(files), tuple(notes))


def _described(item: Any) -> Attachment | None:
    if isinstance(item, str):
        return {"url": item.strip()} if item.strip() else None
    if not isinstance(item, dict):
        return None
    url = next((item[key] for key in ("url", "filename") if isinstance(item.get(key), str) and item[key].strip()), None)
    if url is None:
        return None
    known = {key: item[key].strip() for key in _KEPT_KEYS if isinstance(item.get(key), str) and item[key].strip()}
    if _SCHEME.match(known.get("thumbnail_url", "")) and not _WEB.match(known["thumbnail_url"]):
        del known["thumbnail_url"]
    if isinstance(item.get("text"), str):
        known["text"] = item["text"][:MAX_FILE_CHARACTERS]
    return cast(Attachment, {"url": url.strip(), **known})


def _local_file(attachment: Attachment, folder: Path | None, owner: str) -> AttachmentFile | str | None:
    """The file to store; None or a remark for what stays a reference. Raises _Refused."""
    url = attachment["url"]
    if _WEB.match(url) or stored_id(url):
        return None
    if PureWindowsPath(url).drive or url.startswith(("/", "\\", "~")):
        raise _Refused("an absolute path is not followed")
    if _SCHEME.match(url):
        raise _Refused("only http, https and files beside the source are followed")
    if folder is None:
        return "files are only read beside a source file"
    path = _inside(folder, url)
    try:
        size = path.stat().st_size
        if size > MAX_ATTACHMENT_BYTES:
            return f"has {size:,} bytes, more than the {MAX_ATTACHMENT_BYTES:,} that are kept; left where it is"
        data = path.read_bytes()
    except OSError as fault:
        raise _Refused(f"cannot be read ({fault.strerror or fault})") from fault
    name = safe_filename(attachment.get("filename") or path.name)
    return AttachmentFile(attachment_id(owner, name, data), name, mime_type(name, data), path.read_bytes)


def _inside(folder: Path, url: str) -> Path:
    """The file that a relative reference means. Raises _Refused when it is absent or leads out of the folder."""
    base = folder.resolve()
    outside = False
    for written in dict.fromkeys((url, unquote(url), url.replace("\\", "/"))):
        try:
            path = (base / written).resolve()
            if not path.is_relative_to(base):
                outside = True
            elif path.is_file():
                return path
        except (OSError, ValueError, RuntimeError):
            continue
    raise _Refused("leads out of the source's folder" if outside else "is missing")


def _missing(attachment: Attachment) -> Attachment:
    """Only what is harmless to show."""
    url = attachment["url"]
    kept = cast(Attachment, {key: value for key, value in attachment.items() if key != "thumbnail_url"})
    plain = not (_SCHEME.match(url) or url.startswith(("/", "\\", "~")) or ".." in url)
    return {**kept, "url": url if plain else safe_filename(url), "missing": True}


def _stored(attachment: Attachment, file: AttachmentFile) -> Attachment:
    kept = cast(Attachment, {key: value for key, value in attachment.items() if key != "thumbnail_url"})
    return {**kept, "url": stored_url(file.attachment_id), "filename": file.filename, "type": file.mime_type}
