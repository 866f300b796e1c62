"""One file an adapter; the file's name is the adapter's name, and `ADAPTER` describes it."""

from __future__ import annotations

import pkgutil
from difflib import get_close_matches
from importlib import import_module

from ariel_lite.errors import AdapterNotFoundError
from ariel_lite.ingestion.base import AdapterDescriptor


def adapter_names() -> list[str]:
    """Names of the adapters that come along, in alphabetical order."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def load_adapter(name: str) -> AdapterDescriptor:
    """The adapter of a name; its module is imported now.

    Raises:
        AdapterNotFoundError: no adapter has this name.
    """
    names = adapter_names()
    if name not in names:
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise AdapterNotFoundError(f"there is no adapter {name!r}", hint=f"{hint}known: {', '.join(names)}")
    descriptor = import_module(f"{__name__}.{name}").ADAPTER
    if not isinstance(descriptor, AdapterDescriptor):
        raise AdapterNotFoundError(f"the module of adapter {name!r} describes no adapter", hint="export ADAPTER")
    return descriptor
