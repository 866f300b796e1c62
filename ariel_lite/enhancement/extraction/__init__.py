"""Keywords and a summary out of an entry's own words, offline: what a logbook's words are worth, then the best ones."""
