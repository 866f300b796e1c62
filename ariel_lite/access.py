"""Restrictions: the filters of a call (not of the query text), as conditions that every search obeys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from ariel_lite.query.bind import fold_value
from ariel_lite.query.dates import TimeRange, parse_bounds
from ariel_lite.query.nodes import AnyOf, BoundNode, Exclude, FieldLeaf, conjunction

DateInput = str | date | datetime


@dataclass(frozen=True)
class Restriction:
    """What a caller limits a search to; all of it must hold."""

    range: TimeRange | None = None
    author: str = ""
    source_system: str = ""
    exclude_entry_ids: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True when it limits nothing (ids left out do not make a query of their own)."""
        return self.range is None and not self.author and not self.source_system

    def conditions(self) -> list[BoundNode]:
        """The restriction as bound nodes."""
        nodes: list[BoundNode] = []
        if self.range is not None:
            nodes.append(FieldLeaf("date", "", self.range))
        if self.author:
            nodes.append(FieldLeaf("author", fold_value(self.author), text=self.author))
        if self.source_system:
            nodes.append(FieldLeaf("source", fold_value(self.source_system), text=self.source_system))
        if self.exclude_entry_ids:
            nodes.append(Exclude(_any_id(self.exclude_entry_ids)))
        return nodes


def restriction(
    *,
    start_date: DateInput | None,
    end_date: DateInput | None,
    author: str | None,
    source_system: str | None,
    exclude_entry_ids: Sequence[str],
    zone: ZoneInfo,
    now: datetime,
) -> Restriction:
    """Read the filters of a call; blank ones limit nothing.

    Raises:
        QuerySyntaxError: an impossible date.
        InvalidRequestError: an end before its start.
    """
    start, end = _given(start_date), _given(end_date)
    bounds = parse_bounds(start, end, zone=zone, now=now) if start is not None or end is not None else None
    return Restriction(bounds, (author or "").strip(), (source_system or "").strip(), tuple(exclude_entry_ids))


def restrict(tree: BoundNode, limits: Restriction) -> BoundNode:
    """A tree that also obeys a restriction."""
    return conjunction([tree, *limits.conditions()])


def _given(value: DateInput | None) -> DateInput | None:
    return None if isinstance(value, str) and not value.strip() else value


def _any_id(entry_ids: Sequence[str]) -> BoundNode:
    leaves: list[BoundNode] = [FieldLeaf("id", entry_id, text=entry_id) for entry_id in entry_ids]
    return leaves[0] if len(leaves) == 1 else AnyOf(tuple(leaves))
