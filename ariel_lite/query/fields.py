"""The fields of the query language: name -> how its value is compared and how people read it.

A field is recognised by its exact lower-case name at a token's start; any other `x:y` is text (PV names).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Comparison = Literal["contains", "equals", "identical", "date", "flag"]


@dataclass(frozen=True)
class FieldDefinition:
    """A field: how it compares, and a line of help."""

    comparison: Comparison
    phrase: str
    help: str


FIELDS: dict[str, FieldDefinition] = {
    "author": FieldDefinition("contains", "author contains", "any part of the author's name; case and accents ignored"),
    "date": FieldDefinition("date", "", "a day, month, year, range or span of time"),
    "source": FieldDefinition("contains", "source contains", "any part of the source system's name"),
    "logbook": FieldDefinition("equals", "logbook is", "a logbook's whole name; case and accents ignored"),
    "tag": FieldDefinition("equals", "tag is", "a whole tag; case and accents ignored"),
    "category": FieldDefinition("equals", "category is", "a whole category; case and accents ignored"),
    "id": FieldDefinition("identical", "id is", "an entry's id, exactly"),
    "has": FieldDefinition("flag", "has", "attachment, or link"),
}

FLAGS = {"attachment": "attachment", "attachments": "attachment", "link": "link", "links": "link"}
"""Accepted values of `has:` and what they mean."""
