"""Keywords and summaries for entries: from the entry's own words, or by a language model where one is configured.

They are searched together with the text. Vectors stand for the text alone, so they stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import Enrichment, PendingText
from ariel_lite.config import ARIELConfig, EnhancementModuleConfig
from ariel_lite.embeddings.base import is_embeddable
from ariel_lite.enhancement.backlog import batches, worker_name
from ariel_lite.enhancement.base import EnhancementReport, Progress
from ariel_lite.enhancement.extraction.frequencies import frequencies_of
from ariel_lite.enhancement.extraction.keywords import MOST_KEYWORDS, KeywordFinder
from ariel_lite.enhancement.extraction.summary import LONGEST_SUMMARY, Summariser
from ariel_lite.enhancement.language_model import ModelReader, UnusableAnswer
from ariel_lite.errors import ConfigurationError, GenerationError
from ariel_lite.registry import GENERATORS, Registry
from ariel_lite.text.tokenise import Analyzer

NAME = "semantic_processor"
BATCH = 128
MODEL_BATCH = 4
"""So few at a time, because a claim lasts minutes only and a model may need seconds for an entry."""

UNREACHABLE = 3
"""So many entries in a row that the model does not answer for mean that it is not there."""


class Reader(Protocol):
    """Finds (summary, keywords) of a text."""

    def read(self, text: str) -> tuple[str, tuple[str, ...]]:
        """The summary ("" for none) and the keywords.

        Raises:
            GenerationError: this text, or any text, cannot be read now.
        """


class ProcessorSettings(BaseModel):
    """`enhancement_modules.semantic_processor.settings`."""

    model_config = ConfigDict(extra="forbid")

    max_keywords: int = Field(default=MOST_KEYWORDS, ge=0, le=50)
    max_summary_characters: int = Field(default=LONGEST_SUMMARY, ge=0, le=2_000)


class Extractor:
    """The offline reader: an entry's telling words, and the best sentences of a long one."""

    def __init__(self, backend: Backend, settings: ProcessorSettings) -> None:
        analyzer = Analyzer()
        self._finder = KeywordFinder(frequencies_of(backend, analyzer), analyzer, settings.max_keywords)
        self._summariser = Summariser(self._finder, analyzer, settings.max_summary_characters)

    def read(self, text: str) -> tuple[str, tuple[str, ...]]:
        """See `Reader.read`; never raises."""
        return self._summariser.summary(text), self._finder.keywords(text)


class SemanticProcessor:
    """The enhancer that adds keywords and summaries."""

    name = NAME
    order = 10

    def __init__(self, settings: ProcessorSettings, model: ModelReader | None = None) -> None:
        self._settings = settings
        self._model = model

    def pending(self, backend: Backend) -> int:
        """How many entries a run would try: those that wait, and those that failed."""
        counts = backend.enhancement_counts(NAME)
        return counts["pending"] + counts["failed"]

    def run(
        self, backend: Backend, *, limit: int | None = None, force: bool = False, progress: Progress = lambda done: None
    ) -> EnhancementReport:
        """Give keywords and a summary to entries that wait for them, and to those that failed; `force`: to all anew.

        Raises:
            GenerationError: the configured model cannot be reached; its entries wait on.
        """
        work = _Work(backend, self._settings, self._model)
        if force:
            backend.mark_pending(NAME)
        waiting = batches(
            lambda count: backend.claim_unenhanced(NAME, work.worker, count),
            lambda: backend.mark_pending(NAME, "failed"),
            work.give_up,
            work.report.failed,
            size=MODEL_BATCH if self._model else BATCH,
            limit=limit,
        )
        try:
            for batch in waiting:
                work.enrich(batch)
                progress(len(batch))
        finally:
            backend.release_claims(work.worker)
        return work.report


class _Work:
    """One run: its worker, what it has done, and how many entries in a row the model did not answer for."""

    def __init__(self, backend: Backend, settings: ProcessorSettings, model: ModelReader | None) -> None:
        self.report = EnhancementReport(NAME)
        self.worker = worker_name()
        self._backend = backend
        self._settings = settings
        self._model = model
        self._silent: list[str] = []

    @cached_property
    def _reader(self) -> Reader:
        """Made for the first entry: a run without work counts no words."""
        return self._model or Extractor(self._backend, self._settings)

    def enrich(self, batch: Sequence[PendingText]) -> None:
        """Read a batch and store what was found; what was read before a fault or Ctrl-C is stored too.

        Raises:
            GenerationError: the model is not there.
        """
        made: list[Enrichment] = []
        failed: dict[str, str] = {}
        try:
            for pending in batch:
                self._read(pending, made, failed, alone=len(batch) < UNREACHABLE)
        finally:
            self._backend.store_enrichments(NAME, made)
            if failed:
                self._backend.mark_failed(NAME, failed)
            self.report.failed.update(failed)

    def give_up(self, tried: Sequence[PendingText]) -> None:
        """Note again as failed what failed in this run."""
        self._backend.mark_failed(NAME, {pending.entry_id: self.report.failed[pending.entry_id] for pending in tried})

    def _read(self, pending: PendingText, made: list[Enrichment], failed: dict[str, str], *, alone: bool) -> None:
        if not is_embeddable(pending.text):
            made.append(Enrichment(pending.entry_id, pending.text_hash, "", ()))
            self.report.blank += 1
            return
        try:
            summary, keywords = self._reader.read(pending.text)
        except UnusableAnswer as fault:
            self._silent.clear()
            failed[pending.entry_id] = fault.message
        except GenerationError as fault:
            self._silent.append(pending.entry_id)
            if len(self._silent) >= UNREACHABLE or (alone and not self.report.done):
                for entry_id in self._silent:
                    failed.pop(entry_id, None)
                raise
            failed[pending.entry_id] = fault.message
        else:
            self._silent.clear()
            made.append(Enrichment(pending.entry_id, pending.text_hash, summary, keywords))
            self.report.done += 1


def create_enhancer(config: ARIELConfig, registry: Registry) -> SemanticProcessor:
    """The enhancer of a configuration: by a model where `provider` and `model.model_id` name one, else offline.

    Raises:
        ConfigurationError: one of the two without the other, an unknown provider, or a wrong setting.
    """
    module = config.enhancement_modules.get(NAME) or EnhancementModuleConfig()
    settings = _settings(module.settings)
    model_id = module.model.model_id if module.model else ""
    if not module.provider and not model_id:
        return SemanticProcessor(settings)
    if not module.provider or not model_id or module.model is None:
        missing = "model.model_id" if module.provider else "provider"
        raise ConfigurationError(
            f"enhancement_modules.{NAME}.{missing} is not set",
            hint="set provider and model.model_id, or neither of them for keywords without a language model",
        )
    generator = registry.load(GENERATORS, module.provider).create_generator(config, model_id)
    reader = ModelReader(
        generator,
        max_tokens=module.model.max_tokens,
        most=settings.max_keywords,
        longest=settings.max_summary_characters,
    )
    return SemanticProcessor(settings, reader)


def _settings(given: dict[str, Any]) -> ProcessorSettings:
    try:
        return ProcessorSettings.model_validate(given)
    except ValidationError as fault:
        first = fault.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        known = ", ".join(ProcessorSettings.model_fields)
        raise ConfigurationError(
            f"enhancement_modules.{NAME}.settings.{name}: {first['msg'].lower()}", hint=f"known: {known}"
        ) from fault
