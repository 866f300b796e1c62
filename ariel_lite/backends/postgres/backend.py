"""The PostgreSQL backend: a server's database. It composes this folder's modules; each method is one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ariel_lite.backends.base import Hold
from ariel_lite.backends.counts_cache import CountsCache
from ariel_lite.backends.merging import without_repeats
from ariel_lite.backends.postgres import attachments, exclusive, facets, maintenance, nearest, runs, vectors
from ariel_lite.backends.postgres.columns import read_entries
from ariel_lite.backends.postgres.connection import Connection
from ariel_lite.backends.postgres.drafts import Drafts
from ariel_lite.backends.postgres.enhancement_log import EnhancementNotes
from ariel_lite.backends.postgres.migrations import migrate
from ariel_lite.backends.postgres.search import Searcher, SearchMemory
from ariel_lite.backends.postgres.vocabulary import VocabularyCache
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
from ariel_lite.embeddings.base import clean_text
from ariel_lite.query.nodes import BoundNode
from ariel_lite.ranking.bm25 import CorpusStatistics
from ariel_lite.ranking.fuzzy import Vocabulary
from ariel_lite.records import EmbeddingTableInfo, EnhancedLogbookEntry

READ_BATCH = 500


def open_backend(
    location: str, config: ARIELConfig, *, create: bool = False, read_only: bool = False
) -> PostgresBackend:
    """Open a database by its URL; see `connection.Connections` for what is raised."""
    return PostgresBackend(location, create=create, read_only=read_only, pool_size=config.database.pool_size)


class PostgresBackend(Drafts, EnhancementNotes):
    """A logbook on a server; see `backends.base.Backend` for the methods. Safe to share between threads.

    `location` is the URL with its credentials.
    """

    name = "postgres"

    def __init__(self, location: str, *, create: bool = False, read_only: bool = False, pool_size: int = 4) -> None:
        super().__init__(location, create=create, read_only=read_only, pool_size=pool_size)
        self._vocabulary = VocabularyCache()
        self._memory = SearchMemory()
        self._facets = facets.Facets()
        self._gap = maintenance.GapMemory()
        self._vector_counts = CountsCache()

    # Reading

    def get_entries(self, entry_ids: Sequence[str]) -> list[EnhancedLogbookEntry]:
        """The entries of these ids that exist, in the order of the ids."""
        with self._connections.reading() as db:
            return [entry for _, entry in read_entries(db, self._layout, entry_ids)]

    def search(self, plan: SearchPlan) -> list[Hit]:
        """The plan's hits, in the contract's order."""
        with self._connections.reading() as db:
            return self._searcher(db).search(plan)

    def count(self, tree: BoundNode) -> int:
        """How many entries a bound tree matches."""
        with self._connections.reading() as db:
            return self._searcher(db).count(tree)

    def exists(self, tree: BoundNode) -> bool:
        """True when a bound tree matches at least one entry."""
        with self._connections.reading() as db:
            return self._searcher(db).exists(tree)

    def rows(self, tree: BoundNode) -> NDArray[np.int64]:
        """Row numbers of all indexed entries a tree matches, ascending."""
        with self._connections.reading() as db:
            return self._searcher(db).rows(tree)

    def best_rows(self, rows: NDArray[np.int64], scores: NDArray[np.float64], limit: int, offset: int = 0) -> list[Hit]:
        """Scored rows as hits, best first, newest first among equals, then by id."""
        with self._connections.reading() as db:
            return self._searcher(db).best_rows(rows, scores, limit, offset)

    def statements(self, plan: SearchPlan) -> list[Statement]:
        """What `search` would run for a plan."""
        with self._connections.reading() as db:
            return self._searcher(db).statements(plan)

    def vocabulary(self) -> Vocabulary:
        """The written words of all entries."""
        with self._connections.reading() as db:
            return self._vocabulary.get(db)

    def index_gap(self) -> str:
        """What is stored but cannot be found, in words, or ""."""
        with self._connections.reading() as db:
            return self._gap.get(db)

    def limited(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """Inside, this thread's statements end with SearchTimeoutError as soon as `should_stop()` is true."""
        return self._connections.limited(should_stop)

    def statistics(self) -> CorpusStatistics:
        """Entries and positions of the whole logbook."""
        with self._connections.reading() as db:
            return self._searcher(db).statistics()

    def field_counts(self, name: str, tree: BoundNode | None = None, limit: int = 100) -> list[tuple[str, int]]:
        """Values of a field with the number of entries, most first."""
        with self._connections.reading() as db:
            return self._facets.field_counts(db, self._searcher(db), name, tree, limit)

    def month_counts(self, tree: BoundNode, zone: str) -> list[tuple[str, int]]:
        """(YYYY-MM in the zone, number of entries), in time order."""
        with self._connections.reading() as db:
            return self._facets.month_counts(db, self._searcher(db), tree, zone)

    def linking_to(self, entry_ids: Sequence[str]) -> list[str]:
        """Ids of the entries whose metadata.linked_to names one of these, by time."""
        with self._connections.reading() as db:
            return facets.linking_to(db, entry_ids)

    def iterate_entries(self, tree: BoundNode, order: Order = "oldest") -> Iterator[EnhancedLogbookEntry]:
        """All entries a tree matches, by time, streamed in batches."""
        with self._connections.reading() as db:
            found = facets.ids_by_time(db, self._searcher(db), tree, order)
        for batch in batched(found, READ_BATCH):
            yield from self.get_entries(batch)

    def iterate_changed(self, tree: BoundNode, since: datetime | None) -> Iterator[EnhancedLogbookEntry]:
        """Entries a tree matches whose `updated_at` is `since` or later, by (updated_at, id), streamed in batches."""
        with self._connections.reading() as db:
            found = facets.ids_by_change(db, self._searcher(db), tree, since)
        for batch in batched(found, READ_BATCH):
            yield from self.get_entries(batch)

    def entry_ids(self, source_system: str | None = None) -> Iterator[str]:
        """Ids of all entries, or of one source system's."""
        sql = (
            "SELECT e.entry_id FROM enhanced_entries AS e LEFT JOIN ariel_lite_entry_state AS s"
            " ON s.entry_id = e.entry_id WHERE %s::text IS NULL OR e.source_system = %s::text"
            ' ORDER BY s.row_id NULLS LAST, e.entry_id COLLATE "C"'
        )
        with self._connections.reading() as db:
            found = [entry_id for (entry_id,) in db.execute(sql, (source_system, source_system))]
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
        with self._connections.writing():
            yield

    def delete(self, entry_ids: Sequence[str]) -> int:
        """Remove entries with all that belongs to them."""
        with self._writing() as session:
            return session.delete([clean_text(entry_id) for entry_id in entry_ids])

    def store_attachment(
        self, entry_id: str, attachment_id: str, filename: str, mime_type: str, data: bytes
    ) -> StoredAttachment:
        """Keep a file; the same id again replaces it."""
        with self._connections.writing(entries=False) as db:
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
        with self._connections.writing(entries=False) as db:
            return vectors.claim(db, self._layout, model, worker, limit, self._places)

    def store_vectors(self, model: VectorModel, made: Sequence[EntryVectors]) -> int:
        """Keep vectors whose text is still the entry's; the number kept."""
        with self._connections.writing() as db:
            return vectors.store(db, model, made)

    def release_claims(self, worker: str) -> None:
        """Give back what a worker took and did not finish."""
        self._places.forget(worker)
        with self._connections.writing(entries=False) as db:
            vectors.release(db, worker)
            db.execute("DELETE FROM ariel_lite_enhancement_claims WHERE worker = %s", (worker,))

    def forget_failed(self, model: VectorModel) -> None:
        """Let entries whose embedding failed wait again."""
        with self._connections.writing(entries=False) as db:
            vectors.forget_failed(db, model)

    def seal_vectors(self, model: VectorModel) -> None:
        """Make the indexes of a model that has many vectors."""
        with self._connections.writing(entries=False) as db:
            nearest.seal(db, model)

    def drop_vectors(self, name: str) -> int:
        """Forget all vectors of a model; the number of entries that had one."""
        with self._connections.writing() as db:
            return vectors.drop(db, name)

    def stored_vectors(self, model: VectorModel, entry_ids: Sequence[str]) -> list[EntryVectors]:
        """The current vectors of these entries that have one."""
        with self._connections.reading() as db:
            return vectors.stored(db, model, entry_ids)

    def nearest(
        self, model: VectorModel, query: NDArray[np.float32], k: int, rows: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """(rows, similarities) of the k nearest entries, best first, among `rows` where given."""
        with self._connections.reading() as db:
            return nearest.search(db, model, query, k, rows)

    # History

    def start_run(self, source_system: str, metadata: dict[str, Any] | None = None) -> int:
        """Note that a run began; its number."""
        with self._connections.writing(entries=False) as db:
            return runs.start(db, source_system, metadata or {})

    def finish_run(
        self, run_id: int, *, added: int, updated: int, failed: int, error: str | None, metadata: dict[str, Any]
    ) -> None:
        """Note how a run ended; `error` makes it a failed one."""
        with self._connections.writing(entries=False) as db:
            runs.finish(db, run_id, added=added, updated=updated, failed=failed, error=error, metadata=metadata)

    def runs(self, source_system: str | None = None, limit: int = 20) -> list[IngestionRun]:
        """The latest runs, newest first."""
        with self._connections.reading() as db:
            return runs.latest(db, source_system, limit)

    def exclusively(self, purpose: str) -> AbstractContextManager[Hold]:
        """Inside, no other process is inside for the same purpose, on whatever machine."""
        return exclusive.exclusively(self.location, purpose)

    # Maintenance

    def status(self) -> BackendStatus:
        """Counts and health."""
        with self._connections.reading() as db:
            return maintenance.status(db, self._layout)

    def check(self, progress: Progress = lambda done: None) -> list[Problem]:
        """Compare entries, index and vocabulary; what does not agree."""
        with self._connections.reading() as db:
            return maintenance.check(db, self._layout, progress)

    def reindex(self, *, everything: bool = False, progress: Progress = lambda done: None) -> int:
        """Index what is not indexed as it is (or everything); the number of entries indexed.

        Each batch is a transaction: an interrupted run goes on where it stopped, and searches say what is missing.
        """
        migrate(self._connections, create=True)
        with self._connections.writing() as db:
            if everything or not maintenance.is_analyzer_current(db):
                maintenance.drop_index(db)
        with self._connections.reading() as db:
            found, gone = maintenance.outdated(db, self._layout)
        with self._writing() as session:
            session.unindex(gone)
            maintenance.note_touched(session.connection, self._layout)
        done = 0
        for batch in batched(found, maintenance.BATCH):
            with self._writing() as session:
                done += maintenance.reindex_batch(session, batch)
            progress(len(batch))
        return done

    def purge(self, *, entries: bool) -> None:
        """Remove what ariel-lite made; entries of an attached database only when `entries` is true."""
        self._places.forget_all()
        with self._connections.writing() as db:
            maintenance.purge(db, entries=entries)

    def _searcher(self, connection: Connection) -> Searcher:
        return Searcher(connection, self._layout, self._analyzer(), self._memory)


class _RolledBack(Exception):
    """A dry run's end."""
