"""PostgreSQL's dialect on SQLite: rewriting a checked statement, and the functions that the result calls."""
