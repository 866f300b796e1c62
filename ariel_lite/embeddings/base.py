"""What an embedding provider is, and the rules that all vectors share.

A provider turns texts into L2-normalised vectors: one method, `embed`. One that knows its tokenizer also offers
`windows`; for any other, `windows_of` cuts by words. A provider's module has the factory
`create_provider(config: ARIELConfig, model: str) -> EmbeddingProvider`.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ariel_lite.config import ARIELConfig, EmbeddingModelConfig
from ariel_lite.embeddings.windows import word_windows
from ariel_lite.errors import EmbeddingGenerationError

Vectors = NDArray[np.float32]
"""float32, shape (n, dimension) for many texts, (dimension,) for one."""

DEFAULT_THRESHOLD = 0.5
"""The cosine below which a hit is not shown, for models that recommend none; ARIEL's value."""

_NAME_GAPS = re.compile(r"[^a-z0-9]")
_SURROGATES = re.compile("[\ud800-\udfff\x00]")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zs", "Zl", "Zp", "Mn"})
_REPLACEMENT = "\ufffd"


class EmbeddingProvider(Protocol):
    """Turns texts into vectors of one model. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """The model's name, which also names its tables."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector. A provider that was not told asks its server once.

        Raises:
            EmbeddingGenerationError: the server had to be asked and did not answer.
        """
        ...

    @property
    def fingerprint(self) -> str:
        """Differs when the same text may get another vector or other windows: model, prefixes, sizes, chunker."""
        ...

    @property
    def recommended_threshold(self) -> float:
        """The cosine (-1 to 1) below which a hit is unlikely to be related."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Vectors of the texts, in their order: float32, shape (len(texts), dimension), each of length 1.

        A text's vector does not depend on the texts beside it. What is beyond the model's longest input is not
        seen: cut entries with `windows_of` first. `query` puts the model's query prefix before each text,
        otherwise its document prefix is used.

        Raises:
            EmbeddingGenerationError: a blank text (see `is_embeddable`), or the model or its server failed.
            ConfigurationError: the model's files are absent or damaged.
        """
        ...


@runtime_checkable
class Chunker(Protocol):
    """What a provider that knows its tokenizer adds."""

    def windows(self, text: str) -> list[str]:
        """Overlapping substrings of the text, in order, that cover it and each fit the model; [] for blank text."""
        ...


def windows_of(provider: EmbeddingProvider, text: str) -> list[str]:
    """The provider's own windows of a text, else windows by words; [] for text that is not embeddable."""
    if not is_embeddable(text):
        return []
    return provider.windows(text) if isinstance(provider, Chunker) else word_windows(text)


def entry_vector(window_vectors: Vectors) -> Vectors:
    """One vector for an entry: the L2-normalised mean of its windows' vectors, shape (n, dimension) -> (dimension,)."""
    mean: Vectors = normalised(window_vectors.mean(axis=0, keepdims=True))[0]
    return mean


def normalised(vectors: Vectors) -> Vectors:
    """Each row brought to length 1; a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def is_embeddable(text: str) -> bool:
    """True when the text shows anything: not only blanks, control or zero-width characters. An emoji counts."""
    return any(unicodedata.category(sign) not in _INVISIBLE and sign != _REPLACEMENT for sign in text)


def is_storable(vector: Vectors) -> bool:
    """True for a finite vector that is not zero; no other is ever stored or searched for."""
    return bool(np.isfinite(vector).all() and vector.any())


def clean_text(text: str) -> str:
    """The text with NUL and lone surrogates replaced by blanks, so that it can be encoded; the length stays."""
    return _SURROGATES.sub(" ", text)


def require_embeddable(texts: Sequence[str]) -> None:
    """Refuse blank texts, whose vectors would only mislead a ranking.

    Raises:
        EmbeddingGenerationError: names the first blank text by its position.
    """
    for position, text in enumerate(texts):
        if not is_embeddable(text):
            raise EmbeddingGenerationError(
                f"text {position + 1} of {len(texts)} is blank", hint="blank text has no vector; leave it out"
            )


def model_table(name: str) -> str:
    """The table of a model's entry vectors: "text_embeddings_" and the name, lower case, other signs as "_"."""
    return "text_embeddings_" + _NAME_GAPS.sub("_", name.lower())


def windows_table(name: str) -> str:
    """The table of a model's window vectors: "text_windows_" and the name, lower case, other signs as "_"."""
    return "text_windows_" + _NAME_GAPS.sub("_", name.lower())


def make_fingerprint(provider: str, parts: dict[str, Any]) -> str:
    """A short text that differs when any part differs: the provider's name and 16 hexadecimal digits."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return f"{provider}-{hashlib.sha256(text.encode('ascii')).hexdigest()[:16]}"


def model_settings(config: ARIELConfig, model: str) -> EmbeddingModelConfig:
    """What the configuration says about a model under `enhancement_modules.text_embedding.models`, else defaults.

    A dimension that is absent there is taken from the `embedding_dimension` setting of a search mode that uses
    the model.
    """
    module = config.enhancement_modules.get("text_embedding")
    named = [entry for entry in module.models if entry.name == model] if module else []
    settings = named[0] if named else EmbeddingModelConfig(name=model)
    if settings.dimension is not None:
        return settings
    return EmbeddingModelConfig.model_validate({**settings.model_dump(), "dimension": _search_dimension(config, model)})


def _search_dimension(config: ARIELConfig, model: str) -> Any:
    for module in config.search_modules.values():
        dimension = module.settings.get("embedding_dimension")
        if dimension is not None and (module.model or config.embedding.model) == model:
            return dimension
    return None
