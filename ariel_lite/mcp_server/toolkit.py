"""What a tool is, what it works with, and how its arguments are read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from ariel_lite.config import ARIELConfig
from ariel_lite.errors import InvalidRequestError
from ariel_lite.mcp_server.opened import OpenedLogbook
from ariel_lite.mcp_server.work import Workers
from ariel_lite.registry import Registry

Given = Mapping[str, Any]
Answer = dict[str, Any]


class Arguments(BaseModel):
    """The arguments of a tool: the fields' descriptions are what an agent reads."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Serving:
    """What every call works with.

    Attributes:
        logbook: opened when it is first used.
        shown_location: the logbook's path or URL as it may be shown.
        allow_write: lets agents add and publish entries.
        file_folders: where files may be attached from.
    """

    config: ARIELConfig
    registry: Registry
    logbook: OpenedLogbook
    shown_location: str
    allow_write: bool = False
    file_folders: tuple[str, ...] = ()
    workers: Workers = field(default_factory=Workers)


@dataclass(frozen=True)
class AgentTool:
    """A tool: `call` gives the answer as a JSON object, or raises an ARIELException."""

    name: str
    title: str
    description: str
    schema: dict[str, Any]
    call: Callable[[Serving, Given], Awaitable[Answer]]
    writes: bool = False


A = TypeVar("A", bound=Arguments)


def tool(
    name: str,
    title: str,
    model: type[A],
    call: Callable[[Serving, A], Awaitable[Answer]],
    *,
    writes: bool = False,
) -> AgentTool:
    """A tool whose description is its model's docstring and whose arguments are the model's fields."""

    async def checked(serving: Serving, given: Given) -> Answer:
        return await call(serving, read_arguments(name, model, given))

    return AgentTool(name, title, " ".join((model.__doc__ or "").split()), schema_of(model), checked, writes)


def read_arguments(name: str, model: type[A], given: Given) -> A:
    """The arguments of a call; null means not given.

    Raises:
        InvalidRequestError: an argument that is unknown, missing, or of the wrong kind.
    """
    try:
        return model.model_validate({key: value for key, value in given.items() if value is not None})
    except ValidationError as fault:
        raise wrong_argument(name, model, fault) from fault


def wrong_argument(name: str, model: type[BaseModel], fault: ValidationError) -> InvalidRequestError:
    """The first thing that is wrong with a call's arguments."""
    first = fault.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return unknown_argument(name, where, list(model.model_fields))
    if first["type"] == "missing":
        return InvalidRequestError(f"{name} needs the argument {where!r}", hint=f"give {where}")
    message = first["msg"].removeprefix("Value error, ")
    return InvalidRequestError(f"{name}, argument {where}: {message.lower()}", hint=f"got {first['input']!r:.80}")


def unknown_argument(name: str, argument: str, known: list[str]) -> InvalidRequestError:
    """What is said of an argument that a tool does not have."""
    return InvalidRequestError(
        f"{name} has no argument {argument!r}", hint=f"it has: {', '.join(known)}" if known else "it takes none"
    )


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments, without pydantic's titles."""
    schema = model.model_json_schema()
    plain: dict[str, Any] = _untitled(schema)
    plain.pop("description", None)
    plain.setdefault("properties", {})
    return plain


def _untitled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _untitled(item) for key, item in value.items() if not (key == "title" and isinstance(item, str))}
    return [_untitled(item) for item in value] if isinstance(value, list) else value
