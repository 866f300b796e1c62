"""The rules of the read-only SQL tool: which statements are run at all, on either backend.

A statement is parsed as PostgreSQL and every node of its tree must be on the lists of `sql_allowed`; whatever is
not known is refused. `CheckedStatement.sql` is written back from the checked tree, so that nothing the parser
overlooked (comments, odd quoting) can reach a server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError, SqlglotError, TokenError

from ariel_lite.backends.readonly_sql import sql_allowed as allowed
from ariel_lite.backends.readonly_sql.sql_dialect import LogbookPostgres, to_postgres
from ariel_lite.backends.readonly_sql.sql_series import check_series
from ariel_lite.errors import SqlRefusedError

MAX_CHARACTERS: Final = 20_000
MAX_BRACKETS: Final = 40
MAX_NODES: Final = 5_000
MAX_PADDING: Final = 10_000

HINT: Final = (
    "write one SELECT (or WITH … SELECT) over enhanced_entries and text_embeddings_<model>; the columns of "
    f"enhanced_entries are {', '.join(allowed.ENTRY_COLUMNS)}"
)
FUNCTION_HINT: Final = (
    "aggregate, window, text, date, number and jsonb functions of PostgreSQL are allowed, for instance count, "
    "string_agg, lower, split_part, date_trunc, to_char, round, coalesce, jsonb_array_elements_text"
)
TYPE_HINT: Final = "cast to text, integer, numeric, boolean, date, timestamptz, interval, jsonb, uuid, vector or arrays"

_STATEMENTS: Final[dict[type[exp.Expr], str]] = {
    exp.Insert: "INSERT is refused",
    exp.Update: "UPDATE is refused",
    exp.Delete: "DELETE is refused",
    exp.Merge: "MERGE is refused",
    exp.Into: "SELECT INTO is refused",
    exp.Lock: "FOR UPDATE and FOR SHARE are refused",
    exp.Values: "VALUES is refused",
    exp.Placeholder: "parameters are refused",
    exp.Parameter: "parameters are refused",
    exp.TableSample: "TABLESAMPLE is refused",
    exp.ObjectIdentifier: "casts to object identifiers (regclass and the like) are refused",
    exp.PseudoType: "casts to pseudo types are refused",
    exp.Dot: "qualified functions and composite values are refused",
    exp.Operator: "OPERATOR(…) is refused",
    exp.MatchAgainst: "full-text operators (@@) are refused; use the search commands",
    exp.Collate: "COLLATE is refused",
}
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ESCAPE: Final = re.compile(r"\\[ntr'\\]")
_NOISE: Final = (
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"<class '[\w.]*?(\w+)'>"), r"\1"),
    (re.compile(r"<Token .*?text: (.*?), line: .*?>"), r"'\1'"),
    (re.compile(r"Required keyword: '(\w+)' missing for (\w+)"), r"\2 is incomplete"),
)
_LOWER: Final = str.maketrans({chr(code): chr(code + 32) for code in range(ord("A"), ord("Z") + 1)})


@dataclass(frozen=True)
class CheckedStatement:
    """A statement that may be run.

    Attributes:
        expression: the syntax tree, PostgreSQL dialect. Do not change it; copy it.
        tables: names of the real tables it reads, in lower case.
        sql: the PostgreSQL text written from the tree. Run this, not what the user typed.
        source: what the user typed.
    """

    expression: exp.Expr
    tables: frozenset[str]
    sql: str
    source: str


def check_statement(sql: str) -> CheckedStatement:
    """Parse a PostgreSQL statement and refuse it unless it only reads what the tool may show.

    Args:
        sql: one statement of at most 20,000 characters; leading comments and a trailing `;` are fine.

    Raises:
        SqlRefusedError: with the reason, and a hint that names what is allowed.
    """
    text = _readable(sql)
    try:
        _check_tokens(text, LogbookPostgres().tokenize(text))
        tree = _parse_one(text)
        tables = frozenset(_check_tree(tree))
        return CheckedStatement(tree, tables, to_postgres(tree), sql)
    except (ParseError, TokenError) as error:
        raise SqlRefusedError(f"the statement cannot be parsed: {_fault(error)}", hint=HINT) from error
    except SqlglotError as error:
        raise SqlRefusedError(f"the statement is not supported: {_one_line(str(error))}", hint=HINT) from error
    except RecursionError as error:
        raise SqlRefusedError("the statement is nested too deeply", hint="split it or use fewer levels") from error


def fold_name(identifier: exp.Expr | None) -> str:
    """An identifier as PostgreSQL compares it: quoted as written, otherwise ASCII letters in lower case."""
    if identifier is None:
        return ""
    return identifier.name if identifier.args.get("quoted") else identifier.name.translate(_LOWER)


def call_name(call: exp.Anonymous) -> str:
    """The folded name of a function call, or "" when it is quoted."""
    return call.this.translate(_LOWER) if isinstance(call.this, str) else ""


def common_table(table: exp.Table) -> exp.CTE | None:
    """The WITH query that a table name means where it stands, or None when it means a real table."""
    if table.args.get("db") or table.args.get("catalog"):
        return None
    name, inner, outer = fold_name(table.this), table, table.parent
    while outer is not None:
        found = _defined(name, outer, inner)
        if found is not None:
            return found
        inner, outer = outer, outer.parent  # type: ignore[assignment]
    return None


def _defined(name: str, outer: exp.Expr, inner: exp.Expr) -> exp.CTE | None:
    """A query of `outer`'s WITH that is visible from its part `inner`."""
    if isinstance(outer, exp.With):
        queries = outer.expressions
        own = next(index for index, query in enumerate(queries) if query is inner)
        visible = queries if outer.args.get("recursive") else queries[:own]
    else:
        clause = outer.args.get("with_")
        visible = clause.expressions if clause is not None and clause is not inner else []
    return next((query for query in reversed(visible) if fold_name(query.args["alias"].this) == name), None)


