"""Each file of a folder of modules is a module, or is listed as one that supports them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from ariel_lite.registry import ADAPTERS, BACKENDS, ENHANCERS, GENERATORS, PROVIDERS, SEARCH, Kind, Registry

KINDS = (SEARCH, ADAPTERS, ENHANCERS, PROVIDERS, GENERATORS, BACKENDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.label)
def test_every_name_is_a_module_that_has_what_its_kind_must(kind: Kind) -> None:
    registry = Registry()
    assert registry.names(kind)
    for name in registry.names(kind):
        assert callable(getattr(registry.load(kind, name), kind.attribute))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.label)
def test_supporting_files_are_there_and_are_no_modules(kind: Kind) -> None:
    folder = Path(next(iter(find_spec(kind.package).submodule_search_locations or ())))  # type: ignore[union-attr]
    for name in kind.support:
        file = folder / f"{name}.py"
        assert file.is_file() or (folder / name).is_dir(), f"{name} is listed and is no more"
        assert not file.is_file() or f"def {kind.attribute}(" not in file.read_text(encoding="utf-8"), name
