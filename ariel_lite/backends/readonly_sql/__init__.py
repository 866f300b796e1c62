"""The read-only SQL tool, whatever the backend: what a statement may say, in PostgreSQL's dialect."""
