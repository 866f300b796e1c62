"""What readers remember of a file stays true, whoever writes, and is not thrown away by writes that leave it true."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from logbooks import entries

from ariel_lite.backends.sqlite.backend import SQLiteBackend, open_backend
from ariel_lite.backends.sqlite.search import EveryRow
from ariel_lite.config import ARIELConfig
from ariel_lite.query.nodes import Everything

WORD = "quadrupole"


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[SQLiteBackend]:
    backend = open_backend(str(tmp_path / "book.db"), ARIELConfig(), create=True)
    backend.upsert(entries(("one", f"{WORD} tripped"), ("two", "beam lost")))
    yield backend
    backend.close()


@pytest.fixture
def reader(writer: SQLiteBackend) -> Iterator[SQLiteBackend]:
    """Another connection with a memory of its own, as another process has."""
    backend = open_backend(writer.location, ARIELConfig(), read_only=True)
    yield backend
    backend.close()


def knows(reader: SQLiteBackend, word: str) -> bool:
    return word in {candidate.word for candidate in reader.vocabulary().candidates(word)}


def test_the_vocabulary_is_kept_while_no_word_comes_or_goes(writer: SQLiteBackend, reader: SQLiteBackend) -> None:
    before = reader.vocabulary()
    writer.upsert(entries(("three", f"beam tripped {WORD}")))
    writer.upsert(entries(("three", "beam tripped")))
    writer.delete(["three"])
    assert reader.vocabulary() is before
    writer.upsert(entries(("four", "klystron tripped")))
    assert knows(reader, "klystron")
    writer.delete(["four"])
    assert not knows(reader, "klystron")
    writer.purge(entries=True)
    assert not knows(reader, WORD)


def test_a_new_index_brings_a_new_vocabulary(writer: SQLiteBackend, reader: SQLiteBackend) -> None:
    assert knows(reader, WORD)
    changing = apsw.Connection(writer.location)
    changing.execute("UPDATE enhanced_entries SET raw_text = 'klystron' WHERE entry_id = 'one'")
    changing.close()
    writer.reindex(everything=True)
    assert knows(reader, "klystron")
    assert not knows(reader, WORD)


def test_words_of_a_writer_that_keeps_no_stamp_are_seen(writer: SQLiteBackend, reader: SQLiteBackend) -> None:
    assert not knows(reader, "klystron")
    older = apsw.Connection(writer.location)
    older.execute("INSERT INTO vocabulary VALUES ('klystron')")
    older.execute("UPDATE settings SET value = random() WHERE key = 'generation'")
    assert knows(reader, "klystron")
    older.execute("INSERT INTO vocabulary VALUES ('septum')")
    older.execute("UPDATE settings SET value = random() WHERE key = 'generation'")
    older.close()
    # A write without new words comes before the reader looks again.
    writer.upsert(entries(("three", "beam lost")))
    assert knows(reader, "septum")


def test_a_write_taken_back_leaves_the_vocabulary(writer: SQLiteBackend, reader: SQLiteBackend) -> None:
    before = reader.vocabulary()
    writer.upsert(entries(("three", "klystron")), dry_run=True)
    assert reader.vocabulary() is before
    writer.upsert(entries(("three", "septum")))
    assert knows(reader, "septum")
    assert not knows(reader, "klystron")


def test_the_rows_follow_every_change(writer: SQLiteBackend, reader: SQLiteBackend) -> None:
    assert reader.rows(Everything()).tolist() == [1, 2]
    writer.upsert(entries(("three", "more"), ("four", "and more")))
    assert reader.rows(Everything()).tolist() == [1, 2, 3, 4]
    writer.delete(["two"])
    assert reader.rows(Everything()).tolist() == [1, 3, 4]
    writer.delete(["four"])
    writer.upsert(entries(("five", "the last")))
    assert reader.rows(Everything()).tolist() == [1, 3, 5]
    writer.purge(entries=True)
    assert reader.rows(Everything()).tolist() == []


def test_an_older_view_has_no_later_rows(writer: SQLiteBackend) -> None:
    every = EveryRow()
    older, newer = apsw.Connection(writer.location), apsw.Connection(writer.location)
    older.execute("BEGIN")
    assert older.execute("SELECT count(*) FROM enhanced_entries").get == 2
    writer.upsert(entries(("three", "more")))
    assert every.get(newer).tolist() == [1, 2, 3]
    assert every.get(older).tolist() == [1, 2]
    assert every.get(newer).tolist() == [1, 2, 3]
    older.close()
    newer.close()


def test_new_rows_are_added_to_those_that_are_known(writer: SQLiteBackend) -> None:
    every, connection = EveryRow(), apsw.Connection(writer.location)
    every.get(connection)
    writer.upsert(entries(("three", "more")))
    # A row that is gone without any mark shows that the known ones were not read again.
    connection.execute("DELETE FROM enhanced_entries WHERE row_id = 1")
    assert every.get(connection).tolist() == [1, 2, 3]
    connection.close()
