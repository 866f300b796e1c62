"""The query language: text to a syntax tree, to a bound tree, to a sentence; pure, no I/O."""
