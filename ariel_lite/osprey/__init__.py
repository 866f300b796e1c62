"""The `logbook_search` capability for agents built on Osprey. Nothing here needs Osprey, `bound` aside."""

from ariel_lite.osprey.capability import LogbookSearchCapability
from ariel_lite.osprey.context import LogbookSearchResultsContext
from ariel_lite.osprey.errors import ErrorClassification, ErrorSeverity, classify_error
from ariel_lite.osprey.factory import close_ariel_service, get_ariel_search_service, reset_ariel_service
from ariel_lite.osprey.prompts import LogbookSearchPromptBuilder
from ariel_lite.osprey.registration import registrations

__all__ = [
    "ErrorClassification",
    "ErrorSeverity",
    "LogbookSearchCapability",
    "LogbookSearchPromptBuilder",
    "LogbookSearchResultsContext",
    "classify_error",
    "close_ariel_service",
    "get_ariel_search_service",
    "registrations",
    "reset_ariel_service",
]
