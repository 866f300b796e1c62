"""What a logbook search leaves for later steps of an agent."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from ariel_lite.records import ARIELSearchResult, without_text

PREVIEW_CHARACTERS = 200


class LogbookSearchResultsContext(BaseModel):
    """Entries found, best first, and the answer with its sources when one was composed."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    CONTEXT_TYPE: ClassVar[str] = "LOGBOOK_SEARCH_RESULTS"
    CONTEXT_CATEGORY: ClassVar[str] = "DATA"

    entries: tuple[dict[str, Any], ...] = ()
    answer: str | None = None
    sources: tuple[str, ...] = ()
    search_modes_used: tuple[str, ...] = ()
    query: str
    time_range_applied: bool = False

    @property
    def context_type(self) -> str:
        """The name that later steps ask for."""
        return self.CONTEXT_TYPE

    def get_summary(self) -> dict[str, Any]:
        """The results in short, for the agent's reply: texts are cut after 200 characters."""
        summary: dict[str, Any] = {
            "type": "Logbook Search Results",
            "query": self.query,
            "entries_found": len(self.entries),
            "search_modes": list(self.search_modes_used),
            "time_filtered": self.time_range_applied,
        }
        if self.answer:
            summary |= {"answer": self.answer, "sources": list(self.sources)}
        if self.entries:
            summary["entries"] = [_preview(entry) for entry in self.entries]
        return summary

    def get_access_details(self, key: str) -> dict[str, Any]:
        """How a later step reaches the values that are kept under `key`."""
        place = f"context.{self.CONTEXT_TYPE}.{key}"
        return {
            "access_pattern": place,
            "data_structure": "ranked logbook entries, and an answer with the ids of the entries it cites",
            "fields": [name for name in type(self).model_fields if name != "time_range_applied"],
            "example_usage": f"{place}.answer is the cited answer; {place}.entries[0]['raw_text'] a text",
        }


def results_of(query: str, result: ARIELSearchResult, *, time_range_applied: bool) -> dict[str, Any]:
    """The fields of a LogbookSearchResultsContext."""
    found = result.entries
    return {
        "entries": tuple({**one, "attachments": [without_text(file) for file in one["attachments"]]} for one in found),
        "answer": result.answer,
        "sources": result.sources,
        "search_modes_used": result.search_modes_used,
        "query": query,
        "time_range_applied": time_range_applied,
    }


def _preview(entry: dict[str, Any]) -> dict[str, Any]:
    moment = entry.get("timestamp", "")
    text = str(entry.get("raw_text", ""))
    return {
        "entry_id": entry.get("entry_id", ""),
        "timestamp": moment.isoformat() if isinstance(moment, datetime) else str(moment),
        "author": entry.get("author", ""),
        "summary": entry.get("summary") or "",
        "raw_text": text if len(text) <= PREVIEW_CHARACTERS else f"{text[:PREVIEW_CHARACTERS]}...",
    }
