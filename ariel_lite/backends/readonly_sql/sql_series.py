"""The bounds of generate_series: constants only, and at most 10,000 steps."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from sqlglot import exp

from ariel_lite.backends.readonly_sql.sql_intervals import read_interval
from ariel_lite.errors import SqlRefusedError

MAX_STEPS: Final = 10_000
_HINT: Final = (
    "for instance generate_series(1, 24) or generate_series(date '2026-03-01', date '2026-03-31', interval '1 day')"
)


def check_series(arguments: list[exp.Expr]) -> None:
    """Refuse a series whose length is not known to be at most 10,000 before it runs.

    Raises:
        SqlRefusedError: bounds that are not constants, a step of zero, or too many steps.
    """
    if len(arguments) not in (2, 3):
        raise SqlRefusedError("generate_series takes a start, a stop and a step", hint=_HINT)
    start, stop = (constant(argument) for argument in arguments[:2])
    step = constant(arguments[2]) if len(arguments) == 3 else 1.0
    if isinstance(step, str):
        step = _interval(step)
    if isinstance(start, str) or isinstance(stop, str):
        start, stop = _moment(start), _moment(stop)
    if isinstance(start, datetime) and isinstance(stop, datetime) and isinstance(step, timedelta):
        _check_steps((stop - start).total_seconds(), step.total_seconds())
    elif isinstance(start, float) and isinstance(stop, float) and isinstance(step, float):
        _check_steps(stop - start, step)
    else:
        raise SqlRefusedError("generate_series needs constant bounds and a constant step", hint=_HINT)


def constant(node: exp.Expr) -> float | datetime | timedelta | str | None:
    """What an expression of literals, casts, now() and plus or minus is, or None when it is not constant."""
    if isinstance(node, exp.Literal):
        return node.name if node.is_string else _number(node.name)
    if isinstance(node, exp.Paren):
        return constant(node.this)
    if isinstance(node, exp.Neg):
        value = constant(node.this)
        return -value if isinstance(value, float | timedelta) else None
    if isinstance(node, exp.Interval):
        return _interval(f"{node.this.name} {node.text('unit')}")
    if isinstance(node, exp.Cast):
        return _cast(node)
    if isinstance(node, exp.Add | exp.Sub):
        return _sum(constant(node.this), constant(node.expression), 1 if isinstance(node, exp.Add) else -1)
    return _call(node)


def _call(node: exp.Expr) -> datetime | None:
    if isinstance(node, exp.CurrentTimestamp | exp.CurrentDate | exp.Localtimestamp):
        return datetime.now(UTC)
    if isinstance(node, exp.Anonymous) and node.name.lower() == "now":
        return datetime.now(UTC)
    if isinstance(node, exp.Anonymous) and node.name.lower() == "date_trunc" and len(node.expressions) > 1:
        value = constant(node.expressions[1])
        return value if isinstance(value, datetime) else None
    return None


def _cast(node: exp.Cast) -> float | datetime | timedelta | str | None:
    value, target = constant(node.this), node.args["to"].this
    if target == exp.DType.INTERVAL and isinstance(value, str):
        return _interval(value)
    if target in (exp.DType.DATE, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ):
        return _moment(value)
    return _number(value) if isinstance(value, str) else value


def _sum(
    left: float | datetime | timedelta | str | None, right: float | datetime | timedelta | str | None, sign: int
) -> float | datetime | timedelta | None:
    try:
        if isinstance(left, float) and isinstance(right, float):
            return left + sign * right
        if isinstance(left, datetime) and isinstance(right, float):
            return left + sign * timedelta(days=right)
        if isinstance(left, datetime) and isinstance(right, timedelta):
            return left + sign * right
        return None
    except OverflowError:
        return None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _interval(text: str) -> timedelta | None:
    try:
        months, microseconds = read_interval(text)
        return timedelta(days=30 * months, microseconds=microseconds)
    except (ValueError, OverflowError):
        return None


def _moment(value: float | datetime | timedelta | str | None) -> datetime | None:
    if isinstance(value, datetime):
        return value
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


def _check_steps(length: float, step: float) -> None:
    if step == 0 or not abs(length) < 1e15 or length / step > MAX_STEPS:
        raise SqlRefusedError(f"generate_series is limited to {MAX_STEPS:,} steps", hint=_HINT)
