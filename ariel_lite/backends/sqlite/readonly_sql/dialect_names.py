"""The names that PostgreSQL gives to output columns without an alias, so that both backends answer alike."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from ariel_lite.backends.readonly_sql.sql_guard import call_name, fold_name

UNNAMED: Final = "?column?"

_FIXED: Final[dict[type[exp.Expr], str]] = {
    exp.Extract: "extract",
    exp.Substring: "substring",
    exp.StrPosition: "position",
    exp.AtTimeZone: "timezone",
    exp.CurrentDate: "current_date",
    exp.CurrentTimestamp: "current_timestamp",
    exp.Localtimestamp: "localtimestamp",
    exp.Exists: "exists",
    exp.Array: "array",
    exp.Interval: "interval",
}
_TRIMS: Final = {"LEADING": "ltrim", "TRAILING": "rtrim"}
_TYPES: Final = {
    exp.DType.INT: "int4",
    exp.DType.BIGINT: "int8",
    exp.DType.SMALLINT: "int2",
    exp.DType.DECIMAL: "numeric",
    exp.DType.DOUBLE: "float8",
    exp.DType.FLOAT: "float4",
    exp.DType.BOOLEAN: "bool",
    exp.DType.CHAR: "bpchar",
}


def output_name(node: exp.Expr) -> str:
    """The column name of a projection."""
    return _name(node) or UNNAMED


def _name(node: exp.Expr) -> str:
    if isinstance(node, exp.Alias):
        return fold_name(node.args["alias"])
    if isinstance(node, exp.Column):
        return fold_name(node.this)
    if isinstance(node, exp.Anonymous):
        return call_name(node)
    if isinstance(node, exp.Paren | exp.Window | exp.Filter | exp.WithinGroup | exp.Bracket):
        return _name(node.this)
    if isinstance(node, exp.Cast):
        return _name(node.this) or _type_name(node.to)
    if isinstance(node, exp.Case):
        default = node.args.get("default")
        return (_name(default) if isinstance(default, exp.Column) else "") or "case"
    if isinstance(node, exp.Trim):
        return _TRIMS.get(node.text("position").upper(), "btrim")
    if isinstance(node, exp.Subquery):
        inner = node.this
        return _name(inner.expressions[0]) if isinstance(inner, exp.Select) and inner.expressions else ""
    return _FIXED.get(type(node), "")


def _type_name(target: exp.DataType) -> str:
    if target.this == exp.DType.ARRAY and target.expressions:
        return _type_name(target.expressions[0])
    return _TYPES.get(target.this) or str(target.this.value).lower()
