"""Finding modules by name: search modes, adapters, enhancers, embedding providers, generators, backends.

Built-in ones are the files of their folder; third parties register theirs as Python entry points of the groups below.
A module is imported when it is first used, so that nobody pays for what they do not use.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.base import EmbeddingProvider
from ariel_lite.errors import AdapterNotFoundError, ConfigurationError


@dataclass(frozen=True)
class Kind:
    """A kind of module: its folder, its entry point group, what it must have, the files of the folder that are none.

    The files that are none are listed, because to look into all of them would cost every start 10 ms a kind.
    """

    label: str
    package: str
    group: str
    attribute: str
    support: frozenset[str] = frozenset()


SEARCH = Kind(
    "search module",
    "ariel_lite.search",
    "ariel_lite.search_modules",
    "get_tool_descriptor",
    frozenset({"base", "retrieval"}),
)
ADAPTERS = Kind("adapter", "ariel_lite.ingestion.adapters", "ariel_lite.adapters", "create_adapter")
ENHANCERS = Kind(
    "enhancer",
    "ariel_lite.enhancement",
    "ariel_lite.enhancers",
    "create_enhancer",
    frozenset({"backlog", "base", "extraction", "language_model"}),
)
PROVIDERS = Kind(
    "embedding provider",
    "ariel_lite.embeddings",
    "ariel_lite.embedding_providers",
    "create_provider",
    frozenset({"base", "http", "manifest", "windows"}),
)
GENERATORS = Kind(
    "generator",
    "ariel_lite.generation",
    "ariel_lite.generators",
    "create_generator",
    frozenset({"base", "http", "sentences", "passages", "scoring", "extractive", "prompts", "citations"}),
)
BACKENDS = Kind("backend", "ariel_lite.backends", "ariel_lite.backends", "open_backend")


class Registry:
    """All modules, by kind and name."""

    def __init__(self) -> None:
        self._names: dict[str, dict[str, str | EntryPoint]] = {}

    def names(self, kind: Kind) -> list[str]:
        """Names of a kind's modules: the built-in ones first, each group sorted."""
        return list(self._known(kind))

    def load(self, kind: Kind, name: str) -> Any:
        """The module of a name.

        Raises:
            AdapterNotFoundError, ConfigurationError: no such module, or it lacks what its kind needs.
        """
        known = self._known(kind)
        if name not in known:
            raise _unknown(kind, name, list(known))
        target = known[name]
        module = target.load() if isinstance(target, EntryPoint) else import_module(target)
        if not hasattr(module, kind.attribute):
            raise ConfigurationError(
                f"the {kind.label} {name} has no {kind.attribute}()", hint="check the package that registers it"
            )
        return module

    def search_modules(self) -> Iterator[ModuleType]:
        """Every search module."""
        for name in self.names(SEARCH):
            yield self.load(SEARCH, name)

    def _known(self, kind: Kind) -> dict[str, str | EntryPoint]:
        if kind.group not in self._names:
            self._names[kind.group] = {**_built_in(kind), **_registered(kind)}
        return self._names[kind.group]


def embedding_provider(registry: Registry, config: ARIELConfig) -> EmbeddingProvider:
    """The provider that semantic searches and vectors use: semantic mode's own, else the configuration's.

    Raises:
        ConfigurationError: unknown provider or model, or a model's file is absent.
    """
    mode = config.search_module("semantic")
    name = mode.provider or config.embedding.provider
    provider: EmbeddingProvider = registry.load(PROVIDERS, name).create_provider(config, config.vector_model)
    return provider


def _built_in(kind: Kind) -> dict[str, str | EntryPoint]:
    spec = find_spec(kind.package)
    if spec is None:
        return {}
    modules = sorted(iter_modules(spec.submodule_search_locations), key=lambda module: module.name)
    if kind is BACKENDS:
        folders = [f"{kind.package}.{module.name}" for module in modules if module.ispkg]
        return {folder.rpartition(".")[2]: f"{folder}.backend" for folder in folders if find_spec(f"{folder}.backend")}
    return {module.name: f"{kind.package}.{module.name}" for module in modules if module.name not in kind.support}


def _registered(kind: Kind) -> dict[str, str | EntryPoint]:
    return {point.name: point for point in sorted(entry_points(group=kind.group), key=lambda point: point.name)}


def _unknown(kind: Kind, name: str, known: list[str]) -> ConfigurationError | AdapterNotFoundError:
    error = AdapterNotFoundError if kind is ADAPTERS else ConfigurationError
    return error(f"unknown {kind.label} {name!r}", hint=f"known: {', '.join(known) or 'none'}")