def _readable(sql: str) -> str:
    if len(sql) > MAX_CHARACTERS:
        raise SqlRefusedError(f"the statement is longer than {MAX_CHARACTERS:,} characters", hint="shorten it")
    # A carriage return ends a comment for PostgreSQL but not for every parser: leave no doubt.
    text = sql.replace("\r\n", "\n").replace("\r", "\n")
    if _CONTROL.search(text) or any("\ud800" <= character <= "\udfff" for character in text):
        raise SqlRefusedError("the statement holds control characters", hint="remove them, or write them with chr()")
    return text


def _check_tokens(text: str, tokens: list[Token]) -> None:
    """Refuse what a tree no longer shows: TABLE, other first words, too many brackets."""
    opened = [token for token in tokens if token.token_type not in (TokenType.L_PAREN, TokenType.SEMICOLON)]
    if not opened:
        raise SqlRefusedError("the statement is empty", hint=HINT)
    if opened[0].token_type not in (TokenType.SELECT, TokenType.WITH):
        raise SqlRefusedError(f"only SELECT is run; {opened[0].text.strip()[:40]!r} is refused", hint=HINT)
    _check_number(sum(not is_end for is_end, _ in groupby(tokens, _is_end)))
    depth = 0
    for token in tokens:
        if token.token_type == TokenType.TABLE:
            raise SqlRefusedError("TABLE is refused", hint="write SELECT * FROM … instead")
        if token.token_type in (TokenType.HEX_STRING, TokenType.BIT_STRING):
            raise SqlRefusedError(f"{text[token.start : token.end + 1]} is refused", hint="write decimal numbers")
        if token.token_type == TokenType.BYTE_STRING and "\\" in _ESCAPE.sub("", text[token.start : token.end + 1]):
            raise SqlRefusedError("an escape in E'…' is refused", hint=r"only \n, \t, \r, \\ and \' are; use chr()")
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if depth > MAX_BRACKETS:
            raise SqlRefusedError(f"more than {MAX_BRACKETS} brackets are open at once", hint="simplify the statement")


def _check_number(statements: int) -> None:
    if statements != 1:
        raise SqlRefusedError(
            f"one statement is run at a time; this holds {statements}", hint=f"only one statement is taken: {HINT}"
        )


def _is_end(token: Token) -> bool:
    return token.token_type == TokenType.SEMICOLON


def _parse_one(text: str) -> exp.Expr:
    parsed = sqlglot.parse(text, read=LogbookPostgres)
    statements = [tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)]
    _check_number(len(statements))
    tree = statements[0]
    for string in list(tree.find_all(exp.ByteString, exp.National)):
        string.replace(exp.Literal.string(string.name))
    return tree


