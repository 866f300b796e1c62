"""DISTINCT ON of PostgreSQL on SQLite: the first row of each group by row_number()."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from ariel_lite.backends.sqlite.readonly_sql.dialect_kinds import Columns, call, number, refused

_RANK: Final = "picked rank"


def pick_first(select: exp.Select, columns: Columns) -> None:
    """Turn a translated SELECT DISTINCT ON (…) … ORDER BY … into a filter over numbered rows, in place.

    Args:
        columns: the output columns; they must have names of their own.

    Raises:
        SqlRefusedError: two output columns share a name.
    """
    names = [name for name, _ in columns]
    if len(set(names)) < len(names) or not names:
        raise refused("DISTINCT ON with two columns of one name", "name the columns with AS")
    inner = select.copy()
    order = inner.args.get("order")
    keys = [ordered.copy() for ordered in order.expressions] if order is not None else []
    for key in keys:
        key.set("this", _meant(key.this, inner))
    window = exp.Window(
        this=call("row_number"),
        partition_by=[_meant(part, inner) for part in inner.args["distinct"].args["on"].unnest().expressions],
        order=exp.Order(expressions=[key.copy() for key in keys]) if keys else None,
    )
    for clause in ("distinct", "order", "limit", "offset", "with_"):
        inner.set(clause, None)
    hidden = [exp.alias_(key.this.copy(), f"picked {index}", quoted=True) for index, key in enumerate(keys)]
    inner.set("expressions", [*inner.expressions, exp.alias_(window, _RANK, quoted=True), *hidden])
    for index, key in enumerate(keys):
        key.set("this", exp.column(f"picked {index}", quoted=True))
    _replace(select, inner, names, keys)


def _replace(select: exp.Select, inner: exp.Select, names: list[str], keys: list[exp.Expr]) -> None:
    """Make `select` the outer query over `inner`; WITH, LIMIT and OFFSET stay where they are."""
    for clause in ("distinct", "joins", "where", "group", "having", "windows", "laterals"):
        select.set(clause, None)
    rows = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("numbered", quoted=True)))
    select.set("expressions", [exp.column(name, quoted=True) for name in names])
    select.set("from_", exp.From(this=rows))
    first = exp.EQ(this=exp.column(_RANK, quoted=True), expression=number(1))
    select.set("where", exp.Where(this=first))
    select.set("order", exp.Order(expressions=keys) if keys else None)


def _meant(key: exp.Expr, select: exp.Select) -> exp.Expr:
    """The expression behind an ordinal or the alias of an output column."""
    if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.name) <= len(select.expressions):
        chosen: exp.Expr = select.expressions[int(key.name) - 1].unalias()
        return chosen.copy()
    if isinstance(key, exp.Column) and not key.args.get("table"):
        for projection in select.expressions:
            if isinstance(projection, exp.Alias) and projection.alias == key.name:
                key = projection.this
                break
    return key.copy()
