"""What a translated expression is: SQLite keeps dates, JSON and arrays as texts, so the translation must remember."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from sqlglot import exp

from ariel_lite.backends.sql_allowed import ENTRY_COLUMNS
from ariel_lite.errors import SqlRefusedError


class Kind(StrEnum):
    """The type of an expression, as far as it matters for the translation."""

    LITERAL = "literal"  # a quoted literal or NULL, which takes the type that its place asks for
    TEXT = "text"
    NUMBER = "number"
    BOOL = "bool"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"  # without zone
    TIMESTAMPTZ = "timestamptz"
    INTERVAL = "interval"  # microseconds
    JSON = "json"
    ARRAY = "array"  # JSON array
    VECTOR = "vector"
    OTHER = "other"


MOMENTS: Final = frozenset({Kind.TIMESTAMP, Kind.TIMESTAMPTZ})
TEMPORAL: Final = MOMENTS | {Kind.DATE}
LENIENT: Final = frozenset({Kind.LITERAL, Kind.OTHER, Kind.TEXT})

_SPECIAL: Final = {
    "timestamp": Kind.TIMESTAMPTZ,
    "created_at": Kind.TIMESTAMPTZ,
    "updated_at": Kind.TIMESTAMPTZ,
    "attachments": Kind.JSON,
    "metadata": Kind.JSON,
    "enhancement_status": Kind.JSON,
    "keywords": Kind.ARRAY,
}
ENTRY_KINDS: Final = {name: _SPECIAL.get(name, Kind.TEXT) for name in ENTRY_COLUMNS}
VECTOR_KINDS: Final = {"entry_id": Kind.TEXT, "embedding": Kind.VECTOR, "created_at": Kind.TIMESTAMPTZ}


class Typed(NamedTuple):
    """A translated expression, its kind, and the calendar months of a literal interval."""

    node: exp.Expr
    kind: Kind
    months: int = 0


@dataclass
class Source:
    """A table, subquery or table function in FROM.

    Attributes:
        columns: the kinds of its columns by name.
        real: for table functions, what SQLite calls the column; the name of the whole is a key too.
    """

    alias: str
    columns: dict[str, Kind]
    real: dict[str, str] = field(default_factory=dict)


@dataclass
class Scope:
    """The sources of one SELECT, the WITH queries it sees, its finished output columns, and what is around it."""

    parent: Scope | None = None
    sources: list[Source] = field(default_factory=list)
    queries: dict[str, dict[str, Kind]] = field(default_factory=dict)
    outputs: dict[str, Kind] = field(default_factory=dict)
    unfolded: dict[str, Source] = field(default_factory=dict)

    def query(self, name: str) -> dict[str, Kind] | None:
        """The columns of a WITH query of that name, here or further out."""
        if name in self.queries:
            return self.queries[name]
        return self.parent.query(name) if self.parent else None

    def column(self, table: str, name: str) -> tuple[Source | None, Kind]:
        """The source that a column name belongs to, and the column's kind."""
        for source in self.sources:
            if (not table or table == source.alias) and name in source.columns:
                return source, source.columns[name]
        if self.parent is not None:
            found, kind = self.parent.column(table, name)
            if found is not None:
                return found, kind
        return None, self.outputs.get(name, Kind.OTHER) if not table else Kind.OTHER

    def star(self) -> dict[str, Kind]:
        """The columns that `*` stands for.

        Raises:
            SqlRefusedError: one source is a table function.
        """
        columns: dict[str, Kind] = {}
        for source in self.sources:
            if source.real:
                raise refused("* over a table function", "name the columns that you want")
            columns |= {name: kind for name, kind in source.columns.items() if name not in columns}
        return columns


def refused(what: str, hint: str = "") -> SqlRefusedError:
    """The error for what PostgreSQL has and SQLite has not."""
    return SqlRefusedError(
        f"{what} has no counterpart on SQLite", hint=hint or "rewrite that part, or run it on the PostgreSQL backend"
    )


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """A function call."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def text(value: str) -> exp.Literal:
    """A text literal."""
    return exp.Literal.string(value)


def number(value: int | float) -> exp.Expr:
    """A number literal."""
    return exp.Literal.number(value)
