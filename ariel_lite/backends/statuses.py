"""What `enhancement_status` says of a module; the shapes are ARIEL's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ariel_lite.errors import InvalidRequestError
from ariel_lite.query.days import to_storage

COMPLETE, FAILED, PENDING = "complete", "failed", "pending"
STATUSES = (COMPLETE, FAILED, PENDING)


def complete_status(now: datetime) -> dict[str, str]:
    """The status of an entry that a module is done with."""
    return {"status": COMPLETE, "completed_at": to_storage(now)}


def failed_status(now: datetime, reason: str) -> dict[str, str]:
    """The status of an entry that a module could not enhance."""
    return {"status": FAILED, "failed_at": to_storage(now), "error": reason}


def pending_status() -> dict[str, str]:
    """The status of an entry that waits for a module."""
    return {"status": PENDING}


class Marking(ABC):
    """The methods of `backends.base.EnhancementLog` that note how a module fared."""

    def mark_complete(self, module: str, entry_ids: Sequence[str]) -> int:
        """Note that a module is done with entries; the number of entries that exist."""
        return self._mark(module, dict.fromkeys(entry_ids, complete_status(datetime.now(UTC))))

    def mark_failed(self, module: str, reasons: Mapping[str, str]) -> int:
        """Note entry id -> reason of those that a module could not enhance; the number of entries that exist."""
        now = datetime.now(UTC)
        return self._mark(module, {entry_id: failed_status(now, reason) for entry_id, reason in reasons.items()})

    @abstractmethod
    def _mark(self, module: str, statuses: Mapping[str, Mapping[str, str]]) -> int:
        """Set a module's status by entry id, and end claims of these entries; the number of entries that exist."""


def counted(entries: int, complete: int, failed: int) -> dict[str, int]:
    """{"complete", "failed", "pending"}: what is neither of the first two waits."""
    return {COMPLETE: complete, FAILED: failed, PENDING: entries - complete - failed}


def status_of(statuses: Mapping[str, Any], module: str) -> str:
    """A module's status among an entry's; what nobody has noted is pending."""
    noted = statuses.get(module)
    found = noted.get("status") if isinstance(noted, dict) else None
    return found if found in (COMPLETE, FAILED) else PENDING


def noted_statuses(status: str | None) -> list[str]:
    """The statuses meant, without "pending": all, or the one named.

    Raises:
        InvalidRequestError: see `check_status`.
    """
    check_status(status)
    return [noted for noted in (COMPLETE, FAILED) if status in (None, noted)]


def check_status(status: str | None) -> None:
    """Refuse what is no status.

    Raises:
        InvalidRequestError: not one of complete, failed, pending.
    """
    if status is not None and status not in STATUSES:
        raise InvalidRequestError(f"there is no status {status!r}", hint=f"one of: {', '.join(STATUSES)}")
