"""Records in: one transaction changes an entry, its index, its fields, its vocabulary and its vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ariel_lite.backends.encoding import cleaned_entry, content_hash, digest, to_json
from ariel_lite.backends.merging import completed, is_reworded, merged, settled
from ariel_lite.backends.postgres import attachments, vectors
from ariel_lite.backends.postgres.arrays import Rows
from ariel_lite.backends.postgres.columns import WORDS, Layout, read_entries
from ariel_lite.backends.postgres.connection import NEW_STAMP, Connection
from ariel_lite.backends.postgres.lexemes import IndexedText, index_text, words_of
from ariel_lite.backends.values import UpsertOutcome, batched
from ariel_lite.query.bind import fold_value
from ariel_lite.records import EnhancedLogbookEntry, field_values, own_text, searchable_text
from ariel_lite.text.tokenise import INDEXED_CHARACTERS, Analyzer

BATCH = 500
MANY_CHANGES = 100
"""From so many changes on, the index is tidied at once instead of by the next search or by autovacuum."""

STORE_ENTRIES = (
    "INSERT INTO enhanced_entries AS e (entry_id, source_system, timestamp, author, raw_text, attachments, metadata,"
    " created_at, updated_at, enhancement_status{columns})"
    " SELECT w.id, w.source, w.at, w.author, w.text, w.attachments::jsonb, w.metadata::jsonb, w.created, w.updated,"
    " w.status::jsonb{values} FROM unnest(%s::text[], %s::text[], %s::timestamptz[], %s::text[], %s::text[],"
    " %s::text[], %s::text[], %s::timestamptz[], %s::timestamptz[], %s::text[], %s::text[], %s::text[])"
    " AS w (id, source, at, author, text, attachments, metadata, created, updated, status, summary, keywords)"
    " ON CONFLICT (entry_id) DO UPDATE SET source_system = excluded.source_system, timestamp = excluded.timestamp,"
    " author = excluded.author, raw_text = excluded.raw_text, attachments = excluded.attachments,"
    " metadata = excluded.metadata, updated_at = excluded.updated_at,"
    " enhancement_status = excluded.enhancement_status{updates}"
)
STORE_STATES = (
    "INSERT INTO ariel_lite_entry_state"
    " (entry_id, content_hash, text_hash, fingerprint, updated_at, is_cut, summary, keywords)"
    " SELECT e.entry_id, w.content, w.text, {fingerprint}, e.updated_at, w.is_cut, w.summary, {keywords}"
    " FROM unnest(%s::text[], %s::bytea[], %s::bytea[], %s::boolean[], %s::text[], %s::text[]) WITH ORDINALITY"
    " AS w (entry_id, content, text, is_cut, summary, keywords, place)"
    " JOIN enhanced_entries AS e ON e.entry_id = w.entry_id ORDER BY w.place"
    " ON CONFLICT (entry_id) DO UPDATE SET content_hash = excluded.content_hash, text_hash = excluded.text_hash,"
    " fingerprint = excluded.fingerprint, updated_at = excluded.updated_at, is_cut = excluded.is_cut,"
    " summary = excluded.summary, keywords = excluded.keywords RETURNING entry_id, row_id"
)
STORE_LEXEMES = (
    "INSERT INTO ariel_lite_lexemes (row_id, entry_id, at, length, limit_kind, frequencies, lexemes)"
    " SELECT row_id, entry_id, at, length, kind, frequencies::jsonb, lexemes::tsvector FROM unnest(%s::bigint[],"
    " %s::text[], %s::timestamptz[], %s::integer[], %s::smallint[], %s::text[], %s::text[])"
    " AS w (row_id, entry_id, at, length, kind, frequencies, lexemes)"
    " ON CONFLICT (row_id) DO UPDATE SET entry_id = excluded.entry_id, at = excluded.at, length = excluded.length,"
    " limit_kind = excluded.limit_kind, frequencies = excluded.frequencies, lexemes = excluded.lexemes"
)
STORE_VALUES = (
    "INSERT INTO ariel_lite_field_values (field, value, folded)"
    " SELECT DISTINCT ON (field, value) field, value, folded"
    " FROM unnest(%s::text[], %s::text[], %s::text[]) AS w (field, value, folded)"
    ' WHERE NOT EXISTS (SELECT 1 FROM ariel_lite_field_values AS v WHERE v.field = w.field COLLATE "C"'
    " AND md5(v.value) = md5(w.value)) ON CONFLICT DO NOTHING"
)
STORE_FIELDS = (
    "INSERT INTO ariel_lite_entry_fields (value_id, row_id) SELECT DISTINCT v.value_id, w.row_id"
    " FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS w (row_id, field, value) JOIN ariel_lite_field_values AS v"
    ' ON v.field = w.field COLLATE "C" AND md5(v.value) = md5(w.value)'
)
STORE_WORDS = (
    "WITH changed AS (INSERT INTO ariel_lite_vocabulary AS v (term, entries)"
    " SELECT term, entries FROM unnest(%s::text[], %s::integer[]) AS w (term, entries)"
    " ON CONFLICT (term) DO UPDATE SET entries = v.entries + excluded.entries RETURNING xmax)"
    " SELECT count(*) FROM changed WHERE xmax = 0"
)
MOVE_TOTALS = (
    f"UPDATE ariel_lite_totals SET generation = {NEW_STAMP},"
    f" vocabulary = CASE WHEN %s THEN {NEW_STAMP} ELSE vocabulary END,"
    " entries = entries + %s, positions = positions + %s"
)


@dataclass(frozen=True)
class _Stored:
    source_system: str
    row_id: int | None
    content_hash: bytes | None
    is_as_indexed: bool


@dataclass(frozen=True)
class _Change:
    entry: EnhancedLogbookEntry
    before: EnhancedLogbookEntry | None
    row_id: int | None


@dataclass(frozen=True)
class _Indexed:
    """What the index holds of an entry now."""

    row_id: int
    length: int
    words: set[str]


class EntryWriterSession:
    """Writes over one connection, inside a write transaction of the caller that holds the writers' lock."""

    def __init__(self, connection: Connection, layout: Layout, analyzer: Analyzer) -> None:
        self._db = connection
        self._layout = layout
        self._analyzer = analyzer

    @property
    def connection(self) -> Connection:
        """The connection whose transaction this is."""
        return self._db

    @property
    def layout(self) -> Layout:
        """Where the parts of entries stand."""
        return self._layout

    def upsert(self, entries: Sequence[EnhancedLogbookEntry]) -> UpsertOutcome:
        """Store a batch in which no id stands twice; see `backends.base.EntryWriter.upsert`."""
        outcome = UpsertOutcome()
        for batch in batched(map(cleaned_entry, entries), BATCH):
            changes = self._changes(self._settle_ids(batch, outcome), outcome)
            if changes:
                self._store(changes)
        if len(outcome.added) + len(outcome.updated) >= MANY_CHANGES:
            self.tidy()
        return outcome

    def rewrite(self, entries: Sequence[EnhancedLogbookEntry]) -> None:
        """Store and index new versions of entries that are there."""
        versions = {entry["entry_id"]: entry for entry in entries}
        stored = read_entries(self._db, self._layout, list(versions))
        changes = [_Change(versions[before["entry_id"]], before, row) for row, before in stored]
        if changes:
            self._store(changes)

    def delete(self, entry_ids: Sequence[str]) -> int:
        """Remove entries with their index, fields, words, files and vectors."""
        ids = list(entry_ids)
        self.unindex(ids)
        self._db.execute("DELETE FROM attachment_files WHERE entry_id = ANY(%s)", (ids,))
        return self._db.execute("DELETE FROM enhanced_entries WHERE entry_id = ANY(%s)", (ids,)).rowcount

    def index(self, entry_ids: Sequence[str]) -> int:
        """Index stored entries as they are now; the number of them that exist."""
        entries = [entry for _, entry in read_entries(self._db, self._layout, entry_ids)]
        for batch in batched(entries, BATCH):
            self._index(batch)
        vectors.forget_outdated(self._db, entry_ids)
        return len(entries)

    def unindex(self, entry_ids: Sequence[str]) -> None:
        """Forget the index and the vectors of entries, whether they still exist or not."""
        known = self._indexed(entry_ids)
        rows = np.array([indexed.row_id for indexed in known.values()], dtype=np.int64)
        vectors.forget_rows(self._db, rows)
        for table in ("ariel_lite_lexemes", "ariel_lite_entry_state", "ariel_lite_entry_fields"):
            self._db.execute(f"DELETE FROM {table} WHERE row_id = ANY(%s)", (rows,))
        words = Counter(word for indexed in known.values() for word in indexed.words)
        self._count(Counter({word: -count for word, count in words.items()}), known.values(), [])

    def tidy(self) -> None:
        """Merge what was just indexed into the main index, so that the next search need not do without it."""
        self._db.execute("SELECT gin_clean_pending_list('ariel_lite_lexemes_gin')")

    def _settle_ids(
        self, entries: Sequence[EnhancedLogbookEntry], outcome: UpsertOutcome
    ) -> list[EnhancedLogbookEntry]:
        stored = self._stored([entry["entry_id"] for entry in entries])
        return settled({entry_id: known.source_system for entry_id, known in stored.items()}, entries, outcome)

    def _stored(self, entry_ids: Sequence[str]) -> dict[str, _Stored]:
        sql = (
            f"SELECT e.entry_id, e.source_system, s.row_id, s.content_hash, {self._layout.fingerprint} = s.fingerprint"
            " FROM enhanced_entries AS e LEFT JOIN ariel_lite_entry_state AS s ON s.entry_id = e.entry_id"
            " WHERE e.entry_id = ANY(%s)"
        )
        found = self._db.execute(sql, (list(entry_ids),))
        return {
            entry_id: _Stored(source or "", row, None if content is None else bytes(content), bool(same))
            for entry_id, source, row, content, same in found
        }

    def _changes(self, entries: Sequence[EnhancedLogbookEntry], outcome: UpsertOutcome) -> list[_Change]:
        stored = self._stored([entry["entry_id"] for entry in entries])
        known_ids = [entry["entry_id"] for entry in entries if entry["entry_id"] in stored]
        before = {entry["entry_id"]: entry for _, entry in read_entries(self._db, self._layout, known_ids)}
        now = datetime.now(UTC)
        changes: list[_Change] = []
        for entry in sorted(entries, key=lambda entry: entry["timestamp"]):
            entry_id = entry["entry_id"]
            known = stored.get(entry_id)
            if known is None:
                changes.append(_Change(completed(entry, now), None, None))
                outcome.added.append(entry_id)
                continue
            made = merged(before[entry_id], entry, now)
            if known.is_as_indexed and content_hash(made) == known.content_hash:
                outcome.unchanged += 1
            else:
                changes.append(_Change(made, before[entry_id], known.row_id))
                outcome.updated.append(entry_id)
        return changes

    def _store(self, changes: Sequence[_Change]) -> None:
        reworded = [
            change.row_id
            for change in changes
            if change.before is not None and change.row_id is not None and is_reworded(change.before, change.entry)
        ]
        vectors.forget_rows(self._db, np.array(reworded, dtype=np.int64))
        entries = [change.entry for change in changes]
        words = {"columns": "", "values": "", "updates": ""}
        if self._layout.has_own_words:
            words["columns"] = ", summary, keywords"
            words["values"] = f", w.summary, {WORDS.format('w.keywords')}"
            words["updates"] = ", summary = excluded.summary, keywords = excluded.keywords"
        columns = zip(*map(_columns, entries), strict=True)
        self._db.execute(STORE_ENTRIES.format(**words), [list(column) for column in columns])
        self._index(entries)
        for change in changes:
            if change.before is not None and change.before["attachments"] != change.entry["attachments"]:
                attachments.forget_unlisted(self._db, change.entry)

    def _index(self, entries: Sequence[EnhancedLogbookEntry]) -> None:
        """Index entries that are stored; what the index held of them is replaced."""
        known = self._indexed([entry["entry_id"] for entry in entries])
        old_rows = np.array([indexed.row_id for indexed in known.values()], dtype=np.int64)
        if len(old_rows):
            self._db.execute("DELETE FROM ariel_lite_entry_fields WHERE row_id = ANY(%s)", (old_rows,))
        texts = [searchable_text(entry) for entry in entries]
        made = [index_text(self._analyzer, text) for text in texts]
        numbers = self._store_states(entries, texts)
        rows = np.array([numbers[entry["entry_id"]] for entry in entries], dtype=np.int64)
        self._store_lexemes(rows, entries, made)
        self._store_fields(rows, entries)
        words = Counter(word for text in made for word in text.words)
        words.subtract(word for indexed in known.values() for word in indexed.words)
        self._count(words, known.values(), made)

    def _store_states(self, entries: Sequence[EnhancedLogbookEntry], texts: Sequence[str]) -> dict[str, int]:
        sql = STORE_STATES.format(fingerprint=self._layout.fingerprint, keywords=WORDS.format("w.keywords"))
        outside = not self._layout.has_own_words
        keywords = [to_json(e["keywords"]) if outside and e.get("keywords") else None for e in entries]
        parameters = (
            [entry["entry_id"] for entry in entries],
            [content_hash(entry) for entry in entries],
            [digest(own_text(entry)) for entry in entries],
            [len(text) > INDEXED_CHARACTERS for text in texts],
            [entry.get("summary") if outside else None for entry in entries],
            keywords,
        )
        return {entry_id: int(row) for entry_id, row in self._db.execute(sql, parameters)}

    def _store_lexemes(self, rows: Rows, entries: Sequence[EnhancedLogbookEntry], made: Sequence[IndexedText]) -> None:
        parameters = (
            rows,
            [entry["entry_id"] for entry in entries],
            [entry["timestamp"] for entry in entries],
            [text.length for text in made],
            [text.limit_kind for text in made],
            [None if text.frequencies is None else to_json(text.frequencies) for text in made],
            [text.vector for text in made],
        )
        self._db.execute(STORE_LEXEMES, parameters)

    def _store_fields(self, rows: Rows, entries: Sequence[EnhancedLogbookEntry]) -> None:
        found = [
            (int(row), name, value)
            for row, entry in zip(rows, entries, strict=True)
            for name, values in field_values(entry).items()
            for value in values
        ]
        distinct = list({(name, value) for _, name, value in found})
        folded = [fold_value(value) for _, value in distinct]
        self._db.execute(STORE_VALUES, ([name for name, _ in distinct], [value for _, value in distinct], folded))
        numbers = np.array([row for row, _, _ in found], dtype=np.int64)
        self._db.execute(STORE_FIELDS, (numbers, [name for _, name, _ in found], [value for _, _, value in found]))

    def _indexed(self, entry_ids: Iterable[str]) -> dict[str, _Indexed]:
        sql = (
            "SELECT entry_id, row_id, length, CASE WHEN limit_kind = 2"
            " THEN ARRAY(SELECT jsonb_object_keys(frequencies)) ELSE tsvector_to_array(lexemes) END"
            " FROM ariel_lite_lexemes WHERE entry_id = ANY(%s)"
        )
        return {
            entry_id: _Indexed(int(row), int(length), words_of(lexemes))
            for entry_id, row, length, lexemes in self._db.execute(sql, (list(entry_ids),))
        }

    def _count(self, words: Mapping[str, int], before: Iterable[_Indexed], after: Iterable[IndexedText]) -> None:
        """Move the counters: words by the number of entries, entries and positions of the whole logbook."""
        moved = sorted((word, count) for word, count in words.items() if count)
        added = removed = 0
        if moved:
            terms, counts = [word for word, _ in moved], [count for _, count in moved]
            found = self._db.execute(STORE_WORDS, (terms, counts)).fetchone()
            added = found[0] if found else 0
        lost = [word for word, count in moved if count < 0]
        if lost:
            sql = "DELETE FROM ariel_lite_vocabulary WHERE term = ANY(%s) AND entries <= 0"
            removed = self._db.execute(sql, (lost,)).rowcount
        gone, come = [indexed.length for indexed in before], [text.length for text in after]
        self._db.execute(MOVE_TOTALS, (bool(added or removed), len(come) - len(gone), sum(come) - sum(gone)))


def _columns(entry: EnhancedLogbookEntry) -> tuple[Any, ...]:
    keywords = entry.get("keywords")
    return (
        entry["entry_id"],
        entry["source_system"],
        entry["timestamp"],
        entry["author"],
        entry["raw_text"],
        to_json(entry["attachments"]),
        to_json(entry["metadata"]),
        entry["created_at"],
        entry["updated_at"],
        to_json(entry.get("enhancement_status") or {}),
        entry.get("summary"),
        to_json(keywords) if keywords else None,
    )
