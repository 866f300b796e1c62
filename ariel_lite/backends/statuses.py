"""What `enhancement_status` says of a module; the shapes are ARIEL's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


def complete_statuses(entry_ids: Iterable[str]) -> dict[str, dict[str, str]]:
    """The statuses of entries that a module is done with now."""
    return dict.fromkeys(entry_ids, complete_status(datetime.now(UTC)))


def failed_statuses(reasons: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The statuses of entries that a module could not enhance now, of entry id -> reason."""
    now = datetime.now(UTC)
    return {entry_id: failed_status(now, reason) for entry_id, reason in reasons.items()}


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
