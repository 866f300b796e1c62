"""Keeping a database in order: status, check, reindex, purge."""

from __future__ import annotations

from functools import cache

from ariel_lite.backends.postgres.columns import Layout, read_entries
from ariel_lite.backends.postgres.connection import NEW_STAMP, Connection, integer
from ariel_lite.backends.postgres.entries import EntryWriterSession
from ariel_lite.backends.postgres.lexemes import index_text
from ariel_lite.backends.postgres.migrations import has_table, is_attached
from ariel_lite.backends.postgres.vectors import drop
from ariel_lite.backends.values import BackendStatus, Problem, Progress, batched
from ariel_lite.records import searchable_text
from ariel_lite.text.tokenise import Analyzer

BATCH = 1000
INDEX_TABLES = "ariel_lite_lexemes, ariel_lite_entry_fields, ariel_lite_field_values, ariel_lite_vocabulary"
OWN_TABLES = (
    f"{INDEX_TABLES}, ariel_lite_entry_state, ariel_lite_embedding_state, ariel_lite_embedding_claims,"
    " ariel_lite_embedding_models, ariel_lite_drafts, ariel_lite_staged_files, ariel_lite_enhancement_claims"
)
ABSENT = (
    "SELECT e.entry_id FROM enhanced_entries AS e WHERE NOT EXISTS"
    " (SELECT 1 FROM ariel_lite_lexemes AS i WHERE i.entry_id = e.entry_id) ORDER BY e.timestamp, e.entry_id"
)
EDITED = (
    "SELECT e.entry_id FROM enhanced_entries AS e JOIN ariel_lite_entry_state AS s ON s.entry_id = e.entry_id"
    " WHERE {fingerprint} IS DISTINCT FROM s.fingerprint"
)
GONE = (
    "SELECT s.entry_id FROM ariel_lite_entry_state AS s WHERE NOT EXISTS"
    " (SELECT 1 FROM enhanced_entries AS e WHERE e.entry_id = s.entry_id)"
)
TOUCHED = " AND e.updated_at IS DISTINCT FROM s.updated_at"
SIZE = (
    "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND pg_table_is_visible(oid)"
    " AND (relname ~ '^(ariel_|text_embeddings_|text_windows_)'"
    " OR relname IN ('enhanced_entries', 'attachment_files', 'ingestion_runs'))"
)
COMPARE = (
    "SELECT count(*) FROM unnest(%s::text[], %s::integer[], %s::text[]) AS w (entry_id, length, made)"
    " JOIN ariel_lite_lexemes AS i ON i.entry_id = w.entry_id"
    " WHERE i.length <> w.length OR i.lexemes <> w.made::tsvector"
)


def status(connection: Connection, layout: Layout) -> BackendStatus:
    """Counts and health of the database."""
    entries = integer(connection, "SELECT count(*) FROM enhanced_entries")
    attachments = integer(connection, "SELECT count(*) FROM attachment_files")
    finished = "SELECT max(completed_at) FROM ingestion_runs WHERE status = 'success'"
    last = (connection.execute(finished).fetchone() or (None,))[0]
    is_indexed = has_table(connection, "ariel_lite_lexemes")
    unindexed = entries
    if is_indexed:
        edited = f"SELECT count(*) FROM ({EDITED.format(fingerprint=layout.fingerprint)}{TOUCHED}) AS edited"
        unindexed = integer(connection, f"SELECT count(*) FROM ({ABSENT}) AS absent") + integer(connection, edited)
    return BackendStatus(
        entries=entries,
        indexed=entries - unindexed,
        unindexed=unindexed,
        cut=integer(connection, "SELECT count(*) FROM ariel_lite_entry_state WHERE is_cut") if is_indexed else 0,
        attachments=attachments,
        size_bytes=_size(connection),
        analyzer_current=not is_indexed or is_analyzer_current(connection),
        last_ingestion=last,
    )


def is_analyzer_current(connection: Connection) -> bool:
    """True when the index was made by an analyzer that gives the same lexemes as this one."""
    row = connection.execute("SELECT value FROM ariel_lite_settings WHERE key = 'analyzer'").fetchone()
    return row == (_fingerprint(),)


def index_gap(connection: Connection) -> str:
    """Entries that another program wrote or removed, or an index of another analyzer; "" when all is well.

    Entries are only counted here; edits by another program are found by `status` and `reindex`.
    """
    sql = (
        "SELECT (SELECT count(*) FROM enhanced_entries), entries,"
        " (SELECT value FROM ariel_lite_settings WHERE key = 'analyzer') FROM ariel_lite_totals"
    )
    stored, indexed, analyzer = connection.execute(sql).fetchone() or (0, 0, "")
    if stored > indexed:
        return f"{stored - indexed} {'entry is' if stored - indexed == 1 else 'entries are'} not indexed yet"
    if stored < indexed:
        return f"{indexed - stored} indexed entries were removed by another program"
    return "" if analyzer == _fingerprint() else "the index was made by another version of the analyzer"


