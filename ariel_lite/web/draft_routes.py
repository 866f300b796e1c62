"""Entries that are being written."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, Request

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import Draft
from ariel_lite.config import ARIELConfig
from ariel_lite.ingestion.drafts import EntryContent, create_draft, delete_draft, get_draft, update_draft
from ariel_lite.present import local_time
from ariel_lite.web.models import DeletedReply, DraftReply, DraftRequest, DraftsReply
from ariel_lite.web.replies import Reply
from ariel_lite.web.serving import Here
from ariel_lite.web.shapes import file_shape
from ariel_lite.web.validation import NoQuery

router = APIRouter()


@router.get("/api/drafts", response_model=DraftsReply)
async def list_drafts(request: Request, here: Here, _: NoQuery) -> Reply:
    """The drafts changed last, newest first."""
    drafts = await here.searching.run(request, here.service.backend.drafts)
    return Reply({"drafts": [_shape(draft, here.service.config) for draft in drafts]})


@router.post("/api/drafts", response_model=DraftReply)
async def make(request: Request, wanted: DraftRequest, here: Here, _: NoQuery) -> Reply:
    """Keep a draft."""
    made = partial(create_draft, here.service.backend, _content(wanted))
    return Reply(_shape(await here.writing.finish(made), here.service.config))


@router.get("/api/drafts/{draft_id}", response_model=DraftReply)
async def read(request: Request, draft_id: str, here: Here, _: NoQuery) -> Reply:
    """A draft with its files."""
    return Reply(
        await here.searching.run(request, partial(_whole, here.service.backend, draft_id, here.service.config))
    )


@router.put("/api/drafts/{draft_id}", response_model=DraftReply)
async def replace(request: Request, draft_id: str, wanted: DraftRequest, here: Here, _: NoQuery) -> Reply:
    """Replace what a draft says; files that it no longer names are forgotten."""
    changed = partial(update_draft, here.service.backend, _storable(draft_id), _content(wanted))
    return Reply(_shape(await here.writing.finish(changed), here.service.config))


@router.delete("/api/drafts/{draft_id}", response_model=DeletedReply)
async def forget(request: Request, draft_id: str, here: Here, _: NoQuery) -> Reply:
    """Forget a draft and its files."""
    await here.writing.finish(partial(delete_draft, here.service.backend, _storable(draft_id)))
    return Reply({"deleted": draft_id})


def _content(wanted: DraftRequest) -> EntryContent:
    return EntryContent.of(wanted.content.model_dump())


def _storable(draft_id: str) -> str:
    """An id that every backend can look for; NUL stands in none."""
    return draft_id.replace("\0", " ")


def _whole(backend: Backend, draft_id: str, config: ARIELConfig) -> dict[str, Any]:
    draft = get_draft(backend, _storable(draft_id))
    named = draft.content.get("attachment_ids", [])
    files = [stored for name in named if (stored := backend.staged_file(name)) is not None]
    return _shape(draft, config) | {"files": [file_shape(stored) for stored in files]}


def _shape(draft: Draft, config: ARIELConfig) -> dict[str, Any]:
    return {
        "draft_id": draft.draft_id,
        "content": draft.content,
        "created_at": local_time(draft.created_at, config.zone),
        "updated_at": local_time(draft.updated_at, config.zone),
        "files": None,
    }
