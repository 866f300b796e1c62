"""The model that comes along: its rate beside a bare loop over onnxruntime, its memory, and a process's first search.

The bare loop is what one would write with onnxruntime and tokenizers alone: texts tokenized, cut, sorted by length and
run in batches of 4 by two Python threads on one session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ariel_lite.compose import Logbook, open_logbook
from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.base import EmbeddingProvider, Vectors
from ariel_lite.embeddings.manifest import MODEL_FILE, TOKENIZER_FILE, ModelSpec, find_model
from ariel_lite.embeddings.onnx import OnnxProvider, allowed_cpus
from ariel_lite.enhancement.text_embedding import TextEmbedding
from ariel_lite.errors import ConfigurationError
from ariel_lite.evaluation.bench_figures import CLOCKS, PROCESS_CLOCKS, Clock, timed, times_of
from ariel_lite.evaluation.bench_process import EMBED, NOTHING, SEARCH, Child, run_child
from ariel_lite.evaluation.bench_vector_report import EmbeddingFigures, FirstSearch
from ariel_lite.evaluation.synthetic import synthetic_entries

THREADS = 2
BARE_BATCH = 4
SLICES = 8
"""The texts are embedded in so many parts, by the two sides in turn, so that both meet the same disturbances."""

QUERIES = 100
STARTS = 5

TokenIds = list[int]


def sample_texts(count: int, seed: int) -> list[str]:
    """Texts of synthetic entries, about 100 words each with the title."""
    return [entry["raw_text"] for entry in synthetic_entries(count, seed)]


def packaged_provider() -> OnnxProvider:
    """The provider of the default model.

    Raises:
        ConfigurationError: the model is absent.
    """
    return OnnxProvider(find_model(ARIELConfig().embedding.model))


def measure_embedding(folder: Path, texts: Sequence[str], queries: Sequence[str], clock: Clock) -> EmbeddingFigures:
    """The rate over the texts, the bare loop's, a process's peak memory, and times of single queries.

    Raises:
        ConfigurationError: the model is absent or damaged, or the process failed.
    """
    spec = find_model(ARIELConfig().embedding.model)
    provider, bare = OnnxProvider(spec), BareLoop(spec)
    rate, bare_rate, agreement = _rates(provider, bare, texts, PROCESS_CLOCKS[clock])
    file = folder / "texts"
    file.write_text("\0".join(texts), encoding="utf-8", newline="")
    _, peak = run_child(EMBED, str(file)).said
    return EmbeddingFigures(
        texts=len(texts),
        words=float(np.mean([len(text.split()) for text in texts])),
        rate=rate,
        bare_rate=bare_rate,
        agreement=agreement,
        peak_bytes=peak or None,
        query=times_of(_query_times(provider, queries, CLOCKS[clock])),
    )


class BareLoop:
    """onnxruntime without anything around it."""

    def __init__(self, spec: ModelSpec) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            str(spec.folder / MODEL_FILE), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_file(str(spec.folder / TOKENIZER_FILE))
        self._tokenizer.enable_truncation(spec.max_tokens)
        self._tokenizer.no_padding()
        self._dimension = spec.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(len(texts), dimension)."""
        ids: list[TokenIds] = [self._tokenizer.encode(text).ids for text in texts]
        order = sorted(range(len(ids)), key=lambda row: -len(ids[row]))
        batches = [order[start : start + BARE_BATCH] for start in range(0, len(order), BARE_BATCH)]
        vectors = np.empty((len(texts), self._dimension), dtype=np.float32)
        with ThreadPoolExecutor(min(THREADS, allowed_cpus())) as pool:
            made = pool.map(lambda rows: self._run([ids[row] for row in rows]), batches)
            for batch, found in zip(batches, made, strict=True):
                vectors[batch] = found
        return vectors

    def _run(self, ids: list[TokenIds]) -> NDArray[np.float32]:
        shape = (len(ids), max(map(len, ids)))
        padded, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, tokens in enumerate(ids):
            padded[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        found: NDArray[np.float32] = self._session.run(None, {"input_ids": padded, "attention_mask": mask})[0]
        return found


def _rates(
    provider: EmbeddingProvider, bare: BareLoop, texts: Sequence[str], clock: Callable[[], float]
) -> tuple[float, float, float]:
    """Texts a second of both, and the least cosine of a text's two vectors; who begins changes from part to part."""
    size = -(-len(texts) // SLICES)
    parts = [texts[start : start + size] for start in range(0, len(texts), size)]
    provider.embed(parts[0][:BARE_BATCH])
    bare.embed(parts[0][:BARE_BATCH])
    spent = {"ours": 0.0, "bare": 0.0}
    agreement = 1.0
    for number, part in enumerate(parts):
        found: dict[str, Vectors] = {}
        for side in ("ours", "bare") if number % 2 else ("bare", "ours"):
            begin = clock()
            found[side] = provider.embed(part) if side == "ours" else bare.embed(part)
            spent[side] += clock() - begin
        agreement = min(agreement, float((found["ours"] * found["bare"]).sum(axis=1).min()))
    return len(texts) / spent["ours"], len(texts) / spent["bare"], agreement


def _query_times(provider: EmbeddingProvider, queries: Sequence[str], clock: Callable[[], float]) -> list[float]:
    chosen = list(islice(queries, QUERIES))
    provider.embed(chosen[:1], query=True)
    return [timed(partial(provider.embed, [query], query=True), clock) for query in chosen]


def measure_first_search(folder: Path, texts: int, seed: int, query: str, clock: Clock) -> FirstSearch:
    """A logbook of `texts` synthetic entries with the model's vectors, searched by processes of their own.

    The query should be of its words. A process that does nothing runs in turn with each.

    Raises:
        ConfigurationError: an entry could not be embedded, or a process failed or searched by words only.
    """
    logbook = folder / "first.db"
    with open_logbook(logbook, config=ARIELConfig()) as book:
        _filled(book, texts, seed)
    pairs = [(run_child(NOTHING), run_child(SEARCH, str(logbook), query)) for _ in range(STARTS)]
    bare, whole = (median(_cost(child, clock) for child in side) for side in zip(*pairs, strict=True))
    hits, degraded = pairs[0][1].said
    if degraded:
        raise ConfigurationError("the first search could not use the model", hint="see 'ariel-lite models'")
    return FirstSearch(texts, hits, whole, bare)


def _filled(book: Logbook, texts: int, seed: int) -> None:
    backend = book.service.backend
    backend.upsert(list(synthetic_entries(texts, seed)))
    report = TextEmbedding(packaged_provider()).run(backend)
    if report.done != texts:
        raise ConfigurationError(f"only {report.done} of {texts} entries were embedded", hint="see 'ariel-lite models'")


def _cost(child: Child, clock: Clock) -> float:
    return child.wall if clock == "wall" else child.busy
