"""The page: one HTML file for all its addresses, and the files it needs; all of them come along with the package."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import anyio.to_thread
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ariel_lite.web.replies import refused

STATIC = Path(__file__).parent / "static"
VIEWS = ("/browse", "/new", "/status")
PAGE_ADDRESSES = ("/", *VIEWS, "/entry/{entry_id:path}")

TYPES: Mapping[str, str] = MappingProxyType(
    {
        ".html": "text/html",
        ".css": "text/css",
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".json": "application/json",
        ".svg": "image/svg+xml",
        ".woff2": "font/woff2",
    }
)
"""Types that must not depend on what the machine thinks of a suffix."""

router = APIRouter(include_in_schema=False)


@router.get("/static/{name:path}")
async def static_file(request: Request, name: str) -> Response:
    """A file of the page."""
    return await _sent(request, name)


async def page(request: Request) -> Response:
    """The page, whatever it is going to show."""
    return await _sent(request, "index.html")


for _address in PAGE_ADDRESSES:
    router.add_api_route(_address, page, methods=["GET"])


async def without_slash(request: Request) -> Response:
    """A view's address as people type it, with a slash at its end."""
    return RedirectResponse(str(request.url.replace(path=request.url.path.rstrip("/"), scheme="", netloc="")))


for _view in VIEWS:
    router.add_api_route(f"{_view}/", without_slash, methods=["GET"])


async def _sent(request: Request, name: str) -> Response:
    data = await anyio.to_thread.run_sync(_read, name)
    if data is None:
        return refused(404, "not_found", f"there is no file {name}", "the page is at /")
    headers = {"Cache-Control": "no-cache", "ETag": f'"{hashlib.sha256(data).hexdigest()[:16]}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(data, headers=headers, media_type=_media_type(name))


def _read(name: str) -> bytes | None:
    """A file below the static folder, or None; names cannot lead out of it."""
    try:
        path = (STATIC / name).resolve()
        inside = path.is_relative_to(STATIC.resolve()) and path.is_file()
        return path.read_bytes() if inside else None
    except (OSError, ValueError):
        return None


def _media_type(name: str) -> str:
    return TYPES.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
