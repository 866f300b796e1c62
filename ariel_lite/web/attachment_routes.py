"""Files: kept until their entry is written, and served so that a browser runs nothing in them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.datastructures import UploadFile
from starlette.responses import Response

from ariel_lite.attachments import serving_headers
from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import StoredAttachment
from ariel_lite.errors import EntryNotFoundError, InvalidRequestError
from ariel_lite.ingestion.drafts import stage_file
from ariel_lite.web.models import FileParameters, StagedReply
from ariel_lite.web.replies import Reply
from ariel_lite.web.serving import Here
from ariel_lite.web.uploads import multipart, read_upload, refuse_unknown
from ariel_lite.web.validation import NoQuery

FILE_FIELD = "file"
FILE_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {FILE_FIELD: {"type": "string", "format": "binary"}},
                    "required": [FILE_FIELD],
                    "additionalProperties": False,
                }
            }
        },
    }
}
BYTES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file; what a browser could run is a download",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    },
    304: {"description": "The file that the client has is still the same"},
}

router = APIRouter()


@router.post("/api/attachments", response_model=StagedReply, openapi_extra=FILE_FORM)
async def stage(request: Request, here: Here, _: NoQuery) -> Reply:
    """Keep a file for an entry that is being written; the entry names its id in attachment_ids."""
    async with multipart(request) as form:
        refuse_unknown(form, (FILE_FIELD,))
        async with here.uploading.turn():
            file = await read_upload(_only(form.getlist(FILE_FIELD)), FILE_FIELD)
            stored = await here.writing.finish(partial(stage_file, here.service.backend, file))
    return Reply(
        {
            "attachment_id": stored.attachment_id,
            "filename": stored.filename,
            "mime_type": stored.mime_type,
            "size_bytes": stored.size_bytes,
        }
    )


@router.get("/api/attachments/{attachment_id:path}", response_class=Response, responses=BYTES)
async def send(
    request: Request, attachment_id: str, here: Here, wanted: Annotated[FileParameters, Query()]
) -> Response:
    """A file, shown by the browser where that is safe, else as a download."""
    stored = await here.searching.run(request, partial(_stored, here.service.backend, attachment_id))
    data = stored.data or b""
    headers = serving_headers(stored.filename, stored.mime_type)
    if wanted.download:
        headers["Content-Disposition"] = headers["Content-Disposition"].replace("inline;", "attachment;", 1)
    headers |= {"Cache-Control": "private, no-cache", "ETag": f'"{hashlib.sha256(data).hexdigest()[:32]}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(data, headers=headers)


def _only(parts: Sequence[UploadFile | str]) -> UploadFile | str | None:
    if len(parts) > 1:
        raise InvalidRequestError(f"{len(parts)} files were sent, one is taken", hint="send each by itself")
    return parts[0] if parts else None


def _stored(backend: Backend, attachment_id: str) -> StoredAttachment:
    found = None
    if "\0" not in attachment_id:
        found = backend.get_attachment(attachment_id) or backend.staged_file(attachment_id)
    if found is None:
        raise EntryNotFoundError(f"there is no attachment {attachment_id}", hint="it may have been replaced or deleted")
    return found
