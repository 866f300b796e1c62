"""Entries that are written here, and drafts that become entries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ariel_lite.attachments import MAX_ATTACHMENT_BYTES, stored_id
from ariel_lite.backends.base import Backend
from ariel_lite.errors import ARIELException, EntryNotFoundError, InvalidRequestError
from ariel_lite.ingestion.authoring import MCP_SOURCE, WEB_SOURCE
from ariel_lite.ingestion.drafts import (
    EntryContent,
    create_draft,
    delete_draft,
    draft_content,
    finish_draft,
    get_draft,
    new_file,
    read_file,
    stage_file,
    store_entry,
    update_draft,
)

PNG = b"\x89PNG\r\n\x1a\nscope"


def content(**changes: Any) -> EntryContent:
    fields = {"subject": "Septum sparks", "details": "every 40 min", "author": "K. Ferreira", "tags": ["septum"]}
    return EntryContent.of({**fields, **changes})


def files_of(backend: Backend, entry_id: str) -> dict[str, bytes | None]:
    """Name -> bytes of an entry's files."""
    stored = [backend.get_attachment(file.attachment_id) for file in backend.attachments_of(entry_id)]
    return {file.filename: file.data for file in stored if file is not None}


def everything(backend: Backend) -> tuple[list[str], list[str]]:
    """Ids of all entries and of all drafts."""
    return sorted(backend.entry_ids()), sorted(draft.draft_id for draft in backend.drafts())


def test_an_entry_is_stored_with_its_fields_and_files(backend: Backend) -> None:
    staged = stage_file(backend, new_file("../scope.png", PNG))
    made = store_entry(
        backend,
        content(logbook="Operations", shift="Owl", metadata={"ring": 2}, attachment_ids=[staged.attachment_id]),
        source_system=MCP_SOURCE,
        files=[new_file("notes.txt", b"thyratron spare list")],
    )
    [stored] = backend.get_entries([made["entry_id"]])
    assert made["entry_id"].startswith("ariel-")
    assert stored["source_system"] == "ARIEL MCP"
    assert stored["raw_text"] == "Septum sparks\n\nevery 40 min"
    assert stored["author"] == "K. Ferreira"
    assert stored["metadata"] == {
        "title": "Septum sparks", "logbook": "Operations", "shift": "Owl", "tags": ["septum"], "ring": 2,
    }  # fmt: skip
    assert [(file["filename"], file["type"]) for file in stored["attachments"]] == [
        ("scope.png", "image/png"),
        ("notes.txt", "text/plain"),
    ]
    assert files_of(backend, made["entry_id"]) == {"scope.png": PNG, "notes.txt": b"thyratron spare list"}
    assert {stored_id(file["url"]) for file in stored["attachments"]} == {
        file.attachment_id for file in backend.attachments_of(made["entry_id"])
    }
    assert backend.staged_file(staged.attachment_id) is None


def test_the_same_file_twice_is_kept_once(backend: Backend) -> None:
    made = store_entry(backend, content(), source_system=MCP_SOURCE, files=[new_file("a.png", PNG)] * 2)
    assert len(made["attachments"]) == 1
    assert files_of(backend, made["entry_id"]) == {"a.png": PNG}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"subject": " ", "details": "\n"}, "needs a subject or details"),
        ({"attachment_ids": ["att-000000000000"]}, "no file 'att-000000000000' waiting"),
    ],
)
def test_what_cannot_be_an_entry_leaves_nothing(backend: Backend, changes: dict[str, Any], message: str) -> None:
    staged = stage_file(backend, new_file("scope.png", PNG))
    ids = [staged.attachment_id, *changes.get("attachment_ids", ())]
    with pytest.raises(InvalidRequestError, match=message):
        store_entry(backend, content(**{**changes, "attachment_ids": ids}), source_system=MCP_SOURCE)
    assert everything(backend) == ([], [])
    assert backend.staged_file(staged.attachment_id) is not None


