"""The functions that translated statements call on SQLite, and their registration on a connection."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any, Final

import apsw

from ariel_lite.backends.readonly_sql.sql_intervals import DAY, MONTH_DAYS, read_interval, write_interval
from ariel_lite.backends.sqlite.readonly_sql import sql_json, sql_times, sql_to_char
from ariel_lite.errors import SqlRefusedError

MAX_DIGITS: Final = 15
"""Decimals of a number that a float can tell apart."""

Function = Callable[..., Any]
MAX_AGGREGATE: Final = 2_000_000
"""Characters or values that one aggregate may hold."""


def to_integer(value: Any) -> int:
    """A cast to an integer: rounds half away from zero, as PostgreSQL does for numeric."""
    return int(_decimal(value, "integer").quantize(Decimal(1), ROUND_HALF_UP))


def to_number(value: Any, digits: int | None = None) -> float:
    """A cast to numeric or float, with a number of decimals for numeric(p, s).

    The result is a float also when it is whole, so that a division by it is not one of integers.
    """
    number = _decimal(value, "numeric")
    return float(number if digits is None else number.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def to_boolean(value: Any) -> bool:
    """A cast to boolean.

    Raises:
        ValueError: a text that is no boolean.
    """
    if isinstance(value, int | float):
        return bool(value)
    word = str(value).strip().lower()
    if word in ("t", "true", "y", "yes", "on", "1"):
        return True
    if word in ("f", "false", "n", "no", "off", "0"):
        return False
    raise ValueError(f'invalid input syntax for type boolean: "{word[:60]}"')


def number_text(value: Any) -> str:
    """A number as text: whole floats without `.0`."""
    return str(int(value)) if isinstance(value, float) and value == int(value) and abs(value) < 1e15 else str(value)


def split_part(text: str, separator: str, number: int) -> str:
    """The n-th part, counted from 1 or backwards from -1."""
    parts = text.split(separator) if separator else [text]
    index = number - 1 if number > 0 else number
    if not number:
        raise ValueError("field position must not be zero")
    return parts[index] if -len(parts) <= index < len(parts) else ""


def substring(text: str, start: int, count: int | None = None) -> str:
    """substring(text, start, count) with PostgreSQL's rule for starts before the text."""
    if count is not None and count < 0:
        raise ValueError("negative substring length not allowed")
    end = None if count is None else max(start + count - 1, 0)
    return text[max(start - 1, 0) : end]


def left(text: str, count: int) -> str:
    """The first characters; with a negative count all but the last."""
    return text[:count]


def right(text: str, count: int) -> str:
    """The last characters; with a negative count all but the first."""
    return text[-count:] if count else ""


def initcap(text: str) -> str:
    """The first letter of each word upper, the rest lower."""
    out, inside = [], False
    for character in text:
        out.append(character.lower() if inside else character.upper())
        inside = character.isalnum()
    return "".join(out)


def pad(text: str, width: int, fill: str, side: str) -> str:
    """lpad and rpad: cut or filled to a width."""
    missing = (fill * width)[: max(width - len(text), 0)] if fill else ""
    return (missing + text if side == "l" else text + missing)[: max(width, 0)]


def translate(text: str, old: str, new: str) -> str:
    """Each character of `old` by the one at its place in `new`; those without one are removed."""
    table: dict[str, str | int | None] = {}
    for index, character in enumerate(old):
        table.setdefault(character, new[index] if index < len(new) else None)
    return text.translate(str.maketrans(table))


def concat(*values: Any) -> str:
    """The values that are not NULL, joined."""
    return "".join(str(value) for value in values if value is not None)


def concat_ws(separator: str | None, *values: Any) -> str | None:
    """The values that are not NULL, joined with a separator."""
    return None if separator is None else separator.join(str(value) for value in values if value is not None)


def greatest(*values: Any) -> Any:
    """The largest value that is not NULL."""
    return max((value for value in values if value is not None), default=None)


def least(*values: Any) -> Any:
    """The smallest value that is not NULL."""
    return min((value for value in values if value is not None), default=None)


