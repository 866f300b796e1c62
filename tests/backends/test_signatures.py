"""Both backends have exactly the methods that the protocol promises, written the same way."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest

from ariel_lite.backends import base
from ariel_lite.backends.base import Backend
from ariel_lite.backends.postgres.backend import PostgresBackend
from ariel_lite.backends.sqlite.backend import SQLiteBackend

BACKENDS = (SQLiteBackend, PostgresBackend)
BEYOND = {SQLiteBackend: {"interrupt", "migrate", "backup", "restore"}, PostgresBackend: {"interrupt", "migrate"}}
"""Public methods that callers may look for, but that the protocol does not promise."""


def public_methods(kind: type) -> dict[str, Callable[..., Any]]:
    return {
        name: function for name, function in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")
    }


PROMISED = public_methods(Backend)


def shape(function: Callable[..., Any]) -> list[tuple[str, Any, bool, Any]]:
    """(name, kind, has a default, default unless the protocol leaves it open) of each parameter."""
    return [
        (parameter.name, parameter.kind, parameter.default is not inspect.Parameter.empty, parameter.default)
        for parameter in inspect.signature(function).parameters.values()
    ]


def hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations, resolved; a generator behind `contextmanager` counts as what callers get."""
    plain = inspect.unwrap(function)
    found = get_type_hints(plain, vars(base) | vars(inspect.getmodule(plain)))
    if plain is not function:
        found["return"] = str(found["return"]).replace("collections.abc.Iterator", "contextlib.AbstractContextManager")
    else:
        found["return"] = str(found["return"])
    return found


def test_the_protocol_promises_much() -> None:
    assert {"upsert", "search", "nearest", "save_draft", "mark_complete", "start_run", "reindex", "close"} <= set(
        PROMISED
    )
    assert len(PROMISED) > 50


@pytest.mark.parametrize("name", sorted(PROMISED))
@pytest.mark.parametrize("backend", BACKENDS, ids=lambda kind: kind.__name__)
def test_a_method_is_written_as_promised(backend: type, name: str) -> None:
    promised, made = PROMISED[name], public_methods(backend)[name]
    for wanted, found in zip(shape(promised), shape(made), strict=True):
        assert found[:3] == wanted[:3]
        if wanted[3] is not ...:
            assert found[3] == wanted[3]
    assert hints(made) == hints(promised)
    assert (made.__doc__ or "").strip()


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda kind: kind.__name__)
def test_nothing_else_is_public(backend: type) -> None:
    assert set(public_methods(backend)) - set(PROMISED) == BEYOND[backend]


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda kind: kind.__name__)
def test_the_promised_attributes_are_there(backend: type) -> None:
    promised = set(get_type_hints(Backend)) - set(PROMISED)
    assert promised == {"name", "location", "attached", "read_only"}
    source = "".join(inspect.getsource(part) for part in backend.__mro__[:-1])
    missing = [name for name in promised if not hasattr(backend, name) and f"self.{name} = " not in source]
    assert missing == []
