"""The tools that write. They exist only where the operator allows it: what an entry says must never add another one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from ariel_lite.errors import InvalidRequestError
from ariel_lite.ingestion.authoring import MCP_SOURCE
from ariel_lite.ingestion.drafts import EntryContent, NewFile, create_draft, read_file, store_entry
from ariel_lite.ingestion.publishing import publish_entry
from ariel_lite.mcp_server.toolkit import AgentTool, Answer, Arguments, Serving, tool
from ariel_lite.mcp_server.work import ShouldStop

MOST_FILES = 10
ORIGIN = {"created_via": "ariel-mcp"}


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
    content = EntryContent(
        subject=call.subject,
        details=call.details,
        author=call.author or "",
        logbook=call.logbook,
        shift=call.shift,
        tags=call.tags or [],
        metadata=ORIGIN,
        attachment_ids=call.artifact_ids or [],
    )
    async with serving.logbook.use() as service:

        def work(should_stop: ShouldStop) -> Answer:
            files = _files(call.file_paths or (), serving.file_folders)
            if call.draft:
                return _drafted(serving, create_draft(service.backend, content, files).draft_id)
            entry = store_entry(service.backend, content, source_system=MCP_SOURCE, files=files)
            return {
                "entry_id": entry["entry_id"],
                "message": f"Entry {entry['entry_id']} created successfully",
                "source_system": MCP_SOURCE,
                "attachment_count": len(entry["attachments"]),
            }

        return await serving.workers.run(work)


async def entry_publish(serving: Serving, call: EntryPublish) -> Answer:
    """{entry_id, source_system, sync_status, message}."""
    async with serving.logbook.use() as service:

        def work(should_stop: ShouldStop) -> Answer:
            done = publish_entry(service.backend, serving.config, serving.registry, call.entry_id, logbook=call.logbook)
            return done.to_dict()

        return await serving.workers.run(work)


def _drafted(serving: Serving, draft_id: str) -> Answer:
    web = serving.config.web
    url = f"http://{web.host}:{web.port}/new?draft={draft_id}"
    message = f"Draft {draft_id} created. A person reviews and submits it at {url} (where 'ariel-lite web' runs)."
    return {"draft_id": draft_id, "url": url, "message": message}


def _files(paths: Sequence[str], folders: Sequence[str]) -> list[NewFile]:
    """Files to attach, which must be in one of the allowed folders however their paths are written.

    Raises:
        InvalidRequestError: too many, one that is elsewhere, or one that cannot be read.
    """
    if len(paths) > MOST_FILES:
        raise InvalidRequestError(f"{len(paths)} files are too many", hint=f"attach at most {MOST_FILES}")
    allowed = [Path(folder).expanduser().resolve() for folder in folders]
    return [read_file(_inside(path, allowed)) for path in paths]


def _inside(path: str, allowed: Sequence[Path]) -> Path:
    hint = "files may be attached from: " + (", ".join(map(str, allowed)) or "nowhere (see mcp --files)")
    try:
        found = Path(path).expanduser().resolve()
        is_allowed = any(found.is_relative_to(folder) for folder in allowed) and found.is_file()
    except (OSError, ValueError, RuntimeError):
        is_allowed = False
    if not is_allowed:
        # The same words for a file that is absent and one that is elsewhere: nobody learns what else is on the disk.
        raise InvalidRequestError(f"no file {path!r:.300} that may be attached", hint=hint)
    return found
