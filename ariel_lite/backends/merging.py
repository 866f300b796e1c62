"""What becomes of an entry when a new version of it, or an enhancer's words, arrive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from ariel_lite.backends.encoding import cleaned, digest
from ariel_lite.backends.statuses import COMPLETE, complete_status, status_of
from ariel_lite.backends.values import Enrichment, UpsertOutcome
from ariel_lite.records import EnhancedLogbookEntry, own_text

EMBEDDING = "text_embedding"
"""The enhancer that adds vectors; every other one adds words."""

ENHANCED_WORDS = ("summary", "keywords")


def settled(
    owners: Mapping[str, str], entries: Sequence[EnhancedLogbookEntry], outcome: UpsertOutcome
) -> list[EnhancedLogbookEntry]:
    """Entries under the ids they are kept by: an id that another source owns gets its source's name before it.

    `owners` maps ids that are stored to their sources; the outcome notes who was renamed.
    """
    sources = dict(owners)
    kept: dict[str, EnhancedLogbookEntry] = {}
    for entry in entries:
        entry_id, source = entry["entry_id"], entry["source_system"]
        if sources.setdefault(entry_id, source) != source:
            outcome.renamed[entry_id] = f"{source}:{entry_id}"
            entry = cast(EnhancedLogbookEntry, {**entry, "entry_id": f"{source}:{entry_id}"})
        kept[entry["entry_id"]] = entry
    return list(kept.values())


def completed(entry: EnhancedLogbookEntry, now: datetime) -> EnhancedLogbookEntry:
    """A new entry with what it leaves out; `updated_at` is when this logbook changed it, so that changes are found."""
    defaults = {"attachments": [], "metadata": {}, "created_at": now, "author": ""}
    return cast(EnhancedLogbookEntry, {**defaults, **entry, "updated_at": now})


def merged(before: EnhancedLogbookEntry, entry: EnhancedLogbookEntry, now: datetime) -> EnhancedLogbookEntry:
    """A new version over the stored one: what it does not mention stays.

    With another text, statuses and enhancers' words of the stored version are dropped, also where the new version
    repeats them; statuses that differ from the stored ones (a copy from elsewhere) are believed, and the words there.
    """
    made = cast(EnhancedLogbookEntry, {**before, **entry, "created_at": before["created_at"], "updated_at": now})
    known: dict[str, Any] = before.get("enhancement_status") or {}
    if (made.get("enhancement_status") or {}) != known:
        return made
    if before["raw_text"] != entry["raw_text"]:
        made["enhancement_status"] = {}
        if any(module != EMBEDDING and status_of(known, module) == COMPLETE for module in known):
            for key in ENHANCED_WORDS:
                if (made.get(key) or None) == (before.get(key) or None):
                    cast(dict[str, Any], made).pop(key, None)
    elif is_reworded(before, made):
        made["enhancement_status"] = {module: status for module, status in known.items() if module != EMBEDDING}
    return made


def all_enriched(
    entries: Iterable[EnhancedLogbookEntry], module: str, found: Mapping[str, Enrichment], now: datetime
) -> list[EnhancedLogbookEntry]:
    """Entries with what was found in them, by id; those left out whose text has changed since it was read."""
    return [
        _enriched(entry, module, found[entry["entry_id"]], now)
        for entry in entries
        if digest(entry["raw_text"]) == found[entry["entry_id"]].text_hash
    ]


def _enriched(entry: EnhancedLogbookEntry, module: str, found: Enrichment, now: datetime) -> EnhancedLogbookEntry:
    """An entry with what the semantic processor found in it; its vectors stand for its own text and stay."""
    made = cast(
        EnhancedLogbookEntry,
        {**entry, "summary": cleaned(found.summary) or None, "keywords": cleaned(found.keywords), "updated_at": now},
    )
    made["enhancement_status"] = {**(entry.get("enhancement_status") or {}), module: complete_status(now)}
    return made


def is_reworded(before: EnhancedLogbookEntry, after: EnhancedLogbookEntry) -> bool:
    """True when two versions of an entry differ in what their vectors stand for."""
    return own_text(before) != own_text(after)


def without_repeats(entries: Sequence[EnhancedLogbookEntry]) -> Iterator[list[EnhancedLogbookEntry]]:
    """Runs of entries in which no id stands twice: a second version of an entry is an update of the first."""
    part: list[EnhancedLogbookEntry] = []
    seen: set[str] = set()
    for entry in entries:
        if entry["entry_id"] in seen:
            yield part
            part, seen = [], set()
        part.append(entry)
        seen.add(entry["entry_id"])
    if part:
        yield part
