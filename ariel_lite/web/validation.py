"""What is wrong with a request's shape, in one line and a hint."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import Query
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from ariel_lite.web.replies import refused

SHOWN = 80
"""How much of a wrong value a hint repeats."""

_OBJECT = "input should be a JSON object"
_OBJECT_EXPECTED = ("model_attributes_type", "model_type", "dict_type")


class Body(BaseModel):
    """JSON of a request: unknown fields and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Parameters(BaseModel):
    """Query parameters of a request: unknown ones are refused."""

    model_config = ConfigDict(extra="forbid")


class NoParameters(Parameters):
    """Of routes that take none."""


NoQuery = Annotated[NoParameters, Query()]
"""How a route says that it takes none."""


def explained(error: RequestValidationError) -> Response:
    """The first fault as an envelope, with status 422."""
    first: Mapping[str, Any] = error.errors()[0]
    where = _where(first["loc"])
    if first["type"] == "extra_forbidden":
        return refused(422, "validation_error", f"unknown {where}", "see /docs for what there is")
    if first["type"] == "json_invalid":
        return refused(
            422, "validation_error", "the body is not valid JSON", str(first.get("ctx", {}).get("error", ""))
        )
    given = first.get("input")
    if isinstance(given, bytes):
        # As curl sends it, unless it is told: nothing but the header is wrong, mostly.
        hint = "send it with the header Content-Type: application/json"
        return refused(422, "validation_error", "the body was not sent as JSON", hint)
    message = _OBJECT if first["type"] in _OBJECT_EXPECTED else str(first["msg"]).removeprefix("Value error, ")
    hint = "" if first["type"] == "missing" else f"got {_shown(given)}"
    return refused(422, "validation_error", f"{where}: {message[:1].lower()}{message[1:]}", hint)


def _shown(given: object) -> str:
    """A value as JSON writes it, cut."""
    text = json.dumps(given, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _where(location: Sequence[int | str]) -> str:
    kinds = {"query": "parameter", "body": "field", "path": "address part", "header": "header", "form": "field"}
    kind = kinds.get(str(location[0]), "field")
    name = ".".join(str(part) for part in location[1:])
    return f"{kind} {name}" if name else "body"
