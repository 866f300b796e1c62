"""What the contract says a query finds, worked out entry by entry with lists and loops.

It shares the analyzer (what the words of a text are) and the numbers of `ranking.bm25` with the product, and nothing
else: no parser, no binder, no index. Queries are trees of its own, which `render` writes down as a user would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from ariel_lite.ranking.bm25 import CorpusStatistics, inverse_document_frequency, term_score
from ariel_lite.records import EnhancedLogbookEntry
from ariel_lite.text.normalise import fold
from ariel_lite.text.tokenise import Analyzer

Positions = list[tuple[str, ...]]


@dataclass(frozen=True)
class Bare:
    """A word, name or number outside quotes."""

    text: str


@dataclass(frozen=True)
class Phrase:
    """Text in quotes; `marks` are the quotes to write."""

    text: str
    marks: str = '""'


@dataclass(frozen=True)
class Prefix:
    """The beginning of a word."""

    text: str


@dataclass(frozen=True)
class Field:
    """`name:value`."""

    name: str
    value: str


@dataclass(frozen=True)
class Neither:
    """What `child` does not match; `dash` writes it with a minus where that is possible."""

    child: Tree
    dash: bool = False


@dataclass(frozen=True)
class Both:
    """What all children match; `joiner` is a blank or AND."""

    children: tuple[Tree, ...]
    joiner: str = " "


@dataclass(frozen=True)
class Either:
    """What at least one child matches."""

    children: tuple[Tree, ...]


Tree = Bare | Phrase | Prefix | Field | Neither | Both | Either
TextNode = Bare | Phrase | Prefix


def render(tree: Tree) -> str:
    """The query as typed, with the brackets that its meaning needs."""
    if isinstance(tree, Bare):
        return tree.text
    if isinstance(tree, Phrase):
        return tree.marks[0] + tree.text + tree.marks[1]
    if isinstance(tree, Prefix):
        return tree.text + "*"
    if isinstance(tree, Field):
        return f'{tree.name}:"{tree.value}"' if " " in tree.value else f"{tree.name}:{tree.value}"
    if isinstance(tree, Neither):
        inside = _bracketed(tree.child)
        return "-" + inside if tree.dash and _takes_dash(inside) else "NOT " + inside
    if isinstance(tree, Both):
        return tree.joiner.join(_bracketed(c) if isinstance(c, Both | Either) else render(c) for c in tree.children)
    return " OR ".join(_bracketed(c) if isinstance(c, Either) else render(c) for c in tree.children)


def _bracketed(tree: Tree) -> str:
    text = render(tree)
    return f"({text})" if isinstance(tree, Both | Either) or (isinstance(tree, Bare) and " " in text) else text


def _takes_dash(text: str) -> bool:
    return text[0] in '("“' or text[0].isalpha()


@dataclass(frozen=True)
class Found:
    """An entry that matches: its id, its BM25, how many of its leaves stand in it exactly as written, its time."""

    entry_id: str
    score: float
    written: int
    at: datetime


@dataclass(frozen=True)
class _Pattern:
    """Forms at consecutive positions; the last one may be a beginning."""

    forms: tuple[str, ...]
    is_prefix: bool = False

    def count(self, positions: Positions) -> int:
        """How often the pattern stands in a text."""
        starts = range(len(positions) - len(self.forms) + 1)
        return sum(all(self._stands(positions[at + n], n) for n in range(len(self.forms))) for at in starts)

    def _stands(self, forms: tuple[str, ...], number: int) -> bool:
        wanted = self.forms[number]
        if self.is_prefix and number == len(self.forms) - 1:
            return any(form.startswith(wanted) for form in forms)
        return wanted in forms


class BruteForce:
    """Evaluates queries over a list of entries."""

    def __init__(self, entries: Sequence[EnhancedLogbookEntry], zone: ZoneInfo) -> None:
        self.entries = entries
        self._zone = zone
        self._analyzer = Analyzer()
        self._positions = {e["entry_id"]: list(self._analyzer.positions(e["raw_text"])) for e in entries}
        self._statistics = CorpusStatistics(len(entries), sum(map(len, self._positions.values())))
        self._counts: dict[_Pattern, dict[str, int]] = {}

    def search(self, tree: Tree) -> list[Found]:
        """All entries that match: most leaves as written, then BM25, newest, id."""
        rest = self._without_empty(tree)
        if rest is None:
            return []
        hits = [
            Found(entry["entry_id"], self._score(rest, entry), self._written(rest, entry), entry["timestamp"])
            for entry in self.entries
            if self._matches(rest, entry)
        ]
        return sorted(hits, key=lambda hit: (-hit.written, -hit.score, -hit.at.timestamp(), hit.entry_id))

    def has_text(self, tree: Tree) -> bool:
        """True when the query ranks: some text stands outside its exclusions."""
        if isinstance(tree, Both | Either):
            return any(map(self.has_text, tree.children))
        return isinstance(tree, Bare | Phrase | Prefix)

    def _without_empty(self, tree: Tree) -> Tree | None:
        """The tree without empty words; a double negation is none."""
        if isinstance(tree, Neither):
            child = self._without_empty(tree.child)
            if isinstance(child, Neither):
                return child.child
            return None if child is None else Neither(child)
        if isinstance(tree, Both | Either):
            children = tuple(c for child in tree.children if (c := self._without_empty(child)) is not None)
            kind = type(tree)
            return kind(children) if children else None
        if isinstance(tree, Bare) and fold(tree.text) in self._analyzer.stop_words:
            return None
        return tree

    def _matches(self, tree: Tree, entry: EnhancedLogbookEntry) -> bool:
        if isinstance(tree, Neither):
            return not self._matches(tree.child, entry)
        if isinstance(tree, Both):
            return all(self._matches(child, entry) for child in tree.children)
        if isinstance(tree, Either):
            return any(self._matches(child, entry) for child in tree.children)
        if isinstance(tree, Field):
            return holds(tree, entry, self._zone)
        return self._count(self._pattern(tree), entry) > 0

    def _score(self, tree: Tree, entry: EnhancedLogbookEntry) -> float:
        """BM25 of the text in the satisfied parts."""
        if isinstance(tree, Neither | Field) or not self._matches(tree, entry):
            return 0.0
        if isinstance(tree, Both | Either):
            return sum(self._score(child, entry) for child in tree.children)
        counts = self._all_counts(self._pattern(tree))
        idf = inverse_document_frequency(len(self.entries), sum(count > 0 for count in counts.values()))
        length = len(self._positions[entry["entry_id"]])
        return term_score(counts[entry["entry_id"]], length, idf, self._statistics)

    def _written(self, tree: Tree, entry: EnhancedLogbookEntry) -> int:
        """How many quoted texts and names outside exclusions stand in the entry exactly as written."""
        if isinstance(tree, Both | Either):
            return sum(self._written(child, entry) for child in tree.children)
        if not isinstance(tree, Bare | Phrase):
            return 0
        spelled = self._spelled(tree.text)
        if isinstance(tree, Bare) and len(spelled.forms) == 1:
            return 0
        return int(self._count(spelled, entry) > 0)

    def _pattern(self, node: TextNode) -> _Pattern:
        """What has to stand in an entry: stems; exact words for a single quoted word or name; a word's beginning."""
        positions = list(self._analyzer.positions(node.text))
        if isinstance(node, Prefix):
            return _Pattern((*(forms[0] for forms in positions[:-1]), _word(positions[-1])), is_prefix=True)
        if isinstance(node, Phrase) and " " not in node.text:
            return _Pattern(tuple(map(_word, positions)))
        return _Pattern(tuple(forms[0] for forms in positions))

    def _spelled(self, text: str) -> _Pattern:
        """The exact spelling: whole names where there are some, else words."""
        return _Pattern(tuple(forms[-1] for forms in self._analyzer.positions(text)))

    def _count(self, pattern: _Pattern, entry: EnhancedLogbookEntry) -> int:
        return self._all_counts(pattern)[entry["entry_id"]]

    def _all_counts(self, pattern: _Pattern) -> dict[str, int]:
        if pattern not in self._counts:
            self._counts[pattern] = {key: pattern.count(positions) for key, positions in self._positions.items()}
        return self._counts[pattern]


