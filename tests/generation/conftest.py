"""A language model's server, the analyzer, passages in few words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from chat_server import ChatServer, chat_server

from ariel_lite.text.tokenise import Analyzer


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A running server whose answers a test sets."""
    with chat_server() as running:
        yield running


@pytest.fixture(scope="session")
def analyzer() -> Analyzer:
    """The analyzer."""
    return Analyzer()
