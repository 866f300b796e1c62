"""What a translated expression is: SQLite keeps dates, JSON and arrays as texts, so the translation must remember."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from sqlglot import exp

from ariel_lite.backends.readonly_sql.sql_allowed import ENTRY_COLUMNS
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


Columns = list[tuple[str, Kind]]
"""Names and kinds of a query's output columns, in order."""


class Typed(NamedTuple):
    """A translated expression, its kind, and the calendar months of a literal interval."""

    node: exp.Expr
    kind: Kind
    months: int = 0


@dataclass
class Source:
    """A table, subquery or table function in FROM.

    Attributes:
        columns: names and kinds of its columns, as far as they are known.
        real: for table functions, what SQLite calls the column; the name of the whole is a key too.
        shown: for table functions, the columns that `*` stands for.
    """

    alias: str
    columns: Columns
    real: dict[str, str] = field(default_factory=dict)
    shown: Columns = field(default_factory=list)

    def value(self, name: str) -> Typed:
        """A column of a table function under SQLite's name."""
        node = exp.Column(this=exp.to_identifier(self.real[name]), table=exp.to_identifier(self.alias, quoted=True))
        return Typed(node, dict(self.columns)[name])

    def star(self) -> list[tuple[exp.Expr, Columns]]:
        """What `*` stands for here: select-list items, each with the columns that it gives."""
        if self.real:
            return [(exp.alias_(self.value(name).node, name, quoted=True), [(name, kind)]) for name, kind in self.shown]
        table = exp.to_identifier(self.alias, quoted=True) if self.alias else None
        return [(exp.Column(this=exp.Star(), table=table) if table else exp.Star(), self.columns)]


@dataclass
class Scope:
    """The sources of one SELECT, the WITH queries it sees, its finished output columns, and what is around it."""

    parent: Scope | None = None
    sources: list[Source] = field(default_factory=list)
    queries: dict[str, Columns] = field(default_factory=dict)
    outputs: dict[str, Kind] = field(default_factory=dict)
    unfolded: dict[str, Source] = field(default_factory=dict)

    def query(self, name: str) -> Columns | None:
        """The columns of a WITH query of that name, here or further out."""
        if name in self.queries:
            return self.queries[name]
        return self.parent.query(name) if self.parent else None

    def column(self, table: str, name: str) -> tuple[Source | None, Kind]:
        """The source that a column name belongs to, and the column's kind."""
        for source in self.sources:
            kind = dict(source.columns).get(name) if not table or table == source.alias else None
            if kind is not None:
                return source, kind
        if self.parent is not None:
            found, kind = self.parent.column(table, name)
            if found is not None:
                return found, kind
        return None, self.outputs.get(name, Kind.OTHER) if not table else Kind.OTHER


def refused(what: str, hint: str = "") -> SqlRefusedError:
    """The error for what PostgreSQL has and SQLite has not."""
    return SqlRefusedError(
        f"{what} has no counterpart on SQLite", hint=hint or "rewrite that part, or run it on the PostgreSQL backend"
    )


def too_few(name: str) -> SqlRefusedError:
    """The error for a call without an argument that it needs."""
    return SqlRefusedError(f"{name}: too few arguments", hint="see PostgreSQL's manual for its arguments")


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """A function call."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def text(value: str) -> exp.Literal:
    """A text literal."""
    return exp.Literal.string(value)


def number(value: int | float) -> exp.Expr:
    """A number literal."""
    return exp.Literal.number(value)
