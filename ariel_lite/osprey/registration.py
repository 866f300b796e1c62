"""What Osprey's registry needs to know of us, in records with its field names."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any

from ariel_lite.config import ARIELConfig
from ariel_lite.osprey.adapters import class_name
from ariel_lite.osprey.capability import LogbookSearchCapability
from ariel_lite.osprey.context import LogbookSearchResultsContext
from ariel_lite.registry import ADAPTERS, ENHANCERS, SEARCH, Registry

BOUND = "ariel_lite.osprey.bound"


@dataclass(frozen=True)
class CapabilityRegistration:
    """A capability."""

    name: str
    module_path: str
    class_name: str
    description: str
    provides: list[str]
    requires: list[str]


@dataclass(frozen=True)
class ContextClassRegistration:
    """A context class."""

    context_type: str
    module_path: str
    class_name: str


@dataclass(frozen=True)
class FrameworkPromptProviderRegistration:
    """Prompt builders by type."""

    module_path: str
    prompt_builders: dict[str, str]


@dataclass(frozen=True)
class ArielSearchModuleRegistration:
    """A search mode."""

    name: str
    module_path: str
    description: str


@dataclass(frozen=True)
class ArielEnhancementModuleRegistration:
    """An enhancer; smaller orders run first."""

    name: str
    module_path: str
    class_name: str
    description: str
    execution_order: int = 50


@dataclass(frozen=True)
class ArielIngestionAdapterRegistration:
    """A source format."""

    name: str
    module_path: str
    class_name: str
    description: str


@dataclass(frozen=True)
class Registrations:
    """All records. Field names are the parameters of Osprey's `extend_framework_registry`."""

    capabilities: list[CapabilityRegistration] = field(default_factory=list)
    context_classes: list[ContextClassRegistration] = field(default_factory=list)
    framework_prompt_providers: list[FrameworkPromptProviderRegistration] = field(default_factory=list)
    ariel_search_modules: list[ArielSearchModuleRegistration] = field(default_factory=list)
    ariel_enhancement_modules: list[ArielEnhancementModuleRegistration] = field(default_factory=list)
    ariel_ingestion_adapters: list[ArielIngestionAdapterRegistration] = field(default_factory=list)

    def as_framework_records(self, module: str = "osprey.registry.base") -> dict[str, list[Any]]:
        """The records as instances of the classes of the same names in Osprey, kinds that it does not know left out.

        Raises:
            ImportError: Osprey is not installed.
        """
        theirs = import_module(module)
        kinds = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            name: [getattr(theirs, type(record).__name__)(**asdict(record)) for record in records]
            for name, records in kinds.items()
            if all(hasattr(theirs, type(record).__name__) for record in records)
        }


def registrations(registry: Registry | None = None, config: ARIELConfig | None = None) -> Registrations:
    """Records of the capability, its context and prompts, and of every registered mode, enhancer and adapter."""
    known = registry or Registry()
    settings = config or ARIELConfig()
    capability, context = LogbookSearchCapability, LogbookSearchResultsContext
    return Registrations(
        capabilities=[
            CapabilityRegistration(
                capability.name,
                BOUND,
                "LogbookSearchCapability",
                capability.description,
                list(capability.provides),
                list(capability.requires),
            )
        ],
        context_classes=[ContextClassRegistration(context.CONTEXT_TYPE, BOUND, "LogbookSearchResultsContext")],
        framework_prompt_providers=[
            FrameworkPromptProviderRegistration(BOUND, {"logbook_search": "LogbookSearchPromptBuilder"})
        ],
        ariel_search_modules=[_search_module(known, name) for name in known.names(SEARCH)],
        ariel_enhancement_modules=[_enhancer(known, settings, name) for name in known.names(ENHANCERS)],
        ariel_ingestion_adapters=[_adapter(known, name) for name in known.names(ADAPTERS)],
    )


def _search_module(registry: Registry, name: str) -> ArielSearchModuleRegistration:
    module = registry.load(SEARCH, name)
    descriptor = module.get_tool_descriptor()
    return ArielSearchModuleRegistration(descriptor.search_mode, module.__name__, descriptor.description)


def _enhancer(registry: Registry, config: ARIELConfig, name: str) -> ArielEnhancementModuleRegistration:
    module = registry.load(ENHANCERS, name)
    made = type(module.create_enhancer(config, registry))
    return ArielEnhancementModuleRegistration(
        name, made.__module__, made.__name__, _first_line(made.__doc__), made.order
    )


def _adapter(registry: Registry, name: str) -> ArielIngestionAdapterRegistration:
    module = registry.load(ADAPTERS, name)
    return ArielIngestionAdapterRegistration(
        name, "ariel_lite.osprey.adapters", class_name(name), _first_line(module.__doc__)
    )


def _first_line(text: str | None) -> str:
    return (text or "").strip().splitlines()[0] if text else ""
