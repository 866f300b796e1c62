"""Keeping a file in order: status, check, reindex, backup, restore, purge."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from functools import cache
from pathlib import Path

import apsw

from ariel_lite.backends.encoding import content_hash
from ariel_lite.backends.sqlite.connection import Connections, translated_errors
from ariel_lite.backends.sqlite.entries import EntryWriterSession, read_rows
from ariel_lite.backends.sqlite.migrations import MIGRATIONS, configure_index, note_enhancements, version
from ariel_lite.backends.sqlite.stamps import NOTE_EDIT
from ariel_lite.backends.values import BackendStatus, Problem, Progress, batched
from ariel_lite.errors import DatabaseConnectionError, DatabaseQueryError
from ariel_lite.query.days import from_storage
from ariel_lite.records import searchable_text
from ariel_lite.text.tokenise import Analyzer

BATCH = 1000
SPARE_FACTOR = 2


def status(connection: apsw.Connection, path: Path) -> BackendStatus:
    """Counts and health of the file."""
    entries = int(connection.execute("SELECT count(*) FROM enhanced_entries").get)
    indexed = int(connection.execute("SELECT count(*) FROM entry_state").get)
    cut = int(connection.execute("SELECT coalesce(sum(cut), 0) FROM entry_state").get)
    last = connection.execute("SELECT max(completed_at) FROM ingestion_runs WHERE status = 'success'").get
    return BackendStatus(
        entries=entries,
        indexed=indexed,
        unindexed=entries - indexed,
        cut=cut,
        attachments=int(connection.execute("SELECT count(*) FROM attachment_files").get),
        size_bytes=sum(part.stat().st_size for part in _files(path) if part.exists()),
        analyzer_current=is_analyzer_current(connection),
        last_ingestion=from_storage(last) if last else None,
    )


def is_analyzer_current(connection: apsw.Connection) -> bool:
    """True when the index was made by an analyzer that gives the same lexemes as this one."""
    return bool(connection.execute("SELECT value FROM settings WHERE key = 'analyzer'").get == _fingerprint())


def index_gap(connection: apsw.Connection) -> str:
    """Entries that another program appended, or an index of another analyzer; "" when all is well."""
    newest = int(connection.execute("SELECT max(row_id) FROM enhanced_entries").get or 0)
    indexed = int(connection.execute("SELECT max(row_id) FROM entry_state").get or 0)
    if newest > indexed:
        return "the newest entries are not in the index yet"
    if connection.execute("SELECT value FROM settings WHERE key = 'analyzer'").get != _fingerprint():
        return "the index was made by another version of the analyzer"
    return ""


@cache
def _fingerprint() -> str:
    return Analyzer().fingerprint


def check(connection: apsw.Connection, progress: Progress) -> list[Problem]:
    """Compare entries with index, fields, vocabulary and files, once the file itself is whole."""
    damage = [Problem(f"the file is damaged: {line}", False) for line in _integrity(connection)]
    if damage:
        return damage
    if not is_analyzer_current(connection):
        return [Problem("the index was made by another analyzer or Unicode version", True)]
    problems = _check_index(connection, progress) + _check_enhancements(connection)
    lost = connection.execute(
        "SELECT count(*) FROM attachment_files WHERE sha256 NOT IN (SELECT sha256 FROM attachment_blobs)"
    ).get
    if lost:
        problems.append(Problem(f"{lost} attachments have lost their data", False))
    return problems


def reindex(session: EntryWriterSession, path: Path, *, everything: bool, progress: Progress) -> int:
    """Index what is not indexed, or drop the whole index and make it anew; the number of entries indexed."""
    connection = session.connection
    if everything or not is_analyzer_current(connection):
        session.forget()
        _check_space(path)
        _drop_index(connection)
    if _check_enhancements(connection):
        note_enhancements(connection)
    stale = _changed_elsewhere(connection)
    session.unindex_rows(stale)
    missing = [
        row
        for (row,) in connection.execute(
            "SELECT row_id FROM enhanced_entries WHERE row_id NOT IN (SELECT row_id FROM entry_state) ORDER BY row_id"
        )
    ]
    done = 0
    for rows in batched(missing, BATCH):
        session.index_rows(rows)
        done += len(rows)
        progress(len(rows))
    return done


def backup(connections: Connections, target: Path) -> int:
    """Write a whole, checked copy of a live file to `target`; the number of entries in it.

    The copy is one ordinary file in DELETE mode, so that it opens on read-only media.

    Raises:
        DatabaseQueryError: the copy is not whole, because the logbook is damaged.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with translated_errors(target), closing(apsw.Connection(str(draft))) as copy:
            with copy.backup("main", connections.get(), "main") as running:
                while not running.done:
                    running.step(2000)
            copy.pragma("journal_mode", "delete")
            with translated_errors(connections.path):  # what is damaged in the copy is so in the logbook
                whole = copy.pragma("quick_check")
                entries = int(copy.execute("SELECT count(*) FROM enhanced_entries").get)
        if whole != "ok":
            raise DatabaseQueryError(f"the copy is not whole: {whole}", hint="run 'ariel-lite doctor' on the logbook")
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
    return entries


