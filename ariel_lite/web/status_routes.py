"""What the logbook can do, how it does, and which values its filters may have."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, Request

from ariel_lite import __version__
from ariel_lite.capabilities import MOST_OPTIONS, OPTION_FIELDS, capabilities
from ariel_lite.errors import EntryNotFoundError
from ariel_lite.service import ARIELSearchService
from ariel_lite.web.masking import masked
from ariel_lite.web.models import CapabilitiesReply, ConfigReply, HealthReply, OptionField, OptionsReply, StatusReply
from ariel_lite.web.replies import Reply
from ariel_lite.web.serving import Here
from ariel_lite.web.shapes import status_shape, syntax_lines
from ariel_lite.web.validation import NoQuery

router = APIRouter()


@router.get("/health", response_model=HealthReply)
async def health(_: NoQuery) -> Reply:
    """The server is up."""
    return Reply({"status": "ok"})


@router.get("/api/capabilities", response_model=CapabilitiesReply)
async def describe(request: Request, here: Here, _: NoQuery) -> Reply:
    """Modes with their parameters, the query language, the facility."""
    return Reply(await here.searching.run(request, partial(_capabilities, here.service)))


@router.get("/api/status", response_model=StatusReply)
async def status(request: Request, here: Here, _: NoQuery) -> Reply:
    """The health of the logbook."""
    return Reply(await here.searching.run(request, lambda: status_shape(here.service.status(), here.service.config)))


@router.get("/api/filter-options/{field}", response_model=OptionsReply)
async def filter_options(request: Request, field: OptionField, here: Here, _: NoQuery) -> Reply:
    """The values of a field, most frequent first."""
    counts = await here.counting.run(
        request, partial(here.service.backend.field_counts, OPTION_FIELDS[field], None, MOST_OPTIONS)
    )
    options = [{"value": value, "label": value, "count": count} for value, count in counts]
    return Reply({"field": field, "options": options})


@router.get("/api/config", response_model=ConfigReply)
async def settings(here: Here, _: NoQuery) -> Reply:
    """The settings in use, without passwords and keys; only where web.expose_config allows it."""
    config = here.service.config
    if not config.web.expose_config:
        raise EntryNotFoundError("the configuration is not shown", hint="web.expose_config: true shows it")
    return Reply({"config": masked(config.model_dump(mode="json"))})


def _capabilities(service: ARIELSearchService) -> dict[str, Any]:
    facility = service.config.facility
    return {
        **capabilities(service.modes, service.backend),
        "syntax": syntax_lines(),
        "facility": {"name": facility.name, "timezone": facility.timezone},
        "version": __version__,
    }
