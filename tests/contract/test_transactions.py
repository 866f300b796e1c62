"""Several writes as one: all or none, and a part that fails alone is taken back alone."""

from __future__ import annotations

import pytest
from logbooks import entries, entry

from ariel_lite.backends.base import Backend
from ariel_lite.query.nodes import Everything


class Broken(Exception):
    """What goes wrong in these tests."""


def write_and_break(backend: Backend, text: str) -> None:
    with backend.transaction():
        backend.upsert(entries(("broken", text)))
        backend.delete(["one"])
        raise Broken


def ids(backend: Backend) -> list[str]:
    return [entry["entry_id"] for entry in backend.iterate_entries(Everything())]


def test_writes_before_a_failure_are_taken_back(backend: Backend) -> None:
    with pytest.raises(Broken):
        write_and_break(backend, "klystron")
    assert ids(backend) == []
    assert backend.vocabulary().candidates("klystron") == []
    backend.upsert(entries(("two", "klystron")))
    assert [candidate.word for candidate in backend.vocabulary().candidates("klystron")] == ["klystron"]
    assert backend.check() == []


def test_a_dry_run_within_a_transaction_writes_nothing(backend: Backend) -> None:
    with backend.transaction():
        backend.upsert(entries(("one", "beam lost")))
        assert backend.upsert(entries(("two", "septum")), dry_run=True).added == ["two"]
        backend.upsert(entries(("three", "septum tripped")))
    assert sorted(ids(backend)) == ["one", "three"]
    assert backend.check() == []


def test_an_inner_part_that_fails_is_taken_back_alone(backend: Backend) -> None:
    with backend.transaction():
        backend.upsert(entries(("one", "beam lost")))
        with pytest.raises(Broken):
            write_and_break(backend, "septum")
        backend.upsert(entries(("three", "beam back")))
    assert sorted(ids(backend)) == ["one", "three"]
    assert backend.check() == []


def test_a_purge_is_part_of_a_transaction_as_any_write(backend: Backend) -> None:
    backend.upsert(entries(("one", "beam lost")))
    with backend.transaction():
        backend.purge(entries=True)
        backend.upsert(entries(("two", "beam back")))
    assert ids(backend) == ["two"]
    assert backend.check() == []


def test_what_was_counted_amid_a_transaction_is_forgotten_with_it(backend: Backend) -> None:
    def count(author: str, *, is_broken: bool) -> list[tuple[str, int]]:
        with backend.transaction():
            backend.upsert([entry(author, "beam lost", author=author, at=f"2026-0{len(author)}-01")])
            assert backend.field_counts("author")[-1] == (author, 1)
            assert backend.month_counts(Everything(), "UTC")[-1] == (f"2026-0{len(author)}", 1)
            if is_broken:
                raise Broken
        return backend.field_counts("author")

    assert count("a", is_broken=False) == [("a", 1)]
    with pytest.raises(Broken):
        count("bbb", is_broken=True)
    backend.upsert([entry("cc", "beam back", author="cc", at="2026-02-01")])
    assert backend.field_counts("author") == [("a", 1), ("cc", 1)]
    assert backend.month_counts(Everything(), "UTC") == [("2026-01", 1), ("2026-02", 1)]
