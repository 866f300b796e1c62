"""What an agent should do about a failed logbook search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ariel_lite.errors import (
    ARIELException,
    ConfigurationError,
    DatabaseConnectionError,
    DatabaseQueryError,
    EmbeddingGenerationError,
)


class ErrorSeverity(StrEnum):
    """How an agent goes on: CRITICAL ends its plan, RETRIABLE repeats the step. Osprey has the same names."""

    CRITICAL = "critical"
    RETRIABLE = "retriable"


@dataclass(frozen=True)
class ErrorClassification:
    """Severity, a message for the person that asked, and details for the log."""

    severity: ErrorSeverity
    user_message: str
    metadata: dict[str, Any] = field(default_factory=dict)


def classify_error(exc: BaseException, context: Mapping[str, Any] | None = None) -> ErrorClassification:
    """The classification of what a logbook search raised; `context` is Osprey's and not needed."""
    severity = ErrorSeverity.CRITICAL
    if isinstance(exc, DatabaseConnectionError):
        message = (
            "The logbook cannot be opened. 'ariel-lite status' says which one is used and why; "
            "'ariel-lite migrate' makes its tables and 'ariel-lite ingest' fills it."
        )
    elif isinstance(exc, DatabaseQueryError) and _is_table_missing(exc):
        message = "The logbook's tables are missing. Run 'ariel-lite migrate', then 'ariel-lite ingest'."
    elif isinstance(exc, DatabaseQueryError):
        severity, message = ErrorSeverity.RETRIABLE, "The logbook's database failed; trying again."
    elif isinstance(exc, EmbeddingGenerationError):
        message = (
            "The embedding model cannot be used ('ariel-lite models' says more). Keyword search works without it: "
            "set search_modules.semantic.enabled to false."
        )
    elif isinstance(exc, ConfigurationError):
        message = f"The logbook search is set up wrongly: {_said(exc)}"
    else:
        message = f"The logbook search failed: {_said(exc)}"
    return ErrorClassification(severity, message, {"technical_details": str(exc), "error_type": type(exc).__name__})


def _is_table_missing(fault: DatabaseQueryError) -> bool:
    text = f"{fault.message} {fault.technical_details} {fault.__cause__ or ''}"
    return "no such table" in text or ("relation" in text and "does not exist" in text)


def _said(fault: BaseException) -> str:
    if not isinstance(fault, ARIELException):
        return str(fault) or type(fault).__name__
    return f"{fault.message} ({fault.hint})" if fault.hint else fault.message
