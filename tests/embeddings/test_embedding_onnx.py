"""The ONNX provider with the real model: vectors, batches, threads, limits."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ariel_lite.config import DEFAULT_MODEL, ARIELConfig
from ariel_lite.embeddings.manifest import find_model
from ariel_lite.embeddings.onnx import BLOCK_TEXTS, OnnxProvider, allowed_cpus, batches_of, create_provider
from ariel_lite.errors import EmbeddingGenerationError

ROOT = Path(__file__).parents[2]
WORDS = ["beam", "lost", "vacuum", "leak", "sector", "klystron", "trip", "interlock", "cooling", "water", "flow"]


def sample_texts(count: int) -> list[str]:
    """Texts of 1 to 80 words in no order of length."""
    return [" ".join(WORDS[(n * 7 + k) % len(WORDS)] for k in range(n * 37 % 80 + 1)) for n in range(count)]


def test_vectors_are_float32_of_length_one(provider: OnnxProvider) -> None:
    vectors = provider.embed(["beam lost", "vacuum leak in sector 7"])
    assert vectors.shape == (2, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_no_vectors(provider: OnnxProvider) -> None:
    assert provider.embed([]).shape == (0, 384)


def test_meaning_is_near(provider: OnnxProvider) -> None:
    query = provider.embed(["vacuum problem"], query=True)[0]
    near, far = provider.embed(["Pressure rose after a leak at a vacuum flange.", "The users asked for coffee."])
    assert query @ near > query @ far + 0.2


def test_em03_a_vector_does_not_depend_on_the_batch(provider: OnnxProvider) -> None:
    short, long = "short", " ".join(WORDS * 20)
    alone = provider.embed([short])[0]
    for texts in ([short, long], [long, short], [short] * 9, [short, "brief", long, "beam"]):
        assert np.abs(provider.embed(texts)[texts.index(short)] - alone).max() < 1e-5


def test_em03_many_texts_agree_with_one_at_a_time(provider: OnnxProvider) -> None:
    texts = sample_texts(BLOCK_TEXTS + 14)
    together = provider.embed(texts)
    for place in range(0, len(texts), 9):
        assert np.abs(together[place] - provider.embed([texts[place]])[0]).max() < 1e-5


def test_one_thread_and_two_agree(provider: OnnxProvider) -> None:
    texts = sample_texts(12)
    single = OnnxProvider(find_model(DEFAULT_MODEL), threads=1)
    assert np.abs(single.embed(texts) - provider.embed(texts)).max() < 1e-5


def test_a_fresh_provider_can_be_used_by_several_threads_at_once(provider: OnnxProvider) -> None:
    fresh = create_provider(ARIELConfig(), DEFAULT_MODEL)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda text: fresh.embed([text])[0], WORDS[:8]))
    assert np.abs(np.stack(found) - provider.embed(WORDS[:8])).max() < 1e-5


def test_batches_hold_every_text_once_and_similar_lengths() -> None:
    lengths = [3, 250, 4, 100, 97, 3, 256, 3, 40, 3, 3, 3, 3, 3, 3]
    batches = list(batches_of([[1] * length for length in lengths]))
    assert sorted(row for batch in batches for row in batch.rows) == list(range(len(lengths)))
    for batch in batches:
        sizes = [len(ids) for ids in batch.ids]
        assert sizes == [lengths[row] for row in batch.rows]
        assert len(sizes) <= 8
        assert len(sizes) * max(sizes) <= 512
        assert min(sizes) >= 0.85 * max(sizes)
    assert all(max(map(len, a.ids)) >= max(map(len, b.ids)) for a, b in pairwise(batches))


def test_em05_blank_text_is_refused_and_an_emoji_is_not(provider: OnnxProvider) -> None:
    with pytest.raises(EmbeddingGenerationError, match="text 1 of 2 is blank"):
        provider.embed(["  ", "beam"])
    query, emoji, right = provider.embed(["beam lost", "\U0001f642", "Beam lost."])
    assert query @ right > query @ emoji


def test_text_beyond_the_limit_is_cut_and_special_tokens_stay(provider: OnnxProvider) -> None:
    ids = provider.token_ids("beam " * 1000)
    assert len(ids) == 256
    assert (ids[0], ids[-1]) == (101, 102)


def test_nul_and_lone_surrogates_count_as_blanks(provider: OnnxProvider) -> None:
    odd, plain = provider.embed(["beam\x00\ud83dlost", "beam  lost"])
    assert np.abs(odd - plain).max() < 1e-5


def test_prefixes_reach_the_model(provider: OnnxProvider) -> None:
    spec = find_model(DEFAULT_MODEL).model_copy(update={"query_prefix": "ask: ", "document_prefix": "entry: "})
    prefixed = OnnxProvider(spec)
    assert np.abs(prefixed.embed(["beam"], query=True) - provider.embed(["ask: beam"])).max() < 1e-5
    assert np.abs(prefixed.embed(["beam"]) - provider.embed(["entry: beam"])).max() < 1e-5


EMBED_SCRIPT = """
import os, sys, time
if sys.argv[1] == "restricted" and hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.onnx import allowed_cpus, create_provider
threads = lambda: len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0
before = threads()
made = create_provider(ARIELConfig(), "all-minilm-l6-v2")
made.embed(["beam lost", "vacuum leak " * 90, "trip"])
end = time.monotonic() + 5
while threads() > before and time.monotonic() < end:
    time.sleep(0.01)
print(allowed_cpus(), threads() - before)
"""

WORKERS_SCRIPT = """
import multiprocessing
from ariel_lite.config import ARIELConfig
from ariel_lite.embeddings.onnx import create_provider

def work(text):
    return create_provider(ARIELConfig(), "all-minilm-l6-v2").embed([text, text * 50]).shape

if __name__ == "__main__":
    work("parent ")
    with multiprocessing.Pool(4) as pool:
        print(pool.map(work, ["beam ", "loss ", "trip ", "leak "]))
"""


def run_script(path: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a new interpreter that finds this checkout."""
    path.write_text(script, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, str(path), *arguments], capture_output=True, text=True, env=environment, timeout=120
    )


@pytest.mark.parametrize("cpus_allowed", ["restricted", "all"])
def test_em06_no_thread_is_left_and_nothing_is_said(tmp_path: Path, cpus_allowed: str) -> None:
    done = run_script(tmp_path / "embed.py", EMBED_SCRIPT, cpus_allowed)
    assert (done.returncode, done.stderr) == (0, "")
    cpus, more_threads = map(int, done.stdout.split())
    assert cpus == (1 if cpus_allowed == "restricted" and hasattr(os, "sched_setaffinity") else allowed_cpus())
    assert more_threads == 0


def test_em06_four_workers_embed_without_a_word(tmp_path: Path) -> None:
    done = run_script(tmp_path / "workers.py", WORKERS_SCRIPT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("(2, 384)") == 4
