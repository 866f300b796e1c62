"""What every backend can do, as small protocols. The plain values that pass are in `values`, and known here too.

A backend stores what the analyzer made and finds what a bound tree asks for. It never parses queries or HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ariel_lite.backends.values import BackendStatus as BackendStatus
from ariel_lite.backends.values import Draft as Draft
from ariel_lite.backends.values import Enrichment as Enrichment
from ariel_lite.backends.values import EntryVectors as EntryVectors
from ariel_lite.backends.values import Hit as Hit
from ariel_lite.backends.values import IngestionRun as IngestionRun
from ariel_lite.backends.values import Order as Order
from ariel_lite.backends.values import PendingText as PendingText
from ariel_lite.backends.values import Problem as Problem
from ariel_lite.backends.values import Progress as Progress
from ariel_lite.backends.values import SearchPlan as SearchPlan
from ariel_lite.backends.values import Statement as Statement
from ariel_lite.backends.values import StoredAttachment as StoredAttachment
from ariel_lite.backends.values import UpsertOutcome as UpsertOutcome
from ariel_lite.backends.values import VectorCounts as VectorCounts
from ariel_lite.backends.values import VectorModel as VectorModel
from ariel_lite.backends.values import batched as batched
from ariel_lite.query.nodes import BoundNode
from ariel_lite.ranking.bm25 import CorpusStatistics
from ariel_lite.ranking.fuzzy import Vocabulary
from ariel_lite.records import EmbeddingTableInfo, EnhancedLogbookEntry


class EntryReader(Protocol):
    """Reading entries by id or by condition."""

    def get_entries(self, entry_ids: Sequence[str]) -> list[EnhancedLogbookEntry]:
        """The entries of these ids that exist, in the order of the ids."""

    def search(self, plan: SearchPlan) -> list[Hit]:
        """The plan's hits, in the contract's order."""

    def count(self, tree: BoundNode) -> int:
        """How many entries a bound tree matches."""

    def statements(self, plan: SearchPlan) -> list[Statement]:
        """What `search` would run for a plan."""

    def exists(self, tree: BoundNode) -> bool:
        """True when a bound tree matches at least one entry."""

    def rows(self, tree: BoundNode) -> NDArray[np.int64]:
        """The backend's row numbers of all entries a tree matches, ascending."""

    def best_rows(self, rows: NDArray[np.int64], scores: NDArray[np.float64], limit: int, offset: int = 0) -> list[Hit]:
        """Scored rows as hits, best first, newest first among equals, then by id."""

    def vocabulary(self) -> Vocabulary:
        """The written words of all entries."""

    def index_gap(self) -> str:
        """What is stored but cannot be found, in words ("120 entries are not indexed yet"), or ""; cheap."""

    def limited(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """Inside, this thread's statements end with SearchTimeoutError as soon as `should_stop()` is true."""

    def statistics(self) -> CorpusStatistics:
        """What BM25 needs to know of the whole logbook."""

    def field_counts(self, name: str, tree: BoundNode | None = None, limit: int = 100) -> list[tuple[str, int]]:
        """Values of a field (author, source, logbook, tag, category) with the number of entries, most first."""

    def month_counts(self, tree: BoundNode, zone: str) -> list[tuple[str, int]]:
        """(YYYY-MM in the zone, number of entries) of the entries a tree matches, in time order."""

    def linking_to(self, entry_ids: Sequence[str]) -> list[str]:
        """Ids of the entries whose metadata.linked_to names one of these, by time."""

    def iterate_entries(self, tree: BoundNode, order: Order = "oldest") -> Iterator[EnhancedLogbookEntry]:
        """All entries a tree matches, streamed."""

    def iterate_changed(self, tree: BoundNode, since: datetime | None) -> Iterator[EnhancedLogbookEntry]:
        """Entries a tree matches whose `updated_at` is `since` or later (None: all), by (updated_at, id), streamed."""


class EntryWriter(Protocol):
    """Changing entries: each call is one transaction over the record, its index and its vectors."""

    def upsert(self, entries: Sequence[EnhancedLogbookEntry], *, dry_run: bool = False) -> UpsertOutcome:
        """Store entries by id. A missing `attachments` key leaves the stored ones as they are."""

    def transaction(self) -> AbstractContextManager[None]:
        """Several writes of this thread as one: all of them or none."""

    def delete(self, entry_ids: Sequence[str]) -> int:
        """Remove entries with all that belongs to them; the number removed."""

    def entry_ids(self, source_system: str | None = None) -> Iterator[str]:
        """Ids of all entries, or of one source system's."""


class VectorStore(Protocol):
    """Vectors by model, and the nearest of them."""

    def has_vectors(self) -> bool:
        """True when at least one entry has a vector."""

    def embedding_tables(self) -> list[EmbeddingTableInfo]:
        """The tables of vectors."""

    def vector_counts(self, model: VectorModel) -> VectorCounts:
        """Entries by the state of their vector."""

    def claim_pending(self, model: VectorModel, worker: str, limit: int) -> list[PendingText]:
        """Take up to `limit` entries without a current vector; no other worker gets them while this one lives."""

    def store_vectors(self, model: VectorModel, made: Sequence[EntryVectors]) -> int:
        """Keep vectors whose text is still the entry's; the number kept. Zero and non-finite ones are refused.

        Raises:
            EmbeddingGenerationError: the model's table has another dimension, or a vector is zero or not finite.
        """

    def forget_failed(self, model: VectorModel) -> None:
        """Let entries whose embedding failed wait again."""

    def release_claims(self, worker: str) -> None:
        """Give back what a worker took and did not finish."""

    def seal_vectors(self, model: VectorModel) -> None:
        """Bring whatever is derived from a model's vectors up to date, after many were stored."""

    def drop_vectors(self, name: str) -> int:
        """Forget all vectors of a model; the number of entries that had one."""

    def stored_vectors(self, model: VectorModel, entry_ids: Sequence[str]) -> list[EntryVectors]:
        """The current vectors of these entries that have one, to be stored elsewhere.

        Their `pending` has no row (-1) and no text: `store_vectors` finds such entries by id.
        """

    def nearest(
        self, model: VectorModel, query: NDArray[np.float32], k: int, rows: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """(rows, cosine similarities) of the k nearest entries by their best window, best first.

        `rows` (ascending) limits the search to them before the nearest are chosen.
        """


class AttachmentStore(Protocol):
    """Files of entries."""

    def store_attachment(
        self, entry_id: str, attachment_id: str, filename: str, mime_type: str, data: bytes
    ) -> StoredAttachment:
        """Keep a file; the same id again replaces it."""

    def get_attachment(self, attachment_id: str) -> StoredAttachment | None:
        """A file with its data."""

    def attachments_of(self, entry_id: str) -> list[StoredAttachment]:
        """The files of an entry, without data."""


class DraftStore(Protocol):
    """Entries that are being written, and files that wait for the entry they will belong to."""

    def save_draft(self, draft_id: str, content: Mapping[str, Any]) -> Draft:
        """Keep a draft; the same id again replaces its content."""

    def get_draft(self, draft_id: str) -> Draft | None:
        """The draft of an id."""

    def drafts(self, limit: int = 100) -> list[Draft]:
        """The drafts changed last, newest first."""

    def delete_draft(self, draft_id: str) -> bool:
        """Forget a draft; False when there is none."""

    def stage_file(self, attachment_id: str, filename: str, mime_type: str, data: bytes) -> StoredAttachment:
        """Keep a file that has no entry yet (its `entry_id` is ""); the same id again replaces it."""

    def staged_file(self, attachment_id: str) -> StoredAttachment | None:
        """A waiting file with its data."""

    def unstage_files(self, attachment_ids: Sequence[str]) -> int:
        """Forget waiting files; the number forgotten."""

    def forget_staged(self, before: datetime) -> int:
        """Forget waiting files that were staged before a moment and that no draft names; the number forgotten."""


class EnhancementLog(Protocol):
    """What enhancers did to which entry, as in `enhancement_status`; and the semantic processor's store.

    A status is {"status": "complete", "completed_at"}, {"status": "failed", "failed_at", "error"} or
    {"status": "pending"}. An edit of an entry's text makes its modules pending again.
    """

    def mark_complete(self, module: str, entry_ids: Sequence[str]) -> int:
        """Note that a module is done with entries; the number of entries that exist."""

    def mark_failed(self, module: str, reasons: Mapping[str, str]) -> int:
        """Note entry id -> reason of those that a module could not enhance; the number of entries that exist."""

    def mark_pending(self, module: str, status: str | None = None) -> int:
        """Let entries wait for a module again: all, or those of one status; the number changed."""

    def incomplete(self, module: str, status: str | None = None, limit: int = 100) -> list[EnhancedLogbookEntry]:
        """Entries that a module is not done with (or of one status: "pending", "failed"), oldest first."""

    def enhancement_counts(self, module: str) -> dict[str, int]:
        """{"complete", "failed", "pending"}: entries by the status of a module."""

    def claim_unenhanced(self, module: str, worker: str, limit: int) -> list[PendingText]:
        """Take up to `limit` pending entries; no other worker gets them while this one lives. `text` is `raw_text`."""

    def store_enrichments(self, module: str, enrichments: Sequence[Enrichment]) -> int:
        """Set summary and keywords, index them, and mark the module complete: one transaction.

        Entries whose text has changed since it was claimed are left pending. The number stored.
        """


class RunLog(Protocol):
    """The history of ingestion."""

    def start_run(self, source_system: str, metadata: dict[str, Any] | None = None) -> int:
        """Note that a run began; its number."""

    def finish_run(
        self, run_id: int, *, added: int, updated: int, failed: int, error: str | None, metadata: dict[str, Any]
    ) -> None:
        """Note how a run ended; `error` makes it a failed one. `metadata` is added to what the run began with, key by
        key; None removes a key."""

    def runs(self, source_system: str | None = None, limit: int = 20) -> list[IngestionRun]:
        """The latest runs, newest first."""


class Hold(Protocol):
    """The right to do something that only one process may do at a time."""

    def renew(self) -> None:
        """Make sure that it is still ours, as after a long pause.

        Raises:
            AlreadyRunningError: another process has it now.
            DatabaseConnectionError: that cannot be asked.
        """


class Exclusion(Protocol):
    """Keeping other processes from doing the same."""

    def exclusively(self, purpose: str) -> AbstractContextManager[Hold]:
        """Inside, no other process is inside for the same purpose (a word); one that died is not.

        Raises:
            AlreadyRunningError: another process is inside, and which.
            DatabaseConnectionError: the lock cannot be made.
        """


class Maintenance(Protocol):
    """Keeping a logbook in order."""

    def status(self) -> BackendStatus:
        """Counts and health."""

    def check(self, progress: Progress = ...) -> list[Problem]:
        """Compare entries, index and vocabulary; what does not agree."""

    def reindex(self, *, everything: bool = False, progress: Progress = ...) -> int:
        """Index what is not indexed (or everything); the number of entries indexed."""

    def purge(self, *, entries: bool) -> None:
        """Remove what ariel-lite made; with `entries` the entries too."""


class Backend(
    EntryReader,
    EntryWriter,
    VectorStore,
    AttachmentStore,
    DraftStore,
    EnhancementLog,
    RunLog,
    Exclusion,
    Maintenance,
    Protocol,
):
    """A logbook's storage."""

    name: str
    location: str
    attached: bool
    read_only: bool

    def close(self) -> None:
        """Give back every connection; the backend cannot be used afterwards."""
