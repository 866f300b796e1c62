"""Text to lexemes: normalise, tokenise, stem, highlight. Pure: no files but the word lists, no database, no clock."""
