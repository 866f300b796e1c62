"""The forms of the query language with what they find: the README's table, the page's help, an agent's guide."""

from __future__ import annotations

from typing import NamedTuple


class SyntaxExample(NamedTuple):
    """Queries of one form, and what they find, in Markdown."""

    queries: tuple[str, ...]
    meaning: str


SYNTAX: tuple[SyntaxExample, ...] = (
    SyntaxExample(("vacuum leak",), "with both words, in any form (*leaks*, *leaking*); the, of, a … are ignored"),
    SyntaxExample(("rf OR vacuum",), "with either word"),
    SyntaxExample(("vacuum NOT planned", "vacuum -planned"), "with the first word and without the second"),
    SyntaxExample(("(rf OR vacuum) -planned",), "grouped; NOT binds before AND, AND before OR"),
    SyntaxExample(('"beam dump"',), "with the words side by side; the exact spelling first"),
    SyntaxExample(('"pumps"',), "with exactly this word, not *pump*"),
    SyntaxExample(("klys*",), "with a word that begins so (two letters at least)"),
    SyntaxExample(
        ("BR-QF-12", "SR01C:BPM1", "10.0.2.17"),
        "with this name; `-`, `_`, `:`, `.` and `/` are the same separator, the spelling as written first",
    ),
    SyntaxExample(("1.9 GeV", "1.9GeV", "2e-7 Torr", "-3 mm"), "with this number and unit; sign and exponent count"),
    SyntaxExample(
        ("author:smith", 'author:"A. Smith"'), "by an author whose name contains this; case and accents do not matter"
    ),
    SyntaxExample(
        ("date:2024-03", "date:2024-03-05", "date:2024..2025"),
        "of this month, day (in the facility's time zone) or range",
    ),
    SyntaxExample(
        ("date:>=2024-06", "date:today", "date:last-7d", "date:8h"), "since, today, of the last 7 days or 8 hours"
    ),
    SyntaxExample(
        ("logbook:operations", "tag:rf", "category:fault", "source:als"),
        "with this logbook, tag or category, or from this source system",
    ),
    SyntaxExample(("id:TP-0465", "has:attachment", "has:link"), "with this id; with files; that answer another entry"),
    SyntaxExample(
        ("-author:smith rf", "NOT dump"),
        "fields can be excluded; a query that only excludes lists all else, newest first",
    ),
)
