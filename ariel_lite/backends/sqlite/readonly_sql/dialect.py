"""PostgreSQL's SELECT in SQLite's dialect.

`translate` rewrites the tree of a checked statement: names are resolved to their sources, each expression gets a
kind (dialect_kinds), and what SQLite does in another way becomes a call of a function of sql_functions. What has no
counterpart is refused. Here are queries, FROM and output columns; expressions are in dialect_expressions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import ErrorLevel, SqlglotError

from ariel_lite.backends.readonly_sql.sql_allowed import ENTRY_TABLE
from ariel_lite.backends.readonly_sql.sql_dialect import to_postgres
from ariel_lite.backends.readonly_sql.sql_guard import CheckedStatement, call_name, fold_name
from ariel_lite.backends.sqlite.readonly_sql.dialect_distinct import pick_first
from ariel_lite.backends.sqlite.readonly_sql.dialect_expressions import Expressions
from ariel_lite.backends.sqlite.readonly_sql.dialect_kinds import (
    ENTRY_KINDS,
    VECTOR_KINDS,
    Columns,
    Kind,
    Scope,
    Source,
    refused,
)
from ariel_lite.backends.sqlite.readonly_sql.dialect_names import output_name
from ariel_lite.backends.sqlite.readonly_sql.dialect_unfolding import table_function
from ariel_lite.backends.sqlite.readonly_sql.dialect_values import interval_value
from ariel_lite.errors import SqlRefusedError

_UNKNOWN_CLAUSES: Final = {
    exp.Rollup: "ROLLUP",
    exp.Cube: "CUBE",
    exp.GroupingSets: "GROUPING SETS",
}


@dataclass(frozen=True)
class Translation:
    """A statement for SQLite.

    Attributes:
        sql: the text to run on a connection prepared by readonly.
        columns: names and kinds of the output columns, in order; `*` over vectors may give more.
    """

    sql: str
    columns: Columns


def to_sqlite(checked: CheckedStatement) -> str:
    """SQLite's text of a checked statement.

    Raises:
        SqlRefusedError: a part of it has no counterpart on SQLite.
    """
    return translate(checked).sql


def translate(checked: CheckedStatement) -> Translation:
    """The statement for SQLite and the kinds of its columns.

    Raises:
        SqlRefusedError: a part of it has no counterpart on SQLite.
    """
    try:
        root = exp.Subquery(this=checked.expression.copy())
        columns = Translator().query(root.this, Scope())
        sql = _plain(root.this).sql(
            dialect=SQLite, comments=False, normalize_functions=False, unsupported_level=ErrorLevel.RAISE
        )
        return Translation(sql, columns)
    except SqlglotError as error:
        raise refused(str(error)[:120]) from error
    except RecursionError as error:
        raise SqlRefusedError("the statement is nested too deeply", hint="split it or use fewer levels") from error


class Translator(Expressions):
    """Rewrites one statement in place."""

    def query(self, node: exp.Expr, outer: Scope) -> Columns:
        """Translate a query; the kinds of its output columns by name, in order."""
        scope = Scope(parent=outer)
        self._with(node, scope)
        if isinstance(node, exp.Select):
            return self._select(node, scope)
        if isinstance(node, exp.Subquery):
            columns = self.query(node.this, scope)
        elif isinstance(node, exp.SetOperation):
            columns = self._set_operation(node, scope)
        else:
            raise refused(type(node).__name__)
        scope.outputs = dict(columns)
        self._tail(node, scope)
        return columns

    def _with(self, node: exp.Expr, scope: Scope) -> None:
        clause = node.args.get("with_")
        recursive = clause is not None and clause.args.get("recursive")
        for common in clause.expressions if clause is not None else []:
            alias = common.args["alias"]
            name = fold_name(alias.this)
            if recursive and isinstance(common.this, exp.SetOperation):
                first = self.query(common.this.this.copy(), scope)
                scope.queries[name] = _renamed(first, alias.columns)
            scope.queries[name] = _renamed(self.query(common.this, scope), alias.columns)

    def _set_operation(self, node: exp.SetOperation, scope: Scope) -> Columns:
        if not node.args.get("distinct", True) and not isinstance(node, exp.Union):
            raise refused(f"{type(node).__name__.upper()} ALL")
        if node.args.get("by_name"):
            raise refused("BY NAME")
        columns = self.query(node.this, scope)
        self.query(node.expression, scope)
        node.set("this", _operand(node.this, left=True))
        node.set("expression", _operand(node.expression, left=False))
        return columns

    def _select(self, node: exp.Select, scope: Scope) -> Columns:
        if node.args.get("from_") is not None:
            self._source(node.args["from_"], scope)
        for join in node.args.get("joins") or []:
            self._source(join, scope)
        unfolding = [call for call in node.find_all(exp.Anonymous) if _unfolds(call, node)]
        self._unfold(node, unfolding, scope)
        columns = self._outputs(node, scope)
        self.part(node, "where", scope)
        scope.outputs = dict(columns)
        self._group(node, scope)
        self.part(node, "having", scope)
        for window in node.args.get("windows") or []:
            self.window(window, scope)
        self._tail(node, scope)
        distinct = node.args.get("distinct")
        if isinstance(distinct, exp.Distinct) and distinct.args.get("on"):
            self.list_of(distinct.args["on"].unnest(), "expressions", scope)
            pick_first(node, columns)
        return columns

    def _group(self, node: exp.Select, scope: Scope) -> None:
        group = node.args.get("group")
        if group is None:
            return
        for kind, name in _UNKNOWN_CLAUSES.items():
            if group.find(kind):
                raise refused(name)
        self.list_of(group, "expressions", scope)

    def _tail(self, node: exp.Expr, scope: Scope) -> None:
        """ORDER BY, LIMIT, OFFSET and FETCH."""
        order = node.args.get("order")
        for ordered in order.expressions if order is not None else []:
            self.part(ordered, "this", scope)
        limit = node.args.get("limit")
        if isinstance(limit, exp.Fetch):
            options = limit.args.get("limit_options")
            if options is not None and (options.args.get("with_ties") or options.args.get("percent")):
                raise refused("WITH TIES")
            limit = exp.Limit(expression=limit.args.get("count") or exp.Literal.number(1))
            node.set("limit", limit)
        if limit is not None and (isinstance(limit.expression, exp.Var | exp.Null)):
            node.set("limit", None)
        elif limit is not None:
            self.part(limit, "expression", scope)
        if node.args.get("offset") is not None:
            self.part(node.args["offset"], "expression", scope)

    def _outputs(self, node: exp.Select, scope: Scope) -> Columns:
        columns: Columns = []
        rewritten: list[exp.Expr] = []
        for projection in node.expressions:
            if isinstance(projection, exp.Star) or (isinstance(projection, exp.Column) and projection.is_star):
                for item, given in self._star(projection, scope):
                    rewritten.append(item)
                    columns += given
                continue
            name = output_name(projection)
            value = self.typed(projection.this if isinstance(projection, exp.Alias) else projection, scope)
            columns.append((name, value.kind))
            shown = interval_value(value) if value.kind == Kind.INTERVAL else value.node
            rewritten.append(_aliased(shown, name, projection))
        node.set("expressions", rewritten)
        return columns

    def _star(self, projection: exp.Expr, scope: Scope) -> list[tuple[exp.Expr, Columns]]:
        """What `*` or `table.*` stands for: written out where a table function is among the sources."""
        table = fold_name(projection.args.get("table"))
        sources = [source for source in scope.sources if not table or source.alias == table]
        if not any(source.real for source in sources):
            return [(projection, [column for source in sources for column in source.columns])]
        return [item for source in sources for item in source.star()]

    def _source(self, holder: exp.Expr, scope: Scope) -> None:
        """The table, subquery or function in FROM or JOIN, and what is joined to it inside."""
        item = holder.this
        if isinstance(item, exp.Lateral) and isinstance(item.this, exp.Subquery):
            raise refused("LATERAL with a subquery")
        if isinstance(item, exp.Unnest | exp.Lateral) or isinstance(item.this, exp.Anonymous):
            self._table_function(item, scope)
        elif isinstance(item, exp.Table):
            self._table(item, scope)
        elif isinstance(item, exp.Subquery) and isinstance(item.this, exp.Table):
            self._source(item, scope)
        elif isinstance(item, exp.Subquery):
            self._derived(item, scope)
        else:
            raise refused(f"{type(item).__name__} in FROM")
        for join in (holder.this.args.get("joins") or []) if not isinstance(item, exp.Unnest | exp.Lateral) else []:
            self._source(join, scope)
        self.part(holder, "on", scope)

    def _table(self, table: exp.Table, scope: Scope) -> None:
        name = fold_name(table.this)
        alias = table.args.get("alias")
        if alias is not None and alias.columns:
            raise refused("a list of column names after a table", "rename columns with AS in the select list")
        shown = fold_name(alias.this) if alias is not None and alias.this is not None else name
        common = None if table.args.get("db") else scope.query(name)
        if common is not None:
            scope.sources.append(Source(shown, common))
            return
        # The schema's name keeps a WITH query of the same name from taking the real table's place.
        schema = "temp" if name == ENTRY_TABLE else "main"
        table.set("this", exp.to_identifier(name))
        table.set("db", exp.to_identifier(schema))
        scope.sources.append(Source(shown, list((ENTRY_KINDS if name == ENTRY_TABLE else VECTOR_KINDS).items())))

    def _derived(self, item: exp.Subquery, scope: Scope) -> None:
        columns = self.query(item.this, scope)
        item.set("this", _plain(item.this))
        alias = item.args.get("alias")
        if alias is not None and alias.columns:
            columns = _renamed(columns, alias.columns)
            _rename_outputs(item.this, alias.columns)
            alias.set("columns", None)
        scope.sources.append(Source(fold_name(alias.this) if alias is not None else "", columns))

    def _table_function(self, item: exp.Expr, scope: Scope) -> None:
        if item.args.get("ordinality") or item.args.get("offset"):
            raise refused("WITH ORDINALITY")
        node = item if isinstance(item, exp.Unnest) else item.this
        alias = item.args.get("alias")
        name = "unnest" if isinstance(node, exp.Unnest) else call_name(node)
        shown = fold_name(alias.this) if alias is not None and alias.this is not None else name
        columns = [fold_name(column) for column in alias.columns] if alias is not None else []
        unfolded, source = table_function(self, name, node.expressions, shown, columns, scope)
        scope.sources.append(source)
        item.replace(unfolded)

    def _unfold(self, node: exp.Select, calls: list[exp.Anonymous], scope: Scope) -> None:
        """A set-returning function in the select list becomes a table function in FROM."""
        for found in calls:
            key = to_postgres(found)
            _check_grouped(node, key)
            if key in scope.unfolded:
                continue
            if scope.unfolded:
                raise refused("more than one set-returning function in a select list", "unfold them in FROM")
            shown = f"unfolded_{call_name(found)}"
            arguments = [argument.copy() for argument in found.expressions]
            unfolded, source = table_function(self, call_name(found), arguments, shown, [], scope)
            scope.unfolded[key] = source
            if node.args.get("from_") is None:
                node.set("from_", exp.From(this=unfolded))
            else:
                node.append("joins", exp.Join(this=unfolded, kind="CROSS"))


def _unfolds(call: exp.Anonymous, select: exp.Select) -> bool:
    """Is this a set-returning call of this very SELECT, outside its FROM?"""
    if call_name(call) not in Expressions.UNFOLDING:
        return False
    inside_from = call.find_ancestor(exp.From, exp.Join, exp.Select)
    return inside_from is select


def _check_grouped(select: exp.Select, key: str) -> None:
    """Rows are unfolded before they are grouped: refuse what PostgreSQL would unfold afterwards."""
    group = select.args.get("group")
    if group is None:
        return
    names = {to_postgres(part) for part in group.expressions}
    for index, projection in enumerate(select.expressions, 1):
        if key in to_postgres(projection) and not {key, str(index), projection.alias} & names:
            raise refused("a set-returning function that is not grouped by", "unfold it in FROM, or group by it")


def _aliased(value: exp.Expr, name: str, projection: exp.Expr) -> exp.Expr:
    plain = isinstance(value, exp.Column) and value.name == name and not isinstance(projection, exp.Alias)
    if plain:
        return value
    return exp.Alias(this=value, alias=exp.to_identifier(name, quoted=True))


def _operand(node: exp.Expr, *, left: bool) -> exp.Expr:
    """A side of a set operation: SQLite takes no brackets and no ORDER BY or LIMIT there."""
    inner = node
    while isinstance(inner, exp.Subquery) and not _limited(inner):
        inner = inner.this
    nested = isinstance(inner, exp.SetOperation) and not left
    if not nested and not _limited(inner) and not inner.args.get("with_"):
        return inner
    return exp.select("*").from_(exp.Subquery(this=_plain(inner)))


def _plain(node: exp.Expr) -> exp.Expr:
    """A query without brackets around the whole."""
    if not isinstance(node, exp.Subquery):
        return node
    if not _limited(node) and not node.args.get("with_"):
        return _plain(node.this)
    outer = exp.select("*").from_(exp.Subquery(this=_plain(node.this)))
    for key in ("with_", "order", "limit", "offset"):
        outer.set(key, node.args.get(key))
    return outer


def _limited(node: exp.Expr) -> bool:
    return any(node.args.get(key) is not None for key in ("order", "limit", "offset"))


def _renamed(columns: Columns, names: list[exp.Identifier]) -> Columns:
    """The columns under the names of an alias list; those without one keep theirs."""
    given = [fold_name(name) for name in names]
    return [(new, kind) for new, (_, kind) in zip(given, columns, strict=False)] + columns[len(given) :]


def _rename_outputs(query: exp.Expr, names: list[exp.Identifier]) -> None:
    select = query
    while isinstance(select, exp.SetOperation):
        select = select.this
    if not isinstance(select, exp.Select) or any(part.is_star for part in select.expressions):
        raise refused("a list of column names after such a subquery", "rename columns with AS in the select list")
    for part, name in zip(list(select.expressions), names, strict=False):
        part.replace(exp.alias_(part.unalias(), fold_name(name), quoted=True))
