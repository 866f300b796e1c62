"""The tools that read: SQL, browsing, entries by id, what can be filtered by, what the server can do, how it does."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from importlib import import_module
from typing import Any, Literal, TypeVar

from pydantic import Field

from ariel_lite import __version__
from ariel_lite.capabilities import MOST_OPTIONS, OPTION_FIELDS, SearchModes
from ariel_lite.errors import ARIELException, EntryNotFoundError, InvalidRequestError
from ariel_lite.mcp_server.envelopes import (
    BATCH_CHARACTERS,
    BROWSE_CHARACTERS,
    ENTRY_CHARACTERS,
    NOTICE,
    brief_entry,
    full_entry,
    local_moment,
    table_text,
    that_fit,
)
from ariel_lite.mcp_server.searching import DATES
from ariel_lite.mcp_server.toolkit import AgentTool, Answer, Arguments, Serving, tool
from ariel_lite.mcp_server.work import ShouldStop
from ariel_lite.records import ARIELStatusResult
from ariel_lite.service import ARIELSearchService

T = TypeVar("T")

MOST_IDS = 50
MOST_PAGE = 100
MOST_ROWS = 200
SQL_SECONDS = 10.0


class SqlQuery(Arguments):
    """Run one read-only SELECT (or WITH) on the logbook, in PostgreSQL's dialect: for counting, grouping, dates and
    metadata. Tables: enhanced_entries (entry_id text, source_system text, timestamp timestamptz, author text, raw_text
    text, attachments jsonb, metadata jsonb, summary text, keywords text[], enhancement_status jsonb, created_at,
    updated_at timestamptz) and text_embeddings_*. Stopped after 10 seconds.
    """

    sql: str = Field(description="One SELECT statement.")
    max_rows: int = Field(default=100, description="Rows to give, 1 to 200.")


class Browse(Arguments):
    """List entries by time, newest first, with optional filters. The answer is paged (next_offset) and entries are cut:
    entry_get gives a whole one by its entry_id.
    """

    page_size: int = Field(default=20, description="Entries to give, 1 to 100.")
    offset: int = Field(default=0, ge=0, description="Entries to skip: next_offset of the answer before.")
    start_date: str | None = Field(default=None, description=f"From this time on: {DATES}.")
    end_date: str | None = Field(default=None, description=f"Until this time, whose whole unit is included: {DATES}.")
    author: str | None = Field(default=None, description="Any part of the author's name.")
    source_system: str | None = Field(default=None, description="Any part of the source system's name.")


class FilterOptions(Arguments):
    """List the values that a filter can have: authors, source_systems, logbooks, tags or categories."""

    field: Literal["authors", "source_systems", "logbooks", "tags", "categories"] = Field(
        default="authors", description="Whose values."
    )


class EntryGet(Arguments):
    """Give a whole entry by its entry_id. A text of more than 40,000 characters comes in parts (next_text_offset)."""

    entry_id: str = Field(description="The entry_id exactly as an answer gave it; not a position in a list.")
    text_offset: int = Field(default=0, ge=0, description="Where the text begins: next_text_offset of the part before.")


class EntriesByIds(Arguments):
    """Give several entries by their entry_ids, at most 50, with up to 1,000 characters of each text."""

    entry_ids: list[str] = Field(description="entry_ids exactly as answers gave them.")


class Capabilities(Arguments):
    """Say what this server can do: search modes with their tools, the default mode, fields, limits."""


class Status(Arguments):
    """Say how the logbook does: entries, vectors, last ingestion, what is wrong."""


def reading_tools(modes: SearchModes) -> list[AgentTool]:
    """All of them."""
    return [
        tool("sql_query", "Query the logbook in SQL", SqlQuery, sql_query),
        tool("browse", "List entries by time", Browse, browse),
        tool("filter_options", "List filter values", FilterOptions, filter_options),
        tool("entry_get", "Read an entry", EntryGet, entry_get),
        tool("entries_by_ids", "Read several entries", EntriesByIds, entries_by_ids),
        tool("capabilities", "What this server can do", Capabilities, partial(capabilities, modes)),
        tool("status", "How the logbook does", Status, status),
    ]


async def sql_query(serving: Serving, call: SqlQuery) -> Answer:
    """{sql, row_count, rows, formatted, columns, truncated}."""
    if not call.sql.strip():
        raise InvalidRequestError("the statement is empty", hint="try: SELECT count(*) FROM enhanced_entries")
    async with serving.logbook.use() as service:
        location, backend = service.backend.location, service.backend.name
        run = import_module(f"ariel_lite.backends.{backend}.readonly").run_readonly

        def work(should_stop: ShouldStop) -> Answer:
            answer: Answer = run(
                location,
                call.sql,
                max_rows=min(max(call.max_rows, 1), MOST_ROWS),
                time_limit=SQL_SECONDS,
                should_stop=should_stop,
            )
            return answer

        found = await serving.workers.run(work)
    rows = that_fit(found["rows"])
    return {
        "sql": call.sql,
        "row_count": len(rows),
        "truncated": found["truncated"] or len(rows) < len(found["rows"]),
        "columns": found["columns"],
        "content_notice": NOTICE,
        "rows": rows,
        "formatted": table_text(found["columns"], rows),
    }


async def browse(serving: Serving, call: Browse) -> Answer:
    """{entries, returned, total_count, offset, next_offset}."""
    size = min(max(call.page_size, 1), MOST_PAGE)

    def listed(service: ARIELSearchService) -> Any:
        return service.browse(
            start_date=call.start_date,
            end_date=call.end_date,
            author=call.author,
            source_system=call.source_system,
            limit=size,
            offset=call.offset,
        )

    page = await _with_service(serving, listed)
    shown = that_fit([brief_entry(entry, serving.config, BROWSE_CHARACTERS) for entry in page.entries])
    following = call.offset + len(shown)
    return {
        "content_notice": NOTICE,
        "entries": shown,
        "returned": len(shown),
        "total_count": page.total,
        "offset": call.offset,
        "next_offset": following if following < page.total and shown else None,
    }


async def filter_options(serving: Serving, call: FilterOptions) -> Answer:
    """{field, options}: the values, sorted; the most frequent ones where there are very many."""
    name = OPTION_FIELDS[call.field]
    counted = await _with_service(serving, lambda service: service.backend.field_counts(name, limit=MOST_OPTIONS + 1))
    values = sorted(value for value, _ in counted[:MOST_OPTIONS])
    shown = that_fit(values)
    return {
        "field": call.field,
        "options": shown,
        "truncated": len(counted) > MOST_OPTIONS or len(shown) < len(values),
    }


async def entry_get(serving: Serving, call: EntryGet) -> Answer:
    """The entry with all its fields."""
    found = await _with_service(serving, lambda service: service.backend.get_entries([call.entry_id]))
    if not found:
        raise EntryNotFoundError(
            f"there is no entry {call.entry_id!r:.200}",
            hint="give the entry_id exactly as an answer gave it; find it with a search or browse",
        )
    length = len(found[0]["raw_text"])
    if call.text_offset and call.text_offset >= length:
        raise InvalidRequestError(
            f"the text of {call.entry_id} has {length} characters", hint=f"parts have {ENTRY_CHARACTERS} characters"
        )
    return full_entry(found[0], serving.config, call.text_offset)


async def entries_by_ids(serving: Serving, call: EntriesByIds) -> Answer:
    """{requested, found, missing, entries}."""
    ids = list(dict.fromkeys(call.entry_ids))
    if not ids:
        raise InvalidRequestError("entry_ids is empty", hint="give at least one entry_id")
    if len(ids) > MOST_IDS:
        raise InvalidRequestError(
            f"{len(ids)} entries were asked for, at most {MOST_IDS} are given", hint="ask for them in several calls"
        )
    found = await _with_service(serving, lambda service: service.backend.get_entries(ids))
    known = {entry["entry_id"] for entry in found}
    shown = that_fit([brief_entry(entry, serving.config, BATCH_CHARACTERS) for entry in found])
    return {
        "requested": len(ids),
        "found": len(found),
        "missing": [entry_id for entry_id in ids if entry_id not in known],
        "not_shown": [entry["entry_id"] for entry in found[len(shown) :]],
        "content_notice": NOTICE,
        "entries": shown,
    }


async def capabilities(modes: SearchModes, serving: Serving, call: Capabilities) -> Answer:
    """ARIEL's {search_modes, enabled_search_modules, embedding}, and more; needs no logbook."""
    enabled = modes.enabled()
    config = serving.config
    names = [descriptor.search_mode for descriptor in enabled]
    return {
        "search_modes": names,
        "enabled_search_modules": names,
        "embedding": {"provider": config.embedding.provider, "model": config.embedding.model},
        "modes": [
            {"mode": found.search_mode, "tool": found.name, "description": found.description} for found in enabled
        ],
        "default_search_mode": config.default_search_mode,
        "default_max_results": config.default_max_results,
        "query_fields": ["author", "date", "source", "logbook", "tag", "category", "id", "has"],
        "facility": {"name": config.facility.name, "timezone": config.facility.timezone},
        "writing": serving.allow_write,
        "version": __version__,
    }


