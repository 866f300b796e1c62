"""Entries by the time of their last change."""

from __future__ import annotations

from datetime import timedelta

from logbooks import FIRST, entries, entry

from ariel_lite.backends.base import Backend
from ariel_lite.query.nodes import Everything, FieldLeaf


def changed(backend: Backend, since: object = None, tree: object = None) -> list[str]:
    return [one["entry_id"] for one in backend.iterate_changed(tree or Everything(), since)]  # type: ignore[arg-type]


def test_by_time_of_change_then_id(backend: Backend) -> None:
    backend.upsert(entries(("C", "c"), ("B", "b")))
    backend.upsert([entry("A", "a", at="2020-01-01")])
    first, last = (backend.get_entries([name])[0]["updated_at"] for name in ("B", "A"))
    assert changed(backend) == ["B", "C", "A"]
    assert changed(backend, first) == ["B", "C", "A"]
    assert changed(backend, last) == ["A"]
    assert changed(backend, last + timedelta(microseconds=1)) == []
    backend.upsert([entry("B", "b, edited")])
    assert changed(backend, last + timedelta(microseconds=1)) == ["B"]
    assert changed(backend) == ["C", "A", "B"]


def test_only_what_the_tree_matches(backend: Backend) -> None:
    backend.upsert([entry("A", "a", author="Jane Doe"), entry("B", "b", author="Sam")])
    assert changed(backend, FIRST - timedelta(days=1), FieldLeaf("author", "jane")) == ["A"]
    assert changed(backend, None, FieldLeaf("author", "nobody")) == []


def test_more_than_a_batch(backend: Backend) -> None:
    backend.upsert(entries(*[f"text {number}" for number in range(1201)]))
    found = list(backend.iterate_changed(Everything(), None))
    assert len({one["entry_id"] for one in found}) == 1201
    assert [one["updated_at"] for one in found] == sorted(one["updated_at"] for one in found)
