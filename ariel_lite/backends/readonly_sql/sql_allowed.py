"""What a read-only statement may be made of: tables, columns, functions, types and syntax, as data.

Everything that is not listed is refused. Functions are listed under the names that PostgreSQL knows; each backend
may still refuse one that it has no counterpart for.
"""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

from ariel_lite.backends.readonly_sql import sql_dialect as own

ENTRY_TABLE: Final = "enhanced_entries"
VECTOR_TABLE: Final = re.compile(r"text_embeddings_[a-z0-9_]{1,47}")
ENTRY_COLUMNS: Final = (
    "entry_id",
    "source_system",
    "timestamp",
    "author",
    "raw_text",
    "attachments",
    "metadata",
    "created_at",
    "updated_at",
    "enhancement_status",
    "summary",
    "keywords",
)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


TABLE_FUNCTIONS: Final = _names(
    "generate_series json_array_elements json_array_elements_text json_each json_each_text json_object_keys "
    "jsonb_array_elements jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_object_keys "
    "regexp_split_to_table string_to_table unnest"
)

AGGREGATES: Final = _names(
    "array_agg avg bit_and bit_or bool_and bool_or corr count every json_agg json_object_agg jsonb_agg "
    "jsonb_object_agg max min mode percentile_cont percentile_disc regr_intercept regr_slope stddev stddev_pop "
    "stddev_samp string_agg sum var_pop var_samp variance"
)

WINDOW_FUNCTIONS: Final = _names(
    "cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number"
)

TEXT_FUNCTIONS: Final = _names(
    "ascii btrim char_length character_length chr concat concat_ws initcap left length lower lpad ltrim md5 "
    "octet_length quote_literal regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace "
    "regexp_split_to_array regexp_substr replace reverse right rpad rtrim split_part starts_with strpos substr "
    "translate upper"
)

TIME_FUNCTIONS: Final = _names(
    "age clock_timestamp date date_bin date_part date_trunc isfinite justify_days justify_hours justify_interval "
    "make_date make_interval make_timestamp make_timestamptz now statement_timestamp timezone to_char to_date "
    "to_number to_timestamp transaction_timestamp"
)

NUMBER_FUNCTIONS: Final = _names(
    "abs acos asin atan atan2 cbrt ceil ceiling cos degrees div exp floor greatest least ln log log10 mod pi pow "
    "power radians random round sign sin sqrt tan trunc width_bucket"
)

STRUCTURE_FUNCTIONS: Final = _names(
    "array array_length array_position array_remove array_to_string array_upper cardinality coalesce "
    "cosine_distance json_array_length json_build_array json_build_object json_extract_path json_extract_path_text "
    "json_typeof jsonb_array_length jsonb_build_array jsonb_build_object jsonb_extract_path "
    "jsonb_extract_path_text jsonb_pretty jsonb_strip_nulls jsonb_typeof l2_distance nullif num_nonnulls num_nulls "
    "row_to_json string_to_array to_json to_jsonb vector_dims vector_norm"
)

FUNCTIONS: Final = (
    TABLE_FUNCTIONS
    | AGGREGATES
    | WINDOW_FUNCTIONS
    | TEXT_FUNCTIONS
    | TIME_FUNCTIONS
    | NUMBER_FUNCTIONS
    | STRUCTURE_FUNCTIONS
)

SESSION_WORDS: Final = _names(
    "user current_user session_user system_user current_role current_catalog current_schema current_time localtime"
)
"""Names that PostgreSQL reads as functions although they look like columns."""

_T = exp.DType
TYPES: Final = frozenset(
    {_T.TEXT, _T.VARCHAR, _T.CHAR, _T.BPCHAR, _T.SMALLINT, _T.INT, _T.BIGINT, _T.DECIMAL, _T.FLOAT, _T.DOUBLE}
    | {_T.BOOLEAN, _T.DATE, _T.TIME, _T.TIMESTAMP, _T.TIMESTAMPTZ, _T.INTERVAL, _T.JSON, _T.JSONB, _T.UUID}
    | {_T.ARRAY, _T.VECTOR}
)

_QUERY = {exp.Select, exp.Union, exp.Intersect, exp.Except, exp.Subquery, exp.With, exp.CTE, exp.From, exp.Join}
_CLAUSES = {exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit, exp.Offset, exp.Fetch}
_CLAUSES |= {exp.LimitOptions, exp.Distinct, exp.GroupingSets, exp.Rollup, exp.Cube, exp.Lateral, exp.Unnest}
_NAMES = {exp.Table, exp.TableAlias, exp.Alias, exp.Star, exp.Column, exp.Identifier, exp.Var, exp.Kwarg}
_VALUES = {exp.Literal, exp.RawString, exp.Boolean, exp.Null, exp.Interval, exp.Array, exp.Tuple, exp.Paren}
_VALUES |= {exp.CurrentDate, exp.CurrentTimestamp, exp.Localtimestamp, exp.DataType, exp.DataTypeParam, exp.Cast}
_LOGIC = {exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.In, exp.Between}
_LOGIC |= {exp.NullSafeEQ, exp.NullSafeNEQ, exp.Like, exp.ILike, exp.Escape, exp.SimilarTo, exp.RegexpLike}
_LOGIC |= {exp.RegexpILike, exp.Any, exp.All, exp.Exists, exp.Case, exp.If, exp.Overlaps}
_ARITHMETIC = {exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.Pow, exp.Sqrt, exp.Cbrt, exp.DPipe}
_ARITHMETIC |= {exp.Concat, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot}
_ARITHMETIC |= {exp.BitwiseLeftShift, exp.BitwiseRightShift}
_CALLS = {exp.Anonymous, exp.Window, exp.WindowSpec, exp.Filter, exp.WithinGroup, exp.Extract, exp.StrPosition}
_CALLS |= {exp.Substring, exp.Trim, exp.AtTimeZone}
_STRUCTURES = {exp.ArrayContainsAll, exp.ArrayContainedBy, exp.ArrayOverlaps, exp.Bracket, exp.Slice, exp.Distance}
_STRUCTURES |= {exp.JSONBContainsAnyTopKeys, exp.JSONBContainsAllTopKeys}

NODES: Final[frozenset[type[exp.Expr]]] = frozenset(
    _QUERY | _CLAUSES | _NAMES | _VALUES | _LOGIC | _ARITHMETIC | _CALLS | _STRUCTURES | set(own.OPERATORS)
)
