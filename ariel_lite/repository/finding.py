"""What the repository looks for: filters as a bound tree, and the plans of its keyword searches."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import Hit, SearchPlan
from ariel_lite.errors import InvalidRequestError
from ariel_lite.query.bind import fold_value
from ariel_lite.query.dates import TimeRange
from ariel_lite.query.nodes import BoundNode, Everything, Exclude, FieldLeaf, Nothing, conjunction, text_leaves
from ariel_lite.ranking.corrections import approximate_rows
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.search.base import SearchContext

ALL_VALUES = 1_000_000
"""More than a field has."""

Found = list[tuple[EnhancedLogbookEntry, float, list[str]]]
"""(entry, score, highlights), best first."""


def aware(moment: datetime, zone: ZoneInfo) -> datetime:
    """A time in UTC; one without a zone is in the facility's."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)


def filter_tree(
    backend: Backend,
    zone: ZoneInfo,
    *,
    start: datetime | None,
    end: datetime | None,
    author: str | None = None,
    source_system: str | None = None,
    author_part: str | None = None,
) -> BoundNode:
    """ARIEL's filters: a span with both ends, a whole author or source, or any part of an author's name.

    Raises:
        InvalidRequestError: a blank author or source system.
    """
    nodes: list[BoundNode] = [Everything()]
    if start is not None or end is not None:
        span = TimeRange(*(None if moment is None else aware(moment, zone) for moment in (start, end)))
        if span.is_empty:
            return Nothing("the span ends before it starts")
        nodes.append(FieldLeaf("date", "", span))
    if author_part:
        nodes.append(FieldLeaf("author", fold_value(author_part), text=author_part))
    for name, value in (("author", author), ("source", source_system)):
        if value is not None:
            nodes.append(_exactly(backend, name, value))
    return conjunction(nodes)


def entries_of(backend: Backend, hits: list[Hit]) -> list[tuple[EnhancedLogbookEntry, float]]:
    """Hits with their entries; one that was deleted meanwhile is left out."""
    entries = {entry["entry_id"]: entry for entry in backend.get_entries([hit.entry_id for hit in hits])}
    return [(entries[hit.entry_id], hit.score) for hit in hits if hit.entry_id in entries]


def search_by_keyword(context: SearchContext, plan: SearchPlan, *, include_highlights: bool) -> Found:
    """What a plan finds, by BM25."""
    patterns = [leaf.forms for leaf in text_leaves(plan.tree)] if include_highlights else []
    return [
        (entry, score, list(context.highlights(entry, patterns)))
        for entry, score in entries_of(context.backend, context.backend.search(plan))
    ]


def search_approximately(backend: Backend, plan: SearchPlan, threshold: float) -> Found:
    """What a plan finds with words near its own, by similarity (0 to 1)."""
    wanted = plan.limit + plan.offset
    near = approximate_rows(plan.tree, backend.vocabulary(), backend.rows, backend.exists, wanted, threshold)
    kept = near.scores >= threshold
    hits = backend.best_rows(near.rows[kept], near.scores[kept], plan.limit, plan.offset)
    return [(entry, score, []) for entry, score in entries_of(backend, hits)]


def _exactly(backend: Backend, name: str, value: str) -> BoundNode:
    """A field that is a value as a whole: it holds it, and is none of the longer values that do."""
    folded = fold_value(value)
    if not folded:
        raise InvalidRequestError(f"a blank {name} was given", hint="leave it out instead")
    holds = FieldLeaf(name, folded, text=value)
    values = {fold_value(found) for found, _ in backend.field_counts(name, holds, ALL_VALUES)}
    if folded not in values:
        return Nothing(f"no entry has the {name} {value}")
    longer: list[BoundNode] = [Exclude(FieldLeaf(name, other)) for other in sorted(values - {folded})]
    return conjunction([holds, *longer])
