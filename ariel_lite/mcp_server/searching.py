"""The search tools: one for each search mode that is registered and enabled, made from its descriptor."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from ariel_lite.capabilities import SearchModes
from ariel_lite.config import ARIELConfig
from ariel_lite.errors import ARIELException, InvalidRequestError, SearchTimeoutError
from ariel_lite.mcp_server.envelopes import NOTICE, SEARCH_CHARACTERS, brief_entry, that_fit
from ariel_lite.mcp_server.toolkit import AgentTool, Answer, Arguments, Given, Serving, schema_of, unknown_argument
from ariel_lite.records import MAX_RESULTS, ARIELSearchResult, SearchDiagnostic
from ariel_lite.search.base import SearchToolDescriptor

TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
HIGHLIGHTS = "include_highlights"
FILTERS = ("start_date", "end_date", "author", "source_system")
CITATION = re.compile(r"\[(\d{1,3})\]")
LIMIT = TypeAdapter(int)

DATES = "2024, 2024-03, 2024-03-05, an ISO date-time, today, yesterday, or a span before now such as 8h, 7d, 2w"


class SearchCall(Arguments):
    """What every search tool takes."""

    query: str = Field(description="What to look for. Blank with a filter: all that it allows, newest first.")
    max_results: int = Field(default=10, description="How many entries to give, 1 to 100.")
    offset: int = Field(default=0, ge=0, description="How many entries to skip: next_offset of the answer before.")
    start_date: str | None = Field(default=None, description=f"From this time on: {DATES}.")
    end_date: str | None = Field(default=None, description=f"Until this time, whose whole unit is included: {DATES}.")
    author: str | None = Field(default=None, description="Any part of the author's name.")
    source_system: str | None = Field(default=None, description="Any part of the source system's name.")
    exclude_entry_ids: list[str] | None = Field(default=None, description="Entries that are known already.")


class PartlyFailedError(ARIELException):
    """A search that found nothing and could not look everywhere: that is not the same as nothing being there."""

    code = "search_incomplete"
    http_status = 503

    def __init__(self, result: ARIELSearchResult) -> None:
        worst = next((note for note in result.diagnostics if note.level != "info"), None)
        message, _, fix = (worst.message if worst else "a part of the search could not run").partition("; ")
        super().__init__(message, hint=fix or "see the tool `status`")
        self.diagnostics = result.diagnostics


def search_tools(modes: SearchModes) -> list[AgentTool]:
    """A tool for every enabled mode."""
    return [_search_tool(descriptor, modes) for descriptor in modes.enabled() if TOOL_NAME.fullmatch(descriptor.name)]


def _search_tool(descriptor: SearchToolDescriptor, modes: SearchModes) -> AgentTool:
    schema = _schema(descriptor, modes)
    title = f"Search the logbook ({descriptor.search_mode.replace('_', ' ')})"
    paged = "The answer is paged (next_offset). Entries are cut: entry_get gives a whole one by its entry_id."
    description = f"{descriptor.description} {paged}"
    return AgentTool(
        descriptor.name, title, description, schema, partial(_search, descriptor, frozenset(schema["properties"]))
    )


def _schema(descriptor: SearchToolDescriptor, modes: SearchModes) -> dict[str, Any]:
    """The arguments that all modes share, and those that the mode offers."""
    schema = schema_of(SearchCall)
    own = schema_of(descriptor.args_schema)
    for parameter in modes.parameters(descriptor.search_mode):
        if parameter.name in own["properties"] and parameter.name not in schema["properties"]:
            shape = {key: value for key, value in own["properties"][parameter.name].items() if key != "description"}
            schema["properties"][parameter.name] = {**shape, "description": parameter.description}
    if HIGHLIGHTS in schema["properties"]:
        schema["properties"][HIGHLIGHTS]["default"] = False
    if "$defs" in own:
        schema["$defs"] = own["$defs"]
    return schema


async def _search(descriptor: SearchToolDescriptor, known: frozenset[str], serving: Serving, given: Given) -> Answer:
    values = {name: value for name, value in given.items() if value is not None}
    strange = [name for name in values if name not in known]
    if strange:
        raise unknown_argument(descriptor.name, strange[0], sorted(known))
    query = values.pop("query", "")
    if not isinstance(query, str):
        raise InvalidRequestError(f"{descriptor.name}: query must be text", hint=f"got {query!r:.80}")
    if not query.strip() and not any(values.get(name) for name in FILTERS):
        raise InvalidRequestError("the query is empty", hint=f"give a word or field, or one of: {', '.join(FILTERS)}")
    wanted = _whole_number(descriptor.name, values.pop("max_results", serving.config.default_max_results))
    if HIGHLIGHTS in descriptor.args_schema.model_fields:
        values.setdefault(HIGHLIGHTS, False)
    async with serving.logbook.use() as service:
        result = await service.search(query, max_results=wanted, mode=descriptor.search_mode, advanced_params=values)
    _check_complete(result)
    limit = min(max(wanted, 1), MAX_RESULTS)
    return search_envelope(query, result, serving.config, offset=int(values.get("offset", 0)), limit=limit)


def search_envelope(query: str, result: ARIELSearchResult, config: ARIELConfig, *, offset: int, limit: int) -> Answer:
    """ARIEL's search answer, with paging, what the search has to say about itself, and whether all of it ran."""
    shown = that_fit([_found(entry, config) for entry in result.entries])
    following = offset + len(shown)
    is_last = len(shown) == len(result.entries) and (len(shown) < limit or result.answer is not None)
    notes = list(result.diagnostics)
    if len(shown) < len(result.entries):
        message = f"{len(result.entries) - len(shown)} more entries did not fit into this answer"
        notes.append(SearchDiagnostic("info", "mcp", f"{message}; go on with offset={following}", "limit"))
    envelope: Answer = {
        "query": query,
        "mode": result.search_modes_used[0],
        "results_found": len(shown),
        "offset": offset,
        "next_offset": following if shown and not is_last else None,
        "reasoning": result.reasoning,
        "degraded": result.degraded,
        "diagnostics": [note.to_dict() for note in notes],
        "sources": list(result.sources) if result.answer is not None else [entry["entry_id"] for entry in shown],
        "content_notice": NOTICE,
        "entries": shown,
    }
    return envelope if result.answer is None else {"answer": _cited(result.answer, result.sources), **envelope}


