"""Which column of a table holds what: as the settings say, else by the usual names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from ariel_lite.errors import ConfigurationError, IngestionError
from ariel_lite.ingestion.settings import PLACE, known_settings, names_setting

COLUMNS = f"{PLACE}.columns"

USUAL_NAMES: Mapping[str, tuple[str, ...]] = {
    "entry_id": ("entryid", "id", "entry", "number", "no", "nr", "logid", "lognumber", "mid", "messageid"),
    "timestamp": (
        "timestamp", "datetime", "eventtime", "entrytime", "time", "date", "created", "createddate", "createdat",
        "when", "datum", "zeit",
    ),
    "author": ("author", "user", "username", "owner", "operator", "who", "writer", "autor", "createdby"),
    "title": ("title", "subject", "headline", "titel", "betreff"),
    "raw_text": ("rawtext",),
    "text": (
        "text", "body", "details", "description", "message", "content", "comment", "comments", "entrytext", "note",
    ),
    "tags": ("tags", "tag", "keywords"),
    "logbook": ("logbook", "logbooks", "book", "books"),
    "categories": ("categories", "category", "kategorie"),
    "level": ("level", "severity", "priority"),
    "linked_to": ("linkedto", "inreplyto", "replyto", "reference", "parent"),
    "attachments": ("attachments", "attachment", "files"),
    "source_system": ("sourcesystem",),
}  # fmt: skip
"""Names (only their letters and digits, in lower case) that columns go by; the earlier one wins."""

LISTS = frozenset(("tags", "categories", "logbook", "linked_to", "attachments"))
"""Fields whose cell may hold several values."""

USUAL_SEPARATORS = re.compile(r"[;,|\n]")

_SHOWN = 20
_SHOWN_CHARACTERS = 40
_DATE_NAMES = ("date", "datum", "eventdate", "entrydate")
_TIME_NAMES = ("time", "zeit", "uhrzeit", "eventtime", "entrytime")


@dataclass(frozen=True)
class ColumnMap:
    """Field -> numbers of its columns; a text field may have several.

    Attributes:
        of: the columns of each field.
        separators: field -> what separates its values; the usual signs where none is set.
        guessed: True when the names were not set.
    """

    of: Mapping[str, tuple[int, ...]]
    separators: Mapping[str, str] = field(default_factory=dict)
    guessed: bool = False

    def used(self) -> frozenset[int]:
        """Columns that belong to a field."""
        return frozenset(number for numbers in self.of.values() for number in numbers)

    def described(self, header: Sequence[str]) -> str:
        """What was made of the columns, for people."""
        parts = [f"{name} = {' + '.join(header[number] for number in numbers)}" for name, numbers in self.of.items()]
        rest = [header[number] for number in range(len(header)) if number not in self.used()]
        kept = f"; metadata: {_shown(rest)}" if rest else ""
        return f"columns by their names: {', '.join(parts)}{kept} (map them in {COLUMNS})"


def column_map(header: Sequence[str], settings: Mapping[str, Any]) -> ColumnMap:
    """The map of a table with these column names.

    Raises:
        ConfigurationError: the settings name an unknown field, or are of the wrong kind.
        IngestionError: a column that the settings name is not there, or none holds the time or any text.
    """
    configured = settings.get("columns")
    if configured is None:
        made = ColumnMap(_guessed(header), guessed=True)
    elif isinstance(configured, dict):
        known_settings(configured, tuple(USUAL_NAMES), COLUMNS)
        made = _configured(header, configured)
    else:
        raise ConfigurationError(
            f"setting {COLUMNS} must be a mapping", hint="such as {timestamp: Date, text: Comment}"
        )
    for needed, fields in (("time", ("timestamp",)), ("text", ("text", "title", "raw_text"))):
        if not any(name in made.of for name in fields):
            raise IngestionError(
                f"no column holds the {needed}; there are: {_shown(header)}", hint=f"set {COLUMNS}.{fields[0]}"
            )
    return made


def _configured(header: Sequence[str], columns: Mapping[str, Any]) -> ColumnMap:
    found: dict[str, tuple[int, ...]] = {}
    separators: dict[str, str] = {}
    for name, value in columns.items():
        if isinstance(value, dict):
            known_settings(value, ("column", "separator"), f"{COLUMNS}.{name}")
            if isinstance(value.get("separator"), str) and value["separator"]:
                separators[name] = value["separator"]
            value = value.get("column")
        names = names_setting({name: value}, name, COLUMNS)
        if names:
            found[name] = tuple(_number(header, column) for column in names)
    return ColumnMap(found, separators)


def _number(header: Sequence[str], column: str) -> int:
    """The column of a name as written, or as folded."""
    if column in header:
        return header.index(column)
    folded = [_folded(name) for name in header]
    if _folded(column) in folded:
        return folded.index(_folded(column))
    near = get_close_matches(column, header, n=1, cutoff=0.4)
    shown = _shown(header)
    hint = f"did you mean {near[0]!r}? there are: {shown}" if near else f"there are: {shown}"
    raise IngestionError(f"the table has no column {column!r}", hint=hint)


def _shown(names: Sequence[str]) -> str:
    """Names for a message: not all of very many, and not all of a name that is none."""
    shown = [name if len(name) <= _SHOWN_CHARACTERS else f"{name[:_SHOWN_CHARACTERS]}…" for name in names[:_SHOWN]]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(shown) + more


def _guessed(header: Sequence[str]) -> dict[str, tuple[int, ...]]:
    folded = [_folded(name) for name in header]
    found: dict[str, tuple[int, ...]] = {}
    taken: set[int] = set()
    day, clock = _first(folded, _DATE_NAMES, taken), _first(folded, _TIME_NAMES, taken)
    exact = _first(folded, ("timestamp", "datetime", "createddate", "createdat"), taken)
    if exact is None and day is not None and clock is not None:
        found["timestamp"] = (day, clock)
        taken.update((day, clock))
    for name, usual in USUAL_NAMES.items():
        number = None if name in found else _first(folded, usual, taken)
        if number is not None:
            found[name] = (number,)
            taken.add(number)
    if "raw_text" in found and "text" in found:
        del found["text"]
    return found


def _first(folded: Sequence[str], names: Sequence[str], taken: set[int]) -> int | None:
    for name in names:
        if name in folded and folded.index(name) not in taken:
            return folded.index(name)
    return None


def _folded(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())
