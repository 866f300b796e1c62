"""What the routes share while the server runs."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from ariel_lite.service import ARIELSearchService
from ariel_lite.web.work import Gate, cores

EXTRA_SEARCHES = 2
"""Searches at once above the number of processors: some of them wait for the disk."""

PUBLICATIONS = 4
"""Entries that are published at the same time."""


class Serving:
    """A logbook, and the gates before its slow work.

    Attributes:
        service: the logbook.
        searching: before searches and reading.
        counting: before facets, which half the processors may do: a person waits for the search first.
        writing: before what changes the logbook.
        publishing: before what waits for a source's answer.
        uploading: before files that are held in memory.
    """

    def __init__(self, service: ARIELSearchService) -> None:
        self.service = service
        seconds = service.config.search_timeout_seconds
        self.searching = Gate(service.backend, cores() + EXTRA_SEARCHES, seconds)
        self.counting = Gate(service.backend, max(cores() // 2, 1), seconds)
        self.writing = Gate(service.backend, cores(), seconds)
        self.publishing = Gate(service.backend, PUBLICATIONS, seconds)
        self.uploading = Gate(service.backend, 1, seconds)


async def serving_of(request: Request) -> Serving:
    """The running server's."""
    serving: Serving = request.app.state.serving
    return serving


Here = Annotated[Serving, Depends(serving_of)]
"""How a route asks for it."""