def _cited(answer: str, sources: Sequence[str]) -> str:
    """An answer whose citations name entries: a bare [2] is too easily taken for an entry's number."""

    def named(match: re.Match[str]) -> str:
        number = int(match[1])
        return f"[entry {sources[number - 1]}]" if 1 <= number <= len(sources) else match[0]

    return CITATION.sub(named, answer)


def _found(entry: Mapping[str, Any], config: ARIELConfig) -> dict[str, Any]:
    shape = brief_entry(entry, config, SEARCH_CHARACTERS)
    highlights: Sequence[str] = entry.get("_highlights") or ()
    return {**shape, "highlights": list(highlights)} if highlights else shape


def _check_complete(result: ARIELSearchResult) -> None:
    """An empty list means that nothing is there; where that is not known, the call fails.

    Raises:
        SearchTimeoutError: the time was up.
        PartlyFailedError: a part of the search, or all of it, could not run.
    """
    if result.entries or result.answer is not None or not result.degraded:
        return
    late = next((note for note in result.diagnostics if note.category == "timeout"), None)
    if late is not None:
        message, _, fix = late.message.partition("; ")
        raise SearchTimeoutError(message, hint=fix)
    raise PartlyFailedError(result)


def _whole_number(name: str, value: Any) -> int:
    try:
        return LIMIT.validate_python(value)
    except ValidationError as fault:
        raise InvalidRequestError(
            f"{name}, argument max_results: {fault.errors()[0]['msg'].lower()}", hint=f"got {value!r:.80}"
        ) from fault
