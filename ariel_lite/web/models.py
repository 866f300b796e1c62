"""The shapes of requests and answers; names are ARIEL's where ARIEL has them. /docs and /openapi.json show them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from ariel_lite.records import MAX_RESULTS
from ariel_lite.web.paging import DEEPEST
from ariel_lite.web.validation import Body, Parameters

SortOrder = Literal["desc", "asc"]
OptionField = Literal["authors", "source_systems", "logbooks", "tags", "categories"]


class Envelope(BaseModel):
    """What went wrong: `position` is a character offset in the query, where there is one."""

    code: str
    message: str
    hint: str
    position: int | None


class ErrorReply(BaseModel):
    """The answer of every failed request."""

    error: Envelope


ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorReply, "description": "A query, date or setting that cannot be read"},
    401: {"model": ErrorReply, "description": "The token is missing or wrong"},
    403: {"model": ErrorReply, "description": "A host, origin or action that is not allowed"},
    404: {"model": ErrorReply, "description": "There is no such thing"},
    413: {"model": ErrorReply, "description": "Too large"},
    422: {"model": ErrorReply, "description": "A request of another shape than this page says"},
    500: {"model": ErrorReply, "description": "The server failed"},
    503: {"model": ErrorReply, "description": "The logbook is busy or away; Retry-After says when to come back"},
    504: {"model": ErrorReply, "description": "It took too long"},
}


class Filters(Body):
    """What limits a search besides its words. Dates: every form of the query language, in the facility's zone."""

    query: str = Field("", description="The query language; blank lists what the filters allow, newest first")
    mode: str | None = Field(None, description="A mode of /api/capabilities; null takes the default")
    max_results: int = Field(10, ge=1, le=MAX_RESULTS)
    offset: int = Field(0, ge=0, le=DEEPEST)
    start_date: str | None = None
    end_date: str | None = None
    author: str | None = None
    source_system: str | None = None
    advanced_params: dict[str, Any] = Field(default_factory=dict, description="The mode's own parameters")


class SearchRequest(Filters):
    """A search."""

    cursor: str | None = Field(
        None, description="next_cursor of the page before; unlike offset it stays in place while entries arrive"
    )


class FacetsRequest(Filters):
    """The search whose entries are counted; max_results and offset do not matter."""


class Attachment(BaseModel):
    """A file that an entry names."""

    url: str
    type: str | None
    filename: str | None
    thumbnail_url: str | None
    caption: str | None
    missing: bool = False


class Entry(BaseModel):
    """An entry in a list; times are in the facility's zone."""

    entry_id: str
    source_system: str
    timestamp: str
    author: str
    title: str
    raw_text: str
    raw_text_truncated: bool
    attachments: list[Attachment]
    metadata: dict[str, Any]
    created_at: str
    updated_at: str
    summary: str | None
    keywords: list[str]
    score: float | None
    highlights: list[str] = Field(description="HTML: escaped text with <b> around matches")
    match: Literal["exact", "fuzzy"] | None
    ranks: dict[str, Any] | None = None
    source_url: str | None = Field(description="The entry at its source")


class Diagnostic(BaseModel):
    """What a search has to say about itself."""

    level: Literal["info", "warning", "error"]
    source: str
    message: str
    category: str


class SearchReply(BaseModel):
    """What a search found."""

    entries: list[Entry]
    answer: str | None
    sources: list[str]
    search_modes_used: list[str]
    reasoning: str = Field(description="How the query was read, in words")
    total_results: int | None = Field(description="All entries that match; null where that is not known")
    returned: int
    offset: int
    next_cursor: str | None = Field(description="For the next page; null on the last one")
    execution_time_ms: float
    diagnostics: list[Diagnostic]
    degraded: bool = Field(description="Some part of the search could not run")
    mode: str
    explanation: dict[str, Any] | None = Field(None, description="With advanced_params.explain: how it was run")


class Count(BaseModel):
    """A value and how many entries have it."""

    value: str
    count: int


class Month(BaseModel):
    """A month (YYYY-MM, facility's zone) and how many entries are of it."""

    month: str
    count: int


class FacetsReply(BaseModel):
    """Counts over the entries that hold the words (scope matches), or over all that the filters allow (filters)."""

    total: int
    scope: Literal["matches", "filters"]
    fields: dict[str, list[Count]]
    timeline: list[Month]


class BrowseParameters(Parameters):
    """Which page of the entries, by time."""

    page: int = Field(1, ge=1, le=DEEPEST)
    page_size: int = Field(20, ge=1, le=MAX_RESULTS)
    start_date: str | None = None
    end_date: str | None = None
    author: str | None = None
    source_system: str | None = None
    sort_order: SortOrder = "desc"
    cursor: str | None = Field(None, description="next_cursor of the page before; beats page")


