"""Drafts and files that wait for their entry."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from logbooks import entry

from ariel_lite.backends.base import Backend
from ariel_lite.errors import InvalidRequestError

CONTENT = {
    "subject": "septum – «sparks»",
    "tags": ["rf", "vac"],
    "level": 3,
    "ratio": 1.0,
    "shift": None,
    "nested": {"a": [1]},
}


def test_a_draft_is_kept_replaced_and_forgotten(backend: Backend) -> None:
    saved = backend.save_draft("d1", CONTENT)
    assert saved.content == CONTENT
    assert saved.created_at == saved.updated_at
    assert saved.created_at.utcoffset() == timedelta(0)
    assert backend.get_draft("d1") == saved
    again = backend.save_draft("d1", {"subject": "other"})
    assert again.content == {"subject": "other"}
    assert again.created_at == saved.created_at
    assert again.updated_at > saved.updated_at
    assert backend.get_draft("d1") == again
    assert backend.get_draft("d2") is None
    assert backend.delete_draft("d1")
    assert not backend.delete_draft("d1")
    assert backend.get_draft("d1") is None


def test_drafts_are_listed_newest_change_first(backend: Backend) -> None:
    for number in range(4):
        backend.save_draft(f"d{number}", {"number": number})
    backend.save_draft("d1", {"number": 9})
    assert [draft.draft_id for draft in backend.drafts()] == ["d1", "d3", "d2", "d0"]
    assert [draft.content["number"] for draft in backend.drafts(limit=2)] == [9, 3]


def test_what_cannot_be_stored_is_replaced_or_refused(backend: Backend) -> None:
    saved = backend.save_draft("d1", {"subject": "a\x00b\ud800c"})
    assert backend.get_draft("d1") == saved
    assert saved.content == {"subject": "a b c"}
    with pytest.raises(InvalidRequestError):
        backend.save_draft("d1", {"level": float("nan")})
    assert backend.get_draft("d1") == saved


def test_a_staged_file_waits_until_it_is_taken(backend: Backend) -> None:
    staged = backend.stage_file("att-1", "scope ✓.png", "image/png", b"\x00\x01png")
    assert (staged.entry_id, staged.size_bytes, staged.data) == ("", 5, None)
    found = backend.staged_file("att-1")
    assert found is not None
    assert (found.filename, found.mime_type, found.data) == ("scope ✓.png", "image/png", b"\x00\x01png")
    assert found.created_at == staged.created_at
    assert backend.get_attachment("att-1") is None
    backend.stage_file("att-1", "b.txt", "text/plain", b"")
    replaced = backend.staged_file("att-1")
    assert replaced is not None
    assert (replaced.filename, replaced.size_bytes, replaced.data) == ("b.txt", 0, b"")
    assert backend.staged_file("att-2") is None
    assert backend.unstage_files(["att-1", "att-2"]) == 1
    assert backend.unstage_files([]) == 0
    assert backend.staged_file("att-1") is None


def test_old_files_are_forgotten_unless_a_draft_names_them(backend: Backend) -> None:
    for name in ("att-1", "att-2", "att-3", "att-4"):
        backend.stage_file(name, "a.txt", "text/plain", b"a")
    backend.save_draft("d1", {"attachment_ids": ["att-1"], "text": "see att-3"})
    backend.save_draft("d2", {"attachments": [{"url": "/api/attachments/att-2"}]})
    assert backend.forget_staged(datetime.now(UTC) - timedelta(hours=1)) == 0
    assert backend.forget_staged(datetime.now(UTC) + timedelta(hours=1)) == 2
    assert [backend.staged_file(name) is None for name in ("att-1", "att-2", "att-3", "att-4")] == [
        False,
        False,
        True,
        True,
    ]


def test_a_draft_becomes_an_entry_as_a_whole_or_not_at_all(backend: Backend) -> None:
    backend.save_draft("d1", CONTENT)
    backend.stage_file("att-1", "a.txt", "text/plain", b"abc")

    def publish(*, fails: bool) -> None:
        with backend.transaction():
            staged = backend.staged_file("att-1")
            assert staged is not None
            backend.upsert([entry("E1", "septum")])
            backend.store_attachment("E1", "att-1", staged.filename, staged.mime_type, staged.data or b"")
            backend.unstage_files(["att-1"])
            backend.delete_draft("d1")
            if fails:
                raise KeyError("at the end")

    with pytest.raises(KeyError):
        publish(fails=True)
    assert backend.get_entries(["E1"]) == []
    assert backend.get_draft("d1") is not None
    assert backend.staged_file("att-1") is not None
    publish(fails=False)
    assert [file.attachment_id for file in backend.attachments_of("E1")] == ["att-1"]
    assert backend.get_draft("d1") is None
    assert backend.staged_file("att-1") is None
    assert backend.check() == []


def test_purge_forgets_drafts_and_files(backend: Backend) -> None:
    backend.save_draft("d1", CONTENT)
    backend.stage_file("att-1", "a.txt", "text/plain", b"abc")
    backend.purge(entries=True)
    assert backend.drafts() == []
    assert backend.staged_file("att-1") is None
    backend.save_draft("d1", CONTENT)
    assert len(backend.drafts()) == 1
