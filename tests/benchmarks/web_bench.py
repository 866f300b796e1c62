"""How quick the page's requests are: for each of the bench's queries a search and its facets, sent at the same time.

Run as `python tests/benchmarks/web_bench.py LOGBOOK [QUERIES_PER_CLASS]`. The server is a process of its own, the client
asks over loopback; times are from sending both requests to having read both answers, in milliseconds.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import numpy as np

from ariel_lite.compose import open_logbook
from ariel_lite.evaluation.bench_queries import BenchQuery, Corpus, draw_queries
from ariel_lite.query.nodes import Everything

WARM_UP = ("beam", "vacuum")


def bench_queries(location: str, count: int) -> list[BenchQuery]:
    """The bench's queries for a logbook."""
    with open_logbook(location, read_only=True) as book:
        backend = book.service.backend
        corpus = Corpus(backend.status().entries, 0)
        for _ in corpus.survey(backend.iterate_entries(Everything())):
            pass
        return draw_queries(corpus, count)


@contextmanager
def served(location: str, *options: str) -> Iterator[str]:
    """The address of a server of a logbook, as long as it is entered."""
    command = [sys.executable, "-m", "ariel_lite", "--db", location, "web", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


async def ask(client: httpx.AsyncClient, query: str, mode: str | None) -> tuple[float, float, float]:
    """(both, search, facets) of one query, in milliseconds."""
    times: dict[str, float] = {}
    start = time.perf_counter()

    async def one(path: str) -> None:
        reply = await client.post(path, json={"query": query, "mode": mode})
        reply.raise_for_status()
        times[path] = (time.perf_counter() - start) * 1000

    await asyncio.gather(one("/api/search"), one("/api/facets"))
    return max(times.values()), times["/api/search"], times["/api/facets"]


async def measure(address: str, queries: list[BenchQuery], mode: str | None) -> dict[str, list[tuple[float, ...]]]:
    """Times by class of query."""
    found: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        for word in WARM_UP:
            await ask(client, word, mode)
        for query in queries:
            found[query.kind].append(await ask(client, query.text, mode))
    return found


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


def main() -> None:
    """Print p50 and p95 for each class and all together."""
    location = sys.argv[1]
    queries = bench_queries(location, int(sys.argv[2]) if len(sys.argv) > 2 else 20)
    with served(location) as address:
        found = asyncio.run(measure(address, queries, "keyword"))
    say(f"{'class':<16}{'both p50':>9}{'p95':>7}{'search p50':>12}{'p95':>7}{'facets p50':>12}{'p95':>7}")
    found["all"] = [times for group in list(found.values()) for times in group]
    for kind, times in found.items():
        figures = np.percentile(np.array(times), [50, 95], axis=0)
        cells = [f"{figures[row, column]:.0f}" for column in range(3) for row in range(2)]
        say(f"{kind:<16}{cells[0]:>9}{cells[1]:>7}{cells[2]:>12}{cells[3]:>7}{cells[4]:>12}{cells[5]:>7}")


if __name__ == "__main__":
    main()