class BrowseReply(BaseModel):
    """A page of entries."""

    entries: list[Entry]
    total: int
    page: int
    page_size: int
    total_pages: int
    next_cursor: str | None


class StoredFile(BaseModel):
    """A file that the logbook keeps; `inline`: browsers may show it, everything else is downloaded."""

    attachment_id: str
    filename: str
    mime_type: str
    size_bytes: int
    url: str
    inline: bool


class EntryParameters(Parameters):
    """What to mark in an entry's text."""

    query: str | None = None


class EntryReply(Entry):
    """An entry in full."""

    attachments_files: list[StoredFile]
    highlighted_text: str | None = Field(description="HTML: the escaped text with <b> around matches of the query")


class Brief(BaseModel):
    """An entry in one line."""

    entry_id: str
    title: str
    timestamp: str
    author: str
    source_system: str


class Similar(Brief):
    """An entry in one line, with its cosine similarity."""

    score: float


class ContextReply(BaseModel):
    """What stands around an entry; `note` says why nothing is similar."""

    previous: Brief | None
    next: Brief | None
    thread: list[Brief]
    similar: list[Similar]
    note: str


class FileParameters(Parameters):
    """How to send a file."""

    download: bool = Field(False, description="Always as a download")


class StagedReply(BaseModel):
    """A file that waits for its entry."""

    attachment_id: str
    filename: str
    mime_type: str
    size_bytes: int


class ContentFields(Body):
    """What an author fills in; an entry needs a subject or details."""

    subject: str = ""
    details: str = ""
    author: str = ""
    logbook: str | None = None
    shift: str | None = None
    tags: list[str] = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)
    attachment_ids: list[str] = Field(default_factory=list, description="Files that POST /api/attachments keeps")


class EntryRequest(ContentFields):
    """A new entry."""

    draft_id: str | None = Field(None, description="The draft that becomes this entry")
    publish: bool = Field(False, description="Create it at the source too")
    auth_user: str | None = None
    auth_password: str | None = None


class CreatedReply(BaseModel):
    """Where the entry is; a publication that failed says so in `message`, and the entry is kept here."""

    entry_id: str
    message: str
    sync_status: Literal["local", "synced", "failed"]
    source_system: str
    attachment_count: int


class PublishInfoReply(BaseModel):
    """Whether new entries can be published; `reason` says why not."""

    writable: bool
    adapter: str | None
    source_system: str | None
    requires_auth: bool
    reason: str


class DraftRequest(Body):
    """What a draft says."""

    content: ContentFields


class DraftReply(BaseModel):
    """An entry that is being written; `files` only where one draft is asked for."""

    draft_id: str
    content: dict[str, Any]
    created_at: str
    updated_at: str
    files: list[StoredFile] | None


class DraftsReply(BaseModel):
    """The drafts changed last, newest first."""

    drafts: list[DraftReply]


class DeletedReply(BaseModel):
    """What is gone."""

    deleted: str


class Option(BaseModel):
    """A value that a filter may have."""

    value: str
    label: str
    count: int


class OptionsReply(BaseModel):
    """The values of a field, most frequent first."""

    field: str
    options: list[Option]


class Facility(BaseModel):
    """Whose logbook it is."""

    name: str
    timezone: str


class SyntaxLine(BaseModel):
    """A form of the query language: `example` is the first of `examples`."""

    example: str
    examples: list[str]
    meaning: str


class CapabilitiesReply(BaseModel):
    """What this logbook can do; forms and agents are made from it."""

    categories: dict[str, Any]
    default_mode: str
    shared_parameters: list[dict[str, Any]]
    syntax: list[SyntaxLine]
    facility: Facility
    version: str


class HealthReply(BaseModel):
    """The server is up."""

    status: Literal["ok"]


class VectorTable(BaseModel):
    """Vectors of a model."""

    table_name: str
    entry_count: int
    dimension: int | None
    is_active: bool


class StatusReply(BaseModel):
    """The health of the logbook; `details` are ariel-lite's own counts."""

    healthy: bool
    database_connected: bool
    database_uri: str
    entry_count: int | None
    embedding_tables: list[VectorTable]
    active_embedding_model: str | None
    enabled_search_modules: list[str]
    enabled_enhancement_modules: list[str]
    last_ingestion: str | None
    errors: list[str]
    details: dict[str, Any]


class ConfigReply(BaseModel):
    """The settings in use, secrets masked."""

    config: dict[str, Any]
