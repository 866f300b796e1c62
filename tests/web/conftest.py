"""The application over a logbook of every backend, asked as a client asks it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from asking import ADDRESS, MakePage
from logbooks import NOW, Brief, entries
from starlette.testclient import TestClient

from ariel_lite.backends.base import Backend
from ariel_lite.config import ARIELConfig
from ariel_lite.registry import Registry
from ariel_lite.search.base import SearchContext
from ariel_lite.service import ARIELSearchService
from ariel_lite.web.app import create_app


@pytest.fixture
def make_page(open_empty: Callable[[], Backend], registry: Registry) -> Iterator[MakePage]:
    """`make_page(entries, config, **options)`: a client of the application over a logbook whose clock stands at NOW.

    The client has `service`; other keywords go to `create_app`.
    """
    with ExitStack() as stack:

        def make(given: Iterable[Brief] = (), config: dict[str, Any] | None = None, **options: Any) -> TestClient:
            settings = ARIELConfig.from_dict(config or {})
            service = ARIELSearchService(settings, open_empty(), registry)
            service.context = SearchContext(service.backend, settings, registry, lambda: NOW)
            service.backend.upsert(entries(*given))
            client = TestClient(create_app(service, **options), base_url=ADDRESS)
            client.service = service  # type: ignore[attr-defined]
            return stack.enter_context(client)

        yield make