def round_number(value: Any, digits: int = 0) -> float:
    """round(number, digits): half away from zero."""
    number = _decimal(value, "numeric")
    if abs(digits) > MAX_DIGITS:
        return float(number)
    return float(number.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def truncate_number(value: float, digits: int = 0) -> float:
    """trunc(number, digits)."""
    if abs(digits) > MAX_DIGITS:
        return value
    factor = 10.0**digits
    return math.trunc(value * factor) / factor


def to_char(value: Any, pattern: str) -> str:
    """to_char of a moment (stored text) or a number."""
    if isinstance(value, int | float):
        return sql_to_char.format_number(value, pattern)
    return sql_to_char.format_moment(value, pattern)


def interval(text: str) -> int:
    """An interval text as microseconds."""
    months, microseconds = read_interval(text)
    return months * MONTH_DAYS * DAY + microseconds


def series(start: int, stop: int, step: int = 1) -> str:
    """generate_series of whole numbers as a JSON array."""
    return sql_json.canonical(list(range(start, stop + (1 if step > 0 else -1), step)))


def time_series(start: str, stop: str, months: int, microseconds: int) -> str:
    """generate_series of moments as a JSON array."""
    forward, moments = months > 0 or microseconds > 0, []
    current, count = start, 0
    while (current <= stop if forward else current >= stop) and count <= 10_000:
        moments.append(current)
        count += 1
        current = sql_times.add_interval(start, months * count, microseconds * count)
    return sql_json.canonical(moments)


STRICT: Final[Mapping[str, Function]] = {
    "pg_add_days": sql_times.add_days,
    "pg_add_interval": sql_times.add_interval,
    "pg_array_contains": sql_json.array_contains,
    "pg_array_element": sql_json.array_element,
    "pg_array_length": sql_json.array_length,
    "pg_array_literal": sql_json.array_literal,
    "pg_array_overlaps": sql_json.array_overlaps,
    "pg_array_position": sql_json.array_position,
    "pg_array_text": sql_json.array_text,
    "pg_array_to_string": sql_json.array_to_string,
    "pg_at_zone": sql_times.at_zone,
    "pg_bool": to_boolean,
    "pg_cbrt": math.cbrt,
    "pg_date": sql_times.to_date,
    "pg_date_bin": sql_times.bin_moment,
    "pg_date_trunc": sql_times.truncate,
    "pg_days_between": sql_times.days_between,
    "pg_extract": sql_times.extract,
    "pg_extract_interval": sql_times.extract_interval,
    "pg_from_epoch": sql_times.from_epoch,
    "pg_from_zone": sql_times.from_zone,
    "pg_initcap": initcap,
    "pg_int": to_integer,
    "pg_interval": interval,
    "pg_interval_text": write_interval,
    "pg_json": sql_json.to_json,
    "pg_json_contains": sql_json.contains,
    "pg_json_elements": sql_json.elements,
    "pg_json_elements_text": sql_json.elements_text,
    "pg_json_get": sql_json.member,
    "pg_json_get_text": sql_json.member_text,
    "pg_json_has": sql_json.has_key,
    "pg_json_keys": sql_json.keys,
    "pg_json_length": sql_json.length,
    "pg_json_members": sql_json.members,
    "pg_json_members_text": sql_json.members_text,
    "pg_json_path": sql_json.at_path,
    "pg_json_path_text": sql_json.at_path_text,
    "pg_json_typeof": sql_json.type_name,
    "pg_left": left,
    "pg_lower": str.lower,
    "pg_make_date": sql_times.make_date,
    "pg_md5": lambda text: hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
    "pg_moments_between": sql_times.moments_between,
    "pg_number": to_number,
    "pg_number_text": number_text,
    "pg_pad": pad,
    "pg_reverse": lambda text: text[::-1],
    "pg_right": right,
    "pg_round": round_number,
    "pg_series": series,
    "pg_split_part": split_part,
    "pg_starts_with": str.startswith,
    "pg_string_to_array": sql_json.string_to_array,
    "pg_substring": substring,
    "pg_time": sql_times.to_time,
    "pg_time_series": time_series,
    "pg_timestamp": sql_times.to_timestamp,
    "pg_timestamp_text": sql_times.timestamp_text,
    "pg_timestamptz_text": sql_times.timestamptz_text,
    "pg_to_char": to_char,
    "pg_translate": translate,
    "pg_trunc": truncate_number,
    "pg_upper": str.upper,
}
"""Functions that are NULL when an argument is NULL."""

LENIENT: Final[Mapping[str, Function]] = {
    "pg_concat": concat,
    "pg_concat_ws": concat_ws,
    "pg_greatest": greatest,
    "pg_least": least,
    "pg_num_nulls": lambda *values: sum(value is None for value in values),
}


class DistinctText:
    """string_agg(DISTINCT …): the distinct texts in order, joined."""

    def __init__(self) -> None:
        self.texts: set[str] = set()
        self.separator = ""
        self.size = 0

    def step(self, *arguments: Any) -> None:
        """One row."""
        text, self.separator = arguments[0], str(arguments[1] or "")
        if text is not None and text not in self.texts:
            text = str(text)
            self.texts.add(text)
            self.size += len(text) + len(self.separator)
        if self.size > MAX_AGGREGATE:
            raise SqlRefusedError("string_agg: the text is too long", hint="aggregate fewer rows")

    def final(self) -> str | None:
        """The joined texts, NULL of none."""
        return self.separator.join(sorted(self.texts)) if self.texts else None


class Spread:
    """stddev and variance, by Welford's method."""

    def __init__(self, *, sample: bool, root: bool) -> None:
        self.sample, self.root = sample, root
        self.count, self.mean, self.squares = 0, 0.0, 0.0

    def step(self, *arguments: Any) -> None:
        """One row."""
        if arguments[0] is None:
            return
        if not isinstance(arguments[0], int | float):
            raise SqlRefusedError("stddev and variance need numbers", hint="cast the value, for instance x::numeric")
        self.count += 1
        change = arguments[0] - self.mean
        self.mean += change / self.count
        self.squares += change * (arguments[0] - self.mean)

    def final(self) -> float | None:
        """The spread, NULL of too few values."""
        divisor = self.count - 1 if self.sample else self.count
        if divisor < 1:
            return None
        return math.sqrt(self.squares / divisor) if self.root else self.squares / divisor


AGGREGATES: Final[Mapping[str, Callable[[], Any]]] = {
    "pg_string_agg_distinct": DistinctText,
    "pg_stddev": lambda: Spread(sample=True, root=True),
    "pg_stddev_pop": lambda: Spread(sample=False, root=True),
    "pg_variance": lambda: Spread(sample=True, root=False),
    "pg_var_pop": lambda: Spread(sample=False, root=False),
}

CLOCK: Final = ("pg_now", "pg_today", "pg_random")

_NATIVE: Final = (
    "abs acos asin atan atan2 avg ceil char coalesce cos count cume_dist degrees dense_rank exp first_value floor "
    "group_concat instr json json_array json_array_length json_group_array json_group_object json_object lag "
    "last_value lead length like ln log log10 ltrim max min nth_value ntile nullif octet_length percent_rank "
    "percentile_cont percentile_disc pi pow radians rank regexp replace round row_number rtrim sign sin sqrt substr "
    "sum tan trim trunc unicode vec_distance_cosine vec_distance_l2 vec_length"
)
NATIVE: Final = frozenset(_NATIVE.split())
"""Functions of SQLite and its extensions that translated statements call."""

NAMES: Final = frozenset(STRICT) | frozenset(LENIENT) | frozenset(AGGREGATES) | frozenset(CLOCK)


def register(connection: apsw.Connection, now: datetime | None = None) -> None:
    """Make every function known to a connection; `now` is what the statement takes for the present."""
    moment = sql_times.write_moment((now or datetime.now(UTC)).astimezone(UTC).replace(tzinfo=None))
    for name, function in STRICT.items():
        connection.create_scalar_function(name, _guarded(name, function, strict=True), deterministic=True)
    for name, function in LENIENT.items():
        connection.create_scalar_function(name, _guarded(name, function, strict=False), deterministic=True)
    for name, factory in AGGREGATES.items():
        connection.create_aggregate_function(name, factory, 2 if factory is DistinctText else 1)
    connection.create_scalar_function("pg_now", lambda *_none: moment, 0, deterministic=True)
    connection.create_scalar_function("pg_today", lambda *_none: moment[:10], 0, deterministic=True)
    connection.create_scalar_function("pg_random", lambda *_none: random.random(), 0)


def _guarded(name: str, function: Function, *, strict: bool) -> Function:
    shown = name.removeprefix("pg_")

    def call(*arguments: Any) -> Any:
        if strict and None in arguments:
            return None
        try:
            return function(*arguments)
        except (ValueError, OverflowError) as error:
            raise SqlRefusedError(str(error).splitlines()[0][:200], hint="correct the value, or cast it") from error
        except (TypeError, AttributeError, ArithmeticError, LookupError, RecursionError) as error:
            raise SqlRefusedError(
                f"{shown}: an argument has the wrong type", hint="cast it, for instance x::text"
            ) from error

    return call


def _decimal(value: Any, target: str) -> Decimal:
    try:
        number = Decimal(value if isinstance(value, int) else str(value).strip())
    except InvalidOperation as error:
        raise ValueError(f'invalid input syntax for type {target}: "{str(value)[:60]}"') from error
    if not number.is_finite() or abs(number) > Decimal(10) ** 300:
        raise ValueError(f"{target} out of range")
    return number
