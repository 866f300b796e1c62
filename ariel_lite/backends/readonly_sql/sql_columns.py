"""The columns of an answer."""

from __future__ import annotations


def unique_names(names: list[str]) -> list[str]:
    """Names in which a repeated one gets a number."""
    used: set[str] = set()
    out = []
    for name in names:
        shown, count = name, 1
        while shown in used:
            count += 1
            shown = f"{name}_{count}"
        used.add(shown)
        out.append(shown)
    return out