def _check_tree(tree: exp.Expr) -> Iterator[str]:
    """Check every node; yields the names of the real tables."""
    if not isinstance(tree.unnest(), exp.Select | exp.SetOperation):
        raise _refused_node(tree)
    for count, node in enumerate(tree.walk()):
        if count > MAX_NODES:
            raise SqlRefusedError("the statement has too many parts", hint="use fewer conditions or list items")
        _check_node(node)
        if isinstance(node, exp.Table) and not isinstance(node.this, exp.Anonymous) and common_table(node) is None:
            yield _check_table(node)


def _check_node(node: exp.Expr) -> None:
    if type(node) not in allowed.NODES:
        raise _refused_node(node)
    if isinstance(node, exp.Anonymous):
        _check_call(node)
    elif isinstance(node, exp.DataType):
        _check_type(node)
    elif isinstance(node, exp.Column):
        _check_column(node)
    elif isinstance(node, exp.CTE) and not isinstance(node.this.unnest(), exp.Select | exp.SetOperation):
        raise _refused_node(node.this)


def _refused_node(node: exp.Expr) -> SqlRefusedError:
    for kind, message in _STATEMENTS.items():
        if isinstance(node, kind):
            return SqlRefusedError(message, hint=HINT)
    if isinstance(node, exp.Func):
        return SqlRefusedError(f"the function {node.sql_name().lower()} is not allowed", hint=FUNCTION_HINT)
    return SqlRefusedError(f"{type(node).__name__} is not allowed in read-only SQL", hint=HINT)


def _check_call(call: exp.Anonymous) -> None:
    name = call_name(call)
    if name not in allowed.FUNCTIONS:
        raise SqlRefusedError(f"the function {call.name[:60]} is not allowed", hint=FUNCTION_HINT)
    if isinstance(call.parent, exp.Table | exp.Lateral) and name not in allowed.TABLE_FUNCTIONS:
        raise SqlRefusedError(f"the function {name} cannot stand in FROM", hint=FUNCTION_HINT)
    if name == "generate_series":
        check_series(call.expressions)
    if name in ("lpad", "rpad"):
        _check_padding(name, call.expressions)


def _check_padding(name: str, arguments: list[exp.Expr]) -> None:
    width = arguments[1] if len(arguments) > 1 else None
    if not isinstance(width, exp.Literal) or not width.is_int or int(width.name) > MAX_PADDING:
        raise SqlRefusedError(
            f"{name} needs a constant length of at most {MAX_PADDING:,}", hint=f"for instance {name}(x, 10, '0')"
        )


def _check_type(data_type: exp.DataType) -> None:
    if data_type.this not in allowed.TYPES:
        raise SqlRefusedError(f"the type {data_type.sql(dialect=LogbookPostgres)[:60]} is not allowed", hint=TYPE_HINT)
    for parameter in data_type.find_all(exp.DataTypeParam):
        if not parameter.this.is_int or int(parameter.name) > MAX_PADDING:
            raise SqlRefusedError(f"a type length above {MAX_PADDING:,} is refused", hint=TYPE_HINT)


def _check_column(column: exp.Column) -> None:
    name = column.this
    bare = isinstance(name, exp.Identifier) and not name.args.get("quoted") and not column.args.get("table")
    if bare and fold_name(name) in allowed.SESSION_WORDS:
        raise SqlRefusedError(f"{fold_name(name)} is not allowed", hint=FUNCTION_HINT)
    if column.args.get("catalog") or fold_name(column.args.get("db")) not in ("", "public"):
        raise SqlRefusedError(f"the name {column.sql()[:80]} is not allowed", hint=HINT)


def _check_table(table: exp.Table) -> str:
    name = fold_name(table.this)
    known = name == allowed.ENTRY_TABLE or allowed.VECTOR_TABLE.fullmatch(name)
    if not known or table.args.get("catalog") or fold_name(table.args.get("db")) not in ("", "public"):
        shown = ".".join(part.name for part in table.parts)
        raise SqlRefusedError(f"the table {shown[:80]} cannot be read with this tool", hint=HINT)
    return name


def _fault(error: ParseError | TokenError) -> str:
    if isinstance(error, ParseError) and error.errors:
        first = error.errors[0]
        return _one_line(f"{first.get('description')} (line {first.get('line')}, column {first.get('col')})")
    return _one_line(str(error))


def _one_line(text: str) -> str:
    """An error of sqlglot without its colours and the names of its classes."""
    for pattern, replacement in _NOISE:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())[:200]
