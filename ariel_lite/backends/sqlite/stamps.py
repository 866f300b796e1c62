"""What the file says of its last changes, so that readers know how much of what they remember is still true.

Stamps are random numbers: no reader has seen a new one before, not even of a transaction that was taken back.
"""

from __future__ import annotations

from typing import NamedTuple

import apsw

from ariel_lite.backends.sqlite.connection import integer

NOTE_EDIT = "INSERT OR REPLACE INTO settings VALUES ('edited', random())"
"""Marks that stored entries changed or went, as against new ones being added."""


class View(NamedTuple):
    """What a transaction sees of the entries: the mark of the last edit, and the greatest row number.

    With the same mark, a view of a greater row number has further rows and all of the other's, unchanged.
    """

    edited: int
    last_row: int


def generation(connection: apsw.Connection) -> int:
    """A number that is another one after every change of the logbook."""
    return integer(connection, "SELECT value FROM settings WHERE key = 'generation'")


def view(connection: apsw.Connection) -> View:
    """What this transaction sees."""
    edited = connection.execute("SELECT value FROM settings WHERE key = 'edited'").get
    last_row = integer(connection, "SELECT max(row_id) FROM enhanced_entries")
    # What a write transaction adds may be taken back, and others then get the same row numbers: its view is its own.
    # And a file from before there was this mark gets it with its first edit.
    is_own = edited is None or connection.txn_state("main") == apsw.SQLITE_TXN_WRITE
    return View(generation(connection) if is_own else int(edited), last_row)


def word_stamp(connection: apsw.Connection) -> int:
    """A number that is another one after every change of the vocabulary."""
    sql = (
        "SELECT words.value FROM settings AS words JOIN settings AS noted JOIN settings AS now"
        " WHERE words.key = 'words' AND noted.key = 'words_noted' AND now.key = 'generation'"
        " AND noted.value = now.value"
    )
    return integer(connection, sql) or generation(connection)


def next_generation(connection: apsw.Connection, *, is_growth: bool, has_new_words: bool) -> int:
    """Note a change of entries; the new generation.

    Args:
        connection: in the write transaction that makes the change.
        is_growth: there are only new entries; what is remembered of the others stays true.
        has_new_words: words came to the vocabulary, or went.
    """
    if not is_growth:
        connection.execute(NOTE_EDIT)
    # The stamp of the words names the generation it was last true of: a writer that knows nothing of it, an older
    # ariel-lite, may have changed them since.
    is_noted = connection.execute(
        "SELECT 1 FROM settings AS noted JOIN settings AS now USING (value)"
        " WHERE noted.key = 'words_noted' AND now.key = 'generation'"
    ).get
    if has_new_words or not is_noted:
        connection.execute("INSERT OR REPLACE INTO settings VALUES ('words', random())")
    made = integer(connection, "UPDATE settings SET value = random() WHERE key = 'generation' RETURNING value")
    connection.execute("INSERT OR REPLACE INTO settings VALUES ('words_noted', ?)", (made,))
    return made
