"""Asking the application, and reading what it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.testclient import TestClient

ADDRESS = "http://127.0.0.1:8085"

MakePage = Callable[..., TestClient]
"""What the fixture `make_page` gives."""


def ids(reply: Any) -> list[str]:
    """Ids of the entries of an answer."""
    assert reply.status_code == 200, reply.text
    return [entry["entry_id"] for entry in reply.json()["entries"]]


def error(reply: Any, status: int) -> dict[str, Any]:
    """The envelope of an answer that must be an error."""
    assert reply.status_code == status, reply.text
    document = reply.json()
    assert list(document) == ["error"]
    assert list(document["error"]) == ["code", "message", "hint", "position"]
    assert "Traceback" not in reply.text
    found: dict[str, Any] = document["error"]
    return found
