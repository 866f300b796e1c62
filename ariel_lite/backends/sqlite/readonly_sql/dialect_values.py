"""Conversions between kinds: literals that take a type, casts, and what PostgreSQL prints."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from sqlglot import exp

from ariel_lite.backends.readonly_sql.sql_intervals import DAY, MONTH_DAYS, read_interval
from ariel_lite.backends.sqlite.readonly_sql import sql_json, sql_times
from ariel_lite.backends.sqlite.readonly_sql.dialect_kinds import (
    MOMENTS,
    TEMPORAL,
    Kind,
    Typed,
    call,
    number,
    refused,
    text,
)
from ariel_lite.errors import SqlRefusedError

_T = exp.DType
_TEXTS: Final = (_T.TEXT, _T.VARCHAR, _T.CHAR, _T.BPCHAR, _T.UUID)
_INTEGERS: Final = (_T.SMALLINT, _T.INT, _T.BIGINT)
_NUMBERS: Final = (_T.DECIMAL, _T.FLOAT, _T.DOUBLE)
_KINDS: Final = {
    _T.BOOLEAN: Kind.BOOL,
    _T.DATE: Kind.DATE,
    _T.TIME: Kind.TIME,
    _T.TIMESTAMP: Kind.TIMESTAMP,
    _T.TIMESTAMPTZ: Kind.TIMESTAMPTZ,
    _T.INTERVAL: Kind.INTERVAL,
    _T.JSON: Kind.JSON,
    _T.JSONB: Kind.JSON,
    _T.ARRAY: Kind.ARRAY,
    _T.VECTOR: Kind.VECTOR,
}
_NUMBER: Final = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?\s*", re.IGNORECASE)
_DAYS: Final = {"today": 0, "tomorrow": 1, "yesterday": -1}


def literal_text(node: exp.Expr) -> str | None:
    """The text of a quoted literal."""
    return node.name if isinstance(node, exp.Literal) and node.is_string else None


def convert(value: Typed, kind: Kind) -> Typed:
    """A value as another kind, the way PostgreSQL casts it.

    Raises:
        SqlRefusedError: a literal that cannot be read as that kind, or a cast that SQLite has no counterpart for.
    """
    if value.kind == kind:
        return value
    if isinstance(value.node, exp.Null):
        return Typed(value.node, kind)
    constant = literal_text(value.node) if value.kind == Kind.LITERAL else None
    if constant is not None and kind in _LITERALS:
        try:
            return _LITERALS[kind](constant)
        except ValueError as error:
            raise SqlRefusedError(str(error), hint="write dates as '2026-03-05' or '2026-03-05 08:00'") from error
    if kind == Kind.TEXT:
        return Typed(as_text(value), Kind.TEXT)
    return Typed(_converted(value, kind), kind)


def cast(value: Typed, target: exp.DataType) -> Typed:
    """CAST(value AS target)."""
    if target.this in _TEXTS:
        width = next((parameter.this for parameter in target.find_all(exp.DataTypeParam)), None)
        plain = as_text(value)
        return Typed(call("substr", plain, number(1), width) if width is not None else plain, Kind.TEXT)
    if target.this in _INTEGERS:
        _refuse_number(value)
        return Typed(call("pg_int", value.node), Kind.NUMBER)
    if target.this in _NUMBERS:
        _refuse_number(value)
        parameters = [parameter.this for parameter in target.find_all(exp.DataTypeParam)]
        digits = parameters[1:2] if target.this == _T.DECIMAL and parameters[1:] else []
        return Typed(call("pg_number", value.node, *digits), Kind.NUMBER)
    return convert(value, _KINDS[target.this])


def as_text(value: Typed) -> exp.Expr:
    """What PostgreSQL prints for a value."""
    node, kind = value.node, value.kind
    if kind in (Kind.TEXT, Kind.LITERAL, Kind.DATE, Kind.TIME):
        return node
    if kind == Kind.BOOL:
        return exp.Case(
            ifs=[exp.If(this=node, true=text("true")), exp.If(this=exp.Not(this=node.copy()), true=text("false"))]
        )
    if kind == Kind.INTERVAL:
        return call("pg_interval_text", interval_value(value))
    printers = {
        Kind.NUMBER: "pg_number_text",
        Kind.TIMESTAMPTZ: "pg_timestamptz_text",
        Kind.TIMESTAMP: "pg_timestamp_text",
        Kind.JSON: "pg_json",
        Kind.ARRAY: "pg_array_text",
    }
    return call(printers[kind], node) if kind in printers else exp.cast(node, _T.TEXT)


def interval_value(value: Typed) -> exp.Expr:
    """The microseconds of an interval, a month counting 30 days."""
    if not value.months:
        return value.node
    return exp.paren(exp.Add(this=value.node, expression=number(value.months * MONTH_DAYS * DAY)))


def unify(values: list[Typed]) -> tuple[list[exp.Expr], Kind]:
    """Values that are compared or chosen from, brought to one kind.

    A literal takes the kind of the others; a date beside a moment becomes its midnight.
    """
    kind = common_kind([value.kind for value in values])
    if kind in (Kind.LITERAL, Kind.OTHER, Kind.TEXT):
        return [value.node for value in values], kind
    out = []
    for value in values:
        mixed = value.kind == Kind.LITERAL or (kind in MOMENTS and value.kind == Kind.DATE)
        changed = convert(value, kind) if mixed else value
        out.append(comparable(changed, len(values) > 1))
    return out, kind


def comparable(value: Typed, compared: bool = True) -> exp.Expr:
    """A form in which equal values are equal texts or numbers."""
    if value.kind == Kind.INTERVAL:
        return interval_value(value)
    if value.kind == Kind.JSON and compared and literal_text(value.node) is None:
        return call("pg_json", value.node)
    if value.kind == Kind.ARRAY and compared and literal_text(value.node) is None:
        return call("json", value.node)
    return value.node


def common_kind(kinds: list[Kind]) -> Kind:
    """The kind that values of these kinds have in common."""
    typed = {kind for kind in kinds if kind != Kind.LITERAL}
    if not typed:
        return Kind.LITERAL
    for wide in (Kind.TIMESTAMPTZ, Kind.TIMESTAMP):
        if wide in typed and typed <= TEMPORAL:
            return wide
    return typed.pop() if len(typed) == 1 else Kind.OTHER


def json_value(value: Typed) -> exp.Expr:
    """A value for SQLite's JSON constructors."""
    if value.kind in (Kind.JSON, Kind.ARRAY):
        return call("json", value.node)
    if value.kind == Kind.BOOL:
        shown = as_text(value)
        return call("json", call("coalesce", shown, text("null")))
    return as_text(value) if value.kind == Kind.INTERVAL else value.node


