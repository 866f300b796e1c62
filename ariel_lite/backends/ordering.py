"""Which of many scored rows may be among the best: the first step of putting hits in order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


def contenders(
    rows: Rows, values: NDArray[np.float64], counts: Rows, wanted: int, newest: Callable[[Rows, int], NDArray[np.intp]]
) -> NDArray[np.intp]:
    """Indices of the rows that may be among the best `wanted`: those that are, and those that tie with the last.

    Args:
        rows: row numbers.
        values: their scores, rounded, so that equal ones are equal.
        counts: their exact spellings, which count first.
        wanted: how many are asked for.
        newest: of tied rows, the indices of at least as many of the newest as it is told.
    """
    order = np.lexsort((-values, -counts))
    if len(order) <= wanted:
        return order
    last = order[wanted - 1]
    is_tied = (counts == counts[last]) & (values == values[last])
    is_better = (counts > counts[last]) | ((counts == counts[last]) & (values > values[last]))
    tied = np.flatnonzero(is_tied)
    chosen = newest(rows[tied], wanted - int(is_better.sum()))
    return np.concatenate([np.flatnonzero(is_better), tied[chosen]])
