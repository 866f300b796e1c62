"""The SQLite backend: one file. It composes the modules of this folder; each method is one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from ariel_lite.backends.base import Hold
from ariel_lite.backends.counts_cache import CountsCache
from ariel_lite.backends.merging import without_repeats
from ariel_lite.backends.sqlite import attachments, exclusive, facets, maintenance, runs, vectors
from ariel_lite.backends.sqlite.drafts import Drafts
from ariel_lite.backends.sqlite.enhancement_log import EnhancementNotes
from ariel_lite.backends.sqlite.entries import read_entries, read_rows
from ariel_lite.backends.sqlite.migrations import migrate
from ariel_lite.backends.sqlite.nearest import NearestVectors, seal
from ariel_lite.backends.sqlite.search import Known, Searcher
from ariel_lite.backends.sqlite.vocabulary import VocabularyCache
from ariel_lite.backends.undoing import unless_done
from ariel_lite.backends.values import (
    BackendStatus,
    EntryVectors,
    Hit,
    IngestionRun,
    Order,
    PendingText,
    Problem,
    Progress,
    SearchPlan,
    Statement,
    StoredAttachment,
    UpsertOutcome,
    VectorCounts,
    VectorModel,
    batched,
)
from ariel_lite.config import ARIELConfig
from ariel_lite.errors import SearchTimeoutError
from ariel_lite.query.nodes import BoundNode
from ariel_lite.ranking.bm25 import CorpusStatistics
from ariel_lite.ranking.fuzzy import Vocabulary
from ariel_lite.records import EmbeddingTableInfo, EnhancedLogbookEntry

READ_BATCH = 500
PROGRESS_STEPS = 20_000


def open_backend(location: str, config: ARIELConfig, *, create: bool = False, read_only: bool = False) -> SQLiteBackend:
    """Open a logbook file; see `connection.Connections` for what is raised."""
    return SQLiteBackend(
        Path(location).expanduser(), create=create, read_only=read_only, synchronous=config.database.synchronous
    )


class SQLiteBackend(Drafts, EnhancementNotes):
    """A logbook in one SQLite file; see `backends.base.Backend` for the methods. Safe to share between threads."""

    name = "sqlite"
    attached = False

    def __init__(
        self, path: Path, *, create: bool = False, read_only: bool = False, synchronous: str = "NORMAL"
    ) -> None:
        super().__init__(path, create=create, read_only=read_only, synchronous=synchronous)
        self._vocabulary = VocabularyCache()
        self._nearest = NearestVectors()
        self._known = Known()
        self._facets = facets.Facets(self._known)
        self._vector_counts = CountsCache()

    # Reading

    def get_entries(self, entry_ids: Sequence[str]) -> list[EnhancedLogbookEntry]:
        """The entries of these ids that exist, in the order of the ids."""
        with self._connections.reading() as db:
            return [entry for _, entry in read_entries(db, entry_ids)]

    def search(self, plan: SearchPlan) -> list[Hit]:
        """The plan's hits, in the contract's order."""
        with self._connections.reading() as db:
            return Searcher(db, self._known).search(plan)

    def count(self, tree: BoundNode) -> int:
        """How many entries a bound tree matches."""
        with self._connections.reading() as db:
            return Searcher(db, self._known).count(tree)

    def exists(self, tree: BoundNode) -> bool:
        """True when a bound tree matches at least one entry."""
        with self._connections.reading() as db:
            return Searcher(db, self._known).exists(tree)

    def rows(self, tree: BoundNode) -> NDArray[np.int64]:
        """Row numbers of all entries a tree matches, ascending."""
        with self._connections.reading() as db:
            return Searcher(db, self._known).rows(tree)

    def best_rows(self, rows: NDArray[np.int64], scores: NDArray[np.float64], limit: int, offset: int = 0) -> list[Hit]:
        """Scored rows as hits, best first, newest first among equals, then by id."""
        with self._connections.reading() as db:
            return Searcher(db, self._known).best_rows(rows, scores, limit, offset)

    def statements(self, plan: SearchPlan) -> list[Statement]:
        """What `search` would run for a plan."""
        with self._connections.reading() as db:
            return Searcher(db, self._known).statements(plan)

    def vocabulary(self) -> Vocabulary:
        """The written words of all entries."""
        with self._connections.reading() as db:
            return self._vocabulary.get(db)

    def index_gap(self) -> str:
        """What is stored but cannot be found, in words, or ""."""
        with self._connections.reading() as db:
            return maintenance.index_gap(db)

    @contextmanager
    def limited(self, should_stop: Callable[[], bool]) -> Iterator[None]:
        """Inside, this thread's statements end with SearchTimeoutError as soon as `should_stop()` is true."""
        connection = self._connections.get()
        connection.set_progress_handler(should_stop, PROGRESS_STEPS)
        try:
            yield
        except apsw.InterruptError as fault:
            raise SearchTimeoutError(
                "the search took too long and was stopped", hint="narrow it by date or author, or raise the time limit"
            ) from fault
        finally:
            connection.set_progress_handler(None)

    def statistics(self) -> CorpusStatistics:
        """Entries and positions of the whole logbook."""
        with self._connections.reading() as db:
            return Searcher(db, self._known).statistics()

    def field_counts(self, name: str, tree: BoundNode | None = None, limit: int = 100) -> list[tuple[str, int]]:
        """Values of a field with the number of entries, most first."""
        with self._connections.reading() as db:
            return self._facets.field_counts(db, name, tree, limit)

    def month_counts(self, tree: BoundNode, zone: str) -> list[tuple[str, int]]:
        """(YYYY-MM in the zone, number of entries), in time order."""
        with self._connections.reading() as db:
            return self._facets.month_counts(db, tree, zone)

    def linking_to(self, entry_ids: Sequence[str]) -> list[str]:
        """Ids of the entries whose metadata.linked_to names one of these, by time."""
        with self._connections.reading() as db:
            return facets.linking_to(db, entry_ids)

    def iterate_entries(self, tree: BoundNode, order: Order = "oldest") -> Iterator[EnhancedLogbookEntry]:
        """All entries a tree matches, by time, streamed in batches."""
        with self._connections.reading() as db:
            rows = facets.rows_by_time(db, tree, order)
        yield from self._entries_of(rows)

    def iterate_changed(self, tree: BoundNode, since: datetime | None) -> Iterator[EnhancedLogbookEntry]:
        """Entries a tree matches whose `updated_at` is `since` or later, by (updated_at, id), streamed in batches."""
        with self._connections.reading() as db:
            rows = facets.rows_by_change(db, tree, since)
        yield from self._entries_of(rows)

    def _entries_of(self, rows: list[int]) -> Iterator[EnhancedLogbookEntry]:
        for batch in batched(rows, READ_BATCH):
            with self._connections.reading() as db:
                entries = list(read_rows(db, batch))
            yield from (entry for _, entry in entries)

    def entry_ids(self, source_system: str | None = None) -> Iterator[str]:
        """Ids of all entries, or of one source system's."""
        sql = "SELECT entry_id FROM enhanced_entries WHERE ?1 IS NULL OR source_system = ?1 ORDER BY row_id"
        with self._connections.reading() as db:
            found = [entry_id for (entry_id,) in db.execute(sql, (source_system,))]
        yield from found

    # Writing

    def upsert(self, entries: Sequence[EnhancedLogbookEntry], *, dry_run: bool = False) -> UpsertOutcome:
        """Store entries by id, in one transaction."""
        total = UpsertOutcome()
        try:
            with self._writing() as session:
                for part in without_repeats(entries):
                    total.add(session.upsert(part))
                if dry_run:
                    raise _RolledBack
        except _RolledBack:
            return total
        return total

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Several writes of this thread as one: all of them or none."""
        with unless_done(self._memory().forget), self._connections.writing():
            yield

    def delete(self, entry_ids: Sequence[str]) -> int:
        """Remove entries with all that belongs to them."""
        with self._writing() as session:
            return session.delete(entry_ids)

    def store_attachment(
        self, entry_id: str, attachment_id: str, filename: str, mime_type: str, data: bytes
    ) -> StoredAttachment:
        """Keep a file; the same id again replaces it."""
        with self._connections.writing() as db:
            return attachments.store(db, entry_id, attachment_id, filename, mime_type, data)

    def get_attachment(self, attachment_id: str) -> StoredAttachment | None:
        """A file with its data."""
        with self._connections.reading() as db:
            return attachments.read(db, attachment_id)

    def attachments_of(self, entry_id: str) -> list[StoredAttachment]:
        """The files of an entry, without data."""
        with self._connections.reading() as db:
            return attachments.of_entry(db, entry_id)

    # Vectors

    def has_vectors(self) -> bool:
        """True when at least one entry has a vector."""
        with self._connections.reading() as db:
            return vectors.has_vectors(db)

    def embedding_tables(self) -> list[EmbeddingTableInfo]:
        """The tables of vectors."""
        with self._connections.reading() as db:
            return vectors.tables(db)

    def vector_counts(self, model: VectorModel) -> VectorCounts:
        """Entries by the state of their vector."""
        with self._connections.reading() as db:
            return self._vector_counts.get(model, vectors.stamps(db), lambda: vectors.counts(db, model))

    def claim_pending(self, model: VectorModel, worker: str, limit: int) -> list[PendingText]:
        """Take entries without a current vector."""
        self._connections.with_vectors()
        with self._connections.writing() as db:
            return vectors.claim(db, model, worker, limit, self._places)

    def store_vectors(self, model: VectorModel, made: Sequence[EntryVectors]) -> int:
        """Keep vectors whose text is still the entry's; the number kept."""
        self._connections.with_vectors()
        with self._connections.writing() as db:
            return vectors.store(db, model, made)

    def forget_failed(self, model: VectorModel) -> None:
        """Let entries whose embedding failed wait again."""
        with self._connections.writing() as db:
            vectors.forget_failed(db, model)

    def release_claims(self, worker: str) -> None:
        """Give back what a worker took and did not finish."""
        self._places.forget(worker)
        with self._connections.writing() as db:
            vectors.release(db, worker)
            db.execute("DELETE FROM enhancement_claims WHERE worker = ?", (worker,))

    def seal_vectors(self, model: VectorModel) -> None:
        """Bring the derived copy of a model's vectors up to date."""
        self._connections.with_vectors()
        with self._connections.writing() as db:
            seal(db, model)

    def drop_vectors(self, name: str) -> int:
        """Forget all vectors of a model; the number of entries that had one."""
        self._connections.with_vectors()
        with self._connections.writing() as db:
            return vectors.drop(db, name)

    def stored_vectors(self, model: VectorModel, entry_ids: Sequence[str]) -> list[EntryVectors]:
        """The current vectors of these entries that have one."""
        self._connections.with_vectors()
        with self._connections.reading() as db:
            return vectors.stored(db, model, entry_ids)

    def nearest(
        self, model: VectorModel, query: NDArray[np.float32], k: int, rows: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """(rows, similarities) of the k nearest entries, best first, among `rows` where given."""
        self._connections.with_vectors()
        with self._connections.reading() as db:
            return self._nearest.search(db, model, query, k, rows)

    # History

    def start_run(self, source_system: str, metadata: dict[str, Any] | None = None) -> int:
        """Note that a run began; its number."""
        with self._connections.writing() as db:
            return runs.start(db, source_system, metadata or {})

    def finish_run(
        self, run_id: int, *, added: int, updated: int, failed: int, error: str | None, metadata: dict[str, Any]
    ) -> None:
        """Note how a run ended; `error` makes it a failed one."""
        with self._connections.writing() as db:
            runs.finish(db, run_id, added=added, updated=updated, failed=failed, error=error, metadata=metadata)

    def runs(self, source_system: str | None = None, limit: int = 20) -> list[IngestionRun]:
        """The latest runs, newest first."""
        with self._connections.reading() as db:
            return runs.latest(db, source_system, limit)

    def exclusively(self, purpose: str) -> AbstractContextManager[Hold]:
        """Inside, no other process is inside for the same purpose."""
        return exclusive.exclusively(self.path, purpose)

    # Maintenance

    def status(self) -> BackendStatus:
        """Counts and health."""
        with self._connections.reading() as db:
            return maintenance.status(db, self.path)

    def check(self, progress: Progress = lambda done: None) -> list[Problem]:
        """Compare entries, index and vocabulary; what does not agree."""
        with self._connections.reading() as db:
            return maintenance.check(db, progress)

    def reindex(self, *, everything: bool = False, progress: Progress = lambda done: None) -> int:
        """Index what is not indexed (or everything), in one transaction; the number of entries indexed."""
        with self._writing() as session:
            return maintenance.reindex(session, self.path, everything=everything, progress=progress)

    def purge(self, *, entries: bool) -> None:
        """Empty the file."""
        with self._connections.reading() as db:
            has_models = vectors.has_models(db)
        if has_models:
            self._connections.with_vectors()
        self._nearest.forget()
        self._places.forget_all()
        with self._connections.writing() as db:
            maintenance.purge(db)
        self._connections.compact()

    def backup(self, target: Path) -> int:
        """Write a whole, checked copy; the number of entries in it."""
        return maintenance.backup(self._connections, target)

    def restore(self, source: Path) -> int:
        """Replace the contents by a backup's; the number of entries."""
        count = maintenance.restore(self._connections, source)
        self._nearest.forget()
        self._places.forget_all()
        self._memory().forget()
        migrate(self._connections)
        return count


class _RolledBack(Exception):
    """A dry run's end."""
