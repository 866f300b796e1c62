"""ariel-lite: ARIEL, the logbook search, in one SQLite file."""

__version__ = "0.1.0"
