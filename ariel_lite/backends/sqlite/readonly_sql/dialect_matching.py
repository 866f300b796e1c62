"""LIKE and ILIKE, and comparisons with ANY and ALL, on SQLite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ariel_lite.backends.sqlite.readonly_sql.dialect_kinds import TEMPORAL, Kind, Scope, Typed, call, refused, text
from ariel_lite.backends.sqlite.readonly_sql.dialect_values import as_text, convert, literal_text
from ariel_lite.backends.sqlite.readonly_sql.sql_regex import sqlite_pattern
from ariel_lite.errors import SqlRefusedError

if TYPE_CHECKING:
    from ariel_lite.backends.sqlite.readonly_sql.dialect_expressions import Expressions

_ESCAPE: Final = "\\"


def like(node: exp.Expr, subject: Typed, pattern: Typed) -> exp.Expr:
    """LIKE and ILIKE; a backslash escapes, as in PostgreSQL."""
    value, wanted = as_text(subject), as_text(pattern)
    if isinstance(node, exp.ILike):
        constant = literal_text(wanted)
        wanted = text(constant.lower()) if constant is not None else call("pg_lower", wanted)
        value = call("pg_lower", value)
    matches = exp.Escape(this=exp.Like(this=value, expression=wanted), expression=text(_ESCAPE))
    return exp.Not(this=exp.paren(matches)) if node.args.get("negate") else exp.paren(matches)


def regexp(translator: Expressions, node: exp.Expr, scope: Scope) -> Typed:
    """`~` and `~*` with a constant pattern."""
    subject, pattern = translator.typed(node.this, scope), literal_text(translator.typed(node.expression, scope).node)
    if pattern is None:
        raise refused("a regular expression that is not a constant")
    try:
        translated, fold = sqlite_pattern(pattern, ignore_case=isinstance(node, exp.RegexpILike))
    except ValueError as error:
        raise SqlRefusedError(str(error), hint="use LIKE or ILIKE, or a simpler pattern") from error
    value = as_text(subject)
    return Typed(call("regexp", text(translated), call("pg_lower", value) if fold else value), Kind.BOOL)


def quantified(translator: Expressions, node: exp.Binary, scope: Scope) -> Typed:
    """`x = ANY(array)`: does an element exist; with ALL: does none exist that is otherwise."""
    quantifier = node.expression
    every = isinstance(quantifier, exp.All)
    inner = quantifier.this.unnest()
    if isinstance(inner, exp.Select | exp.SetOperation):
        return _any_of_query(translator, node, quantifier, scope)
    elements = convert(translator.typed(inner, scope), Kind.ARRAY)
    left = translator.typed(node.this.copy(), scope)
    if left.kind in TEMPORAL:
        raise refused("ANY and ALL over dates", "use IN")
    value = exp.column("value", table="element")
    test: exp.Expr = type(node)(this=left.node, expression=_number(value) if left.kind == Kind.NUMBER else value)
    test.set("negate", node.args.get("negate"))
    if isinstance(node, exp.Like | exp.ILike):
        test = like(test, left, Typed(value, Kind.TEXT))
    from_elements = exp.to_table("json_each")
    from_elements.set("this", call("json_each", elements.node.copy()))
    from_elements.set("alias", exp.TableAlias(this=exp.to_identifier("element")))
    found = exp.select("1").from_(from_elements).where(exp.Not(this=exp.paren(test)) if every else test)
    exists: exp.Expr = exp.Exists(this=found)
    exists = exp.Not(this=exists) if every else exists
    if literal_text(elements.node) is not None:
        return Typed(exp.paren(exists), Kind.BOOL)
    known = exp.Is(this=elements.node.copy(), expression=exp.Not(this=exp.Null()))
    return Typed(exp.Case(ifs=[exp.If(this=known, true=exists)]), Kind.BOOL)


def _any_of_query(translator: Expressions, node: exp.Binary, quantifier: exp.Expr, scope: Scope) -> Typed:
    query = quantifier.this if isinstance(quantifier.this, exp.Subquery) else exp.Subquery(this=quantifier.this)
    pair = (type(node), type(quantifier))
    if pair not in ((exp.EQ, exp.Any), (exp.NEQ, exp.All)):
        raise refused("this comparison with ANY or ALL of a query", "use IN, EXISTS, min or max")
    inside = translator.is_in(exp.In(this=node.this.copy(), query=query.copy()), scope)
    return Typed(exp.Not(this=inside.node), Kind.BOOL) if isinstance(node, exp.NEQ) else inside


def _number(value: exp.Expr) -> exp.Expr:
    return exp.cast(value, exp.DType.DOUBLE)
