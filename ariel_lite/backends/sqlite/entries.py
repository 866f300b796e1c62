"""Records in and out: one transaction changes an entry, its index, its fields, its vocabulary and its vectors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import apsw

from ariel_lite.backends.encoding import digest, joined_hash, to_json
from ariel_lite.backends.merging import EMBEDDING, completed, is_reworded, merged, settled
from ariel_lite.backends.sqlite import attachments
from ariel_lite.backends.sqlite.compiler import phrase
from ariel_lite.backends.sqlite.marks import note
from ariel_lite.backends.sqlite.stamps import generation, next_generation
from ariel_lite.backends.sqlite.tokenizer import IndexTokenizer
from ariel_lite.backends.statuses import pending_status
from ariel_lite.backends.values import UpsertOutcome
from ariel_lite.query.bind import fold_value
from ariel_lite.query.days import from_storage, to_storage
from ariel_lite.records import EnhancedLogbookEntry, field_values, own_text, searchable_text
from ariel_lite.text.highlight import Form
from ariel_lite.text.tokenise import INDEXED_CHARACTERS, WRITTEN, Analyzer, shorten

COLUMNS = (
    "entry_id, source_system, timestamp, author, raw_text, attachments, metadata,"
    " created_at, updated_at, enhancement_status, summary, keywords"
)


@dataclass(frozen=True)
class _Stored:
    row_id: int
    source_system: str
    content_hash: bytes | None


@dataclass(frozen=True)
class _Change:
    row_id: int
    entry: EnhancedLogbookEntry
    columns: tuple[Any, ...]
    content_hash: bytes
    before: EnhancedLogbookEntry | None


@dataclass
class WriterMemory:
    """What a writer remembers between transactions; to be forgotten when one fails."""

    analyzer: Analyzer = field(default_factory=Analyzer)
    field_ids: dict[tuple[str, str], int] = field(default_factory=dict)
    generation: int = -1

    def forget(self) -> None:
        """Start from what the file says."""
        self.field_ids.clear()
        self.analyzer = Analyzer()
        self.generation = -1


class EntryWriterSession:
    """Writes over one connection, inside a write transaction of the caller."""

    def __init__(
        self,
        connection: apsw.Connection,
        tokenizer: IndexTokenizer,
        memory: WriterMemory,
        forget_vectors: Callable[[list[int]], None],
    ) -> None:
        self._db = connection
        self._forget_vectors = forget_vectors
        self._tokenizer = tokenizer
        self._memory = memory
        self._has_new_words = False
        current = generation(connection)
        if memory.generation != current:
            memory.forget()
        memory.generation = current

    @property
    def connection(self) -> apsw.Connection:
        """The connection whose transaction this is."""
        return self._db

    def forget(self) -> None:
        """Start from what the file says, after the index was dropped."""
        self._memory.forget()
        self._has_new_words = True

    def upsert(self, entries: Sequence[EnhancedLogbookEntry]) -> UpsertOutcome:
        """Store a batch; see `backends.base.EntryWriter.upsert`."""
        outcome = UpsertOutcome()
        named = self._settle_ids(entries, outcome)
        stored = self._stored([entry["entry_id"] for entry in named])
        changes = self._changes(named, stored, outcome)
        if changes:
            self._write(changes)
        return outcome

    def rewrite(self, entries: Sequence[EnhancedLogbookEntry]) -> None:
        """Store and index new versions of entries that are there."""
        versions = {entry["entry_id"]: entry for entry in entries}
        stored = read_entries(self._db, list(versions))
        changes = [_change(row, versions[before["entry_id"]], before) for row, before in stored]
        if changes:
            self._write(changes)

    def delete(self, entry_ids: Sequence[str]) -> int:
        """Remove entries with their index, fields, words, files and vectors."""
        found = read_entries(self._db, entry_ids)
        rows = dict(found)
        self._unindex(rows)
        for row in rows:
            self._db.execute("DELETE FROM enhanced_entries WHERE row_id = ?", (row,))
        self._forget_vectors(list(rows))
        attachments.drop_unused(self._db)
        self._next_generation()
        return len(rows)

    def index_rows(self, rows: Iterable[int]) -> None:
        """Index stored entries that have no index yet."""
        entries = [(row, entry) for row, entry in read_rows(self._db, rows)]
        self._index([_change(row, entry, None) for row, entry in entries])
        self._next_generation()

    def unindex_rows(self, rows: Iterable[int]) -> None:
        """Forget the index of stored entries."""
        wanted = list(rows)
        found = dict(read_rows(self._db, wanted))
        self._unindex(found)
        self._forget_vectors(wanted)
        embedded = [row for row, entry in found.items() if EMBEDDING in (entry.get("enhancement_status") or {})]
        note(self._db, EMBEDDING, dict.fromkeys(embedded, pending_status()))
        gone = [row for row in wanted if row not in found]
        for row in gone:
            self._forget_row(row)
        if gone:
            self._unlearn({str(word) for (word,) in list(self._db.execute("SELECT term FROM vocabulary"))})
        self._next_generation()

    def _settle_ids(
        self, entries: Sequence[EnhancedLogbookEntry], outcome: UpsertOutcome
    ) -> list[EnhancedLogbookEntry]:
        stored = self._stored([entry["entry_id"] for entry in entries])
        return settled({entry_id: known.source_system for entry_id, known in stored.items()}, entries, outcome)

    def _stored(self, entry_ids: Sequence[str]) -> dict[str, _Stored]:
        sql = (
            "SELECT entry_id, e.row_id, source_system, content_hash FROM json_each(?) AS wanted"
            " CROSS JOIN enhanced_entries AS e ON e.entry_id = wanted.value LEFT JOIN entry_state USING (row_id)"
        )
        rows = self._db.execute(sql, (json.dumps(list(entry_ids)),))
        return {entry_id: _Stored(row, source, digest) for entry_id, row, source, digest in rows}

    def _changes(
        self, entries: Sequence[EnhancedLogbookEntry], stored: Mapping[str, _Stored], outcome: UpsertOutcome
    ) -> list[_Change]:
        known_ids = [entry["entry_id"] for entry in entries if entry["entry_id"] in stored]
        before = {entry["entry_id"]: entry for _, entry in read_entries(self._db, known_ids)}
        next_row = 1 + int(
            self._db.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = 'enhanced_entries'").get or 0
        )
        now = datetime.now(UTC)
        stamps = {now: to_storage(now)}
        changes: list[_Change] = []
        for entry in sorted(entries, key=lambda entry: entry["timestamp"]):
            known = stored.get(entry["entry_id"])
            if known is None:
                changes.append(_change(next_row, completed(entry, now), None, stamps))
                outcome.added.append(entry["entry_id"])
                next_row += 1
                continue
            old = before[entry["entry_id"]]
            change = _change(known.row_id, merged(old, entry, now), old)
            if change.content_hash == known.content_hash:
                outcome.unchanged += 1
            else:
                changes.append(change)
                outcome.updated.append(entry["entry_id"])
        return changes

    def _next_row(self) -> int:
        """A row number that no entry ever had."""
        used = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'enhanced_entries'").get
        return 1 + int(used or 0)

    def _write(self, changes: Sequence[_Change]) -> None:
        self._note_time_order(changes)
        edited = {change.row_id: change.before for change in changes if change.before is not None}
        self._unindex(edited)
        self._forget_vectors([c.row_id for c in changes if c.before is not None and is_reworded(c.before, c.entry)])
        self._db.executemany(
            f"INSERT INTO enhanced_entries (row_id, {COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"
            " ON CONFLICT (row_id) DO UPDATE SET source_system = excluded.source_system,"
            " timestamp = excluded.timestamp, author = excluded.author, raw_text = excluded.raw_text,"
            " attachments = excluded.attachments, metadata = excluded.metadata, updated_at = excluded.updated_at,"
            " enhancement_status = excluded.enhancement_status, summary = excluded.summary,"
            " keywords = excluded.keywords",
            ((change.row_id, *change.columns) for change in changes),
        )
        self._index(changes)
        for change in changes:
            if change.before is not None and change.before["attachments"] != change.entry["attachments"]:
                attachments.forget_unlisted(self._db, change.entry)
        self._next_generation(is_growth=not edited)

    def _index(self, changes: Sequence[_Change]) -> None:
        analyzer = self._memory.analyzer
        texts = [(change.row_id, searchable_text(change.entry)) for change in changes]
        self._tokenizer.insert(analyzer, texts)
        self._db.executemany(
            "INSERT OR REPLACE INTO entry_state VALUES (?, ?, ?, ?)",
            [
                (row, change.content_hash, digest(own_text(change.entry)), len(text) > INDEXED_CHARACTERS)
                for change, (row, text) in zip(changes, texts, strict=True)
            ],
        )
        fields = (pair for change in changes for pair in self._field_rows(change.row_id, change.entry))
        self._db.executemany("INSERT OR IGNORE INTO entry_fields VALUES (?, ?)", sorted(fields))
        words = analyzer.take_new_words()
        before = self._db.total_changes()
        self._db.executemany("INSERT OR IGNORE INTO vocabulary VALUES (?)", [(word,) for word in sorted(words)])
        self._has_new_words |= self._db.total_changes() > before

    def _unindex(self, rows: Mapping[int, EnhancedLogbookEntry]) -> None:
        """Take entries out of index, fields and vocabulary; `rows` holds them as they were indexed."""
        words: set[str] = set()
        analyzer = Analyzer()
        indexed = self._indexed(rows)
        for row, entry in rows.items():
            if row not in indexed:
                continue
            words |= analyzer.words(searchable_text(entry))
            self._db.execute("DELETE FROM entry_index WHERE rowid = ?", (row,))
            self._db.execute("DELETE FROM entry_state WHERE row_id = ?", (row,))
            for pair in self._field_rows(row, entry):
                self._db.execute("DELETE FROM entry_fields WHERE value_id = ? AND row_id = ?", pair)
        self._unlearn(words)

    def _forget_row(self, row: int) -> None:
        """Take an entry out of the index that another program deleted: only its row number is left of it."""
        self._db.execute("DELETE FROM entry_index WHERE rowid = ?", (row,))
        self._db.execute("DELETE FROM entry_state WHERE row_id = ?", (row,))
        self._db.execute("DELETE FROM entry_fields WHERE row_id = ?", (row,))

    def _unlearn(self, words: set[str]) -> None:
        """Drop the words that no entry holds any more."""
        gone = False
        for word in words:
            pattern = phrase((Form(WRITTEN + shorten(word)),))
            if not self._db.execute("SELECT 1 FROM entry_index WHERE entry_index MATCH ? LIMIT 1", (pattern,)).get:
                self._db.execute("DELETE FROM vocabulary WHERE term = ?", (word,))
                gone = self._has_new_words = True
        if gone:
            self._memory.analyzer = Analyzer()

    def _indexed(self, rows: Iterable[int]) -> set[int]:
        sql = "SELECT row_id FROM entry_state WHERE row_id IN (SELECT value FROM json_each(?))"
        return {row for (row,) in self._db.execute(sql, (json.dumps(list(rows)),))}

    def _field_rows(self, row: int, entry: EnhancedLogbookEntry) -> set[tuple[int, int]]:
        known = self._memory.field_ids
        return {
            (known.get((name, value)) or self._field_id(name, value), row)
            for name, values in field_values(entry).items()
            for value in values
        }

    def _field_id(self, name: str, value: str) -> int:
        known = self._memory.field_ids.get((name, value))
        if known is not None:
            return known
        found = self._db.execute("SELECT value_id FROM field_values WHERE field = ? AND value = ?", (name, value)).get
        if found is None:
            self._db.execute(
                "INSERT INTO field_values (field, value, folded) VALUES (?, ?, ?)", (name, value, fold_value(value))
            )
            found = self._db.last_insert_rowid()
        self._memory.field_ids[(name, value)] = int(found)
        return int(found)

    def _note_time_order(self, changes: Sequence[_Change]) -> None:
        """Row numbers ascend with time as long as every batch is newer than all before it."""
        latest = self._db.execute("SELECT max(timestamp) FROM enhanced_entries").get
        first = to_storage(changes[0].entry["timestamp"])
        moved = any(c.before is not None and c.before["timestamp"] != c.entry["timestamp"] for c in changes)
        added = [change for change in changes if change.before is None]
        late = added and latest is not None and to_storage(added[0].entry["timestamp"]) < latest
        if moved or late or (first is None):
            self._db.execute("UPDATE settings SET value = 0 WHERE key = 'time_ordered'")

    def _next_generation(self, *, is_growth: bool = False) -> None:
        """Note a change; see `stamps.next_generation`."""
        self._memory.generation = next_generation(self._db, is_growth=is_growth, has_new_words=self._has_new_words)
        self._has_new_words = False


def read_entries(connection: apsw.Connection, entry_ids: Sequence[str]) -> list[tuple[int, EnhancedLogbookEntry]]:
    """(row number, entry) of the ids that exist, in the order of the ids."""
    sql = (
        f"SELECT row_id, {COLUMNS} FROM json_each(?) AS wanted CROSS JOIN enhanced_entries"
        " ON entry_id = wanted.value ORDER BY wanted.key"
    )
    return [_entry(row) for row in connection.execute(sql, (json.dumps(list(entry_ids)),))]


def read_rows(connection: apsw.Connection, rows: Iterable[int]) -> Iterator[tuple[int, EnhancedLogbookEntry]]:
    """(row number, entry) of row numbers that exist, in their order."""
    sql = (
        f"SELECT row_id, {COLUMNS} FROM json_each(?) AS wanted CROSS JOIN enhanced_entries"
        " ON row_id = wanted.value ORDER BY wanted.key"
    )
    for row in connection.execute(sql, (json.dumps([int(row) for row in rows]),)):
        yield _entry(row)


def _change(
    row: int,
    entry: EnhancedLogbookEntry,
    before: EnhancedLogbookEntry | None,
    stamps: dict[datetime, str] | None = None,
) -> _Change:
    columns = _columns(entry, stamps or {})
    return _Change(row, entry, columns, _hash_columns(columns), before)


def _columns(entry: EnhancedLogbookEntry, stamps: dict[datetime, str]) -> tuple[Any, ...]:
    """The values of COLUMNS; `stamps` remembers the text of times that a whole batch shares."""
    keywords = entry.get("keywords")
    created, updated = entry["created_at"], entry["updated_at"]
    return (
        entry["entry_id"],
        entry["source_system"],
        to_storage(entry["timestamp"]),
        entry["author"],
        entry["raw_text"],
        to_json(entry["attachments"]) if entry["attachments"] else "[]",
        to_json(entry["metadata"]) if entry["metadata"] else "{}",
        stamps.get(created) or to_storage(created),
        stamps.get(updated) or to_storage(updated),
        to_json(entry["enhancement_status"]) if entry.get("enhancement_status") else "{}",
        entry.get("summary"),
        to_json(keywords) if keywords else None,
    )


def _hash_columns(columns: tuple[Any, ...]) -> bytes:
    """`encoding.content_hash` of columns that are made already."""
    return joined_hash([*columns[1:7], columns[10] or "", columns[11] or ""])


def _entry(row: tuple[Any, ...]) -> tuple[int, EnhancedLogbookEntry]:
    entry: EnhancedLogbookEntry = {
        "entry_id": row[1],
        "source_system": row[2],
        "timestamp": from_storage(row[3]),
        "author": row[4],
        "raw_text": row[5],
        "attachments": json.loads(row[6]),
        "metadata": json.loads(row[7]),
        "created_at": from_storage(row[8]),
        "updated_at": from_storage(row[9]),
        "enhancement_status": json.loads(row[10]),
        "summary": row[11],
        "keywords": json.loads(row[12]) if row[12] else [],
    }
    return row[0], entry
