"""Operators and other expressions of PostgreSQL on SQLite. Function calls are in dialect_calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Final

from sqlglot import exp

from ariel_lite.backends.readonly_sql import sql_dialect as own
from ariel_lite.backends.readonly_sql.sql_allowed import TABLE_FUNCTIONS
from ariel_lite.backends.readonly_sql.sql_dialect import to_postgres
from ariel_lite.backends.readonly_sql.sql_guard import call_name, fold_name
from ariel_lite.backends.sqlite.readonly_sql import dialect_structures as structures
from ariel_lite.backends.sqlite.readonly_sql.dialect_aggregates import around, quantile
from ariel_lite.backends.sqlite.readonly_sql.dialect_calls import ARGUMENT_WRAPPERS, translate_call
from ariel_lite.backends.sqlite.readonly_sql.dialect_kinds import (
    TEMPORAL,
    Columns,
    Kind,
    Scope,
    Typed,
    call,
    number,
    refused,
    text,
)
from ariel_lite.backends.sqlite.readonly_sql.dialect_matching import like, quantified, regexp
from ariel_lite.backends.sqlite.readonly_sql.dialect_times import extracted, time_sum, zoned
from ariel_lite.backends.sqlite.readonly_sql.dialect_values import (
    as_text,
    cast,
    common_kind,
    convert,
    interval_value,
    literal_text,
    unify,
)

Handler = Callable[[Any, Any, Scope], Typed]

_SIGNS: Final = {exp.Add: 1, exp.Sub: -1}


class Expressions(ABC):
    """Rewrites expressions in place; `typed` gives the new node and its kind."""

    UNFOLDING: ClassVar = TABLE_FUNCTIONS

    @abstractmethod
    def query(self, node: exp.Expr, outer: Scope) -> Columns:
        """Translate a query inside an expression."""

    def typed(self, node: exp.Expr, scope: Scope) -> Typed:
        """The translation of one expression.

        Raises:
            SqlRefusedError: it has no counterpart on SQLite.
        """
        handler = _HANDLERS.get(type(node))
        if handler is None:
            raise refused(type(node).__name__)
        return handler(self, node, scope)

    def part(self, node: exp.Expr, key: str, scope: Scope) -> Kind:
        """Translate one argument of a node in place."""
        value = node.args.get(key)
        if value is None:
            return Kind.OTHER
        if isinstance(value, exp.Where | exp.Having):
            return self.part(value, "this", scope)
        result = self.typed(value, scope)
        node.set(key, interval_value(result) if result.kind == Kind.INTERVAL else result.node)
        return result.kind

    def list_of(self, node: exp.Expr, key: str, scope: Scope) -> list[Kind]:
        """Translate a list of arguments in place."""
        values = [self.typed(value, scope) for value in node.args.get(key) or []]
        node.set(key, [value.node for value in values])
        return [value.kind for value in values]

    def window(self, node: exp.Expr, scope: Scope) -> None:
        """PARTITION BY, ORDER BY and the frame of a window."""
        self.list_of(node, "partition_by", scope)
        self.order(node.args.get("order"), scope)
        spec = node.args.get("spec")
        if spec is not None and spec.find(exp.Interval, exp.Cast):
            raise refused("an interval in a window frame")

    def order(self, order: exp.Expr | None, scope: Scope) -> None:
        """The expressions of an ORDER BY."""
        for ordered in order.expressions if order is not None else []:
            self.part(ordered, "this", scope)

    def literal(self, node: exp.Literal, scope: Scope) -> Typed:
        """A number, or a text whose kind its place decides."""
        return Typed(node, Kind.LITERAL if node.is_string else Kind.NUMBER)

    def raw_string(self, node: exp.RawString, scope: Scope) -> Typed:
        """A dollar-quoted text."""
        return Typed(text(node.name), Kind.LITERAL)

    def column(self, node: exp.Column, scope: Scope) -> Typed:
        """A column, or the value of a table function named by its alias."""
        table, name = fold_name(node.args.get("table")), fold_name(node.this)
        source, kind = scope.column(table, name)
        if source is None or name not in source.real:
            return Typed(exp.Column(this=_identifier(node.this), table=_identifier(node.args.get("table"))), kind)
        return source.value(name)

    def paren(self, node: exp.Paren, scope: Scope) -> Typed:
        """Brackets keep kind and months."""
        inner = self.typed(node.this, scope)
        return Typed(exp.paren(inner.node), inner.kind, inner.months) if inner.kind != Kind.LITERAL else inner

    def boolean(self, node: exp.Expr, scope: Scope) -> Typed:
        """AND, OR, NOT, IS."""
        self.part(node, "this", scope)
        self.part(node, "expression", scope)
        return Typed(node, Kind.BOOL)

    def comparison(self, node: exp.Binary, scope: Scope) -> Typed:
        """=, <>, <, …, IS DISTINCT FROM, also with ANY and ALL."""
        if isinstance(node.expression, exp.Any | exp.All):
            return quantified(self, node, scope)
        values, kind = unify([self.typed(node.this, scope), self.typed(node.expression, scope)])
        if kind in (Kind.JSON, Kind.ARRAY) and isinstance(node, exp.GT | exp.GTE | exp.LT | exp.LTE):
            raise refused(f"the order of two {kind} values", "compare members: metadata->>'level'")
        node.set("this", values[0])
        node.set("expression", values[1])
        return Typed(node, Kind.BOOL)

    def is_in(self, node: exp.In, scope: Scope) -> Typed:
        """IN a list or a query."""
        query = node.args.get("query")
        if query is not None:
            columns = self.query(query, scope)
            left = self.typed(node.this, scope)
            kind = common_kind([left.kind, columns[0][1]]) if len(columns) == 1 else Kind.OTHER
            node.set("this", convert(left, kind).node if kind in TEMPORAL else left.node)
            return Typed(node, Kind.BOOL)
        values, _ = unify([self.typed(node.this, scope), *(self.typed(item, scope) for item in node.expressions)])
        node.set("this", values[0])
        node.set("expressions", values[1:])
        return Typed(node, Kind.BOOL)

    def between(self, node: exp.Between, scope: Scope) -> Typed:
        """BETWEEN low AND high."""
        if node.args.get("symmetric"):
            raise refused("BETWEEN SYMMETRIC")
        keys = ("this", "low", "high")
        values, _ = unify([self.typed(node.args[key], scope) for key in keys])
        for key, value in zip(keys, values, strict=True):
            node.set(key, value)
        return Typed(node, Kind.BOOL)

    def like(self, node: exp.Binary, scope: Scope) -> Typed:
        """LIKE and ILIKE; the escape character is a backslash."""
        if isinstance(node.expression, exp.Any | exp.All):
            return quantified(self, node, scope)
        return Typed(like(node, self.typed(node.this, scope), self.typed(node.expression, scope)), Kind.BOOL)

    def escape(self, node: exp.Escape, scope: Scope) -> Typed:
        """LIKE … ESCAPE: another escape character."""
        inner = self.typed(node.this, scope).node
        plain = inner.find(exp.Escape)
        if plain is None or literal_text(node.expression) is None:
            raise refused("ESCAPE here")
        plain.set("expression", node.expression)
        return Typed(inner, Kind.BOOL)

    def case(self, node: exp.Case, scope: Scope) -> Typed:
        """CASE: the results get one kind, and so do the values that are compared."""
        ifs = node.args["ifs"]
        if node.this is not None:
            tests, _ = unify([self.typed(node.this, scope), *(self.typed(branch.this, scope) for branch in ifs)])
            node.set("this", tests[0])
            for branch, test in zip(ifs, tests[1:], strict=True):
                branch.set("this", test)
        else:
            for branch in ifs:
                self.part(branch, "this", scope)
        results = [self.typed(branch.args["true"], scope) for branch in ifs]
        default = node.args.get("default")
        values, kind = unify(results + ([self.typed(default, scope)] if default is not None else []))
        for branch, value in zip(ifs, values, strict=False):
            branch.set("true", value)
        if default is not None:
            node.set("default", values[-1])
        return Typed(node, kind)

    def cast(self, node: exp.Cast, scope: Scope) -> Typed:
        """CAST and `::`."""
        return cast(self.typed(node.this, scope), node.to)

    def interval(self, node: exp.Interval, scope: Scope) -> Typed:
        """INTERVAL '7 days'."""
        constant = literal_text(node.this) if node.this is not None else None
        if constant is None or isinstance(node.args.get("unit"), exp.IntervalSpan):
            raise refused("this form of INTERVAL", "write interval '7 days'")
        return convert(Typed(text(f"{constant} {node.text('unit')}".strip()), Kind.LITERAL), Kind.INTERVAL)

    def sum(self, node: exp.Binary, scope: Scope) -> Typed:
        """+ and - of numbers, dates, moments and intervals."""
        left, right = self.typed(node.this, scope), self.typed(node.expression, scope)
        sign = _SIGNS[type(node)]
        if Kind.JSON in (left.kind, right.kind) or Kind.ARRAY in (left.kind, right.kind):
            raise refused("+ or - of jsonb or arrays")
        if {left.kind, right.kind} & (TEMPORAL | {Kind.INTERVAL}):
            return time_sum(left, right, sign)
        return self._arithmetic(node, left, right)

    def product(self, node: exp.Binary, scope: Scope) -> Typed:
        """*, /, % and bit operators; an interval times or by a number."""
        left, right = self.typed(node.this, scope), self.typed(node.expression, scope)
        if Kind.INTERVAL in (left.kind, right.kind):
            if left.months or right.months:
                raise refused("arithmetic with months", "add months to a date directly")
            value = self._arithmetic(node, left, right)
            return Typed(exp.cast(value.node, exp.DType.BIGINT), Kind.INTERVAL)
        return self._arithmetic(node, left, right)

    def _arithmetic(self, node: exp.Binary, left: Typed, right: Typed) -> Typed:
        for key, value in (("this", left), ("expression", right)):
            node.set(key, convert(value, Kind.NUMBER).node if value.kind == Kind.LITERAL else value.node)
        return Typed(node, Kind.NUMBER)

    def power(self, node: exp.Pow, scope: Scope) -> Typed:
        """a ^ b."""
        return Typed(
            call("pow", self.typed(node.this, scope).node, self.typed(node.expression, scope).node), Kind.NUMBER
        )

    def root(self, node: exp.Expr, scope: Scope) -> Typed:
        """|/ a and ||/ a."""
        name = "sqrt" if isinstance(node, exp.Sqrt) else "pg_cbrt"
        return Typed(call(name, self.typed(node.this, scope).node), Kind.NUMBER)

    def negative(self, node: exp.Neg, scope: Scope) -> Typed:
        """-a and ~a."""
        inner = self.typed(node.this, scope)
        node.set("this", inner.node)
        return Typed(node, inner.kind if inner.kind == Kind.INTERVAL else Kind.NUMBER, -inner.months)

    def concatenation(self, node: exp.Binary, scope: Scope) -> Typed:
        """a || b of texts."""
        sides = [self.typed(node.this, scope), self.typed(node.expression, scope)]
        if any(side.kind in (Kind.JSON, Kind.ARRAY) for side in sides):
            raise refused("|| of jsonb or arrays")
        return Typed(exp.DPipe(this=as_text(sides[0]), expression=as_text(sides[1])), Kind.TEXT)

    def adjacent(self, node: exp.Concat, scope: Scope) -> Typed:
        """'a' 'b' on two lines: one text."""
        return Typed(text("".join(part.name for part in node.expressions)), Kind.LITERAL)

    def at_zone(self, node: exp.AtTimeZone, scope: Scope) -> Typed:
        """moment AT TIME ZONE zone: wall clock of a timestamptz, or the moment of a timestamp."""
        value, zone = self.typed(node.this, scope), self.typed(node.args["zone"], scope)
        return zoned(value, zone)

    def extract(self, node: exp.Extract, scope: Scope) -> Typed:
        """EXTRACT(field FROM …)."""
        return extracted(text(node.name.lower()), self.typed(node.expression, scope))

    def position(self, node: exp.StrPosition, scope: Scope) -> Typed:
        """position(a IN b)."""
        parts = [self.typed(node.this, scope), self.typed(node.args["substr"], scope)]
        return Typed(call("instr", *(as_text(part) for part in parts)), Kind.NUMBER)

    def substring(self, node: exp.Substring, scope: Scope) -> Typed:
        """substring(text FROM start FOR count)."""
        start = node.args.get("start")
        if start is not None and literal_text(start) is not None:
            raise refused("substring with a pattern")
        bounds = [self.typed(bound, scope).node for bound in (start or number(1), node.args.get("length")) if bound]
        return Typed(call("pg_substring", as_text(self.typed(node.this, scope)), *bounds), Kind.TEXT)

    def trim(self, node: exp.Trim, scope: Scope) -> Typed:
        """trim(BOTH characters FROM text)."""
        name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(node.text("position").upper(), "trim")
        parts = [node.this] + ([node.expression] if node.args.get("expression") is not None else [])
        return Typed(call(name, *(as_text(self.typed(part, scope)) for part in parts)), Kind.TEXT)

    def subquery(self, node: exp.Subquery, scope: Scope) -> Typed:
        """A query that stands for one value."""
        columns = self.query(node, scope)
        return Typed(node, columns[0][1] if columns else Kind.OTHER)

    def exists(self, node: exp.Exists, scope: Scope) -> Typed:
        """EXISTS (query)."""
        self.query(node.this, scope)
        return Typed(node, Kind.BOOL)

    def row(self, node: exp.Tuple, scope: Scope) -> Typed:
        """(a, b)."""
        self.list_of(node, "expressions", scope)
        return Typed(node, Kind.OTHER)

    def over(self, node: exp.Window, scope: Scope) -> Typed:
        """function OVER (…)."""
        inner = self.typed(node.this, scope)
        self.window(node, scope)
        return around(node, inner)

    def filtered(self, node: exp.Filter, scope: Scope) -> Typed:
        """aggregate FILTER (WHERE …)."""
        inner = self.typed(node.this, scope)
        self.part(node.expression, "this", scope)
        return around(node, inner)

    def within_group(self, node: exp.WithinGroup, scope: Scope) -> Typed:
        """percentile_cont(0.5) WITHIN GROUP (ORDER BY x)."""
        ordered = node.expression.expressions
        return quantile(node.this, ordered, self.typed(ordered[0].this, scope))

    def function(self, node: exp.Anonymous, scope: Scope) -> Typed:
        """A function call; one that returns rows has been moved to FROM."""
        if call_name(node) in self.UNFOLDING:
            return self._unfolded(node, scope)
        return translate_call(self, node, scope)

    def _unfolded(self, node: exp.Anonymous, scope: Scope) -> Typed:
        source = scope.unfolded.get(to_postgres(node))
        if source is None:
            raise refused(f"{call_name(node)} here", "unfold it in FROM")
        if len(set(source.real.values())) > 1:
            raise refused(f"{call_name(node)} in a select list", "unfold it in FROM")
        return source.value(source.columns[0][0])

    def present(self, node: exp.Expr, scope: Scope) -> Typed:
        """CURRENT_DATE, CURRENT_TIMESTAMP, LOCALTIMESTAMP."""
        if isinstance(node, exp.CurrentDate):
            return Typed(call("pg_today"), Kind.DATE)
        return Typed(call("pg_now"), Kind.TIMESTAMP if isinstance(node, exp.Localtimestamp) else Kind.TIMESTAMPTZ)

    def aggregate_argument(self, node: exp.Expr, scope: Scope) -> Typed:
        """DISTINCT x and x ORDER BY y inside an aggregate."""
        if isinstance(node, exp.Order):
            inner = self.typed(node.this, scope)
            self.order(node, scope)
            node.set("this", inner.node)
            return Typed(node, inner.kind)
        kinds = self.list_of(node, "expressions", scope)
        return Typed(node, kinds[0] if kinds else Kind.OTHER)


def _identifier(node: exp.Expr | None) -> exp.Identifier | None:
    return None if node is None else exp.to_identifier(fold_name(node), quoted=True)


_E = Expressions
_HANDLERS: Final[dict[type[exp.Expr], Handler]] = {
    exp.Literal: _E.literal,
    exp.RawString: _E.raw_string,
    exp.Null: lambda _self, node, _scope: Typed(node, Kind.LITERAL),
    exp.Boolean: lambda _self, node, _scope: Typed(node, Kind.BOOL),
    exp.Star: lambda _self, node, _scope: Typed(node, Kind.OTHER),
    exp.Column: _E.column,
    exp.Paren: _E.paren,
    **dict.fromkeys((exp.And, exp.Or, exp.Not, exp.Is), _E.boolean),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE), _E.comparison),
    **dict.fromkeys((exp.NullSafeEQ, exp.NullSafeNEQ), _E.comparison),
    exp.In: _E.is_in,
    exp.Between: _E.between,
    **dict.fromkeys((exp.Like, exp.ILike), _E.like),
    exp.Escape: _E.escape,
    **dict.fromkeys((exp.RegexpLike, exp.RegexpILike), regexp),
    exp.Case: _E.case,
    exp.Cast: _E.cast,
    exp.Interval: _E.interval,
    **dict.fromkeys((exp.Add, exp.Sub), _E.sum),
    **dict.fromkeys((exp.Mul, exp.Div, exp.Mod), _E.product),
    **dict.fromkeys((exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseLeftShift, exp.BitwiseRightShift), _E.product),
    exp.Pow: _E.power,
    **dict.fromkeys((exp.Sqrt, exp.Cbrt), _E.root),
    **dict.fromkeys((exp.Neg, exp.BitwiseNot), _E.negative),
    exp.DPipe: _E.concatenation,
    exp.Concat: _E.adjacent,
    exp.AtTimeZone: _E.at_zone,
    exp.Extract: _E.extract,
    exp.StrPosition: _E.position,
    exp.Substring: _E.substring,
    exp.Trim: _E.trim,
    exp.Array: structures.array,
    exp.Bracket: structures.element,
    **dict.fromkeys(structures.JSON_OPERATORS, structures.json_operator),
    **dict.fromkeys((exp.ArrayContainsAll, exp.ArrayContainedBy), structures.contains),
    exp.ArrayOverlaps: structures.overlaps,
    **dict.fromkeys((own.CosineDistance, exp.Distance), structures.distance),
    exp.Subquery: _E.subquery,
    exp.Exists: _E.exists,
    exp.Tuple: _E.row,
    exp.Window: _E.over,
    exp.Filter: _E.filtered,
    exp.WithinGroup: _E.within_group,
    exp.Anonymous: _E.function,
    **dict.fromkeys((exp.CurrentDate, exp.CurrentTimestamp, exp.Localtimestamp), _E.present),
    **dict.fromkeys(ARGUMENT_WRAPPERS, _E.aggregate_argument),
}
