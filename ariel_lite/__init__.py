"""ariel-lite: ARIEL, the logbook search, in one SQLite file."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ariel_lite.compose import Logbook, create_ariel_service, open_logbook

__version__ = "0.1.0"
__all__ = ["Logbook", "create_ariel_service", "open_logbook"]


def __getattr__(name: str) -> Any:
    """What the package offers, imported when it is first asked for: the command line starts without it."""
    if name in __all__:
        return getattr(import_module("ariel_lite.compose"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
