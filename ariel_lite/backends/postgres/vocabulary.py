"""The written words of a logbook, kept in memory until a word comes or goes."""

from __future__ import annotations

import threading

from ariel_lite.backends.postgres.connection import Connection, integer
from ariel_lite.ranking.fuzzy import Vocabulary


def generation(connection: Connection) -> int:
    """A number that grows whenever the set of words changes."""
    return integer(connection, "SELECT vocabulary FROM ariel_lite_totals")


class VocabularyCache:
    """The vocabulary of the latest generation seen; shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[int, Vocabulary] | None = None

    def get(self, connection: Connection) -> Vocabulary:
        """The vocabulary as it is now."""
        current = generation(connection)
        with self._lock:
            known = self._known
        if known is not None and known[0] == current:
            return known[1]
        made = Vocabulary(term for (term,) in connection.execute("SELECT term FROM ariel_lite_vocabulary"))
        with self._lock:
            self._known = (current, made)
        return made
