"""The application: routes, guard, and errors as one envelope."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ariel_lite import __version__
from ariel_lite.errors import ARIELException
from ariel_lite.service import ARIELSearchService
from ariel_lite.web import (
    api_page,
    attachment_routes,
    authoring_routes,
    draft_routes,
    entry_routes,
    search_routes,
    static_files,
    status_routes,
)
from ariel_lite.web.compressing import Compressing
from ariel_lite.web.guard import Guard, Policy, too_large
from ariel_lite.web.models import ERRORS
from ariel_lite.web.replies import Reply, failed, refused
from ariel_lite.web.serving import Serving
from ariel_lite.web.validation import explained
from ariel_lite.web.work import ClientLeft

ROUTES = (
    search_routes,
    entry_routes,
    authoring_routes,
    attachment_routes,
    draft_routes,
    status_routes,
    api_page,
    static_files,
)

CLIENT_LEFT = 499
"""Nobody reads it; logs show it."""


def create_app(
    service: ARIELSearchService,
    *,
    host: str | None = None,
    token: str | None = None,
) -> FastAPI:
    """The ASGI application of a logbook.

    Args:
        service: the logbook; it stays the caller's, who closes it.
        host: the address that the server is bound to; None takes `web.host`.
        token: what clients have to show; None takes `web.token`, "" asks for none.
    """
    settings = service.config.web
    policy = Policy(
        host=settings.host if host is None else host,
        allowed_hosts=tuple(settings.allowed_hosts),
        token=settings.token if token is None else token,
    )

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        app.state.serving = Serving(service)
        yield

    app = FastAPI(
        title="ariel-lite",
        version=__version__,
        description="Logbook search. Errors of every route: {error: {code, message, hint, position}}.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        default_response_class=Reply,
        responses=ERRORS,
        lifespan=running,
    )
    for routes in ROUTES:
        app.include_router(routes.router)
    _answer_errors(app)
    app.add_middleware(Compressing)
    app.add_middleware(Guard, policy=policy)
    return app


def _answer_errors(app: FastAPI) -> None:
    @app.exception_handler(ARIELException)
    async def known(request: Request, error: ARIELException) -> Response:
        return failed(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return explained(error)

    @app.exception_handler(HTTPException)
    async def refusal(request: Request, error: HTTPException) -> Response:
        return _as_envelope(request, error)

    @app.exception_handler(ClientLeft)
    async def left(request: Request, error: ClientLeft) -> Response:
        return Response(status_code=CLIENT_LEFT)


def _as_envelope(request: Request, error: HTTPException) -> Response:
    path = request.url.path
    if error.status_code == 413:
        return too_large()
    if error.status_code == 404:
        return refused(404, "not_found", f"there is nothing at {path}", "the page is at /, the API's list at /docs")
    if error.status_code == 405:
        message = f"{path} does not answer {request.method}"
        return refused(405, "method_not_allowed", message, "see /docs", headers=error.headers)
    message, hint = _unread(error.__cause__) or (str(error.detail), "")
    return refused(error.status_code, "bad_request", message, hint, headers=error.headers)


def _unread(cause: BaseException | None) -> tuple[str, str] | None:
    """(message, hint) of what kept a body from being read as JSON, where its syntax was not at fault."""
    if isinstance(cause, RecursionError):
        return "the body nests too deep", "no field needs more than a few levels of brackets"
    if isinstance(cause, UnicodeDecodeError):
        return "the body is not UTF-8", "send the JSON in UTF-8"
    return None
