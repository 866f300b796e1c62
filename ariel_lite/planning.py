"""What happens to a query, in one place: text -> syntax tree -> bound tree -> restricted tree -> plan."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from ariel_lite.access import Restriction, restrict
from ariel_lite.backends.values import SearchPlan
from ariel_lite.errors import InvalidRequestError
from ariel_lite.query.bind import Bound, bind, bind_all_words
from ariel_lite.query.nodes import BoundNode, Everything, Nothing, Problem
from ariel_lite.query.parser import Parsed, parse
from ariel_lite.query.render import bound_json, sentence, syntax_json, wanted_texts
from ariel_lite.text.tokenise import Analyzer

NEEDS_SOMETHING = "the query is empty"
NEEDS_HINT = "give at least one word or field, or a filter such as --author or --after"


@dataclass(frozen=True)
class PlannedQuery:
    """A query read, bound and restricted.

    `text_tree` is the query alone, `tree` with the filters of the call; `sentence` says the whole for people;
    `meaning` is the text that a semantic search compares: the wanted words and phrases, without fields.
    """

    text: str
    parsed: Parsed | None
    text_tree: BoundNode
    tree: BoundNode
    sentence: str
    problems: tuple[Problem, ...]
    meaning: str

    @property
    def nothing(self) -> str | None:
        """Why nothing can be found, or None."""
        return self.tree.reason if isinstance(self.tree, Nothing) else None

    def plan(self, limit: int, offset: int = 0) -> SearchPlan:
        """The plan for one page of the answer."""
        return SearchPlan(self.tree, limit, offset)

    def explanation(self) -> dict[str, Any]:
        """Both trees and the sentence, as JSON values."""
        syntax = syntax_json(self.parsed.tree) if self.parsed else None
        return {"syntax": syntax, "bound": bound_json(self.tree), "sentence": self.sentence}


def plan_query(
    text: str, limits: Restriction, analyzer: Analyzer, *, zone: ZoneInfo, now: datetime, strict: bool = False
) -> PlannedQuery:
    """Read a query and the filters of a call.

    Raises:
        InvalidRequestError: no text and no filter.
        QuerySyntaxError: see `query.parser.parse` and `query.bind.bind`.
    """
    if text.strip():
        parsed = parse(text, strict=strict)
        bound = bind(parsed, analyzer, zone=zone, now=now)
    elif limits.is_empty:
        raise InvalidRequestError(NEEDS_SOMETHING, hint=NEEDS_HINT)
    else:
        parsed, bound = None, Bound(Everything(), ())
    tree = restrict(bound.tree, limits)
    meaning = " ".join(wanted_texts(parsed.tree)) if parsed and parsed.tree else ""
    return PlannedQuery(text, parsed, bound.tree, tree, sentence(tree, zone), bound.problems, meaning)


def plan_words(text: str, limits: Restriction, analyzer: Analyzer, *, zone: ZoneInfo) -> PlannedQuery:
    """Read a text as mere words, all of which are wanted: no operators, no fields, no limit of length."""
    tree = bind_all_words(text, analyzer)
    restricted = restrict(tree, limits)
    return PlannedQuery(text, None, tree, restricted, sentence(restricted, zone), (), text)
