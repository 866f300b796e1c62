"""How quick an agent's calls are, and whether the server's memory stays flat.

Run as `python tests/benchmarks/mcp_calls.py [LOGBOOK] [--calls 1000] [--entries 135000]`. Without a logbook one is made
of invented entries, whose vectors lie around real sentences' (embedding them all would take the better part of an
hour, and takes no part in a search). The client is the official one, over stdio; a time is from a call to its answer,
in milliseconds; memory is the server's resident set, in megabytes, and `processor` its mean processor time for a call, in
milliseconds (both on Linux only; where other programs disturb the times, that one still says something).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from ariel_lite.backends.base import Backend
from ariel_lite.backends.values import EntryVectors, VectorModel
from ariel_lite.compose import open_logbook
from ariel_lite.config import ARIELConfig
from ariel_lite.evaluation.bench_queries import Corpus, draw_queries, draw_sentences
from ariel_lite.evaluation.synthetic import synthetic_entries
from ariel_lite.query.nodes import Everything
from ariel_lite.registry import Registry, embedding_provider

BLOCK = 5000
CENTRES = 300
SPREAD = 0.7
SHARES = {"keyword_search": 0.4, "hybrid_search": 0.4, "browse": 0.05, "entry_get": 0.1, "sql_query": 0.05}
"""What an agent calls, and how often."""


def prepare(path: Path, count: int) -> None:
    """Entries and vectors where there are none."""
    config = ARIELConfig()
    with open_logbook(path, config=config) as book:
        backend = book.service.backend
        if not backend.status().entries:
            backend.upsert(list(synthetic_entries(count)))
        if not backend.has_vectors():
            give_vectors(backend, config)


def give_vectors(backend: Backend, config: ARIELConfig) -> None:
    """Every entry a vector near one of a few hundred sentences' of the logbook."""
    embedder = embedding_provider(Registry(), config)
    model = VectorModel(embedder.name, embedder.dimension, embedder.fingerprint)
    centres = embedder.embed(draw_sentences(corpus_of(backend), CENTRES))
    generator = np.random.default_rng(0)
    while pending := backend.claim_pending(model, "benchmark", BLOCK):
        noise = generator.standard_normal((len(pending), model.dimension), dtype=np.float32)
        noise *= SPREAD / np.linalg.norm(noise, axis=1, keepdims=True)
        vectors = centres[generator.integers(len(centres), size=len(pending))] + noise
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        made = [EntryVectors(one, vector, vector[None]) for one, vector in zip(pending, vectors, strict=True)]
        backend.store_vectors(model, made)
    backend.release_claims("benchmark")
    backend.seal_vectors(model)


def corpus_of(backend: Backend) -> Corpus:
    """The words of a logbook and a sample of it."""
    corpus = Corpus(backend.status().entries, 0)
    for _ in corpus.survey(backend.iterate_entries(Everything())):
        pass
    return corpus


def draw_calls(path: Path, count: int) -> list[tuple[str, dict[str, Any]]]:
    """(tool, arguments) of so many calls."""
    maker = random.Random(1)
    with open_logbook(path, read_only=True) as book:
        corpus = corpus_of(book.service.backend)
        ids = [entry["entry_id"] for entry in book.browse(page_size=100).entries]
    texts = [query.text for query in draw_queries(corpus, 40)]
    sentences = draw_sentences(corpus, 200)
    calls: list[tuple[str, dict[str, Any]]] = []
    for tool in maker.choices(list(SHARES), list(SHARES.values()), k=count):
        arguments: dict[str, dict[str, Any]] = {
            "keyword_search": {"query": maker.choice(texts)},
            "hybrid_search": {"query": maker.choice(sentences)},
            "browse": {"page_size": 20, "offset": maker.randrange(1000)},
            "entry_get": {"entry_id": maker.choice(ids)},
            "sql_query": {
                "sql": "SELECT source_system, count(*) FROM enhanced_entries WHERE author LIKE 'A%' GROUP BY 1"
            },
        }
        calls.append((tool, arguments[tool]))
    return calls


async def measure(path: Path, calls: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Figures of the calls, one after another."""
    command = ["-m", "ariel_lite", "--db", str(path), "mcp"]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    times: dict[str, list[float]] = defaultdict(list)
    spent: dict[str, float] = defaultdict(float)
    memory: list[float] = []
    begin = time.perf_counter()
    async with Client(stdio_client(server)) as client:
        await client.list_tools()
        ready = time.perf_counter() - begin
        process = server_process()
        for number, (tool, arguments) in enumerate(calls):
            if number % max(len(calls) // 10, 1) == 0:
                memory.append(resident_megabytes(process))
            start, before = time.perf_counter(), processor_seconds(process)
            result = await client.call_tool(tool, arguments)
            times[tool].append((time.perf_counter() - start) * 1000)
            spent[tool] += (processor_seconds(process) - before) * 1000
            assert not result.is_error, (tool, arguments, result.content)
        memory.append(resident_megabytes(process))
    return {
        "seconds_to_the_tools": round(ready, 3),
        "milliseconds": {
            tool: {**figures(values), "processor": round(spent[tool] / len(values), 1)}
            for tool, values in sorted(times.items())
        },
        "megabytes": [round(value, 1) for value in memory],
        "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
    }


def figures(values: list[float]) -> dict[str, float]:
    """Number, median, 95th percentile and the longest."""
    p50, p95 = np.percentile(values, [50, 95])
    return {"calls": len(values), "p50": round(p50, 1), "p95": round(p95, 1), "max": round(max(values), 1)}


def server_process() -> Path | None:
    """This process's child, as Linux shows it; None elsewhere."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if facts(process)[1] == str(os.getpid()):
                return process
        except OSError:
            continue
    return None


def facts(process: Path) -> list[str]:
    """The fields of a process's `stat` behind its name: state, parent, …"""
    return (process / "stat").read_text().rpartition(")")[2].split()


def resident_megabytes(process: Path | None) -> float:
    """What it holds in memory."""
    return float("nan") if process is None else int(facts(process)[21]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def processor_seconds(process: Path | None) -> float:
    """The processor time that it has used."""
    if process is None:
        return float("nan")
    return sum(map(int, facts(process)[11:13])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure, and print one JSON document."""
    parser = argparse.ArgumentParser(description="Measure an agent's calls.")
    parser.add_argument("logbook", nargs="?", type=Path, help="a copy of it is measured")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--entries", type=int, default=135_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "logbook.db"
        if options.logbook:
            shutil.copy(options.logbook, path)
        prepare(path, options.entries)
        document = asyncio.run(measure(path, draw_calls(path, options.calls)))
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
