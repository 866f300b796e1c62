"""The written words of a logbook, kept in memory until the logbook changes."""

from __future__ import annotations

import threading

import apsw

from ariel_lite.ranking.fuzzy import Vocabulary


def generation(connection: apsw.Connection) -> int:
    """A number that grows with every change of the logbook."""
    return int(connection.execute("SELECT value FROM settings WHERE key = 'generation'").get)


class VocabularyCache:
    """The vocabulary of the latest generation seen; shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[int, Vocabulary] | None = None

    def get(self, connection: apsw.Connection) -> Vocabulary:
        """The vocabulary as it is now."""
        current = generation(connection)
        with self._lock:
            known = self._known
        if known is not None and known[0] == current:
            return known[1]
        made = Vocabulary(term for (term,) in connection.execute("SELECT term FROM vocabulary"))
        with self._lock:
            self._known = (current, made)
        return made
