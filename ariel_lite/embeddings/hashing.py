"""Vectors made by hashing words and trigrams: no model, the same everywhere, for tests and trials.

Texts that share words or spellings are near each other; meaning plays no part.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np

from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.base import Vectors, make_fingerprint, model_settings, normalised, require_embeddable
from ariel_lite.embeddings.windows import CHUNKER_VERSION, WORD_OVERLAP, WORD_WINDOW, word_windows

DEFAULT_DIMENSION = 256
_WORD_WEIGHT = 2.0
_TRIGRAM_WEIGHT = 0.5
_WORDS = re.compile(r"\w+|[^\w\s]")


class HashingProvider:
    """An `EmbeddingProvider` with its own windows, without any model."""

    recommended_threshold = 0.05

    def __init__(self, name: str = "hashing", dimension: int = DEFAULT_DIMENSION, window: int = WORD_WINDOW) -> None:
        self.name = name
        self.dimension = dimension
        self._window = window
        self.fingerprint = make_fingerprint("hashing", {"n": dimension, "window": window, "chunker": CHUNKER_VERSION})

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """See `EmbeddingProvider.embed`; queries and entries are treated alike."""
        require_embeddable(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for feature, weight in _features(text):
                place, sign = _place(feature, self.dimension)
                vectors[row, place] += sign * weight
            if not vectors[row].any():
                vectors[row, 0] = 1.0
        return normalised(vectors)

    def windows(self, text: str) -> list[str]:
        """See `Chunker.windows`; sizes are estimated tokens."""
        return word_windows(text, self._window, min(WORD_OVERLAP, self._window // 4))


def create_provider(config: ARIELConfig, model: str) -> HashingProvider:
    """The provider; the configuration may name the dimension and, as `max_input_tokens`, the size of windows."""
    settings = model_settings(config, model)
    return HashingProvider(model, settings.dimension or DEFAULT_DIMENSION, settings.max_input_tokens or WORD_WINDOW)


def _features(text: str) -> Iterator[tuple[str, float]]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    for word in _WORDS.findall(folded):
        yield word, _WORD_WEIGHT
        padded = f" {word} "
        for start in range(len(padded) - 2):
            yield f"3{padded[start : start + 3]}", _TRIGRAM_WEIGHT


def _place(feature: str, dimension: int) -> tuple[int, float]:
    number = int.from_bytes(hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest(), "big")
    return number // 2 % dimension, 1.0 if number % 2 else -1.0
