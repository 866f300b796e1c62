"""Answers: strict JSON whatever the logbook holds, and the one envelope of every error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

from ariel_lite.errors import ARIELException
from ariel_lite.present import error_document
from ariel_lite.strict_json import json_text

RETRY_SECONDS = 5
"""What an answer 503 tells a client to wait."""


class Reply(JSONResponse):
    """JSON without NaN and without lone surrogates, both of which a source may bring along."""

    def render(self, content: Any) -> bytes:
        """The document as UTF-8."""
        return json_text(content).encode("utf-8")


def refused(status: int, code: str, message: str, hint: str = "", *, headers: Mapping[str, str] | None = None) -> Reply:
    """An error that is no exception of this package (no such address, wrong method, foreign origin, …)."""
    envelope = {"code": code, "message": message, "hint": hint, "position": None}
    return Reply({"error": envelope}, status_code=status, headers=headers)


def failed(error: ARIELException) -> Reply:
    """An error of this package, with the status of its class; 503 says when to try again."""
    headers = {"Retry-After": str(RETRY_SECONDS)} if error.http_status == 503 else None
    return Reply(error_document(error), status_code=error.http_status, headers=headers)
