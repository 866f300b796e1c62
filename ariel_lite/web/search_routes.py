"""POST /api/search and /api/facets."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from fastapi import APIRouter, Request

from ariel_lite.capabilities import BASIC_MODE
from ariel_lite.errors import InvalidRequestError
from ariel_lite.query.nodes import text_leaves
from ariel_lite.records import ARIELSearchResult
from ariel_lite.search.base import SearchArguments
from ariel_lite.service import ARIELSearchService
from ariel_lite.web.facets import facets
from ariel_lite.web.models import FacetsReply, FacetsRequest, Filters, SearchReply, SearchRequest
from ariel_lite.web.paging import DEEPEST, RankedCursor, RankedPage, page_behind
from ariel_lite.web.replies import Reply
from ariel_lite.web.serving import Here, Serving
from ariel_lite.web.shapes import search_shape
from ariel_lite.web.validation import NoQuery

OWN_FIELDS = ("query", "max_results", "offset")
"""What a request says in fields of its own, so that advanced_params must not."""

router = APIRouter()


@router.post("/api/search", response_model=SearchReply)
async def search(request: Request, wanted: SearchRequest, here: Here, _: NoQuery) -> Reply:
    """Search the logbook."""
    started = time.perf_counter()
    _check(wanted)
    page, total = await here.searching.wait(request, partial(_page_and_total, here, wanted))
    milliseconds = (time.perf_counter() - started) * 1000
    cursor = _cursor_behind(page, total)
    return Reply(search_shape(page, here.service.config, total=total, cursor=cursor, milliseconds=milliseconds))


@router.post("/api/facets", response_model=FacetsReply)
async def count_facets(request: Request, wanted: FacetsRequest, here: Here, _: NoQuery) -> Reply:
    """Count the entries of a search by author, source, logbook, tag, year and month."""
    return Reply(await here.counting.run(request, partial(facets, here.service, arguments(wanted))))


def arguments(wanted: Filters) -> SearchArguments:
    """The query and filters of a request, for planning it."""
    return SearchArguments(
        query=wanted.query,
        start_date=wanted.start_date,
        end_date=wanted.end_date,
        author=wanted.author,
        source_system=wanted.source_system,
        strict=wanted.advanced_params.get("strict") is True,
        plain=wanted.advanced_params.get("plain") is True,
    )


def _check(wanted: Filters) -> None:
    filters = (wanted.start_date, wanted.end_date, wanted.author, wanted.source_system)
    if not wanted.query.strip() and not any(text and text.strip() for text in filters):
        raise InvalidRequestError("the query is empty", hint="type a word or a field, or choose a filter")
    for name in OWN_FIELDS:
        if name in wanted.advanced_params:
            raise InvalidRequestError(f"advanced_params cannot set {name}", hint=f"{name} is a field of the request")


async def _page_and_total(here: Serving, wanted: SearchRequest) -> tuple[RankedPage, int | None]:
    """The page and how many entries match, in one turn: a search does not wait for its place twice."""
    page = await _page(here.service, wanted)
    total = _known_total(page, wanted)
    if total is None:
        total = await here.searching.in_thread(partial(_count, here.service, wanted, page))
    return page, total


async def _page(service: ARIELSearchService, wanted: SearchRequest) -> RankedPage:
    async def run(offset: int, count: int) -> ARIELSearchResult:
        return await service.search(
            wanted.query, max_results=count, mode=wanted.mode, advanced_params=_parameters(wanted, offset)
        )

    if wanted.cursor is not None:
        return await page_behind(run, RankedCursor.read(wanted.cursor), wanted.max_results)
    result = await run(wanted.offset, wanted.max_results)
    return RankedPage(result, result.entries, wanted.offset)


def _parameters(wanted: Filters, offset: int) -> dict[str, Any]:
    filters = {
        "start_date": wanted.start_date,
        "end_date": wanted.end_date,
        "author": wanted.author,
        "source_system": wanted.source_system,
    }
    given = {name: value for name, value in filters.items() if value is not None}
    return {**wanted.advanced_params, **given, "offset": offset}


def _known_total(page: RankedPage, wanted: SearchRequest) -> int | None:
    """How many entries match, when the page itself says so: it is the last one, and not past it."""
    is_whole = len(page.entries) < wanted.max_results - (wanted.cursor is not None)
    return page.offset + len(page.entries) if is_whole and (page.entries or page.offset == 0) else None


def _count(service: ARIELSearchService, wanted: SearchRequest, page: RankedPage) -> int | None:
    """How many entries match, where that is a set and not a ranking by nearness."""
    planned = service.context.plan(arguments(wanted))
    is_set = BASIC_MODE in page.result.search_modes_used or next(text_leaves(planned.text_tree), None) is None
    is_approximate = any(entry["_match"] == "fuzzy" for entry in page.entries)
    return service.backend.count(planned.tree) if is_set and not is_approximate else None


def _cursor_behind(page: RankedPage, total: int | None) -> str | None:
    """Where the next page begins; None on the last one, and behind an answer, which stands for the whole list."""
    end = page.offset + len(page.entries)
    is_last = not page.entries or (total is not None and end >= total) or end > DEEPEST
    if is_last or page.result.answer is not None:
        return None
    return RankedCursor(end, page.entries[-1]["entry_id"]).write()
