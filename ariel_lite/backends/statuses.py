"""What `enhancement_status` says of a module; the shapes are ARIEL's."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
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


def status_of(statuses: Mapping[str, Any], module: str) -> str:
    """A module's status among an entry's; what nobody has noted is pending."""
    noted = statuses.get(module)
    found = noted.get("status") if isinstance(noted, dict) else None
    return found if found in (COMPLETE, FAILED) else PENDING


def check_status(status: str | None) -> None:
    """Refuse what is no status.

    Raises:
        InvalidRequestError: not one of complete, failed, pending.
    """
    if status is not None and status not in STATUSES:
        raise InvalidRequestError(f"there is no status {status!r}", hint=f"one of: {', '.join(STATUSES)}")
