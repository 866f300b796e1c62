"""The written words of a logbook, kept in memory until a word comes or goes."""

from __future__ import annotations

import threading

import apsw

from ariel_lite.backends.sqlite.stamps import word_stamp
from ariel_lite.ranking.fuzzy import Vocabulary


class VocabularyCache:
    """The vocabulary as it was seen last; shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[int, Vocabulary] | None = None

    def get(self, connection: apsw.Connection) -> Vocabulary:
        """The vocabulary as it is now."""
        current = word_stamp(connection)
        with self._lock:
            known = self._known
        if known is not None and known[0] == current:
            return known[1]
        made = Vocabulary(term for (term,) in connection.execute("SELECT term FROM vocabulary"))
        with self._lock:
            self._known = (current, made)
        return made