def restore(connections: Connections, source: Path) -> int:
    """Replace the contents of a logbook by a backup's, in one transaction; the number of entries restored.

    Raises:
        DatabaseConnectionError: the logbook is in use, or the backup is no logbook.
        DamagedLogbookError: the backup is damaged; the logbook is as it was.
    """
    origin = Connections(source, read_only=True)
    try:
        backing = origin.get()
        with translated_errors(source):
            entries = backing.execute("SELECT count(*) FROM enhanced_entries").get if version(backing) else None
            is_whole = backing.pragma("quick_check") == "ok"
        if entries is None or not is_whole:
            raise DatabaseConnectionError(f"{source} is not a whole logbook", hint="choose another backup")
        with translated_errors(connections.path), connections.writable().backup("main", backing, "main") as running:
            running.step(-1)
        with connections.writing() as connection:
            connection.execute(NOTE_EDIT)
    finally:
        origin.close()
    return int(entries)


def purge(connection: apsw.Connection) -> None:
    """Empty the file: entries, index, files, drafts, vectors and history."""
    connection.pragma("defer_foreign_keys", True)
    views = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name").fetchall()
    for (name,) in views:
        connection.execute(f'DROP VIEW "{name}"')
    for kind in ("CREATE VIRTUAL TABLE%", "CREATE TABLE%"):
        names = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE ? AND name NOT LIKE 'sqlite%'"
            " ORDER BY name",
            (kind,),
        ).fetchall()
        for (name,) in names:
            connection.execute(f'DROP TABLE "{name}"')
    for change in MIGRATIONS:
        change(connection)


def _integrity(connection: apsw.Connection) -> list[str]:
    """What is wrong with the file itself; a fault of the full-text index, which a new one mends, is found later."""
    found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(5)")]
    return [line for line in found if line != "ok" and "fts5" not in line.lower()]


def _check_index(connection: apsw.Connection, progress: Progress) -> list[Problem]:
    analyzer = Analyzer()
    states = dict(connection.execute("SELECT row_id, content_hash FROM entry_state"))
    lengths = dict(connection.execute("SELECT id, sz FROM entry_index_docsize"))
    rows = [row for (row,) in connection.execute("SELECT row_id FROM enhanced_entries ORDER BY row_id")]
    words: set[str] = set()
    unindexed = changed = unlike = 0
    for batch in batched(rows, BATCH):
        for row, entry in read_rows(connection, batch):
            if row not in states or row not in lengths:
                unindexed += 1
            elif states[row] != content_hash(entry):
                changed += 1
            else:
                text = searchable_text(entry)
                words |= analyzer.words(text)
                unlike += sum(1 for _ in analyzer.positions(text)) != _one_varint(lengths[row])
        progress(len(batch))
    orphans = len((states.keys() | lengths.keys()) - set(rows))
    found = [
        (unindexed, "entries are not in the index"),
        (changed, "entries were changed by another program since they were indexed"),
        (unlike, "entries have another length in the index than their text"),
        (orphans, "index rows have no entry"),
    ]
    problems = [Problem(f"{count} {what}", True) for count, what in found if count]
    if not problems and words != {term for (term,) in connection.execute("SELECT term FROM vocabulary")}:
        problems.append(Problem("the vocabulary does not agree with the entries", True))
    return problems + _check_postings(connection)


def _check_enhancements(connection: apsw.Connection) -> list[Problem]:
    """Whether the quick form of `enhancement_status` says what the entries say."""
    wrong = connection.execute(
        "SELECT count(*) FROM (SELECT * FROM (SELECT * FROM noted_enhancements EXCEPT SELECT * FROM enhancement_state)"
        " UNION ALL SELECT * FROM (SELECT * FROM enhancement_state EXCEPT SELECT * FROM noted_enhancements))"
    ).get
    return [Problem(f"{wrong} notes of enhancers do not agree with the entries", True)] if wrong else []


def _check_postings(connection: apsw.Connection) -> list[Problem]:
    try:
        connection.execute("INSERT INTO entry_index (entry_index, rank) VALUES ('integrity-check', 0)")
    except apsw.CorruptError:
        return [Problem("the full-text index is damaged", True)]
    except apsw.ReadOnlyError:
        return []
    return []


def _one_varint(record: bytes) -> int:
    value = 0
    for byte in record:
        value = (value << 7) | (byte & 0x7F)
        if not byte & 0x80:
            break
    return value


def _changed_elsewhere(connection: apsw.Connection) -> list[int]:
    """Rows whose text or fields were changed without the index being told."""
    states = dict(connection.execute("SELECT row_id, content_hash FROM entry_state"))
    changed = [
        row
        for batch in batched(list(states), BATCH)
        for row, e in read_rows(connection, batch)
        if content_hash(e) != states[row]
    ]
    present = {row for (row,) in connection.execute("SELECT row_id FROM enhanced_entries")}
    return changed + [row for row in states if row not in present]


def _drop_index(connection: apsw.Connection) -> None:
    connection.execute("DROP TABLE IF EXISTS entry_index")
    connection.execute(
        "CREATE VIRTUAL TABLE entry_index USING fts5(lexemes, content='', contentless_delete=1, tokenize='ariel_lite')"
    )
    configure_index(connection)
    for table in ("entry_state", "entry_fields", "field_values", "vocabulary"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute("UPDATE settings SET value = ? WHERE key = 'analyzer'", (_fingerprint(),))


def _check_space(path: Path) -> None:
    needed = SPARE_FACTOR * path.stat().st_size
    if shutil.disk_usage(path.parent).free < needed:
        raise DatabaseQueryError(
            f"a new index needs about {needed // 1_000_000} MB free beside {path}", hint="free some space first"
        )


def _files(path: Path) -> tuple[Path, ...]:
    return path, Path(f"{path}-wal"), Path(f"{path}-shm")
