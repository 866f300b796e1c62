"""The error tree: every failure a user can meet, with its envelope code, exit code, HTTP status and hint.

A class is raised where the fault is known. `hint` is one line that says what to do next; surfaces print
`message` and `hint`, and never a traceback.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar


class ErrorCategory(StrEnum):
    """What kind of part failed; the names are ARIEL's."""

    DATABASE = "database"
    EMBEDDING = "embedding"
    SEARCH = "search"
    INGESTION = "ingestion"
    CONFIGURATION = "configuration"
    TIMEOUT = "timeout"


class ARIELException(Exception):
    """Base of all errors of this package.

    Attributes:
        message: one line for people.
        category: the failing part.
        technical_details: free mapping for logs (never shown by default).
        hint: one line that says what to do next, or "".
    """

    code: ClassVar[str] = "internal_error"
    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500
    default_category: ClassVar[ErrorCategory] = ErrorCategory.SEARCH

    def __init__(
        self,
        message: str,
        category: ErrorCategory | None = None,
        technical_details: dict[str, Any] | None = None,
        *,
        hint: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.category = category or self.default_category
        self.technical_details = technical_details or {}
        self.hint = hint

    @property
    def is_retriable(self) -> bool:
        """True when the same call may succeed later (DATABASE and EMBEDDING)."""
        return self.category in (ErrorCategory.DATABASE, ErrorCategory.EMBEDDING)

    @property
    def position(self) -> int | None:
        """Character offset of the fault in the user's input, where there is one."""
        return None

    def envelope(self) -> dict[str, Any]:
        """The JSON shape of every surface: {code, message, hint, position}."""
        return {"code": self.code, "message": self.message, "hint": self.hint, "position": self.position}


class DatabaseConnectionError(ARIELException):
    """The logbook cannot be opened or reached."""

    code = "database_unavailable"
    http_status = 503
    default_category = ErrorCategory.DATABASE


class NoLogbookError(DatabaseConnectionError):
    """Where a logbook should be there is none yet, and nothing else either."""


class DatabaseQueryError(ARIELException):
    """The database refused or failed a statement of ours."""

    code = "database_error"
    default_category = ErrorCategory.DATABASE


class DamagedLogbookError(DatabaseQueryError):
    """The logbook's file itself is damaged: no program mends it, a backup takes its place."""

    @property
    def is_retriable(self) -> bool:
        """Never: the damage stays."""
        return False


class SqlRefusedError(DatabaseQueryError):
    """A user's SQL statement that the read-only tool does not run, or that fails as written."""

    code = "sql_refused"
    exit_code = 2
    http_status = 400

    @property
    def is_retriable(self) -> bool:
        """Never: the same statement is refused again."""
        return False


class EmbeddingGenerationError(ARIELException):
    """A text could not be turned into a vector."""

    code = "embedding_failed"
    http_status = 503
    default_category = ErrorCategory.EMBEDDING


class GenerationError(ARIELException):
    """A language model did not answer, or not with anything of use."""

    code = "generation_failed"
    http_status = 503
    default_category = ErrorCategory.SEARCH


class AlreadyRunningError(ARIELException):
    """Another process does to this logbook what only one may do at a time."""

    code = "already_running"
    http_status = 409
    default_category = ErrorCategory.INGESTION


class SearchExecutionError(ARIELException):
    """A search failed for a reason that is not the query."""

    code = "search_failed"
    default_category = ErrorCategory.SEARCH


class QuerySyntaxError(ARIELException):
    """A malformed query; `position` is the character offset of the fault in the query text."""

    code = "query_syntax"
    exit_code = 2
    http_status = 400
    default_category = ErrorCategory.SEARCH

    def __init__(self, message: str, position: int | None = None, hint: str = "") -> None:
        super().__init__(message, ErrorCategory.SEARCH, {"position": position}, hint=hint)
        self._position = position

    @property
    def position(self) -> int | None:
        """Character offset of the fault in the query, or None when it is the query as a whole."""
        return self._position


class InvalidRequestError(ARIELException, ValueError):
    """An argument that no search can be made of (empty query, end before start, unknown option value)."""

    code = "validation_error"
    exit_code = 2
    http_status = 400
    default_category = ErrorCategory.SEARCH


class EntryNotFoundError(ARIELException):
    """An entry, attachment or draft id that the logbook does not hold."""

    code = "not_found"
    http_status = 404
    default_category = ErrorCategory.SEARCH


class IngestionError(ARIELException):
    """A source that cannot be read, or a run that cannot go on."""

    code = "ingestion_failed"
    default_category = ErrorCategory.INGESTION


class AdapterNotFoundError(IngestionError):
    """An adapter name that is not registered."""

    code = "adapter_not_found"
    exit_code = 2
    http_status = 400


class ConfigurationError(ARIELException):
    """A setting that is unknown, malformed or contradicts another."""

    code = "configuration_error"
    exit_code = 2
    http_status = 400
    default_category = ErrorCategory.CONFIGURATION


class ModuleNotEnabledError(ConfigurationError):
    """A module that the configuration switches off."""

    code = "module_not_enabled"


class SearchTimeoutError(ARIELException):
    """The time limit of a call ran out."""

    code = "timeout"
    http_status = 504
    default_category = ErrorCategory.TIMEOUT
