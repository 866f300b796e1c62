"""Entries, drafts and publications that agents ask for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ariel_lite.errors import InvalidRequestError
from ariel_lite.ingestion.authoring import MCP_SOURCE
from ariel_lite.ingestion.drafts import EntryContent, NewFile, create_draft, read_file, store_entry
from ariel_lite.ingestion.publishing import publish_entry
from ariel_lite.mcp_server.toolkit import Answer, Serving
from ariel_lite.service import ARIELSearchService

MOST_FILES = 10
ORIGIN = {"created_via": "ariel-mcp"}


def create(
    serving: Serving,
    service: ARIELSearchService,
    *,
    subject: str,
    details: str,
    author: str | None,
    logbook: str | None,
    shift: str | None,
    tags: Sequence[str] | None,
    file_paths: Sequence[str] | None,
    artifact_ids: Sequence[str] | None,
    draft: bool,
) -> Answer:
    """A new draft or entry; see `writing.entry_create`."""
    content = EntryContent(
        subject=subject,
        details=details,
        author=author or "",
        logbook=logbook,
        shift=shift,
        tags=list(tags or ()),
        metadata=ORIGIN,
        attachment_ids=list(artifact_ids or ()),
    )
    files = allowed_files(file_paths or (), serving.file_folders)
    if draft:
        return _drafted(serving, create_draft(service.backend, content, files).draft_id)
    entry = store_entry(service.backend, content, source_system=MCP_SOURCE, files=files)
    return {
        "entry_id": entry["entry_id"],
        "message": f"Entry {entry['entry_id']} created successfully",
        "source_system": MCP_SOURCE,
        "attachment_count": len(entry["attachments"]),
    }


def publish(serving: Serving, service: ARIELSearchService, *, entry_id: str, logbook: str | None) -> Answer:
    """An entry at its source; see `writing.entry_publish`."""
    done = publish_entry(service.backend, serving.config, serving.registry, entry_id, logbook=logbook)
    return done.to_dict()


def _drafted(serving: Serving, draft_id: str) -> Answer:
    web = serving.config.web
    url = f"http://{web.host}:{web.port}/new?draft={draft_id}"
    message = f"Draft {draft_id} created. A person reviews and submits it at {url} (where 'ariel-lite web' runs)."
    return {"draft_id": draft_id, "url": url, "message": message}


def allowed_files(paths: Sequence[str], folders: Sequence[str]) -> list[NewFile]:
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
