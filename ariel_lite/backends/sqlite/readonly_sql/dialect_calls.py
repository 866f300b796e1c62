"""PostgreSQL's functions on SQLite: what each allowed name becomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ariel_lite.backends.readonly_sql.sql_guard import call_name
from ariel_lite.backends.sqlite.readonly_sql.dialect_aggregates import aggregate_of
from ariel_lite.backends.sqlite.readonly_sql.dialect_kinds import (
    MOMENTS,
    TEMPORAL,
    Kind,
    Scope,
    Typed,
    call,
    number,
    refused,
    text,
    too_few,
)
from ariel_lite.backends.sqlite.readonly_sql.dialect_times import extracted, interval_of, truncated, zoned
from ariel_lite.backends.sqlite.readonly_sql.dialect_values import (
    as_text,
    convert,
    interval_value,
    json_value,
    literal_text,
    unify,
)
from ariel_lite.errors import SqlRefusedError

if TYPE_CHECKING:
    from ariel_lite.backends.sqlite.readonly_sql.dialect_expressions import Expressions

Builder = Callable[[Sequence[Typed]], Typed]

ARGUMENT_WRAPPERS: Final = (exp.Distinct, exp.Order)
"""What may stand around the arguments of an aggregate."""


def translate_call(translator: Expressions, node: exp.Anonymous, scope: Scope) -> Typed:
    """A function call for SQLite.

    Raises:
        SqlRefusedError: no counterpart, or a wrong number of arguments.
    """
    name = call_name(node)
    if name == "array":
        return _array_of_query(translator, node, scope)
    if name == "make_interval":
        return interval_of(node.expressions)
    wrapped = next((part for part in node.expressions if isinstance(part, ARGUMENT_WRAPPERS)), None)
    if wrapped is not None:
        return _wrapped(translator, name, node, scope)
    arguments = [translator.typed(argument, scope) for argument in node.expressions]
    return built(name, arguments)


def built(name: str, arguments: Sequence[Typed]) -> Typed:
    """A call of translated arguments."""
    name = ALIASES.get(name, name)
    builder = BUILDERS.get(name)
    if builder is None:
        raise refused(f"{name}()")
    try:
        return builder(arguments)
    except IndexError as error:
        raise too_few(name) from error


def _wrapped(translator: Expressions, name: str, node: exp.Anonymous, scope: Scope) -> Typed:
    """An aggregate with DISTINCT or ORDER BY among its arguments."""
    order = next((part for part in node.expressions if isinstance(part, exp.Order)), None)
    translator.order(order, scope)
    parts = [part.this if isinstance(part, exp.Order) else part for part in node.expressions]
    distinct = next((part for part in parts if isinstance(part, exp.Distinct)), None)
    plain = [inner for part in parts for inner in (part.expressions if isinstance(part, exp.Distinct) else [part])]
    arguments = [translator.typed(part, scope) for part in plain]
    if not arguments:
        raise too_few(name)
    if distinct is not None and name == "string_agg" and len(arguments) == 2:
        return Typed(call("pg_string_agg_distinct", *(as_text(argument) for argument in arguments)), Kind.TEXT)
    result = built(name, arguments)
    aggregate = aggregate_of(result.node)
    if not isinstance(aggregate, exp.Anonymous) or not aggregate.expressions:
        raise refused(f"DISTINCT or ORDER BY in {name}()")
    if distinct is not None:
        aggregate.set("expressions", [exp.Distinct(expressions=aggregate.expressions)])
    if order is None and distinct is not None and result.kind in (Kind.ARRAY, Kind.JSON):
        order = exp.Order(expressions=[exp.Ordered(this=arguments[0].node.copy())])  # PostgreSQL sorts to find doubles
    if order is not None:
        last = aggregate.expressions[-1]
        ordered = exp.Order(this=last.copy(), expressions=order.expressions)
        aggregate.set("expressions", [*aggregate.expressions[:-1], ordered])
    return result


def _array_of_query(translator: Expressions, node: exp.Anonymous, scope: Scope) -> Typed:
    """ARRAY(SELECT …)."""
    query = node.expressions[0] if node.expressions else None
    if not isinstance(query, exp.Select | exp.SetOperation | exp.Subquery):
        raise refused("this form of ARRAY()")
    columns = translator.query(query, scope)
    if len(columns) != 1:
        raise refused("ARRAY() of a query without exactly one column")
    rows = exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier("elements")))
    values = exp.select(call("json_group_array", exp.column(columns[0][0], quoted=True))).from_(rows)
    return Typed(exp.Subquery(this=values), Kind.ARRAY)


def _native(name: str, kind: Kind) -> Builder:
    """A function that SQLite or sql_functions has with the same arguments."""
    return lambda arguments: Typed(call(name, *(argument.node for argument in arguments)), kind)


def _texts(name: str, kind: Kind = Kind.TEXT) -> Builder:
    """A function of texts: arguments of other kinds are printed first."""
    return lambda arguments: Typed(
        call(name, *(a.node if a.kind == Kind.NUMBER else as_text(a) for a in arguments)), kind
    )


def _printed(name: str) -> Builder:
    """A function of texts that prints its other arguments, a boolean as one letter."""

    def shown(value: Typed) -> exp.Expr:
        return call("substr", as_text(value), number(1), number(1)) if value.kind == Kind.BOOL else as_text(value)

    return lambda arguments: Typed(call(name, *(shown(argument) for argument in arguments)), Kind.TEXT)


def _same(name: str) -> Builder:
    """A function whose result is of the kind of its arguments, which are brought to one kind."""

    def build(arguments: Sequence[Typed]) -> Typed:
        nodes, kind = unify(list(arguments))
        return Typed(call(name, *nodes), kind)

    return build


def _first(name: str) -> Builder:
    """A function whose result is of the kind of its first argument."""

    def build(arguments: Sequence[Typed]) -> Typed:
        first = arguments[0]
        head = interval_value(first) if first.kind == Kind.INTERVAL else first.node
        return Typed(call(name, head, *(argument.node for argument in arguments[1:])), first.kind)

    return build


def _sum(name: str) -> Builder:
    """sum and avg, of numbers or intervals."""

    def build(arguments: Sequence[Typed]) -> Typed:
        value = arguments[0]
        if value.kind == Kind.INTERVAL:
            return Typed(call(name, interval_value(value)), Kind.INTERVAL)
        if value.kind in TEMPORAL or value.kind in (Kind.JSON, Kind.ARRAY, Kind.BOOL):
            raise SqlRefusedError(f"{name} of {value.kind} is not defined", hint="cast the value to a number")
        return Typed(call(name, value.node), Kind.NUMBER)

    return build


def _truth(name: str) -> Builder:
    return lambda arguments: Typed(call(name, arguments[0].node), Kind.BOOL)


def _json(name: str) -> Builder:
    """A constructor or aggregate of JSON values."""
    return lambda arguments: Typed(call(name, *(json_value(argument) for argument in arguments)), Kind.JSON)


def _json_of(name: str, kind: Kind) -> Builder:
    """A function of one JSON document."""

    def build(arguments: Sequence[Typed]) -> Typed:
        document = convert(arguments[0], Kind.JSON)
        return Typed(call(name, document.node, *(argument.node for argument in arguments[1:])), kind)

    return build


def _array_of(name: str, kind: Kind, extra: int = 0) -> Builder:
    """A function of one array and up to `extra` more arguments."""

    def build(arguments: Sequence[Typed]) -> Typed:
        array = convert(arguments[0], Kind.ARRAY)
        return Typed(call(name, array.node, *(argument.node for argument in arguments[1 : 1 + extra])), kind)

    return build


def _collected(name: str, kind: Kind, nothing: str) -> Builder:
    """An aggregate of JSON values, which is NULL of no rows in PostgreSQL."""

    def build(arguments: Sequence[Typed]) -> Typed:
        return Typed(call("nullif", call(name, *(json_value(value) for value in arguments)), text(nothing)), kind)

    return build


def _array_length(arguments: Sequence[Typed]) -> Typed:
    dimension = arguments[1].node
    if not isinstance(dimension, exp.Literal) or dimension.name != "1":
        raise refused("the length of another dimension than 1")
    return Typed(call("pg_array_length", convert(arguments[0], Kind.ARRAY).node), Kind.NUMBER)


def _pad(side: str) -> Builder:
    def build(arguments: Sequence[Typed]) -> Typed:
        fill = as_text(arguments[2]) if len(arguments) > 2 else text(" ")
        return Typed(call("pg_pad", as_text(arguments[0]), arguments[1].node, fill, text(side)), Kind.TEXT)

    return build


def _to_char(arguments: Sequence[Typed]) -> Typed:
    value = arguments[0]
    if value.kind not in TEMPORAL | {Kind.NUMBER}:
        raise refused(f"to_char of {value.kind}", "cast the value to timestamptz or numeric")
    return Typed(call("pg_to_char", value.node, arguments[1].node), Kind.TEXT)


def _date_part(arguments: Sequence[Typed]) -> Typed:
    return extracted(arguments[0].node, arguments[1])


def _timezone(arguments: Sequence[Typed]) -> Typed:
    return zoned(arguments[1], arguments[0])


def _to_date(arguments: Sequence[Typed]) -> Typed:
    if (literal_text(arguments[1].node) or "").upper() != "YYYY-MM-DD":
        raise refused("to_date with this pattern", "cast the text with ::date")
    return Typed(call("pg_date", arguments[0].node), Kind.DATE)


def _from_epoch(arguments: Sequence[Typed]) -> Typed:
    if len(arguments) > 1:
        raise refused("to_timestamp with a pattern", "cast the text with ::timestamptz")
    return Typed(call("pg_from_epoch", convert(arguments[0], Kind.NUMBER).node), Kind.TIMESTAMPTZ)


def _bin(arguments: Sequence[Typed]) -> Typed:
    width, moment, origin = convert(arguments[0], Kind.INTERVAL), arguments[1], arguments[2]
    kind = moment.kind if moment.kind in MOMENTS else Kind.TIMESTAMPTZ
    if width.months:
        raise refused("date_bin with months")
    return Typed(call("pg_date_bin", width.node, convert(moment, kind).node, convert(origin, kind).node), kind)


def _modulo(arguments: Sequence[Typed]) -> Typed:
    return Typed(exp.paren(exp.Mod(this=arguments[0].node, expression=exp.paren(arguments[1].node))), Kind.NUMBER)


def _quotient(arguments: Sequence[Typed]) -> Typed:
    return Typed(
        call("trunc", exp.Div(this=exp.paren(arguments[0].node), expression=exp.paren(arguments[1].node))), Kind.NUMBER
    )


def _distance(name: str) -> Builder:
    return _native(name, Kind.NUMBER)


def _constant(node: Callable[[], exp.Expr], kind: Kind) -> Builder:
    return lambda _arguments: Typed(node(), kind)


def _known(arguments: Sequence[Typed]) -> Typed:
    nulls = call("pg_num_nulls", *(argument.node for argument in arguments))
    return Typed(exp.paren(exp.Sub(this=number(len(arguments)), expression=nulls)), Kind.NUMBER)


ALIASES: Final = {
    "character_length": "length",
    "char_length": "length",
    "ceiling": "ceil",
    "pow": "power",
    "every": "bool_and",
    "stddev_samp": "stddev",
    "var_samp": "variance",
    "clock_timestamp": "now",
    "statement_timestamp": "now",
    "transaction_timestamp": "now",
    "json_agg": "jsonb_agg",
    "json_object_agg": "jsonb_object_agg",
    "json_build_array": "jsonb_build_array",
    "json_build_object": "jsonb_build_object",
    "json_extract_path": "jsonb_extract_path",
    "json_extract_path_text": "jsonb_extract_path_text",
    "json_array_length": "jsonb_array_length",
    "json_typeof": "jsonb_typeof",
}

_N, _T = Kind.NUMBER, Kind.TEXT
_MATH: Final = "abs acos asin atan atan2 ceil cos degrees exp floor ln log10 pi radians sign sin sqrt tan"
_RANKS: Final = "cume_dist dense_rank ntile percent_rank rank row_number"

BUILDERS: Final[dict[str, Builder]] = {
    **{name: _native(name, _N) for name in _MATH.split()},
    **{name: _native(name, _N) for name in _RANKS.split()},
    **{name: _first(name) for name in ("first_value", "last_value", "nth_value", "lag", "lead", "min", "max")},
    **{name: _sum(name) for name in ("sum", "avg")},
    "count": _native("count", _N),
    "bool_and": _truth("min"),
    "bool_or": _truth("max"),
    "stddev": _native("pg_stddev", _N),
    "stddev_pop": _native("pg_stddev_pop", _N),
    "variance": _native("pg_variance", _N),
    "var_pop": _native("pg_var_pop", _N),
    "string_agg": _printed("group_concat"),
    "array_agg": _collected("json_group_array", Kind.ARRAY, "[]"),
    "jsonb_agg": _collected("json_group_array", Kind.JSON, "[]"),
    "jsonb_object_agg": _collected("json_group_object", Kind.JSON, "{}"),
    "coalesce": _same("coalesce"),
    "nullif": _same("nullif"),
    "greatest": _same("pg_greatest"),
    "least": _same("pg_least"),
    "num_nulls": _native("pg_num_nulls", _N),
    "num_nonnulls": _known,
    "length": _texts("length", _N),
    "octet_length": _texts("octet_length", _N),
    "ascii": _texts("unicode", _N),
    "strpos": _texts("instr", _N),
    "starts_with": _texts("pg_starts_with", Kind.BOOL),
    "chr": _native("char", _T),
    "btrim": _texts("trim"),
    "ltrim": _texts("ltrim"),
    "rtrim": _texts("rtrim"),
    "replace": _texts("replace"),
    "lower": _texts("pg_lower"),
    "upper": _texts("pg_upper"),
    "initcap": _texts("pg_initcap"),
    "reverse": _texts("pg_reverse"),
    "md5": _texts("pg_md5"),
    "left": _texts("pg_left"),
    "right": _texts("pg_right"),
    "substr": _texts("pg_substring"),
    "split_part": _texts("pg_split_part"),
    "translate": _texts("pg_translate"),
    "concat": _printed("pg_concat"),
    "concat_ws": _printed("pg_concat_ws"),
    "lpad": _pad("l"),
    "rpad": _pad("r"),
    "round": _native("pg_round", _N),
    "trunc": _native("pg_trunc", _N),
    "power": _native("pow", _N),
    "cbrt": _native("pg_cbrt", _N),
    "log": _native("log", _N),
    "mod": _modulo,
    "div": _quotient,
    "random": _native("pg_random", _N),
    "now": _constant(lambda: call("pg_now"), Kind.TIMESTAMPTZ),
    "date": lambda arguments: convert(arguments[0], Kind.DATE),
    "date_trunc": truncated,
    "date_part": _date_part,
    "date_bin": _bin,
    "timezone": _timezone,
    "to_char": _to_char,
    "to_date": _to_date,
    "to_timestamp": _from_epoch,
    "make_date": _native("pg_make_date", Kind.DATE),
    "jsonb_array_length": _json_of("pg_json_length", _N),
    "jsonb_typeof": _json_of("pg_json_typeof", _T),
    "jsonb_extract_path": _json_of("pg_json_path", Kind.JSON),
    "jsonb_extract_path_text": _json_of("pg_json_path_text", _T),
    "jsonb_build_object": _json("json_object"),
    "jsonb_build_array": _json("json_array"),
    "array_length": _array_length,
    "array_upper": _array_length,
    "cardinality": _array_of("json_array_length", _N),
    "array_position": _array_of("pg_array_position", _N, 1),
    "array_to_string": _array_of("pg_array_to_string", _T, 2),
    "string_to_array": _texts("pg_string_to_array", Kind.ARRAY),
    "cosine_distance": _distance("vec_distance_cosine"),
    "l2_distance": _distance("vec_distance_L2"),
    "vector_dims": _native("vec_length", _N),
}
