"""ariel-lite: ARIEL, the logbook search, in one SQLite file."""

from __future__ import annotations

from ariel_lite.compose import Logbook, create_ariel_service, open_logbook

__version__ = "0.1.0"
__all__ = ["Logbook", "create_ariel_service", "open_logbook"]