async def status(serving: Serving, call: Status) -> Answer:
    """ARIEL's status; a logbook that cannot be opened is one that is not healthy."""
    try:
        found: ARIELStatusResult = await _with_service(serving, lambda service: service.status())
    except ARIELException as fault:
        return _no_logbook(serving, fault)
    shape = asdict(found)
    return {**shape, "last_ingestion": local_moment(found.last_ingestion, serving.config.zone)}


def _no_logbook(serving: Serving, fault: ARIELException) -> Answer:
    config = serving.config
    return {
        "healthy": False,
        "database_connected": False,
        "database_uri": serving.shown_location,
        "entry_count": None,
        "embedding_tables": [],
        "active_embedding_model": None,
        "enabled_search_modules": config.get_enabled_search_modules(),
        "enabled_enhancement_modules": config.get_enabled_enhancement_modules(),
        "last_ingestion": None,
        "errors": [f"{fault.message}; {fault.hint}" if fault.hint else fault.message],
        "details": {},
    }


async def _with_service(serving: Serving, work: Callable[[ARIELSearchService], T]) -> T:
    """Blocking work on the logbook, stopped when the caller goes away or the time for a search is up."""
    end = time.monotonic() + serving.config.search_timeout_seconds
    async with serving.logbook.use() as service:

        def bounded(should_stop: ShouldStop) -> T:
            with service.backend.limited(lambda: should_stop() or time.monotonic() > end):
                return work(service)

        return await serving.workers.run(bounded)
