"""Embeddings on the CPU with onnxruntime and tokenizers, from the models that come along.

One session is shared by a few Python threads, each running one small batch at a time (intra_op threads 1): faster
than the runtime's own threads, and it starts none that could be pinned or that would outnumber the allowed CPUs.
Texts are sorted by length within blocks, so that a batch holds texts of nearly one length and little padding. The
graph masks padding, so a vector does not depend on the batch. Model and tokenizer are loaded at the first use.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from threading import Lock
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as runtime_faults
from tokenizers import Tokenizer

from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.base import Vectors, clean_text, is_embeddable, require_embeddable
from ariel_lite.embeddings.manifest import MODEL_FILE, TOKENIZER_FILE, ModelSpec, configured_model, read_checked
from ariel_lite.embeddings.windows import cut
from ariel_lite.errors import ConfigurationError, EmbeddingGenerationError

MOST_THREADS = 2
BLOCK_TEXTS = 256
"""Texts tokenized and sorted together; bounds memory whatever the number of texts."""

BATCH_TEXTS = 8
BATCH_TOKENS = 512
BATCH_SHORTEST = 0.85
"""A batch holds up to 8 texts and 512 tokens, none shorter than 0.85 of the longest: the padding stays small."""

SEGMENT_CHARACTERS = 50_000
"""Very long text is tokenized in stretches of about this size; an encoding takes a hundred bytes a token."""

SPECIAL_TOKENS = 2
ERRORS_ONLY = 3
_INPUTS = {"input_ids", "attention_mask"}
_OUTPUT = "sentence_embedding"
_BLANK = re.compile(r"[ \t\n]")
_FAULTS = (
    runtime_faults.Fail,
    runtime_faults.InvalidArgument,
    runtime_faults.InvalidGraph,
    runtime_faults.InvalidProtobuf,
    runtime_faults.NotImplemented,
    runtime_faults.RuntimeException,
)

TokenIds = list[int]


@dataclass(frozen=True)
class Batch:
    """Token ids of a few texts, and the rows of the result that they belong to."""

    rows: list[int]
    ids: list[TokenIds]

    def arrays(self) -> dict[str, NDArray[np.int64]]:
        """The model's inputs, padded to the longest text with masked zeros: int64, (texts, tokens)."""
        shape = (len(self.ids), max(len(ids) for ids in self.ids))
        padded, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, ids in enumerate(self.ids):
            padded[row, : len(ids)] = ids
            mask[row, : len(ids)] = 1
        return {"input_ids": padded, "attention_mask": mask}


@dataclass(frozen=True)
class Runtime:
    """A loaded model."""

    tokenizer: Tokenizer
    session: Any

    def vectors(self, batch: Batch) -> Vectors:
        """The vectors of a batch, float32 (texts, dimension)."""
        found: Vectors = self.session.run([_OUTPUT], batch.arrays())[0]
        return found


class OnnxProvider:
    """An `EmbeddingProvider` with its own windows.

    Args:
        spec: the model. Its files are checked when they are loaded, at the first `embed` or `windows`.
        threads: how many batches run at once; default: the CPUs this process may use, at most 2.
    """

    def __init__(self, spec: ModelSpec, threads: int | None = None) -> None:
        self._spec = spec
        self._threads = threads or min(allowed_cpus(), MOST_THREADS)
        self._lock = Lock()
        self._runtime: Runtime | None = None

    @property
    def name(self) -> str:
        """The model's name."""
        return self._spec.name

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self._spec.dimension

    @property
    def fingerprint(self) -> str:
        """See `ModelSpec.fingerprint`; the model need not be loaded for it."""
        return self._spec.fingerprint

    @property
    def recommended_threshold(self) -> float:
        """The manifest's recommendation."""
        return self._spec.recommended_threshold

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """See `EmbeddingProvider.embed`; a text beyond `max_tokens` is cut there."""
        require_embeddable(texts)
        runtime = self._loaded()
        prefix = self._spec.query_prefix if query else self._spec.document_prefix
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        try:
            with ThreadPoolExecutor(self._threads) as pool:
                for start in range(0, len(texts), BLOCK_TEXTS):
                    block = [self.token_ids(prefix + text) for text in texts[start : start + BLOCK_TEXTS]]
                    self._embed_block(pool, runtime, block, vectors[start : start + len(block)])
        except _FAULTS as fault:
            raise EmbeddingGenerationError(
                f"model {self.name} failed: {_first_line(fault)}", hint="try again; then run 'ariel-lite doctor'"
            ) from fault
        return vectors

    def windows(self, text: str) -> list[str]:
        """See `Chunker.windows`; windows begin and end at words, and hold their prefix and special tokens."""
        if not is_embeddable(text):
            return []
        tokenizer = self._loaded().tokenizer
        starts: list[int] = []
        costs: list[int] = []
        for offset, segment in segments_of(clean_text(text)):
            for start, cost in words_of(tokenizer, segment):
                starts.append(offset + start)
                costs.append(cost)
        return cut(text, starts, costs, self._room(tokenizer), self._spec.window_overlap) or [text]

    def _room(self, tokenizer: Tokenizer) -> int:
        """Tokens of text that fit a window beside the special tokens and the document prefix."""
        prefix = self._spec.document_prefix
        taken = len(tokenizer.encode(prefix, add_special_tokens=False).ids) if prefix else 0
        return max(min(self._spec.window_tokens, self._spec.max_tokens) - SPECIAL_TOKENS - taken, 1)

    def token_ids(self, text: str) -> TokenIds:
        """What the model sees of a text: its token ids, special ones included, cut at `max_tokens`."""
        # One text at a time: tokenizers' own batches would start a thread for each CPU of the host.
        ids: TokenIds = self._loaded().tokenizer.encode(clean_text(text)).ids
        limit = self._spec.max_tokens
        return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]

    def _embed_block(self, pool: ThreadPoolExecutor, runtime: Runtime, ids: list[TokenIds], out: Vectors) -> None:
        batches = list(batches_of(ids))
        run: Callable[..., Iterator[Vectors]] = map if len(batches) == 1 or self._threads == 1 else pool.map
        for batch, found in zip(batches, run(runtime.vectors, batches), strict=True):
            out[batch.rows] = found

    def _loaded(self) -> Runtime:
        with self._lock:
            if self._runtime is None:
                self._runtime = load(self._spec)
            return self._runtime


