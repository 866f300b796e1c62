"""New entries: with files that wait for them or that come along, and published where the source takes them."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from starlette.datastructures import FormData

from ariel_lite.errors import IngestionError, InvalidRequestError
from ariel_lite.ingestion.authoring import WEB_SOURCE
from ariel_lite.ingestion.drafts import EntryContent, NewFile, finish_draft, store_entry
from ariel_lite.ingestion.publishing import publish_entry, publish_info, writable_adapter
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.service import ARIELSearchService
from ariel_lite.web.models import CreatedReply, EntryRequest, PublishInfoReply
from ariel_lite.web.replies import Reply
from ariel_lite.web.serving import Here
from ariel_lite.web.uploads import multipart, read_upload, refuse_unknown
from ariel_lite.web.validation import NoQuery

FILES_FIELD = "files"
TEXT_FIELDS = ("subject", "details", "author", "logbook", "shift")
FORM_FIELDS = (*TEXT_FIELDS, "tags", "metadata", FILES_FIELD)
UPLOAD_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        **{name: {"type": "string"} for name in TEXT_FIELDS},
                        "tags": {"type": "string", "description": "tags with commas between them"},
                        "metadata": {"type": "string", "description": "a JSON object"},
                        FILES_FIELD: {"type": "array", "items": {"type": "string", "format": "binary"}},
                    },
                    "additionalProperties": False,
                }
            }
        },
    }
}
STAYED = "local"
SENT = "synced"
FAILED = "failed"

router = APIRouter()


@router.post("/api/entries", response_model=CreatedReply)
async def create(request: Request, wanted: EntryRequest, here: Here, _: NoQuery) -> Reply:
    """Write an entry; with `publish` it is created at the source too, with `draft_id` the draft becomes it."""
    gate = here.publishing if wanted.publish else here.writing
    return Reply(await gate.finish(partial(_created, here.service, wanted)))


@router.post("/api/entries/upload", response_model=CreatedReply, openapi_extra=UPLOAD_FORM)
async def upload(request: Request, here: Here, _: NoQuery) -> Reply:
    """Write an entry together with its files."""
    async with multipart(request) as form:
        refuse_unknown(form, FORM_FIELDS)
        content = _content(form)
        async with here.uploading.turn():
            files = [await read_upload(part, FILES_FIELD) for part in form.getlist(FILES_FIELD) if not _is_blank(part)]
            return Reply(await here.writing.finish(partial(_stored, here.service, content, files)))


@router.get("/api/publish-info", response_model=PublishInfoReply)
async def about_publishing(request: Request, here: Here, _: NoQuery) -> Reply:
    """Whether new entries can be published at the source."""
    info = partial(publish_info, here.service.config, here.service.registry)
    return Reply((await here.searching.run(request, info)).to_dict())


def _created(service: ARIELSearchService, wanted: EntryRequest) -> dict[str, Any]:
    content = EntryContent.of(wanted.model_dump(include=set(EntryContent.model_fields)))
    if wanted.publish:
        _check_publishable(service, content, wanted)
    if wanted.draft_id is None:
        entry = store_entry(service.backend, content, source_system=WEB_SOURCE)
    else:
        entry = finish_draft(service.backend, wanted.draft_id, source_system=WEB_SOURCE, content=content)
    return _published(service, entry, wanted) if wanted.publish else _shape(entry)


def _stored(service: ARIELSearchService, content: EntryContent, files: list[NewFile]) -> dict[str, Any]:
    return _shape(store_entry(service.backend, content, source_system=WEB_SOURCE, files=files))


def _check_publishable(service: ARIELSearchService, content: EntryContent, wanted: EntryRequest) -> None:
    """Refuse before anything is stored what the source would not take."""
    source = writable_adapter(service.config, service.registry).source_system_name
    asks_author = publish_info(service.config, service.registry).requires_auth
    if asks_author and not (wanted.auth_user and wanted.auth_password):
        raise InvalidRequestError(f"{source} wants to know who writes", hint="give auth_user and auth_password")
    if content.attachment_ids:
        raise InvalidRequestError("an entry with files cannot be published", hint="attach them at the source")


def _published(service: ARIELSearchService, entry: EnhancedLogbookEntry, wanted: EntryRequest) -> dict[str, Any]:
    """The entry at the source; where that fails, the entry that stays here, and why: it must not be written twice."""
    try:
        publication = publish_entry(
            service.backend,
            service.config,
            service.registry,
            entry["entry_id"],
            logbook=wanted.logbook,
            auth_user=wanted.auth_user,
            auth_password=wanted.auth_password,
        )
    except (IngestionError, InvalidRequestError) as fault:
        message = f"the entry is kept here as {entry['entry_id']}, but was not published: {fault.message}"
        return _shape(entry) | {"sync_status": FAILED, "message": message}
    place = {"entry_id": publication.entry_id, "source_system": publication.source_system}
    return _shape(entry) | place | {"sync_status": SENT, "message": publication.message}


def _shape(entry: EnhancedLogbookEntry) -> dict[str, Any]:
    return {
        "entry_id": entry["entry_id"],
        "message": f"the entry is kept as {entry['entry_id']}",
        "sync_status": STAYED,
        "source_system": entry["source_system"],
        "attachment_count": len(entry["attachments"]),
    }


def _content(form: FormData) -> EntryContent:
    values: dict[str, Any] = {}
    for name in (*TEXT_FIELDS, "metadata"):
        given = form.getlist(name)
        if len(given) > 1 or not all(isinstance(value, str) for value in given):
            raise InvalidRequestError(f"the field {name} must be one text", hint="files go into the field files")
        if given:
            values[name] = given[0]
    if "metadata" in values:
        values["metadata"] = _metadata(values["metadata"])
    texts = [part for part in form.getlist("tags") if isinstance(part, str)]
    values["tags"] = [tag for text in texts for tag in text.split(",")]
    return EntryContent.of(values)


def _metadata(text: str) -> Any:
    try:
        return json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as fault:
        raise InvalidRequestError("the field metadata is not JSON", hint='write it as {"name": "value"}') from fault


def _is_blank(part: object) -> bool:
    """True for what a browser sends for a file field in which nothing was chosen."""
    return getattr(part, "filename", None) == "" and not getattr(part, "size", 0)
