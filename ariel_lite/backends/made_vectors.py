"""What both backends do with vectors before they are stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ariel_lite.backends.values import EntryVectors, VectorModel
from ariel_lite.embeddings.base import is_storable
from ariel_lite.errors import EmbeddingGenerationError

FAILED = -1
"""The number of windows of an entry that could not be embedded."""

UNKNOWN_ROW = -1
"""The row number of vectors that come from elsewhere: their entry is found by its id."""


def windows_count(made: EntryVectors) -> int:
    """The number of windows to note; FAILED for an entry that could not be embedded."""
    if made.error:
        return FAILED
    return 0 if made.windows is None else len(made.windows)


def unknown_ids(vectors: Sequence[EntryVectors]) -> list[str]:
    """Ids of entries whose row numbers are to be found."""
    return [made.pending.entry_id for made in vectors if made.pending.row == UNKNOWN_ROW]


def placed(vectors: Sequence[EntryVectors], rows: Mapping[str, int]) -> list[EntryVectors]:
    """The vectors with row numbers found by entry id; those of entries that are not there are left out."""
    known = (
        replace(made, pending=replace(made.pending, row=rows.get(made.pending.entry_id, UNKNOWN_ROW)))
        if made.pending.row == UNKNOWN_ROW
        else made
        for made in vectors
    )
    return [made for made in known if made.pending.row != UNKNOWN_ROW]


def check_vectors(made: EntryVectors, model: VectorModel) -> None:
    """Refuse vectors that must not be stored.

    Raises:
        EmbeddingGenerationError: another dimension than the model's, or a vector that is zero or not finite.
    """
    for vectors in (made.vector, made.windows):
        if vectors is None:
            continue
        if vectors.shape[-1] != model.dimension:
            raise EmbeddingGenerationError(
                f"the vector of {made.pending.entry_id} has {vectors.shape[-1]} numbers, not {model.dimension}",
                hint="check the model's dimension in the configuration",
            )
        if not all(is_storable(vector) for vector in np.atleast_2d(vectors)):
            raise EmbeddingGenerationError(
                f"the vector of {made.pending.entry_id} is zero or not finite",
                hint="it was not stored; check the model",
            )


def check_dimension(table: str, model: VectorModel, stored: int | None) -> None:
    """Refuse a model whose table holds vectors of another dimension.

    Raises:
        EmbeddingGenerationError: it does.
    """
    if stored not in (None, model.dimension):
        raise EmbeddingGenerationError(
            f"{table} holds vectors of {stored} numbers, the model gives {model.dimension}",
            hint=f"drop them with 'ariel-lite reembed --model {model.name} --drop', or name the model differently",
        )
