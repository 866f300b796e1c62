"""What a logbook can do: its enabled search modes with their parameters, and which of them is the default."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ariel_lite.backends.base import Backend
from ariel_lite.config import ARIELConfig
from ariel_lite.errors import ConfigurationError, ModuleNotEnabledError
from ariel_lite.records import MAX_RESULTS
from ariel_lite.registry import Registry
from ariel_lite.search.base import ParameterDescriptor, SearchToolDescriptor

PREFERRED_MODE = "hybrid"
BASIC_MODE = "keyword"

OPTION_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "authors": "author",
        "source_systems": "source",
        "logbooks": "logbook",
        "tags": "tag",
        "categories": "category",
    }
)
"""What a filter's values are listed under -> the field of the query language."""

MOST_OPTIONS = 500
"""How many values of a filter are listed."""


class SearchModes:
    """The search modes of all registered modules, looked up by name."""

    def __init__(self, registry: Registry, config: ARIELConfig) -> None:
        self._config = config
        self._registry = registry
        self._descriptors: dict[str, SearchToolDescriptor] = {}
        self._parameters: dict[str, list[ParameterDescriptor]] = {}

    def enabled(self) -> list[SearchToolDescriptor]:
        """The modes that the configuration does not switch off."""
        return [found for mode, found in self._all().items() if self._config.is_search_module_enabled(mode)]

    def get(self, mode: str) -> SearchToolDescriptor:
        """The mode of a name.

        Raises:
            ConfigurationError: unknown, or switched off (ModuleNotEnabledError); the hint names the enabled ones.
        """
        hint = "enabled modes: " + ", ".join(descriptor.search_mode for descriptor in self.enabled())
        if mode not in self._all():
            raise ConfigurationError(f"unknown search mode {mode!r}", hint=hint)
        if not self._config.is_search_module_enabled(mode):
            raise ModuleNotEnabledError(f"the search mode {mode} is switched off in the configuration", hint=hint)
        return self._all()[mode]

    def parameters(self, mode: str) -> list[ParameterDescriptor]:
        """The parameters that a mode offers to forms and agents."""
        self._all()
        return self._parameters.get(mode, [])

    def default(self, backend: Backend) -> str:
        """The mode of a call that names none: configured, else hybrid when it can run, else keyword."""
        if self._config.default_search_mode:
            return self._config.default_search_mode
        names = {descriptor.search_mode for descriptor in self.enabled()}
        if PREFERRED_MODE in names and backend.has_vectors():
            return PREFERRED_MODE
        return BASIC_MODE if BASIC_MODE in names or not names else sorted(names)[0]

    def _all(self) -> dict[str, SearchToolDescriptor]:
        if self._descriptors:
            return self._descriptors
        descriptors: dict[str, SearchToolDescriptor] = {}
        parameters: dict[str, list[ParameterDescriptor]] = {}
        for module in self._registry.search_modules():
            descriptor: SearchToolDescriptor = module.get_tool_descriptor()
            descriptors[descriptor.search_mode] = descriptor
            offered = getattr(module, "get_parameter_descriptors", None)
            parameters[descriptor.search_mode] = offered() if offered else []
        # Whole at once: another thread never sees a part of the modes.
        self._parameters = parameters
        self._descriptors = descriptors
        return descriptors


def shared_parameters() -> list[ParameterDescriptor]:
    """The parameters that every mode accepts."""
    return [
        ParameterDescriptor("max_results", "Results", "How many entries to show", "int", 10, 1, MAX_RESULTS, 1),
        ParameterDescriptor(
            "start_date", "From", "A day, month, year, or a span such as 7d", "date", section="Filters"
        ),
        ParameterDescriptor(
            "end_date", "Until", "The end includes its whole day, month or year", "date", section="Filters"
        ),
        ParameterDescriptor(
            "author", "Author", "Any part of the name", "text", section="Filters", placeholder="any author"
        ),
        ParameterDescriptor(
            "source_system",
            "Source",
            "Any part of the source system's name",
            "dynamic_select",
            section="Filters",
            options_endpoint="/api/filter-options/source_systems",
        ),
    ]


def capabilities(modes: SearchModes, backend: Backend) -> dict[str, Any]:
    """ARIEL's capabilities document."""
    described = [
        {
            "name": descriptor.search_mode,
            "label": descriptor.label or descriptor.search_mode.replace("_", " ").capitalize(),
            "description": descriptor.description,
            "parameters": [parameter.to_dict() for parameter in modes.parameters(descriptor.search_mode)],
        }
        for descriptor in modes.enabled()
    ]
    return {
        "categories": {"direct": {"label": "Search", "modes": described}},
        "default_mode": modes.default(backend),
        "shared_parameters": [parameter.to_dict() for parameter in shared_parameters()],
    }
