"""Cutting long text into overlapping windows that a model can take in whole.

The text is seen as pieces (words, or what a tokenizer calls words), each with a cost in tokens. Windows begin and
end at pieces, together cover the text to its last character, and are of nearly the same size, so that no window is
a scrap of a few words whose vector says little.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

CHUNKER_VERSION = 1
"""Raised whenever the same text would be cut differently; part of every fingerprint."""

WORD_WINDOW = 256
WORD_OVERLAP = 32
"""Sizes for models whose tokenizer is not known, in estimated tokens."""

BYTES_A_TOKEN = 3
"""A careful estimate: tokenizers reach about 4 bytes of prose, fewer of device names and numbers."""

_PIECES = re.compile(r"\w{1,24}|[^\w\s]")


def word_windows(text: str, size: int = WORD_WINDOW, overlap: int = WORD_OVERLAP) -> list[str]:
    """Windows of about `size` tokens for a model whose tokenizer is not known; [] when the text holds no sign.

    A word costs one token for each three bytes, a punctuation mark one: more than most tokenizers need.
    """
    pieces = list(_PIECES.finditer(text))
    costs = [math.ceil(len(piece[0].encode("utf-8", "replace")) / BYTES_A_TOKEN) for piece in pieces]
    return cut(text, [piece.start() for piece in pieces], costs, size, overlap)


def cut(text: str, starts: Sequence[int], costs: Sequence[int], size: int, overlap: int) -> list[str]:
    """Cut a text into windows of at most `size` tokens that share at least `overlap` tokens with the next.

    `starts` are the offsets of the pieces in the text, ascending, and `costs` their tokens. A single piece that
    costs more than `size` makes a window of its own. No pieces: no windows.
    """
    if not starts:
        return []
    before = [0, *accumulate(costs)]
    if before[-1] <= size:
        return [text]
    bounds = [0, *starts[1:], len(text)]
    overlap = min(overlap, size // 2)
    target = _even_size(before[-1], size, overlap)
    found, first = [], 0
    while True:
        last = max(bisect_right(before, before[first] + target) - 1, first + 1)
        found.append(text[bounds[first] : bounds[last]])
        if last == len(starts):
            return found
        first = max(bisect_right(before, before[last] - overlap) - 1, first + 1)


def _even_size(total: int, size: int, overlap: int) -> int:
    """The size that spreads the tokens evenly over as few windows as can be, with slack for whole words."""
    count = math.ceil((total - overlap) / (size - overlap))
    return min(size, math.ceil((total - overlap) / count) + overlap + size // 16)
