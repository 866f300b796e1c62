"""Arithmetic of dates, moments and intervals, with PostgreSQL's result kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from ariel_lite.backends.readonly_sql.sql_intervals import DAY, SECOND
from ariel_lite.backends.sqlite.readonly_sql.dialect_kinds import MOMENTS, TEMPORAL, Kind, Typed, call, number, refused
from ariel_lite.backends.sqlite.readonly_sql.dialect_values import convert, interval_value
from ariel_lite.errors import SqlRefusedError

_INTERVAL_PARTS: Final = {
    "weeks": 7 * DAY,
    "days": DAY,
    "hours": 3_600 * SECOND,
    "mins": 60 * SECOND,
    "secs": SECOND,
}


def extracted(field: exp.Expr, value: Typed) -> Typed:
    """A field of a moment, date or interval."""
    if value.kind == Kind.INTERVAL:
        return Typed(call("pg_extract_interval", field, interval_value(value)), Kind.NUMBER)
    moment = convert(value, Kind.TIMESTAMP) if value.kind == Kind.LITERAL else value
    return Typed(call("pg_extract", field, moment.node), Kind.NUMBER)


def zoned(value: Typed, zone: Typed) -> Typed:
    """A moment in a zone, or the moment of a wall-clock time there."""
    if value.kind == Kind.TIMESTAMP:
        return Typed(call("pg_from_zone", value.node, zone.node), Kind.TIMESTAMPTZ)
    return Typed(call("pg_at_zone", convert(value, Kind.TIMESTAMPTZ).node, zone.node), Kind.TIMESTAMP)


def truncated(arguments: Sequence[Typed]) -> Typed:
    """date_trunc(unit, moment, zone)."""
    value = arguments[1]
    if value.kind == Kind.INTERVAL:
        raise refused("date_trunc of an interval")
    kind = Kind.TIMESTAMP if value.kind == Kind.TIMESTAMP else Kind.TIMESTAMPTZ
    rest = [argument.node for argument in arguments[2:3]]
    return Typed(call("pg_date_trunc", arguments[0].node, convert(value, kind).node, *rest), kind)


def time_series(values: Sequence[Typed]) -> tuple[exp.Expr, list[Kind]]:
    """generate_series of moments."""
    if len(values) < 3:
        raise refused("generate_series of dates without a step")
    kind = Kind.TIMESTAMP if values[0].kind == Kind.TIMESTAMP else Kind.TIMESTAMPTZ
    start, stop = (convert(value, kind).node for value in values[:2])
    step = convert(values[2], Kind.INTERVAL)
    return call("pg_time_series", start, stop, number(step.months), step.node), [kind]


def interval_of(parts: list[exp.Expr]) -> Typed:
    """make_interval(days => 3)."""
    months, total = 0, 0.0
    for part in parts:
        name = part.name.lower() if isinstance(part, exp.Kwarg) else ""
        value = part.expression if isinstance(part, exp.Kwarg) else part
        sign = -1 if isinstance(value, exp.Neg) else 1
        value = value.this if isinstance(value, exp.Neg) else value
        if not isinstance(value, exp.Literal) or value.is_string or name not in {*_INTERVAL_PARTS, "months", "years"}:
            raise refused("this form of make_interval", "write for instance interval '3 days', or n * interval '1 day'")
        if name in _INTERVAL_PARTS:
            total += sign * float(value.name) * _INTERVAL_PARTS[name]
        else:
            months += sign * int(float(value.name)) * (12 if name == "years" else 1)
    return Typed(number(round(total)), Kind.INTERVAL, months)


def time_sum(left: Typed, right: Typed, sign: int) -> Typed:
    """left + right (sign 1) or left - right (sign -1), where one side is a date, moment or interval.

    Raises:
        SqlRefusedError: PostgreSQL has no such sum.
    """
    left, right = _resolved(left, right, sign), _resolved(right, left, sign)
    if sign > 0 and right.kind in TEMPORAL and left.kind not in TEMPORAL:
        left, right = right, left
    if left.kind == Kind.INTERVAL and right.kind == Kind.INTERVAL:
        node = exp.Add if sign > 0 else exp.Sub
        total = node(this=left.node, expression=exp.paren(right.node))
        return Typed(exp.paren(total), Kind.INTERVAL, left.months + sign * right.months)
    if left.kind in TEMPORAL and right.kind in (Kind.INTERVAL, Kind.NUMBER):
        return _moved(left, right, sign)
    if sign < 0 and left.kind == Kind.DATE and right.kind == Kind.DATE:
        return Typed(call("pg_days_between", left.node, right.node), Kind.NUMBER)
    if sign < 0 and left.kind in TEMPORAL and right.kind in TEMPORAL:
        return Typed(call("pg_moments_between", left.node, right.node), Kind.INTERVAL)
    raise _undefined(left, right, sign)


def _moved(left: Typed, right: Typed, sign: int) -> Typed:
    shift = right.node if sign > 0 else exp.Neg(this=exp.paren(right.node))
    if right.kind == Kind.INTERVAL:
        kind = Kind.TIMESTAMP if left.kind == Kind.DATE else left.kind
        return Typed(call("pg_add_interval", left.node, number(sign * right.months), shift), kind)
    if left.kind != Kind.DATE:
        raise _undefined(left, right, sign)
    return Typed(call("pg_add_days", left.node, shift), Kind.DATE)


def _undefined(left: Typed, right: Typed, sign: int) -> SqlRefusedError:
    return SqlRefusedError(
        f"{left.kind} {'+' if sign > 0 else '-'} {right.kind} is not defined",
        hint="write for instance timestamp - interval '7 days'",
    )


def _resolved(value: Typed, other: Typed, sign: int) -> Typed:
    """A literal beside a time: an interval when added to a moment, otherwise of the other's kind."""
    if value.kind != Kind.LITERAL:
        return value
    added = sign > 0 and other.kind in MOMENTS
    return convert(value, Kind.INTERVAL if added else other.kind)
