"""The entries that wait for an enhancer, in batches that only this worker has."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable, Collection, Iterator, Sequence

from ariel_lite.backends.values import PendingText

Claim = Callable[[int], list[PendingText]]
"""Takes up to so many waiting entries for this worker."""


def worker_name() -> str:
    """A name that no other run has: host, process and a random part."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


def batches(
    claim: Claim,
    retry_failed: Callable[[], object],
    give_up: Callable[[Sequence[PendingText]], None],
    failed: Collection[str],
    *,
    size: int,
    limit: int | None,
) -> Iterator[list[PendingText]]:
    """Batches of entries to enhance: those never tried first, then those that failed in earlier runs, once more.

    So no number of entries that always fail keeps a limited run from new ones, and a fault that has passed mends
    itself with the next run.

    Args:
        claim: takes waiting entries.
        retry_failed: lets all failed entries wait again.
        give_up: notes again as failed what this run has tried already.
        failed: ids of the entries that failed in this run; read while it grows.
        size: most entries in a batch.
        limit: most entries in all; None for no limit.
    """
    left = limit
    for is_retry in (False, True):
        if is_retry and left != 0:
            retry_failed()
        while left is None or left > 0:
            claimed = claim(size if left is None else min(size, left))
            tried = [pending for pending in claimed if pending.entry_id in failed]
            if tried:
                give_up(tried)
            fresh = [pending for pending in claimed if pending.entry_id not in failed]
            if fresh:
                yield fresh
                left = None if left is None else left - len(fresh)
            if not claimed:
                break
