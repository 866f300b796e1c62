"""What stands around an entry: its neighbours in time, its thread, and entries of similar meaning."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import Order, SearchPlan, VectorModel
from ariel_lite.errors import ConfigurationError, EmbeddingGenerationError
from ariel_lite.query.dates import TimeRange
from ariel_lite.query.nodes import FieldLeaf
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.service import ARIELSearchService
from ariel_lite.web.shapes import brief

INSTANT = timedelta(microseconds=1)
SIMULTANEOUS = 1000
"""Entries of one instant among which a neighbour is looked for."""

THREAD_ENTRIES = 50
SIMILAR_ENTRIES = 5
NO_VECTORS = "there are no vectors yet; 'ariel-lite enhance' makes them"
NO_VECTOR = "this entry has no vector yet; 'ariel-lite enhance' makes it"


def context_of(service: ARIELSearchService, entry: EnhancedLogbookEntry) -> dict[str, Any]:
    """The entry before it and after it in time, its thread, and what is similar."""
    before, after = neighbours(service.backend, entry)
    similar, note = similar_entries(service, entry)
    config = service.config
    return {
        "previous": brief(before, config) if before else None,
        "next": brief(after, config) if after else None,
        "thread": [brief(other, config) for other in thread_of(service.backend, entry)],
        "similar": [brief(other, config) | {"score": score} for other, score in similar],
        "note": note,
    }


def neighbours(
    backend: Backend, entry: EnhancedLogbookEntry
) -> tuple[EnhancedLogbookEntry | None, EnhancedLogbookEntry | None]:
    """(the one before, the one after) in time; entries of one instant stand as in a list: newest first, then by id."""
    moment, entry_id = entry["timestamp"], entry["entry_id"]
    together = _ids(backend, TimeRange(moment, moment), SIMULTANEOUS, "newest")
    later = [other for other in together if other > entry_id][:1]
    earlier = [other for other in together if other < entry_id][-1:]
    before = later or _ids(backend, TimeRange(end=moment - INSTANT), 1, "newest")
    after = earlier or _last_of_next_instant(backend, moment)
    return _entry(backend, before), _entry(backend, after)


def thread_of(backend: Backend, entry: EnhancedLogbookEntry) -> list[EnhancedLogbookEntry]:
    """The entries that answer each other with this one, itself left out, oldest first.

    Answers to the same one belong together also where that one is not here, or is no entry but the thread's own id.
    """
    known = {entry["entry_id"]: entry}
    fresh = [entry]
    while fresh and len(known) <= THREAD_ENTRIES:
        named = [other for found in fresh for other in linked_ids(found)]
        answers = backend.linking_to([*(found["entry_id"] for found in fresh), *named])
        wanted = [other for other in dict.fromkeys([*named, *answers]) if other not in known]
        fresh = backend.get_entries(wanted[:THREAD_ENTRIES])
        known.update((found["entry_id"], found) for found in fresh)
    others = [found for found in known.values() if found["entry_id"] != entry["entry_id"]]
    return sorted(others, key=lambda found: (found["timestamp"], found["entry_id"]))[:THREAD_ENTRIES]


def linked_ids(entry: EnhancedLogbookEntry) -> list[str]:
    """The ids that an entry says it answers, or the id of its thread; ALS writes "0" for none."""
    named = entry["metadata"].get("linked_to")
    values = named if isinstance(named, list) else [named]
    return [str(value) for value in values if value not in (None, "", "0", 0)]


def similar_entries(
    service: ARIELSearchService, entry: EnhancedLogbookEntry
) -> tuple[list[tuple[EnhancedLogbookEntry, float]], str]:
    """(entries with their similarity, best first; why there are none, or "")."""
    backend = service.backend
    if not backend.has_vectors():
        return [], NO_VECTORS
    try:
        embedder = service.context.embedder
        model = VectorModel(embedder.name, embedder.dimension, embedder.fingerprint)
    except (ConfigurationError, EmbeddingGenerationError) as fault:
        return [], fault.message
    stored = backend.stored_vectors(model, [entry["entry_id"]])
    vector = stored[0].vector if stored else None
    if vector is None:
        return [], NO_VECTOR
    rows, scores = backend.nearest(model, vector, SIMILAR_ENTRIES + 1, None)
    hits = [hit for hit in backend.best_rows(rows, scores, SIMILAR_ENTRIES + 1) if hit.entry_id != entry["entry_id"]]
    found = {other["entry_id"]: other for other in backend.get_entries([hit.entry_id for hit in hits])}
    near = [(found[hit.entry_id], round(hit.score, 4)) for hit in hits if hit.entry_id in found]
    return near[:SIMILAR_ENTRIES], ""


def _last_of_next_instant(backend: Backend, moment: datetime) -> Sequence[str]:
    first = _entry(backend, _ids(backend, TimeRange(start=moment + INSTANT), 1, "oldest"))
    if first is None:
        return ()
    return _ids(backend, TimeRange(first["timestamp"], first["timestamp"]), SIMULTANEOUS, "newest")[-1:]


def _ids(backend: Backend, bounds: TimeRange, limit: int, order: Order) -> list[str]:
    return [hit.entry_id for hit in backend.search(SearchPlan(FieldLeaf("date", "", bounds), limit, 0, order))]


def _entry(backend: Backend, entry_ids: Sequence[str]) -> EnhancedLogbookEntry | None:
    found = backend.get_entries(entry_ids)
    return found[0] if found else None
