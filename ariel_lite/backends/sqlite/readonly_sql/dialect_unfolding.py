"""Set-returning functions of PostgreSQL on SQLite: json_each over an array or object that a function makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from ariel_lite.backends.sqlite.readonly_sql.dialect_kinds import Kind, Scope, Source, Typed, call, refused, too_few
from ariel_lite.backends.sqlite.readonly_sql.dialect_times import time_series
from ariel_lite.backends.sqlite.readonly_sql.dialect_values import as_text, convert

if TYPE_CHECKING:
    from ariel_lite.backends.sqlite.readonly_sql.dialect_expressions import Expressions


def table_function(
    translator: Expressions, name: str, arguments: list[exp.Expr], alias: str, columns: list[str], scope: Scope
) -> tuple[exp.Table, Source]:
    """A set-returning function as json_each over a JSON array or object.

    Args:
        alias: what the statement calls the whole.
        columns: what it calls the columns, possibly fewer than there are.
    """
    values = [translator.typed(argument, scope) for argument in arguments]
    if not values:
        raise too_few(name)
    folded, kinds = _unfolded(name, values)
    real = {"key": "key", "value": "value"} if len(kinds) > 1 else {"value": "value"}
    defaults = list(real)
    given = columns + defaults[len(columns) :]
    found = dict(zip(given, kinds, strict=False))
    names = dict(zip(given, defaults, strict=False))
    if len(kinds) == 1:  # the alias of a function that returns one value is a name of that value too
        for other in (alias, "value"):
            names.setdefault(other, "value")
            found.setdefault(other, kinds[0])
    table = exp.Table(this=call("json_each", folded), alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    visible = columns or (["value"] if name.endswith(("elements", "elements_text")) else [alias])
    shown = list(found.items())[:2] if len(kinds) > 1 else [(visible[0], kinds[0])]
    return table, Source(alias, list(found.items()), names, shown)


def _unfolded(name: str, values: Sequence[Typed]) -> tuple[exp.Expr, list[Kind]]:
    name = name.replace("json_", "jsonb_", 1) if name.startswith("json_") else name
    if name == "unnest":
        if len(values) != 1:
            raise refused("unnest of several arrays")
        return convert(values[0], Kind.ARRAY).node, [Kind.TEXT]
    if name == "generate_series":
        if values[0].kind == Kind.NUMBER:
            return call("pg_series", *(value.node for value in values)), [Kind.NUMBER]
        return time_series(values)
    if name == "string_to_table":
        return call("pg_string_to_array", *(as_text(value) for value in values[:2])), [Kind.TEXT]
    functions = {
        "jsonb_array_elements": ("pg_json_elements", [Kind.JSON]),
        "jsonb_array_elements_text": ("pg_json_elements_text", [Kind.TEXT]),
        "jsonb_object_keys": ("pg_json_keys", [Kind.TEXT]),
        "jsonb_each": ("pg_json_members", [Kind.TEXT, Kind.JSON]),
        "jsonb_each_text": ("pg_json_members_text", [Kind.TEXT, Kind.TEXT]),
    }
    if name not in functions:
        raise refused(f"{name}()")
    function, kinds = functions[name]
    return call(function, convert(values[0], Kind.JSON).node), kinds
