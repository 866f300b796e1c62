"""What a generator is: a language model that completes a chat of one system and one user message.

A provider's module has the factory `create_generator(config: ARIELConfig, model: str) -> Generator`; third parties
register theirs under the entry point group `ariel_lite.generators`. Addresses and keys come from
`api.providers.<provider>`.
"""

from __future__ import annotations

from typing import Protocol

DEFAULT_TEMPERATURE = 0.1
"""ARIEL's: answers are to be found, not made up."""


class Generator(Protocol):
    """A language model behind some provider. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """Provider and model, for people: `ollama llama3.1`."""
        ...

    def complete(
        self,
        system: str,
        prompt: str,
        *,
        max_tokens: int,
        temperature: float = DEFAULT_TEMPERATURE,
        timeout_seconds: float | None = None,
    ) -> str:
        """The model's answer to a system message and a user message, stripped; never blank.

        Args:
            system: the rules; never holds text of entries.
            prompt: the user message.
            max_tokens: the longest answer, in the model's tokens.
            temperature: 0 (always the likeliest word) to 2.
            timeout_seconds: give up after so long, repeats included; None: the provider's own patience.

        Raises:
            GenerationError: the provider cannot be reached, refuses, takes too long or answers with what is no text.
        """
        ...