def _refuse_number(value: Typed) -> None:
    if value.kind in TEMPORAL or value.kind in (Kind.INTERVAL, Kind.ARRAY):
        raise SqlRefusedError(f"cannot cast type {value.kind} to a number", hint="use EXTRACT(epoch FROM …)")


def _converted(value: Typed, kind: Kind) -> exp.Expr:
    node = value.node
    if kind == Kind.DATE and value.kind in MOMENTS:
        return call("substr", node, number(1), number(10))
    if kind in MOMENTS and value.kind in MOMENTS:
        return node
    functions = {
        Kind.BOOL: "pg_bool",
        Kind.DATE: "pg_date",
        Kind.TIME: "pg_time",
        Kind.TIMESTAMP: "pg_timestamp",
        Kind.TIMESTAMPTZ: "pg_timestamp",
        Kind.INTERVAL: "pg_interval",
        Kind.JSON: "pg_json",
        Kind.ARRAY: "pg_array_literal",
    }
    if kind == Kind.VECTOR:
        return node
    if kind not in functions:
        raise refused(f"a cast from {value.kind} to {kind}")
    return call(functions[kind], node)


def _moment_literal(kind: Kind) -> Callable[[str], Typed]:
    def build(constant: str) -> Typed:
        word = constant.strip().lower()
        if word == "now":
            return Typed(call("pg_today" if kind == Kind.DATE else "pg_now"), kind)
        if word in _DAYS:
            day = call("pg_add_days", call("pg_today"), number(_DAYS[word]))
            return Typed(day if kind == Kind.DATE else call("pg_timestamp", day), kind)
        read = sql_times.to_date if kind == Kind.DATE else sql_times.to_timestamp
        return Typed(text(read(constant)), kind)

    return build


def _interval_literal(constant: str) -> Typed:
    months, microseconds = read_interval(constant)
    return Typed(number(microseconds), Kind.INTERVAL, months)


def _number_literal(constant: str) -> Typed:
    if not _NUMBER.fullmatch(constant):
        raise ValueError(f'invalid input syntax for type numeric: "{constant[:60]}"')
    return Typed(number(constant.strip()), Kind.NUMBER)  # type: ignore[arg-type]


def _bool_literal(constant: str) -> Typed:
    word = constant.strip().lower()
    if word not in ("t", "true", "y", "yes", "on", "1", "f", "false", "n", "no", "off", "0"):
        raise ValueError(f'invalid input syntax for type boolean: "{constant[:60]}"')
    return Typed(exp.Boolean(this=word in ("t", "true", "y", "yes", "on", "1")), Kind.BOOL)


def _text_literal(kind: Kind, read: Callable[[str], Any]) -> Callable[[str], Typed]:
    return lambda constant: Typed(text(read(constant)), kind)


_LITERALS: Final[dict[Kind, Callable[[str], Typed]]] = {
    Kind.DATE: _moment_literal(Kind.DATE),
    Kind.TIMESTAMP: _moment_literal(Kind.TIMESTAMP),
    Kind.TIMESTAMPTZ: _moment_literal(Kind.TIMESTAMPTZ),
    Kind.TIME: _text_literal(Kind.TIME, sql_times.to_time),
    Kind.INTERVAL: _interval_literal,
    Kind.NUMBER: _number_literal,
    Kind.BOOL: _bool_literal,
    Kind.JSON: _text_literal(Kind.JSON, sql_json.to_json),
    Kind.ARRAY: _text_literal(Kind.ARRAY, sql_json.array_literal),
    Kind.TEXT: _text_literal(Kind.TEXT, str),
    Kind.VECTOR: _text_literal(Kind.VECTOR, str),
}
