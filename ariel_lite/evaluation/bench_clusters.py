"""Invented vectors that lie as those of texts do: in clusters, not evenly.

Each of 600 topics is a random direction, drawn from with a skew: the first are frequent, the last rare. A vector is
the sum of one direction that all share (0.1 of its squared length: entries of a logbook are a little alike), its
topic's direction (0.2 to 0.6, evenly, so that a topic has near and far members) and noise of its own (the rest). Two
members of a topic then have a cosine of 0.3 to 0.7, two others one of about 0.1. A query is a member with noise of
0.45 of its squared length, so its nearest neighbours have cosines of about 0.4 to 0.7. Every vector depends on the
seed and its number only.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from ariel_lite.backends.values import VectorModel
from ariel_lite.embeddings.base import Vectors, normalised

DIMENSION = 384
BLOCK = 1024
"""Vectors drawn at once."""

TOPICS = 600
SKEW = 1.5
SHARED = 0.1
LEAST_TOPIC, MOST_TOPIC = 0.2, 0.6
QUERY_NOISE = 0.45

_TOPICS, _MEMBERS, _QUERIES = range(3)
"""What a generator is for: the second number of its seed."""


class Clusters:
    """The vectors of a seed: member n, for n = 0, 1, …, and queries near members."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        generator = self._generator(_TOPICS, 0)
        self._topics = _directions(generator, TOPICS)
        self._shared = _directions(generator, 1)

    @property
    def model(self) -> VectorModel:
        """Under what name the vectors are stored."""
        return VectorModel("bench-clusters", DIMENSION, f"bench-clusters-{self._seed}")

    def members(self, start: int, count: int) -> Vectors:
        """Members `start` to `start + count - 1`: (count, 384), each of length 1."""
        if not count:
            return np.empty((0, DIMENSION), dtype=np.float32)
        first, last = start // BLOCK, (start + count - 1) // BLOCK
        blocks = np.concatenate([self._block(number) for number in range(first, last + 1)])
        return blocks[start - first * BLOCK :][:count]

    def queries(self, count: int, members: int) -> Vectors:
        """Queries near any of the first `members` members: (count, 384), each of length 1."""
        return np.concatenate([self._query(number, members) for number in range(count)])

    def query_of(self, text: str, members: int) -> Vectors:
        """The query that stands for a text: (384,), of length 1; which member it is near has nothing to do with it."""
        digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).digest()
        found: Vectors = self._query(int.from_bytes(digest, "big"), members)[0]
        return found

    def _query(self, number: int, members: int) -> Vectors:
        generator = self._generator(_QUERIES, number)
        member = self.members(int(generator.integers(members)), 1)
        noise = _directions(generator, 1)
        return normalised(np.sqrt(1 - QUERY_NOISE) * member + np.sqrt(QUERY_NOISE) * noise)

    def _block(self, number: int) -> Vectors:
        generator = self._generator(_MEMBERS, number)
        topics = (TOPICS * generator.random(BLOCK) ** SKEW).astype(np.int64)
        weights = LEAST_TOPIC + (MOST_TOPIC - LEAST_TOPIC) * generator.random((BLOCK, 1))
        noise = _directions(generator, BLOCK)
        parts = (
            np.sqrt(SHARED) * self._shared,
            np.sqrt(weights) * self._topics[topics],
            np.sqrt(1 - SHARED - weights) * noise,
        )
        return normalised(parts[0] + parts[1] + parts[2])

    def _generator(self, purpose: int, number: int) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64([self._seed, purpose, number]))


def _directions(generator: np.random.Generator, count: int) -> NDArray[np.float32]:
    """Random vectors of length 1."""
    return normalised(generator.standard_normal((count, DIMENSION), dtype=np.float32))
