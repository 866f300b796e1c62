"""What the analyzer made, as tsvectors and tsqueries. Every lexeme is quoted by us; PostgreSQL's parsers see none.

Besides the analyzer's forms with their positions, a vector holds marks, lexemes without a position that no query for
text can meet (they begin with a control character):

- level marks, "\\x02" to "\\x05" and a form: it stands at least 2, 3, 4, 5 times; so frequencies come from the index;
- pair marks, "\\x01" and 18 bits: these two lexemes stand side by side; so a phrase visits few rows that lack it;
- compound marks, "\\x07" and a form: the written form of an identifier, not a word (weight A says it to ranking).

PostgreSQL keeps 255 positions of a lexeme, position numbers up to 16,383 and 1 MB of lexemes in a vector. A text that
passes the first two limits is stored without positions (NO_POSITIONS), beyond the third without lexemes (NO_LEXEMES).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from zlib import crc32

from ariel_lite.embeddings.base import clean_text
from ariel_lite.query.nodes import All, AnyOf, BoundNode, Exclude, TextLeaf
from ariel_lite.text.highlight import Form, Pattern
from ariel_lite.text.tokenise import WRITTEN, Analyzer

COMPLETE, NO_POSITIONS, NO_LEXEMES = 0, 1, 2
MOST_POSITIONS = 255
LAST_POSITION = 16_383
MOST_BYTES = 1_000_000
POSITION_BYTES = 2
ENTRY_BYTES = 4
"""What a lexeme with positions takes besides its own bytes: their number, and alignment."""

LEVELS = (2, 3, 4, 5)
PAIR = "\x01"
COMPOUND = "\x07"
COMPOUND_WEIGHT = "A,"
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@dataclass(frozen=True)
class IndexedText:
    """A text as the index keeps it.

    Attributes:
        vector: the tsvector's literal.
        length: the number of positions.
        limit_kind: COMPLETE, NO_POSITIONS or NO_LEXEMES.
        frequencies: of forms that occur at least twice (NO_LEXEMES: of all), when the vector is not complete.
        words: the distinct written words, without identifiers' written forms.
    """

    vector: str
    length: int
    limit_kind: int
    frequencies: dict[str, int] | None
    words: frozenset[str]


def index_text(analyzer: Analyzer, text: str) -> IndexedText:
    """Analyse a text for the index."""
    positions: dict[str, list[int]] = {}
    marks: set[str] = set()
    words: set[str] = set()
    before = ""
    number = 0
    for number, forms in enumerate(analyzer.positions(text), start=1):
        for form in forms:
            positions.setdefault(form, []).append(number)
        first = forms[0]
        stemmed = first[0] != WRITTEN
        words.add(forms[1][1:] if stemmed else first[1:])
        if len(forms) > 1 + stemmed:
            marks.add(COMPOUND + forms[-1])
        if before:
            marks.add(_pair(before, first))
        before = first
    for form, places in positions.items():
        marks.update(chr(level) + form for level in LEVELS if len(places) >= level)
    kind = _limit_kind(positions, marks, number)
    return IndexedText(
        _vector(positions, marks, kind), number, kind, _frequencies(positions, marks, kind), frozenset(words)
    )


def _limit_kind(positions: dict[str, list[int]], marks: set[str], length: int) -> int:
    characters = sum(len(form.encode()) for form in (*positions, *marks))
    if characters > MOST_BYTES:
        return NO_LEXEMES
    room = sum(ENTRY_BYTES + POSITION_BYTES * len(places) for places in positions.values())
    if length > LAST_POSITION or characters + room > MOST_BYTES:
        return NO_POSITIONS
    return NO_POSITIONS if any(len(places) > MOST_POSITIONS for places in positions.values()) else COMPLETE


def _vector(positions: dict[str, list[int]], marks: set[str], kind: int) -> str:
    if kind == NO_LEXEMES:
        return ""
    if kind == NO_POSITIONS:
        return " ".join(quoted(lexeme) for lexeme in (*positions, *marks))
    placed = (
        f"{quoted(form)}:{COMPOUND_WEIGHT.join(map(str, places))}{COMPOUND_WEIGHT[:-1]}"
        if COMPOUND + form in marks
        else f"{quoted(form)}:{','.join(map(str, places))}"
        for form, places in positions.items()
    )
    return " ".join((*placed, *map(quoted, marks)))


def _frequencies(positions: dict[str, list[int]], marks: set[str], kind: int) -> dict[str, int] | None:
    if kind == COMPLETE:
        return None
    least = 2 if kind == NO_POSITIONS else 1
    found = {form: len(places) for form, places in positions.items() if len(places) >= least}
    return found | ({mark: 1 for mark in marks if mark[0] == COMPOUND} if kind == NO_LEXEMES else {})


def words_of(lexemes: Iterable[str]) -> set[str]:
    """The written words among the lexemes of a stored vector."""
    stored = set(lexemes)
    return {lexeme[1:] for lexeme in stored if lexeme[0] == WRITTEN and COMPOUND + lexeme not in stored}


def quoted(lexeme: str) -> str:
    """A lexeme as tsvector and tsquery literals write it."""
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def ranked_query(pattern: Pattern) -> str:
    """The tsquery of a pattern alone, without marks: what ts_rank_cd counts."""
    return " <-> ".join(map(_operand, pattern))


def level_query(level: int, form: Form) -> str:
    """The tsquery of texts in which a form stands at least `level` (1 to 5) times; a lower bound for a prefix."""
    lexeme = form.lexeme if level == 1 else chr(level) + form.lexeme
    return _operand(Form(lexeme, form.prefix))


class Queries:
    """Makes tsqueries of bound trees; one a thread, as its analyzer is."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer

    def text(self, node: BoundNode) -> str:
        """The tsquery of a tree of text leaves.

        Raises:
            ValueError: the tree holds fields.
        """
        if isinstance(node, TextLeaf):
            return self.pattern(node.forms)
        if isinstance(node, All | AnyOf):
            joiner = " & " if isinstance(node, All) else " | "
            return "(" + joiner.join(map(self.text, node.children)) + ")"
        if isinstance(node, Exclude):
            return f"!({self.text(node.child)})"
        raise ValueError(f"not text: {type(node).__name__}")

    def relaxed(self, node: BoundNode) -> str | None:
        """A tsquery that needs no positions and misses no match, but may find more; None: that is everything."""
        if isinstance(node, TextLeaf):
            return self.pattern(node.forms, relaxed=True)
        if isinstance(node, All):
            needed = [query for child in node.children if (query := self.relaxed(child)) is not None]
            return "(" + " & ".join(needed) + ")" if needed else None
        if isinstance(node, AnyOf):
            choices = [self.relaxed(child) for child in node.children]
            return None if None in choices else "(" + " | ".join(filter(None, choices)) + ")"
        if isinstance(node, Exclude) and is_text(node.child) and not has_phrase(node.child):
            return f"!({self.text(node.child)})"
        return None

    def written(self, leaf: TextLeaf) -> str:
        """The tsquery of a leaf's exact spelling."""
        return self._joined(leaf.written, [self._analyzer.word(word) for word in leaf.words], relaxed=False)

    def pattern(self, pattern: Pattern, *, relaxed: bool = False) -> str:
        """The tsquery of forms at consecutive positions."""
        lexemes = [self._lexeme(form) for form in pattern]
        return self._joined(pattern, lexemes, relaxed=relaxed)

    def _joined(self, pattern: Pattern, lexemes: list[str], *, relaxed: bool) -> str:
        operands = [_operand(form) for form in pattern]
        if len(operands) == 1:
            return operands[0]
        whole = operands if relaxed else ["(" + " <-> ".join(operands) + ")"]
        sure = len(lexemes) - 1 if pattern[-1].prefix else len(lexemes)
        marks = {quoted(_pair(lexemes[at], lexemes[at + 1])) for at in range(sure - 1)}
        return "(" + " & ".join([*whole, *sorted(marks)]) + ")"

    def _lexeme(self, form: Form) -> str:
        """The first form at the positions where a form stands."""
        return self._analyzer.word(form.lexeme[1:]) if form.lexeme.startswith(WRITTEN) else form.lexeme


