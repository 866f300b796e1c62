"""The tools that write. They exist only where the operator allows it: what an entry says must never add another one.

The work itself is in `authored`, which is imported with the first call: agents seldom write, and every start would pay.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pydantic import Field

from ariel_lite.errors import InvalidRequestError
from ariel_lite.mcp_server.toolkit import AgentTool, Answer, Arguments, Serving, tool
from ariel_lite.mcp_server.work import ShouldStop

WRITING_NAMES = ("entry_create", "entry_publish")


class EntryCreate(Arguments):
    """Write a new entry: as a draft that a person reviews in the web page (the default), or, with draft=false, into the
    logbook at once.
    """

    subject: str = Field(description="What it is about, in one line.")
    details: str = Field(description="What happened.")
    author: str | None = Field(default=None, description="Who writes.")
    logbook: str | None = Field(default=None, description="Which logbook it belongs to.")
    shift: str | None = Field(default=None, description="The shift, such as Day, Swing or Owl.")
    tags: list[str] | None = Field(default=None, description="Tags.")
    file_paths: list[str] | None = Field(
        default=None, description="Files of this server's machine to attach, at most 10 MB each, in allowed folders."
    )
    artifact_ids: list[str] | None = Field(default=None, description="Files that were uploaded before (att-…).")
    draft: bool = Field(default=True, description="True: a draft for review. False: an entry at once.")


class EntryPublish(Arguments):
    """Publish an entry that was written here to the facility's logbook; it then has the id that the facility's logbook
    gave it.
    """

    entry_id: str = Field(description="The entry_id that entry_create gave.")
    logbook: str | None = Field(default=None, description="Which logbook of the facility.")


def writing_tools() -> list[AgentTool]:
    """All of them."""
    return [
        tool("entry_create", "Write an entry", EntryCreate, entry_create, writes=True),
        tool("entry_publish", "Publish an entry", EntryPublish, entry_publish, writes=True),
    ]


async def entry_create(serving: Serving, call: EntryCreate) -> Answer:
    """{draft_id, url, message}, or {entry_id, message, source_system, attachment_count}."""
    for name in ("subject", "details"):
        if not getattr(call, name).strip():
            raise InvalidRequestError(f"an entry needs {name}", hint=f"give {name}")
    return await _done(serving, "create", call.model_dump())


async def entry_publish(serving: Serving, call: EntryPublish) -> Answer:
    """{entry_id, source_system, sync_status, message}."""
    return await _done(serving, "publish", call.model_dump())


async def _done(serving: Serving, work: str, values: dict[str, Any]) -> Answer:
    async with serving.logbook.use() as service:

        def written(should_stop: ShouldStop) -> Answer:
            answer: Answer = getattr(import_module("ariel_lite.mcp_server.authored"), work)(serving, service, **values)
            return answer

        return await serving.workers.run(written)
