"""Entries that go to the source as well."""

from __future__ import annotations

from typing import Any

import pytest
from asking import MakePage, error
from starlette.testclient import TestClient
from writable_adapter import REFUSED

from ariel_lite.registry import ADAPTERS, Registry

WRITABLE = {"ingestion": {"adapter": "memory", "write": {"enabled": True}}}


@pytest.fixture
def registry() -> Registry:
    """The modules, with a plug-in adapter that can write."""
    registry = Registry()
    registry.names(ADAPTERS)
    registry._names[ADAPTERS.group]["memory"] = "writable_adapter"
    return registry


def publish(page: TestClient, **fields: Any) -> Any:
    return page.post("/api/entries", json={"details": "x", "publish": True, **fields})


def test_an_entry_is_the_sources_from_then_on(make_page: MakePage) -> None:
    page = make_page(config={**WRITABLE, "entry_url_template": "https://source/{entry_id}"})
    info = page.get("/api/publish-info").json()
    assert info == {
        "writable": True,
        "adapter": "memory",
        "source_system": "Memory",
        "requires_auth": False,
        "reason": "",
    }
    made = publish(page, subject="beam").json()
    assert (made["entry_id"], made["source_system"], made["sync_status"]) == ("M-4", "Memory", "synced")
    assert page.get("/api/entries/M-4").json()["source_url"] == "https://source/M-4"
    assert page.get("/api/entries").json()["total"] == 1
    kept = page.post("/api/entries", json={"subject": "here"}).json()["entry_id"]
    assert page.get(f"/api/entries/{kept}").json()["source_url"] is None


def test_an_entry_that_the_source_refuses_stays_and_is_said_to(make_page: MakePage) -> None:
    page = make_page(config=WRITABLE)
    reply = publish(page, subject=REFUSED)
    made = reply.json()
    assert (reply.status_code, made["sync_status"], made["source_system"]) == (200, "failed", "ARIEL Web")
    assert "the source said no" in made["message"]
    assert page.get(f"/api/entries/{made['entry_id']}").json()["title"] == REFUSED


def test_a_source_that_wants_to_know_who_writes(make_page: MakePage) -> None:
    page = make_page(config={"ingestion": {**WRITABLE["ingestion"], "settings": {"closed": True}}})
    assert page.get("/api/publish-info").json()["requires_auth"] is True
    assert error(publish(page, subject="beam", auth_user="me"), 400)["hint"] == "give auth_user and auth_password"
    assert page.get("/api/entries").json()["total"] == 0
    assert publish(page, subject="beam", auth_user="me", auth_password="pw").json()["sync_status"] == "synced"


def test_files_cannot_go_to_a_source(make_page: MakePage) -> None:
    page = make_page(config=WRITABLE)
    staged = page.post("/api/attachments", files={"file": ("a.txt", b"x")}).json()["attachment_id"]
    assert error(publish(page, attachment_ids=[staged]), 400)["hint"] == "attach them at the source"
    assert page.get("/api/entries").json()["total"] == 0
