"""Values as both backends keep them: strict JSON, digests by which a change is noticed, texts that can be stored."""

from __future__ import annotations

import hashlib
import json
from typing import Any, cast

from ariel_lite.embeddings.base import clean_text
from ariel_lite.query.days import to_storage
from ariel_lite.records import EnhancedLogbookEntry

DIGEST_BYTES = 16
ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False, default=str)


def to_json(value: Any) -> str:
    """Compact strict JSON with sorted keys: equal values are equal text.

    Raises:
        ValueError: a number that is not finite, or a circular value.
    """
    return ENCODER.encode(value)


def digest(text: str) -> bytes:
    """16 bytes that stand for a text."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=DIGEST_BYTES).digest()


def content_hash(entry: EnhancedLogbookEntry) -> bytes:
    """A digest of what a source says of an entry, and of the words that enhancers added."""
    keywords = entry.get("keywords")
    parts = [
        entry["source_system"],
        to_storage(entry["timestamp"]),
        entry["author"],
        entry["raw_text"],
        to_json(entry["attachments"]),
        to_json(entry["metadata"]),
        entry.get("summary") or "",
        to_json(keywords) if keywords else "",
    ]
    return joined_hash(parts)


def joined_hash(parts: list[str]) -> bytes:
    """The digest of an entry's parts, in the order of `content_hash`."""
    return digest("\x1e".join(parts))


def cleaned(value: Any) -> Any:
    """A JSON value with NUL and lone surrogates, which databases cannot store, replaced by blanks."""
    if isinstance(value, str):
        return value if value.isascii() and "\x00" not in value else clean_text(value)
    if isinstance(value, dict):
        return {cleaned(key): cleaned(item) for key, item in value.items()}
    return [cleaned(item) for item in value] if isinstance(value, list | tuple) else value


def cleaned_entry(entry: EnhancedLogbookEntry) -> EnhancedLogbookEntry:
    """The entry with every text in it cleaned."""
    return cast(EnhancedLogbookEntry, cleaned(entry))
