"""Storage backends: one folder each, and what they share."""
