"""The PostgreSQL server of the tests; test authors have the same one from `ariel_lite.testing`."""

from __future__ import annotations

from ariel_lite.testing.postgres_server import (
    Server,
    create_database,
    drop_database,
    new_database,
    server_url,
    shared_server,
)

__all__ = ["Server", "create_database", "drop_database", "new_database", "server_url", "shared_server"]
