"""A fresh logbook on every backend. A backend joins all contract tests by its line in LOCATIONS."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator

import pytest
from hypothesis import HealthCheck, settings
from logbooks import NOW, Brief, MakeLogbook, entries
from postgres_server import drop_database, new_database

from ariel_lite.backends.base import Backend
from ariel_lite.compose import Logbook, open_backend
from ariel_lite.config import ARIELConfig
from ariel_lite.registry import Registry
from ariel_lite.search.base import SearchContext
from ariel_lite.service import ARIELSearchService

settings.register_profile(
    "ariel-lite",
    deadline=None,
    database=None,
    # The same examples in every run of CI, so that a change and not chance decides; elsewhere new ones each time.
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("ariel-lite")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # Started in the background of a script, where Ctrl-C is ignored, and would be in every program under test too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

OpenEmpty = Callable[[], Backend]


def _sqlite_location(request: pytest.FixtureRequest) -> str:
    folder = request.getfixturevalue("tmp_path_factory").mktemp("sqlite")
    return str(folder / "logbook.db")


def _postgres_location(request: pytest.FixtureRequest) -> str:
    return new_database()


LOCATIONS: dict[str, Callable[[pytest.FixtureRequest], str]] = {
    "sqlite": _sqlite_location,
    "postgres": _postgres_location,
}
"""Backend name -> where a fresh, empty logbook of it goes (a path or URL)."""


@pytest.fixture(params=list(LOCATIONS))
def backend_name(request: pytest.FixtureRequest) -> str:
    """Each backend's name in turn."""
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def registry() -> Registry:
    """The modules, found once."""
    return Registry()


@pytest.fixture(scope="session")
def idle_backends() -> Iterator[dict[str, list[Backend]]]:
    """Backend name -> emptied backends that the next test takes: a new file or database each time is slow."""
    idle: dict[str, list[Backend]] = {}
    yield idle
    for backends in idle.values():
        for backend in backends:
            backend.close()


@pytest.fixture
def open_empty(
    backend_name: str, request: pytest.FixtureRequest, registry: Registry, idle_backends: dict[str, list[Backend]]
) -> Iterator[OpenEmpty]:
    """Gives empty backends; they are emptied again after the test."""
    idle = idle_backends.setdefault(backend_name, [])
    taken: list[Backend] = []

    def open_one() -> Backend:
        if idle:
            taken.append(idle.pop())
        else:
            taken.append(open_backend(LOCATIONS[backend_name](request), ARIELConfig(), registry, create=True))
        return taken[-1]

    yield open_one
    for backend in taken:
        backend.purge(entries=True)
        idle.append(backend)


@pytest.fixture
def backend(open_empty: OpenEmpty) -> Backend:
    """An empty backend."""
    return open_empty()


@pytest.fixture
def fresh_backend(backend_name: str, request: pytest.FixtureRequest, registry: Registry) -> Iterator[Backend]:
    """A backend in a new place, for tests that break it."""
    backend = open_backend(LOCATIONS[backend_name](request), ARIELConfig(), registry, create=True)
    yield backend
    backend.close()


@pytest.fixture
def url() -> Iterator[str]:
    """A new, empty PostgreSQL database."""
    made = new_database()
    yield made
    drop_database(made)


@pytest.fixture
def make_logbook(open_empty: OpenEmpty, registry: Registry) -> MakeLogbook:
    """`make_logbook(entries, zone="UTC")`: a Logbook over an empty backend, whose clock stands at NOW.

    Entries are texts, (id, text) pairs, or whole entries; see `logbooks.entries`.
    """

    def make(given: Iterable[Brief] = (), *, zone: str = "UTC") -> Logbook:
        config = ARIELConfig.from_dict({"facility": {"timezone": zone}})
        service = ARIELSearchService(config, open_empty(), registry)
        service.context = SearchContext(service.backend, config, registry, lambda: NOW)
        service.backend.upsert(entries(*given))
        return Logbook(service)

    return make
