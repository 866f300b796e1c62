"""How the read-only SQL tool reads PostgreSQL: a strict dialect on top of sqlglot's.

sqlglot's own PostgreSQL dialect also understands the function names of twenty other systems and rewrites them.
Here every function call stays a call with the name that was written, so that an allow-list of names is exact,
and the operators that sqlglot reads in another sense (`<=>` of pgvector, `->` inside an argument list, the JSON
operators) have nodes of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import TokenType, exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import ErrorLevel
from sqlglot.generators.postgres import PostgresGenerator
from sqlglot.parsers.postgres import PostgresParser


class CosineDistance(exp.Expression, exp.Binary):
    """`a <=> b`: pgvector's cosine distance."""


class JsonGet(exp.Expression, exp.Binary):
    """`a -> b`: a member as JSON."""


class JsonGetText(exp.Expression, exp.Binary):
    """`a ->> b`: a member as text."""


class JsonPathGet(exp.Expression, exp.Binary):
    """`a #> '{x,y}'`: what a path leads to, as JSON."""


class JsonPathText(exp.Expression, exp.Binary):
    """`a #>> '{x,y}'`: what a path leads to, as text."""


class JsonHasKey(exp.Expression, exp.Binary):
    """`a ? 'key'`: does the object hold the key, or the array the string."""


OPERATORS: dict[type[exp.Binary], str] = {
    CosineDistance: "<=>",
    JsonGet: "->",
    JsonGetText: "->>",
    JsonPathGet: "#>",
    JsonPathText: "#>>",
    JsonHasKey: "?",
}

_SPECIAL_SYNTAX = ("CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM")


def _binary(node: type[exp.Binary]) -> Callable[..., exp.Expr]:
    def build(_parser: Any, this: exp.Expr, argument: exp.Expr) -> exp.Expr:
        return node(this=this, expression=argument)

    return build


def _cosine_distance(parser: Any, this: exp.Expr) -> exp.Expr:
    return CosineDistance(this=this, expression=parser._parse_bitwise())


class LogbookParser(PostgresParser):
    """PostgreSQL's grammar without other systems' functions."""

    FUNCTIONS: ClassVar[dict[str, Any]] = {
        "ALL": lambda arguments: exp.All(this=exp.Paren(this=arguments[0] if arguments else exp.Null())),
        "SOME": lambda arguments: exp.Any(this=exp.Paren(this=arguments[0] if arguments else exp.Null())),
    }
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        name: parser for name, parser in PostgresParser.FUNCTION_PARSERS.items() if name in _SPECIAL_SYNTAX
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        name: parser for name, parser in PostgresParser.NO_PAREN_FUNCTION_PARSERS.items() if name in ("ANY", "CASE")
    }
    LAMBDAS: ClassVar[dict[Any, Any]] = {
        token: parser for token, parser in PostgresParser.LAMBDAS.items() if token == TokenType.FARROW
    }
    EQUALITY: ClassVar[dict[Any, Any]] = {
        token: node for token, node in PostgresParser.EQUALITY.items() if token != TokenType.NULLSAFE_EQ
    }
    RANGE_PARSERS: ClassVar[dict[Any, Any]] = {
        **PostgresParser.RANGE_PARSERS,
        TokenType.NULLSAFE_EQ: _cosine_distance,
    }
    JSON_OPERATORS: ClassVar[dict[Any, Any]] = {
        TokenType.ARROW: _binary(JsonGet),
        TokenType.DARROW: _binary(JsonGetText),
        TokenType.HASH_ARROW: _binary(JsonPathGet),
        TokenType.DHASH_ARROW: _binary(JsonPathText),
        TokenType.PLACEHOLDER: _binary(JsonHasKey),
    }


def _operator_sql(operator: str) -> Callable[[Any, exp.Expr], str]:
    def render(generator: Any, node: exp.Expr) -> str:
        return str(generator.binary(node, operator))

    return render


class LogbookGenerator(PostgresGenerator):
    """Writes the nodes above as the operators they were."""

    MULTI_ARG_DISTINCT = True

    TRANSFORMS: ClassVar[dict[Any, Any]] = {
        **PostgresGenerator.TRANSFORMS,
        **{node: _operator_sql(operator) for node, operator in OPERATORS.items()},
    }


class LogbookPostgres(Postgres):
    """The dialect of the read-only SQL tool."""

    Parser = LogbookParser
    Generator = LogbookGenerator


def to_postgres(expression: exp.Expr) -> str:
    """PostgreSQL text of a tree, without comments: what runs is what was checked.

    Raises:
        sqlglot.errors.UnsupportedError: the tree holds something that cannot be written.
    """
    return expression.sql(
        dialect=LogbookPostgres, comments=False, normalize_functions=False, unsupported_level=ErrorLevel.RAISE
    )