def _word(forms: tuple[str, ...]) -> str:
    return next(form for form in forms if form.startswith("="))


def holds(field: Field, entry: EnhancedLogbookEntry, zone: ZoneInfo) -> bool:
    """True when an entry has the value."""
    value, metadata = fold(field.value), entry["metadata"]
    if field.name == "author":
        return value in fold(entry["author"])
    if field.name == "source":
        return value in fold(entry["source_system"])
    if field.name == "id":
        return field.value == entry["entry_id"]
    if field.name == "has":
        return bool(entry["attachments"] if value == "attachment" else metadata.get("linked_to"))
    if field.name == "date":
        return _in_days(field.value, entry["timestamp"].astimezone(zone).date())
    stored = metadata.get({"tag": "tags"}.get(field.name, field.name)) or []
    return value in [fold(text) for text in ([stored] if isinstance(stored, str) else stored)]


def _in_days(value: str, day: date) -> bool:
    shown = day.isoformat()
    if ".." in value:
        first, last = value.split("..")
        return (not first or shown[: len(first)] >= first) and (not last or shown[: len(last)] <= last)
    if value.startswith((">=", "<=")):
        limit = value[2:]
        return shown[: len(limit)] >= limit if value[0] == ">" else shown[: len(limit)] <= limit
    if value[0] in "<>":
        limit = value[1:]
        return shown[: len(limit)] > limit if value[0] == ">" else shown[: len(limit)] < limit
    return shown.startswith(value)
