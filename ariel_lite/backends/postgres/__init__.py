"""The PostgreSQL backend: ARIEL's tables as they are, and ours beside them. The files are named as in `sqlite/`."""
