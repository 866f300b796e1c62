"""Reading entries: by time, one in full, and what stands around one."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from ariel_lite.access import Restriction, restriction
from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import Order, SearchPlan
from ariel_lite.errors import ARIELException, EntryNotFoundError
from ariel_lite.planning import plan_query
from ariel_lite.query.nodes import BoundNode, Everything, conjunction, text_leaves
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.search.base import SearchContext
from ariel_lite.service import ARIELSearchService
from ariel_lite.text.highlight import mark
from ariel_lite.web.models import BrowseParameters, BrowseReply, ContextReply, EntryParameters, EntryReply
from ariel_lite.web.neighbours import context_of
from ariel_lite.web.paging import TimeCursor, entries_behind
from ariel_lite.web.replies import Reply
from ariel_lite.web.serving import Here
from ariel_lite.web.shapes import entry_shape, file_shape
from ariel_lite.web.validation import NoQuery

ORDERS: dict[str, Order] = {"desc": "newest", "asc": "oldest"}

router = APIRouter()


@router.get("/api/entries", response_model=BrowseReply)
async def browse(request: Request, here: Here, wanted: Annotated[BrowseParameters, Query()]) -> Reply:
    """A page of entries by time."""
    return Reply(await here.searching.run(request, partial(_browsed, here.service, wanted)))


@router.get("/api/entries/{entry_id:path}", response_model=EntryReply)
async def read(request: Request, entry_id: str, here: Here, wanted: Annotated[EntryParameters, Query()]) -> Reply:
    """An entry in full, with its files and the matches of a query marked in its text."""
    return Reply(await here.searching.run(request, partial(_whole, here.service, entry_id, wanted.query)))


@router.get("/api/context/{entry_id:path}", response_model=ContextReply)
async def context(request: Request, entry_id: str, here: Here, _: NoQuery) -> Reply:
    """The entries before and after one in time, its thread, and similar ones."""

    def around() -> dict[str, Any]:
        return context_of(here.service, existing_entry(here.service.backend, entry_id))

    return Reply(await here.searching.run(request, around))


def existing_entry(backend: Backend, entry_id: str) -> EnhancedLogbookEntry:
    """The entry of an id.

    Raises:
        EntryNotFoundError: there is none.
    """
    # No id holds a NUL, and PostgreSQL would refuse even to look for one.
    found = backend.get_entries([entry_id]) if "\0" not in entry_id else []
    if not found:
        raise EntryNotFoundError(f"no entry has the id {entry_id}", hint="it may have been deleted; search for it")
    return found[0]


def _browsed(service: ARIELSearchService, wanted: BrowseParameters) -> dict[str, Any]:
    tree = _allowed(service, wanted)
    order = ORDERS[wanted.sort_order]
    total = service.backend.count(tree)
    if wanted.cursor is not None:
        cursor = TimeCursor.read(wanted.cursor)
        entries = entries_behind(service.backend, tree, cursor, wanted.page_size + 1, order)
    else:
        place = (wanted.page - 1) * wanted.page_size
        hits = service.backend.search(SearchPlan(tree, wanted.page_size + 1, place, order))
        entries = service.backend.get_entries([hit.entry_id for hit in hits])
    shown = entries[: wanted.page_size]
    last = shown[-1] if len(entries) > len(shown) else None
    return {
        "entries": [entry_shape(entry, service.config) for entry in shown],
        "total": total,
        "page": wanted.page,
        "page_size": wanted.page_size,
        "total_pages": -(-total // wanted.page_size),
        "next_cursor": TimeCursor(last["timestamp"], last["entry_id"]).write() if last else None,
    }


def _allowed(service: ARIELSearchService, wanted: BrowseParameters) -> BoundNode:
    limits = restriction(
        start_date=wanted.start_date,
        end_date=wanted.end_date,
        author=wanted.author,
        source_system=wanted.source_system,
        exclude_entry_ids=(),
        zone=service.config.zone,
        now=service.context.clock(),
    )
    return conjunction([Everything(), *limits.conditions()])


def _whole(service: ARIELSearchService, entry_id: str, query: str | None) -> dict[str, Any]:
    entry = existing_entry(service.backend, entry_id)
    return {
        **entry_shape(entry, service.config, in_list=False),
        "attachments_files": [file_shape(stored) for stored in service.backend.attachments_of(entry_id)],
        "highlighted_text": highlighted(service.context, entry["raw_text"], query),
    }


def highlighted(context: SearchContext, text: str, query: str | None) -> str | None:
    """A text as HTML with the matches of a query in <b>; None without a query, or with one that cannot be read."""
    if query is None or not query.strip():
        return None
    try:
        planned = plan_query(query, Restriction(), context.analyzer, zone=context.config.zone, now=context.clock())
    except ARIELException:
        return None
    patterns = [leaf.forms for leaf in text_leaves(planned.text_tree)]
    return mark(text, context.analyzer.analyzed(text), patterns)
