"""Measuring ariel-lite: how fast it is (`bench`) and how well it finds (`eval`). Nothing below the CLI imports this."""