def create_provider(config: ARIELConfig, model: str) -> OnnxProvider:
    """The provider of a model of the manifest, with the configuration's prefixes and token limit.

    Raises:
        ConfigurationError: no such model, its dimension is not the configured one, or a file of it is absent.
    """
    spec = configured_model(config, model)
    for file_name in (MODEL_FILE, TOKENIZER_FILE):
        if not (spec.folder / file_name).is_file():
            read_checked(spec, file_name)
    return OnnxProvider(spec)


def load(spec: ModelSpec) -> Runtime:
    """Check and load a model.

    Raises:
        ConfigurationError: a file is absent or damaged, or is not a model of the kind that is needed.
    """
    # Said again at each load: a library that was imported before may have made the runtime talkative.
    onnxruntime.set_default_logger_severity(ERRORS_ONLY)
    try:
        tokenizer = Tokenizer.from_buffer(read_checked(spec, TOKENIZER_FILE))
        session = onnxruntime.InferenceSession(
            read_checked(spec, MODEL_FILE), session_options(), providers=["CPUExecutionProvider"]
        )
    except (*_FAULTS, ValueError) as fault:
        raise ConfigurationError(f"model {spec.name} cannot be loaded: {_first_line(fault)}") from fault
    tokenizer.no_truncation()
    tokenizer.no_padding()
    _check_shape(spec, session)
    return Runtime(tokenizer, session)


def session_options() -> Any:
    """One thread a call, no spinning, quiet; fused nodes stand in the file already, so basic optimisation suffices."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = ERRORS_ONLY
    # A memory plan for each new shape would be kept for good, and lengths differ all the time.
    options.enable_mem_pattern = False
    return options


def segments_of(text: str) -> Iterator[tuple[int, str]]:
    """Offsets and texts of stretches that end at a blank, so that they can be tokenized one by one."""
    start = 0
    while start < len(text):
        blank = _BLANK.search(text, start + SEGMENT_CHARACTERS)
        end = blank.start() if blank else len(text)
        yield start, text[start:end]
        start = end


def words_of(tokenizer: Tokenizer, text: str) -> Iterator[tuple[int, int]]:
    """Where each of the tokenizer's words begins, and how many tokens it has."""
    encoding = tokenizer.encode(text, add_special_tokens=False)
    offsets = encoding.offsets
    for _, tokens in groupby(enumerate(encoding.word_ids), key=itemgetter(1)):
        places = [place for place, _ in tokens]
        yield offsets[places[0]][0], len(places)


def batches_of(ids: Sequence[TokenIds]) -> Iterator[Batch]:
    """Texts of similar length together, the longest first, so that threads finish at about the same time."""
    rows = sorted(range(len(ids)), key=lambda row: -len(ids[row]))
    start = 0
    while start < len(rows):
        longest = len(ids[rows[start]])
        most = max(min(BATCH_TEXTS, BATCH_TOKENS // longest), 1)
        chosen = [row for row in rows[start : start + most] if len(ids[row]) >= BATCH_SHORTEST * longest]
        yield Batch(chosen, [ids[row] for row in chosen])
        start += len(chosen)


def allowed_cpus() -> int:
    """How many CPUs this process may use, which in a container is fewer than the machine has."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _check_shape(spec: ModelSpec, session: Any) -> None:
    inputs = {node.name for node in session.get_inputs()}
    outputs = {node.name: node.shape for node in session.get_outputs()}
    if inputs != _INPUTS or outputs.get(_OUTPUT, [None])[-1] != spec.dimension:
        raise ConfigurationError(
            f"model {spec.name} does not map {', '.join(sorted(_INPUTS))} to {_OUTPUT} of {spec.dimension} numbers",
            hint="see models/README.md for the kind of model that is needed",
        )


def _first_line(fault: Exception) -> str:
    return (str(fault).splitlines() or [type(fault).__name__])[0]