def is_text(node: BoundNode) -> bool:
    """True when all leaves of a tree are text."""
    if isinstance(node, Exclude):
        return is_text(node.child)
    return isinstance(node, TextLeaf) or (isinstance(node, All | AnyOf) and all(map(is_text, node.children)))


def has_phrase(node: BoundNode) -> bool:
    """True when some text leaf of a tree, excluded or not, has several forms."""
    if isinstance(node, TextLeaf):
        return len(node.forms) > 1
    if isinstance(node, Exclude):
        return has_phrase(node.child)
    return isinstance(node, All | AnyOf) and any(has_phrase(child) for child in node.children)


def ranks_exactly(pattern: Pattern) -> bool:
    """True when ts_rank_cd counts a pattern's occurrences: each must be met by one form at each of its positions.

    Only with the beginning of a word two can: that of another form of the pattern (`BR-BR*`), or the written form of
    an identifier. The latter has a weight of its own that counts nothing, for a beginning is met by its first part as
    well, unless that ends within a number (`10.0*` in 10.0.2.17).
    """
    if not pattern[-1].prefix:
        return True
    beginning = pattern[-1].lexeme.lstrip(WRITTEN)
    if any(form.lexeme.lstrip(WRITTEN)[:1] == beginning[:1] for form in pattern[:-1]):
        return False
    return beginning[0].isalpha() or (beginning.isdigit() and beginning.isascii())


def _operand(form: Form) -> str:
    return quoted(clean_text(form.lexeme)) + (":*" if form.prefix else "")


def _pair(first: str, second: str) -> str:
    bits = crc32(f"{first}\0{second}".encode("utf-8", "replace"))
    return PAIR + DIGITS[bits & 63] + DIGITS[bits >> 6 & 63] + DIGITS[bits >> 12 & 63]
