"""How the entries of a search are spread over authors, sources, logbooks, tags, years and months."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ariel_lite.query.nodes import BoundNode, Everything, without_words
from ariel_lite.search.base import SearchArguments
from ariel_lite.service import ARIELSearchService
from ariel_lite.web.shapes import counted

FIELDS = {"author": "author", "source_system": "source", "logbook": "logbook", "tag": "tag"}
"""Facet -> field of the query language."""

SHOWN = 12


def facets(service: ARIELSearchService, arguments: SearchArguments) -> dict[str, Any]:
    """Counts over the entries that hold the words and pass the filters; when there are none, over what filters allow.

    Raises:
        QuerySyntaxError, InvalidRequestError: see `planning.plan_query`.
    """
    tree = _tree(service, arguments)
    months = service.backend.month_counts(tree, service.config.facility.timezone)
    scope = "matches"
    if not months:
        scope, tree = "filters", without_words(tree)
        months = service.backend.month_counts(tree, service.config.facility.timezone)
    years: Counter[str] = Counter()
    for month, count in months:
        years[month[:4]] += count
    fields = {name: service.backend.field_counts(field, tree, SHOWN) for name, field in FIELDS.items()}
    fields["year"] = sorted(years.items(), reverse=True)[:SHOWN]
    return {
        "total": sum(years.values()),
        "scope": scope,
        "fields": {name: counted(values) for name, values in fields.items()},
        "timeline": [{"month": month, "count": count} for month, count in months],
    }


def _tree(service: ARIELSearchService, arguments: SearchArguments) -> BoundNode:
    """What is counted; without a query and filters it is the whole logbook."""
    filters = (arguments.start_date, arguments.end_date, arguments.author, arguments.source_system)
    if not any(str(text).strip() for text in (arguments.query, *filters) if text is not None):
        return Everything()
    return service.context.plan(arguments).tree
