"""Reading multipart requests: the parts go to disk as they come, and each is counted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request

from ariel_lite.attachments import MAX_ATTACHMENT_BYTES, safe_filename
from ariel_lite.errors import ARIELException, ErrorCategory, InvalidRequestError
from ariel_lite.ingestion.drafts import NewFile, new_file
from ariel_lite.web.limits import MAX_BODY_BYTES, MOST_FILES

MULTIPART = "multipart/form-data"
MOST_FIELDS = 200


class FileTooLargeError(ARIELException):
    """A file of more bytes than an attachment may have."""

    code = "too_large"
    http_status = 413
    default_category = ErrorCategory.INGESTION


@asynccontextmanager
async def multipart(request: Request) -> AsyncIterator[FormData]:
    """The parts of a request; what was put on disk for them is removed at the end.

    Raises:
        InvalidRequestError: the request is no multipart one.
        HTTPException: the parts cannot be read (400), or are too many or too large (400, 413).
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != MULTIPART:
        raise InvalidRequestError(f"the request is no {MULTIPART}", hint="send files as an HTML form does")
    async with request.form(max_files=MOST_FILES, max_fields=MOST_FIELDS, max_part_size=MAX_BODY_BYTES) as form:
        yield form


async def read_upload(part: UploadFile | str | None, field: str) -> NewFile:
    """A part as a file to keep.

    Raises:
        InvalidRequestError: it is missing, no file, or empty.
        FileTooLargeError: it is larger than an attachment may be.
    """
    if not isinstance(part, UploadFile):
        raise InvalidRequestError(f"the field {field} holds no file", hint="send it with a filename, as a form does")
    name = safe_filename(part.filename or "")
    if not part.size:
        raise InvalidRequestError(f"{name} is empty", hint="choose another file")
    if part.size > MAX_ATTACHMENT_BYTES:
        limit = MAX_ATTACHMENT_BYTES // 1024 // 1024
        raise FileTooLargeError(f"{name} has {part.size:,} bytes", hint=f"a file may have {limit} MB")
    return new_file(part.filename or "", await part.read())


def refuse_unknown(form: FormData, known: tuple[str, ...]) -> None:
    """Raises InvalidRequestError when a form has a field that is none of `known`."""
    for name in form:
        if name not in known:
            raise InvalidRequestError(f"unknown field {name}", hint=f"there are: {', '.join(known)}")
