"""The capability, its context and its prompts as classes of Osprey's, whose registry imports this. Needs Osprey."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar

from osprey.base import errors as their_errors
from osprey.base import examples as their_examples
from osprey.base.capability import BaseCapability
from osprey.base.decorators import capability_node
from osprey.context.base import CapabilityContext
from osprey.prompts.base import FrameworkPromptBuilder

from ariel_lite.osprey import capability, context, errors, prompts


class LogbookSearchResultsContext(context.LogbookSearchResultsContext, CapabilityContext):  # type: ignore[misc]
    """See `ariel_lite.osprey.context`."""


class LogbookSearchPromptBuilder(FrameworkPromptBuilder):  # type: ignore[misc]
    """See `ariel_lite.osprey.prompts`."""

    PROMPT_TYPE: ClassVar[str] = prompts.LogbookSearchPromptBuilder.PROMPT_TYPE
    texts: ClassVar[type[prompts.LogbookSearchPromptBuilder]] = prompts.LogbookSearchPromptBuilder

    def get_role(self) -> str:
        """Who the agent is."""
        return self.texts().get_role()

    def get_task(self) -> str:
        """What the agent is to do."""
        return self.texts().get_task()

    def get_instructions(self) -> str:
        """How the agent is to work."""
        return self.texts().get_instructions()

    def get_orchestrator_guide(self) -> Any:
        """When and how to plan a search."""
        guide = self.texts().get_orchestrator_guide()
        return their_examples.OrchestratorGuide(
            instructions=guide.instructions,
            examples=[
                their_examples.OrchestratorExample(
                    step=their_examples.PlannedStep(**asdict(example.step)),
                    scenario_description=example.scenario_description,
                    context_requirements=example.context_requirements,
                    notes=example.notes,
                )
                for example in guide.examples
            ],
            priority=guide.priority,
        )

    def get_classifier_guide(self) -> Any:
        """Which tasks need a search."""
        guide = self.texts().get_classifier_guide()
        return their_examples.TaskClassifierGuide(
            instructions=guide.instructions,
            examples=[their_examples.ClassifierExample(**asdict(example)) for example in guide.examples],
            actions_if_true=their_examples.ClassifierActions(),
        )


@capability_node  # type: ignore[untyped-decorator, unused-ignore]
class LogbookSearchCapability(BaseCapability):  # type: ignore[misc]
    """See `ariel_lite.osprey.capability`."""

    name = capability.LogbookSearchCapability.name
    description = capability.LogbookSearchCapability.description
    provides = capability.LogbookSearchCapability.provides
    requires = capability.LogbookSearchCapability.requires

    async def execute(self) -> dict[str, Any]:
        """Search for the step's objective, within its TIME_RANGE if there is one."""
        contexts = dict(self.get_required_contexts(constraint_mode="soft"))
        fields = await capability.found_for(self.get_task_objective(), contexts)
        stored: dict[str, Any] = self.store_output_context(LogbookSearchResultsContext(**fields))
        return stored

    @staticmethod
    def classify_error(exc: Exception, context: dict[str, Any]) -> Any:
        """What to do about what `execute` raised."""
        found = errors.classify_error(exc, context)
        severity = their_errors.ErrorSeverity[found.severity.name]
        return their_errors.ErrorClassification(
            severity=severity, user_message=found.user_message, metadata=found.metadata
        )

    def _create_orchestrator_guide(self) -> Any:
        return LogbookSearchPromptBuilder().get_orchestrator_guide()

    def _create_classifier_guide(self) -> Any:
        return LogbookSearchPromptBuilder().get_classifier_guide()
