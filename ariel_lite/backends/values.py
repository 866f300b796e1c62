"""The plain values that pass between a backend and the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ariel_lite.query.nodes import BoundNode

Order = Literal["newest", "oldest"]


Progress = Callable[[int], None]
"""Told how many more entries are done."""


BEYOND_ANY_END = 1 << 40


@dataclass(frozen=True)
class SearchPlan:
    """A bound tree (the filters are part of it) and how much of the answer is wanted.

    Hits come ordered by (exact spellings, BM25, newest, id); without text to rank by, by `order`. A limit or offset
    beyond every logbook's end is cut there: databases take no numbers of any size.
    """

    tree: BoundNode
    limit: int = 10
    offset: int = 0
    order: Order = "newest"

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", min(self.limit, BEYOND_ANY_END))
        object.__setattr__(self, "offset", min(self.offset, BEYOND_ANY_END))


@dataclass(frozen=True)
class Hit:
    """An entry found: id, score (BM25, or what the caller scored by), exact spellings matched, row number."""

    entry_id: str
    score: float
    written: int = 0
    row: int = -1


@dataclass(frozen=True)
class Statement:
    """What a backend runs, for people: SQL and its parameters."""

    sql: str
    parameters: tuple[Any, ...] = ()


@dataclass
class UpsertOutcome:
    """What one batch did. `renamed` maps an id that another source system owns to the id it was stored under."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: int = 0
    renamed: dict[str, str] = field(default_factory=dict)

    def add(self, other: UpsertOutcome) -> None:
        """Count another batch in."""
        self.added += other.added
        self.updated += other.updated
        self.unchanged += other.unchanged
        self.renamed |= other.renamed


@dataclass(kw_only=True)
class StoredCounts:
    """How many entries many batches added, changed, and found as they were; the base of reports."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    renamed: dict[str, str] = field(default_factory=dict)

    def count(self, outcome: UpsertOutcome) -> None:
        """Count a batch in."""
        self.added += len(outcome.added)
        self.updated += len(outcome.updated)
        self.unchanged += outcome.unchanged
        self.renamed |= outcome.renamed


@dataclass(frozen=True)
class StoredAttachment:
    """A file of an entry; `data` is None where only the description was asked for."""

    attachment_id: str
    entry_id: str
    filename: str
    mime_type: str
    size_bytes: int
    created_at: datetime
    data: bytes | None = None


@dataclass(frozen=True)
class Draft:
    """An entry that is being written: `content` is what its author has filled in so far, JSON values only."""

    draft_id: str
    content: dict[str, Any]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class Enrichment:
    """What the semantic processor found in a text: `text_hash` is of the text it read, as the claim gave it."""

    entry_id: str
    text_hash: bytes
    summary: str
    keywords: tuple[str, ...]


@dataclass(frozen=True)
class IngestionRun:
    """One run of an ingestion, as in `ingestion_runs`."""

    run_id: int
    started_at: datetime
    completed_at: datetime | None
    source_system: str
    entries_added: int
    entries_updated: int
    entries_failed: int
    status: str
    error_message: str | None
    metadata: dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """Something `doctor` found: what is wrong and whether `--repair` mends it."""

    message: str
    repairable: bool


@dataclass(frozen=True)
class BackendStatus:
    """Counts of a logbook. `unindexed` entries are stored but not findable yet; `cut` ones are indexed in part."""

    entries: int
    indexed: int
    unindexed: int
    cut: int
    attachments: int
    size_bytes: int
    analyzer_current: bool
    last_ingestion: datetime | None


@dataclass(frozen=True)
class VectorModel:
    """A model as stored vectors know it: vectors of another fingerprint are stale and never compared."""

    name: str
    dimension: int
    fingerprint: str


@dataclass(frozen=True)
class VectorCounts:
    """Entries by the state of their vector.

    current; missing (new or edited); stale (another fingerprint); blank (nothing to embed); failed (refused).
    """

    current: int
    missing: int
    stale: int
    blank: int
    failed: int = 0


@dataclass(frozen=True)
class PendingText:
    """An entry that needs a vector: `text_hash` is of the text that the vector will stand for."""

    row: int
    entry_id: str
    text_hash: bytes
    text: str


@dataclass(frozen=True)
class EntryVectors:
    """The vectors of an entry, float32: one for the entry, (dimension,), and its windows', (n, dimension).

    No windows: blank text, or `error` says why there is no vector; nothing is stored but the fact.
    """

    pending: PendingText
    vector: NDArray[np.float32] | None
    windows: NDArray[np.float32] | None
    error: str = ""


def batched(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Lists of up to `size` items, in order."""
    batch: list[Any] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