class GapMemory:
    """What `index_gap` said last. Counting all entries takes long, and as long as nobody writes it is the same.

    Two transactions that have the same snapshot see the same database, unless they have changed it themselves.
    """

    def __init__(self) -> None:
        self._said: tuple[str, str] | None = None

    def get(self, connection: Connection) -> str:
        """What `index_gap` says now."""
        sql = "SELECT pg_current_snapshot()::text, pg_current_xact_id_if_assigned() IS NULL"
        snapshot, is_reader = connection.execute(sql).fetchone() or ("", False)
        said = self._said
        if is_reader and said is not None and said[0] == snapshot:
            return said[1]
        gap = index_gap(connection)
        if is_reader:
            self._said = (snapshot, gap)
        return gap


@cache
def _fingerprint() -> str:
    return Analyzer().fingerprint


def outdated(connection: Connection, layout: Layout) -> tuple[list[str], list[str]]:
    """Ids of entries that are not indexed as they are, and of entries in the index that are no more."""
    absent = [entry_id for (entry_id,) in connection.execute(ABSENT)]
    edited = [entry_id for (entry_id,) in connection.execute(EDITED.format(fingerprint=layout.fingerprint))]
    known = set(absent)
    gone = [entry_id for (entry_id,) in connection.execute(GONE)]
    return absent + [entry_id for entry_id in edited if entry_id not in known], gone


def drop_index(connection: Connection) -> None:
    """Empty the index, so that every entry counts as not indexed; row numbers and vectors stay."""
    connection.execute(f"TRUNCATE {INDEX_TABLES}")
    connection.execute(
        f"UPDATE ariel_lite_totals SET entries = 0, positions = 0, generation = {NEW_STAMP}, vocabulary = {NEW_STAMP},"
        f" vectors = {NEW_STAMP}"
    )
    connection.execute("UPDATE ariel_lite_settings SET value = %s WHERE key = 'analyzer'", (_fingerprint(),))


def note_touched(connection: Connection, layout: Layout) -> None:
    """Entries whose time of change moved, but nothing that we index: remember the new time."""
    connection.execute(
        "UPDATE ariel_lite_entry_state AS s SET updated_at = e.updated_at FROM enhanced_entries AS e"
        f" WHERE e.entry_id = s.entry_id AND {layout.fingerprint} = s.fingerprint{TOUCHED}"
    )


def reindex_batch(session: EntryWriterSession, entry_ids: list[str]) -> int:
    """Index a batch anew; the number of entries indexed."""
    done = session.index(entry_ids)
    session.tidy()
    return done


def check(connection: Connection, layout: Layout, progress: Progress) -> list[Problem]:
    """Compare entries with index, fields and vocabulary."""
    if not is_analyzer_current(connection):
        return [Problem("the index was made by another analyzer or Unicode version", True)]
    absent = integer(connection, f"SELECT count(*) FROM ({ABSENT}) AS absent")
    edited = integer(connection, f"SELECT count(*) FROM ({EDITED.format(fingerprint=layout.fingerprint)}) AS edited")
    gone = integer(connection, f"SELECT count(*) FROM ({GONE}) AS gone")
    found = [
        (absent, "entries are not in the index"),
        (edited, "entries were changed by another program since they were indexed"),
        (gone, "index rows have no entry"),
    ]
    problems = [Problem(f"{count} {what}", True) for count, what in found if count]
    return problems or _check_contents(connection, layout, progress)


def purge(connection: Connection, *, entries: bool) -> None:
    """Remove what ariel-lite made; entries, files and history too when they are ours or `entries` says so."""
    attached = is_attached(connection)
    if entries or not attached:
        for table in ("attachment_files", "enhanced_entries", "ingestion_runs"):
            connection.execute(f"DELETE FROM {table}")
    for (name,) in connection.execute("SELECT DISTINCT name FROM ariel_lite_embedding_models").fetchall():
        drop(connection, name)
    if attached and not entries:
        connection.execute(f"DROP TABLE {OWN_TABLES}, ariel_lite_totals, ariel_lite_settings")
        return
    connection.execute(f"TRUNCATE {OWN_TABLES}")
    drop_index(connection)


def _check_contents(connection: Connection, layout: Layout, progress: Progress) -> list[Problem]:
    analyzer = Analyzer()
    ids = [entry_id for (entry_id,) in connection.execute("SELECT entry_id FROM ariel_lite_lexemes ORDER BY row_id")]
    words: dict[str, int] = {}
    unlike = positions = 0
    for batch in batched(ids, BATCH):
        entries = [entry for _, entry in read_entries(connection, layout, batch)]
        made = [index_text(analyzer, searchable_text(entry)) for entry in entries]
        for text in made:
            positions += text.length
            for word in text.words:
                words[word] = words.get(word, 0) + 1
        columns = ([e["entry_id"] for e in entries], [t.length for t in made], [t.vector for t in made])
        unlike += integer(connection, COMPARE, columns)
        progress(len(batch))
    problems = [Problem(f"{unlike} entries have another text in the index than their own", True)] if unlike else []
    if words != dict(connection.execute("SELECT term, entries FROM ariel_lite_vocabulary").fetchall()):
        problems.append(Problem("the vocabulary does not agree with the entries", True))
    if (len(ids), positions) != connection.execute("SELECT entries, positions FROM ariel_lite_totals").fetchone():
        problems.append(Problem("the counts of entries and words do not agree with the entries", True))
    return problems


def _size(connection: Connection) -> int:
    row = connection.execute(SIZE.encode()).fetchone()
    return int(row[0] or 0) if row else 0
