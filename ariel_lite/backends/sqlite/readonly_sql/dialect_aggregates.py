"""What stands around an aggregate: FILTER, OVER, WITHIN GROUP, and the call that makes it NULL of no rows."""

from __future__ import annotations

from sqlglot import exp

from ariel_lite.backends.readonly_sql.sql_guard import call_name
from ariel_lite.backends.sqlite.readonly_sql.dialect_kinds import TEMPORAL, Kind, Typed, call, refused
from ariel_lite.backends.sqlite.readonly_sql.dialect_values import interval_value


def aggregate_of(node: exp.Expr) -> exp.Expr:
    """The aggregate itself, inside the call that makes it NULL of no rows."""
    inner = node.expressions[0] if isinstance(node, exp.Anonymous) and node.name == "nullif" else None
    return inner if isinstance(inner, exp.Anonymous) and inner.name.startswith("json_group") else node


def around(clause: exp.Expr, value: Typed) -> Typed:
    """FILTER or OVER around an aggregate, inside what is around that."""
    aggregate = aggregate_of(value.node)
    if aggregate is value.node:
        clause.set("this", aggregate)
        return Typed(clause, value.kind)
    clause.set("this", aggregate.copy())
    aggregate.replace(clause)
    return value


def quantile(function: exp.Expr, ordered: list[exp.Expr], value: Typed) -> Typed:
    """percentile_cont, percentile_disc: SQLite takes the value and the fraction as arguments."""
    name = call_name(function) if isinstance(function, exp.Anonymous) else ""
    fraction = function.expressions[0] if name and function.expressions else None
    if name not in ("percentile_cont", "percentile_disc") or not isinstance(fraction, exp.Literal):
        raise refused("this ordered-set aggregate")
    if value.kind in TEMPORAL or ordered[0].args.get("desc"):
        raise refused(f"{name} of dates or in descending order")
    node = interval_value(value) if value.kind == Kind.INTERVAL else value.node
    return Typed(call(name, node, fraction), value.kind)
