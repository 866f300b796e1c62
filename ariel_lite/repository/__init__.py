"""ARIEL's repository: its asynchronous methods by name and signature, over whatever backend holds the logbook.

Deliberate differences: `keyword_search` and `fuzzy_search` take a `SearchPlan` instead of SQL; the filters of
`semantic_search` hold before the nearest are chosen; an id that another source system owns is not overwritten (it is
stored as `<source>:<id>`); a changed text makes an entry's enhancements pending.
"""

from __future__ import annotations

from ariel_lite.repository.methods import ARIELRepository

__all__ = ["ARIELRepository"]