def test_a_fault_in_the_middle_leaves_nothing(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    staged = stage_file(backend, new_file("scope.png", PNG))
    draft = create_draft(backend, content(attachment_ids=[staged.attachment_id]))
    store = backend.store_attachment

    def full(*arguments: Any) -> Any:
        store(*arguments)
        raise ARIELException("the disk is full")

    monkeypatch.setattr(backend, "store_attachment", full)
    with pytest.raises(ARIELException, match="disk is full"):
        finish_draft(backend, draft.draft_id, source_system=WEB_SOURCE)
    assert everything(backend) == ([], [draft.draft_id])
    monkeypatch.undo()
    made = finish_draft(backend, draft.draft_id, source_system=WEB_SOURCE)
    assert everything(backend) == ([made["entry_id"]], [])
    assert files_of(backend, made["entry_id"]) == {"scope.png": PNG}


def test_a_draft_is_made_read_changed_and_deleted_with_its_files(backend: Backend) -> None:
    draft = create_draft(backend, content(details=""), [new_file("a.png", PNG), new_file("b.txt", b"b")])
    assert draft.draft_id.startswith("draft-")
    first, second = draft_content(get_draft(backend, draft.draft_id)).attachment_ids
    changed = update_draft(backend, draft.draft_id, content(details="more", attachment_ids=[second]))
    assert draft_content(changed) == content(details="more", attachment_ids=[second])
    assert backend.staged_file(first) is None
    assert backend.staged_file(second) is not None
    delete_draft(backend, draft.draft_id)
    assert backend.staged_file(second) is None
    for gone in (get_draft, delete_draft):
        with pytest.raises(EntryNotFoundError, match=draft.draft_id):
            gone(backend, draft.draft_id)


def test_a_file_that_another_draft_names_stays(backend: Backend) -> None:
    staged = stage_file(backend, new_file("a.png", PNG)).attachment_id
    one = create_draft(backend, content(attachment_ids=[staged]))
    two = create_draft(backend, content(attachment_ids=[staged]))
    delete_draft(backend, one.draft_id)
    made = finish_draft(backend, two.draft_id, source_system=WEB_SOURCE)
    assert files_of(backend, made["entry_id"]) == {"a.png": PNG}


def test_a_draft_becomes_one_entry_only(backend: Backend) -> None:
    draft = create_draft(backend, content())
    final = content(details="reviewed by a person")
    made = finish_draft(backend, draft.draft_id, source_system=WEB_SOURCE, content=final)
    assert made["source_system"] == "ARIEL Web"
    assert made["raw_text"].endswith("reviewed by a person")
    with pytest.raises(EntryNotFoundError, match="there is no draft"):
        finish_draft(backend, draft.draft_id, source_system=WEB_SOURCE)
    assert everything(backend) == ([made["entry_id"]], [])


def test_an_incomplete_draft_is_kept_but_is_no_entry(backend: Backend) -> None:
    draft = create_draft(backend, EntryContent())
    with pytest.raises(InvalidRequestError, match="needs a subject or details"):
        finish_draft(backend, draft.draft_id, source_system=WEB_SOURCE)
    assert everything(backend) == ([], [draft.draft_id])


def test_texts_are_cleaned_and_lists_are_plain() -> None:
    made = content(subject="a\x00b\ud800c\r\nd", tags=[" rf ", "", "rf"], metadata={"k\x07": float("inf")})
    assert (made.subject, made.tags, made.metadata) == ("a b c\nd", ["rf"], {"k ": None})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"subjct": "x"}, "subjct"),
        ({"tags": "rf"}, "tags"),
        ({"subject": 5}, "subject"),
        ("text", "the entry"),
    ],
)
def test_content_of_the_wrong_kind_is_refused(values: Any, message: str) -> None:
    with pytest.raises(InvalidRequestError, match=message):
        EntryContent.of(values)


def test_metadata_that_nests_too_deep_is_refused() -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    with pytest.raises(InvalidRequestError, match="nests too deep"):
        EntryContent.of({"metadata": {"x": deep}})


def test_files_are_bounded_and_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match="cannot read the attachment"):
        read_file(tmp_path / "absent.png")
    with pytest.raises(InvalidRequestError, match="more than the"):
        new_file("x.bin", b"\0" * (MAX_ATTACHMENT_BYTES + 1))
    (tmp_path / "scope.png").write_bytes(PNG)
    assert read_file(tmp_path / "scope.png") == new_file("scope.png", PNG)
