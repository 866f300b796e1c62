"""Arrays, jsonb and vectors of PostgreSQL on SQLite: their literals and operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ariel_lite.backends.readonly_sql import sql_dialect as own
from ariel_lite.backends.sqlite.readonly_sql import sql_json
from ariel_lite.backends.sqlite.readonly_sql.dialect_kinds import Kind, Scope, Typed, call, number, refused, text
from ariel_lite.backends.sqlite.readonly_sql.dialect_values import common_kind, convert, literal_text

if TYPE_CHECKING:
    from ariel_lite.backends.sqlite.readonly_sql.dialect_expressions import Expressions

JSON_OPERATORS: Final = {
    own.JsonGet: ("pg_json_get", Kind.JSON),
    own.JsonGetText: ("pg_json_get_text", Kind.TEXT),
    own.JsonPathGet: ("pg_json_path", Kind.JSON),
    own.JsonPathText: ("pg_json_path_text", Kind.TEXT),
    own.JsonHasKey: ("pg_json_has", Kind.BOOL),
}


def array(translator: Expressions, node: exp.Array, scope: Scope) -> Typed:
    """ARRAY[a, b]."""
    values = [translator.typed(element, scope) for element in node.expressions]
    constants = [literal_text(value.node) for value in values]
    if all(constant is not None for constant in constants):
        return Typed(text(sql_json.array(constants)), Kind.ARRAY)
    return Typed(call("json_array", *(value.node for value in values)), Kind.ARRAY)


def element(translator: Expressions, node: exp.Bracket, scope: Scope) -> Typed:
    """array[1]."""
    value, index = translator.typed(node.this, scope), node.expressions[0]
    if isinstance(index, exp.Slice) or len(node.expressions) > 1 or value.kind != Kind.ARRAY:
        raise refused("this subscript", "use array[1] on text[] and -> on jsonb")
    place = translator.typed(index, scope).node
    return Typed(call("pg_array_element", value.node, exp.Add(this=place, expression=number(1))), Kind.TEXT)


def json_operator(translator: Expressions, node: exp.Binary, scope: Scope) -> Typed:
    """->, ->>, #>, #>>, ?."""
    value, key = translator.typed(node.this, scope), translator.typed(node.expression, scope)
    name, kind = JSON_OPERATORS[type(node)]
    document = convert(value, Kind.JSON).node if value.kind in (Kind.LITERAL, Kind.TEXT) else value.node
    if not isinstance(node, own.JsonPathGet | own.JsonPathText):
        return Typed(call(name, document, key.node), kind)
    constant = literal_text(convert(key, Kind.ARRAY).node)
    if constant is None:
        raise refused("a JSON path that is not a constant")
    steps = [text(str(step)) for step in sql_json.read_array(constant)]
    return Typed(call(name, document, *steps), kind)


def contains(translator: Expressions, node: exp.Binary, scope: Scope) -> Typed:
    """@> and <@ of jsonb and arrays."""
    left, right = translator.typed(node.this, scope), translator.typed(node.expression, scope)
    kind = common_kind([left.kind, right.kind])
    if kind not in (Kind.JSON, Kind.ARRAY):
        raise refused("@> of these types", "cast both sides to jsonb, or use text[]")
    pair = [convert(left, kind).node, convert(right, kind).node]
    if isinstance(node, exp.ArrayContainedBy):
        pair.reverse()
    return Typed(call("pg_json_contains" if kind == Kind.JSON else "pg_array_contains", *pair), Kind.BOOL)


def overlaps(translator: Expressions, node: exp.Binary, scope: Scope) -> Typed:
    """array && array."""
    pair = [convert(translator.typed(side, scope), Kind.ARRAY).node for side in (node.this, node.expression)]
    return Typed(call("pg_array_overlaps", *pair), Kind.BOOL)


def distance(translator: Expressions, node: exp.Binary, scope: Scope) -> Typed:
    """<=> and <-> of vectors."""
    name = "vec_distance_cosine" if isinstance(node, own.CosineDistance) else "vec_distance_L2"
    return Typed(
        call(name, translator.typed(node.this, scope).node, translator.typed(node.expression, scope).node), Kind.NUMBER
    )
