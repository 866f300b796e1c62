"""Many clients at once while another program ingests: whether anything fails or is lost, and how long answers take.

Run as `python tests/benchmarks/web_load.py LOGBOOK [--clients N] [--seconds N] [--think SECONDS]` on a copy of a logbook:
entries are added to it. Every client asks the next thing as soon as it has read the last answer, `--think` later.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np
from web_bench import bench_queries, say, served

from ariel_lite.compose import open_logbook
from ariel_lite.evaluation.synthetic import write_synthetic

INGESTED = 20_000
MIX = {"search": 50, "facets": 25, "browse": 10, "entry": 10, "write": 5}
"""What clients ask for, in per cent."""


@dataclass
class Load:
    """What the clients saw.

    Attributes:
        times: kind of request -> seconds from asking to having read the answer.
        faults: answers that were no success.
        waits: how often a client was told to come back later (503), and did.
        written: ids of the entries that clients wrote.
    """

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    faults: list[str] = field(default_factory=list)
    waits: int = 0
    written: list[str] = field(default_factory=list)


class Client:
    """One client: it asks at random, by MIX."""

    def __init__(self, number: int, http: httpx.AsyncClient, queries: Sequence[str], load: Load) -> None:
        self._maker = random.Random(number)
        self._http = http
        self._queries = queries
        self._load = load
        self._seen = ["nothing"]

    async def work(self, until: float, think: float) -> None:
        """Ask until a moment of `time.perf_counter`."""
        while time.perf_counter() < until:
            kind = self._maker.choices(list(MIX), list(MIX.values()))[0]
            start = time.perf_counter()
            reply = await self._ask(kind)
            while reply.status_code == 503 and "retry-after" in reply.headers:
                self._load.waits += 1
                await asyncio.sleep(float(reply.headers["retry-after"]) * self._maker.random())
                reply = await self._ask(kind)
            self._load.times[kind].append(time.perf_counter() - start)
            if reply.status_code != 200 and not (kind == "entry" and reply.status_code == 404):
                self._load.faults.append(f"{kind}: {reply.status_code} {reply.text[:200]}")
            elif kind == "write":
                self._load.written.append(reply.json()["entry_id"])
            elif kind in ("search", "browse"):
                self._seen = [entry["entry_id"] for entry in reply.json()["entries"]] or self._seen
            await asyncio.sleep(think * self._maker.uniform(0.5, 1.5))

    async def _ask(self, kind: str) -> httpx.Response:
        query = self._maker.choice(self._queries)
        if kind == "search":
            return await self._http.post("/api/search", json={"query": query, "mode": "keyword"})
        if kind == "facets":
            return await self._http.post("/api/facets", json={"query": query})
        if kind == "browse":
            return await self._http.get("/api/entries", params={"page": self._maker.randrange(1, 50)})
        if kind == "entry":
            return await self._http.get(f"/api/entries/{self._maker.choice(self._seen)}", params={"query": query})
        return await self._http.post("/api/entries", json={"subject": f"note {self._maker.random()}", "details": query})


async def ask_at_once(address: str, queries: Sequence[str], clients: int, seconds: float, think: float) -> Load:
    """Let clients work at the same time."""
    load = Load()
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits) as http:
        until = time.perf_counter() + seconds
        await asyncio.gather(*(Client(n, http, queries, load).work(until, think) for n in range(clients)))
    return load


def under_load(location: str, clients: int, seconds: float, think: float, ingested: int) -> tuple[Load, int]:
    """(what the clients saw, how many entries are missing at the end)."""
    queries = [query.text for query in bench_queries(location, 15)]
    with open_logbook(location, read_only=True) as book:
        before = book.service.backend.status().entries
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "fresh.jsonl"
        write_synthetic(source, ingested, seed=7)
        # Ids of their own: on a copy that was measured before, the entries are new once more.
        source.write_text(source.read_text().replace('"id": "', f'"id": "fresh-{time.time_ns()}-'))
        command = [sys.executable, "-m", "ariel_lite", "--db", location, "ingest", "--adapter", "generic_json"]
        with served(location) as address, subprocess.Popen([*command, "--source", str(source)]) as ingesting:
            load = asyncio.run(ask_at_once(address, queries, clients, seconds, think))
            code = ingesting.wait()
    if code:
        load.faults.append(f"the ingestion ended with {code}")
    with open_logbook(location, read_only=True) as book:
        after = book.service.backend.status().entries
        found = len(book.service.backend.get_entries(load.written))
    return load, (before + ingested + len(load.written) - after) + (len(load.written) - found)


def main() -> None:
    """Run the load and print what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("location")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--think", type=float, default=0)
    options = parser.parse_args()
    load, missing = under_load(options.location, options.clients, options.seconds, options.think, INGESTED)
    for kind, times in sorted(load.times.items()):
        p50, p95, most = np.percentile(times, [50, 95, 100]) * 1000
        say(f"{kind:<8}{len(times):>7} p50 {p50:>6.0f} p95 {p95:>6.0f} max {most:>6.0f} ms")
    every = [one for times in load.times.values() for one in times]
    rate = len(every) / options.seconds
    say(f"all     {len(every):>7} p95 {np.percentile(every, 95) * 1000:.0f} ms, {rate:.0f} a second")
    say(f"{len(load.faults)} failed, {load.waits} were told to come back later, {missing} entries missing")
    for fault in load.faults[:5]:
        say(fault)


if __name__ == "__main__":
    main()
