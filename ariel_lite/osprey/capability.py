"""The `logbook_search` capability: a question in, entries with a cited answer out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from ariel_lite.osprey.context import LogbookSearchResultsContext, results_of
from ariel_lite.osprey.errors import ErrorClassification, classify_error
from ariel_lite.osprey.factory import get_ariel_search_service
from ariel_lite.osprey.prompts import ClassifierGuide, LogbookSearchPromptBuilder, OrchestratorGuide
from ariel_lite.records import ARIELSearchRequest, ARIELSearchResult

ANSWER_MODE = "rag"
TIME_RANGE = "TIME_RANGE"


class LogbookSearchCapability:
    """Answers questions about a facility's past from its logbook.

    Without Osprey call `search`; `ariel_lite.osprey.bound` is the same as a class of Osprey's.
    """

    name: ClassVar[str] = "logbook_search"
    description: ClassVar[str] = (
        "Find and read entries of the facility's logbook: past incidents, the history of equipment, how things were "
        "done, what a shift reported."
    )
    provides: ClassVar[list[str]] = [LogbookSearchResultsContext.CONTEXT_TYPE]
    requires: ClassVar[list[str]] = []

    async def search(self, objective: str, contexts: Mapping[str, Any] | None = None) -> LogbookSearchResultsContext:
        """Search for a task's objective.

        Args:
            objective: the question.
            contexts: what earlier steps left; a `TIME_RANGE` (with `start_date` and `end_date`) limits the search.

        Raises:
            ARIELException: see `classify_error`.
        """
        fields = await found_for(objective, contexts or {})
        return LogbookSearchResultsContext(**fields)

    @staticmethod
    def classify_error(exc: Exception, context: Mapping[str, Any] | None = None) -> ErrorClassification:
        """What to do about what `search` raised."""
        return classify_error(exc, context)

    def orchestrator_guide(self) -> OrchestratorGuide:
        """When and how to plan this capability."""
        return LogbookSearchPromptBuilder().get_orchestrator_guide()

    def classifier_guide(self) -> ClassifierGuide:
        """Which tasks need this capability."""
        return LogbookSearchPromptBuilder().get_classifier_guide()


async def found_for(objective: str, contexts: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the results context for an objective; see `LogbookSearchCapability.search`."""
    time_range = time_range_of(contexts.get(TIME_RANGE))
    request = ARIELSearchRequest(objective, modes=[ANSWER_MODE], time_range=time_range)
    service = await get_ariel_search_service()
    result: ARIELSearchResult = await service.ainvoke(request)
    return results_of(objective, result, time_range_applied=time_range is not None)


def time_range_of(context: Any) -> tuple[datetime | None, datetime | None] | None:
    """The limits in a TIME_RANGE context (or a list of them, of which the first counts), None when there are none."""
    first = context[0] if isinstance(context, list) and context else context
    start, end = getattr(first, "start_date", None), getattr(first, "end_date", None)
    return (start, end) if start is not None or end is not None else None
