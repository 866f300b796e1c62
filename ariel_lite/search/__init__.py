"""Search modes: one file a mode, its descriptor at the bottom."""
