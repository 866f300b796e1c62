"""The logbook as one SQLite file."""
